#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace ncclog {
namespace {

TEST(Text, TrimTakesBlanksAndTabsOffBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\na\n"), "\na\n");
}

TEST(Text, SplitKeepsEmptyPartsAndSplitBlanksHasNone) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (Parts{""}));
  EXPECT_EQ(split_blanks("  a \t b"), (Parts{"a", "b"}));
  EXPECT_EQ(split_blanks(" \t "), Parts{});
}

struct IntCase {
  std::string_view text;
  std::optional<int64_t> value;
};

TEST(Text, ParseIntTakesAllOfTheTextOrNothing) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const IntCase cases[] = {
      {"0", 0},
      {"-1", -1},
      {"+7", 7},
      {"007", 7},
      {"9223372036854775807", kMax},
      {"-9223372036854775808", kMin},
      {"00000000000000000000000000042", 42},
      {"9223372036854775808", {}},
      {"-9223372036854775809", {}},
      {"18446744073709551617", {}},
      {"99999999999999999999999999999999999999999", {}},
      {"", {}},
      {"-", {}},
      {"+-5", {}},
      {"--5", {}},
      {" 5", {}},
      {"5 ", {}},
      {"1e3", {}},
      {"0x10", {}},
      {std::string_view("5\0", 2), {}},
      {"\xD9\xA3", {}},
  };
  for (const IntCase& c : cases) EXPECT_EQ(parse_int(c.text), c.value) << c.text;
}

struct HexCase {
  std::string_view text;
  std::optional<uint64_t> value;
};

TEST(Text, ParseHexTakesAllOfTheTextOrNothing) {
  const HexCase cases[] = {
      {"0", 0},
      {"0x7f10A0", 0x7f10a0},
      {"0XfF", 0xff},
      {"ffffffffffffffff", std::numeric_limits<uint64_t>::max()},
      {"0x00000000000000000001", 1},
      {"10000000000000000", {}},
      {"", {}},
      {"0x", {}},
      {"-1", {}},
      {"0x0x1", {}},
      {"(nil)", {}},
      {"12g", {}},
  };
  for (const HexCase& c : cases) EXPECT_EQ(parse_hex(c.text), c.value) << c.text;
}

struct RangesCase {
  std::vector<int> numbers;
  std::string_view text;
};

TEST(Text, RangesAreSortedUniqueAndShort) {
  const RangesCase cases[] = {
      {{}, ""},
      {{5}, "5"},
      {{1, 0}, "0,1"},
      {{3, 1, 2, 0, 7}, "0-3,7"},
      {{4, 4, 4}, "4"},
      {{-2, -1, 0}, "-2-0"},
      {{std::numeric_limits<int>::max(), std::numeric_limits<int>::max() - 1},
       "2147483646,2147483647"},
  };
  for (const RangesCase& c : cases) EXPECT_EQ(ranges_text(c.numbers), c.text);
}

TEST(Text, ShortRangesHaveStepsAndEndAfterALine) {
  EXPECT_EQ(short_ranges(std::vector<int>()), "");
  EXPECT_EQ(short_ranges(std::vector{7, 3, 2, 1, 0, 3}), "0-3,7");
  EXPECT_EQ(short_ranges(std::vector{0, 1, 4}), "0,1,4");
  EXPECT_EQ(short_ranges(std::vector{0, 2, 4, 6}), "0,2,4,6") << "too few for a step";
  EXPECT_EQ(short_ranges(std::vector{-1, 2147483645, 2147483646, 2147483647}),
            "-1,2147483645-2147483647");
  std::vector<int> pairs;
  for (int i = 0; i < 20000; i += 4) pairs.insert(pairs.end(), {i, i + 1});
  EXPECT_EQ(short_ranges(pairs), "0-19996:4,1-19997:4");
  std::vector<int> gaps;
  for (int i = 0; i < 64; ++i) {
    if (i != 2 && i != 9 && i != 40) gaps.push_back(i);
  }
  EXPECT_EQ(short_ranges(gaps), "0,1,3-8,10-39,41-63") << "gaps are no steps";
  std::vector<int> squares;
  for (int i = 1; i < 1000; ++i) squares.push_back(i * i);
  const std::string text = short_ranges(squares);
  EXPECT_LT(text.size(), 75u);
  EXPECT_TRUE(text.ends_with(" more")) << text;
}

TEST(Text, EditDistanceCountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("NCCL_IB_HCAS", "NCCL_IB_HCA"), 1u);
}

TEST(Text, NearestNameIsMeantOrThereIsNone) {
  constexpr std::string_view kNames[] = {"severity", "security", "title", "id"};
  EXPECT_EQ(nearest_name("sevrity", kNames), "severity");
  EXPECT_EQ(nearest_name("title", kNames), "title");
  EXPECT_EQ(nearest_name("ix", kNames), "id");
  EXPECT_EQ(nearest_name("consequence", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("title", {}), std::nullopt);
  constexpr std::string_view kTie[] = {"cat", "bat"};
  EXPECT_EQ(nearest_name("rat", kTie), "cat");
}

struct BytesCase {
  std::string_view bytes;
  std::string_view valid;      ///< As to_valid_utf8 gives it.
  std::string_view printable;  ///< As printable gives it.
};

#define REPLACED "\xEF\xBF\xBD"

TEST(Text, HostileBytesBecomeValidUtf8AndCannotSteerATerminal) {
  using namespace std::string_view_literals;
  const BytesCase cases[] = {
      {""sv, ""sv, ""sv},
      {"plain"sv, "plain"sv, "plain"sv},
      {"a\tb"sv, "a\tb"sv, "a b"sv},
      {"a\0b"sv, "a\0b"sv, "a\\x00b"sv},
      {"\x1b[31mred\a\x7f"sv, "\x1b[31mred\a\x7f"sv, "\\x1b[31mred\\x07\\x7f"sv},
      {"a\r\nb"sv, "a\r\nb"sv, "a\\x0d\\x0ab"sv},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"sv, "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"sv,
       "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"sv},
      // C1 controls: a terminal takes U+009B for ESC [.
      {"\xC2\x9B\x33m"sv, "\xC2\x9B\x33m"sv, "\\u{009b}3m"sv},
      // Right-to-left override, isolate, mark; line separator.
      {"\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8F\xE2\x80\xA8"sv,
       "\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8F\xE2\x80\xA8"sv,
       "\\u{202e}\\u{2066}\\u{200f}\\u{2028}"sv},
      // Zero width, soft hyphen, byte order mark, a tag.
      {"a\xE2\x80\x8B\xC2\xAD\xEF\xBB\xBF\xF3\xA0\x81\x81"sv,
       "a\xE2\x80\x8B\xC2\xAD\xEF\xBB\xBF\xF3\xA0\x81\x81"sv,
       "a\\u{200b}\\u{00ad}\\u{feff}\\u{e0041}"sv},
      // A lone continuation, a start at the end, a start before a letter.
      {"\x80"sv, REPLACED ""sv, REPLACED ""sv},
      {"a\xC3"sv, "a" REPLACED ""sv, "a" REPLACED ""sv},
      {"\xE2\x82z"sv, REPLACED REPLACED "z"sv, REPLACED REPLACED "z"sv},
      // Overlong '/', a surrogate, beyond U+10FFFF, bytes that never occur.
      {"\xC0\xAF"sv, REPLACED REPLACED ""sv, REPLACED REPLACED ""sv},
      {"\xE0\x80\xAF"sv, REPLACED REPLACED REPLACED ""sv, REPLACED REPLACED REPLACED ""sv},
      {"\xED\xA0\x80"sv, REPLACED REPLACED REPLACED ""sv, REPLACED REPLACED REPLACED ""sv},
      {"\xF4\x90\x80\x80"sv, REPLACED REPLACED REPLACED REPLACED ""sv,
       REPLACED REPLACED REPLACED REPLACED ""sv},
      {"\xFE\xFF"sv, REPLACED REPLACED ""sv, REPLACED REPLACED ""sv},
  };
  for (const BytesCase& c : cases) {
    EXPECT_EQ(to_valid_utf8(c.bytes), c.valid);
    EXPECT_EQ(printable(c.bytes), c.printable);
    EXPECT_EQ(is_valid_utf8(c.bytes), c.bytes == c.valid) << c.printable;
  }
}

TEST(Text, EveryPairOfBytesBecomesPrintable) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second)};
      const std::string shown = printable({bytes, 2});
      ASSERT_TRUE(is_valid_utf8(shown)) << first << " " << second;
      for (const char c : shown) {
        ASSERT_FALSE((static_cast<unsigned char>(c) < 0x20) || c == 0x7F) << first << " " << second;
      }
    }
  }
}

std::string json_string(std::string_view bytes) {
  std::string out = "before ";
  append_json_string(out, bytes);
  return out.substr(7);
}

TEST(JsonText, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("plain"), R"("plain")");
  EXPECT_EQ(json_string("say \"hi\" \\"), R"("say \"hi\" \\")");
  EXPECT_EQ(json_string("a\tb\nc\x01"), R"("a\tb\nc\u0001")");
  EXPECT_EQ(json_string("größe"), R"("größe")");
  EXPECT_EQ(json_string("cut \xc3"), "\"cut \uFFFD\"");
  EXPECT_EQ(json_string("a\u202Eb\x7f"), R"("a\u202eb\u007f")");
}

TEST(JsonText, EveryByteIsReadBackAsItself) {
  for (int byte = 0; byte < 0x80; ++byte) {
    const std::string text = "a" + std::string(1, static_cast<char>(byte)) + "b";
    EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text) << byte;
  }
}

OddBytes expected_of(unsigned char byte) {
  return {byte < 0x20 && byte != '\t' && byte != '\n', byte >= 0x80};
}

TEST(OddBytes, AreFoundAtEveryPlaceOfTextsOfEveryLength) {
  for (size_t size = 1; size < 100; ++size) {
    std::string text(size, '~');
    ASSERT_EQ(find_odd_bytes(text), OddBytes{});
    for (size_t at = 0; at < size; ++at) {
      for (const int byte : {0x00, 0x08, 0x09, 0x0a, 0x0b, 0x1f, 0x20, 0x7f, 0x80, 0xff}) {
        text[at] = static_cast<char>(byte);
        ASSERT_EQ(find_odd_bytes(text), expected_of(static_cast<unsigned char>(byte)))
            << size << ' ' << at << ' ' << byte;
      }
      text[at] = '~';
    }
  }
}

TEST(Newlines, AreCountedInTextsOfEveryLength) {
  std::string text;
  uint64_t count = 0;
  for (size_t i = 0; i < 20000; ++i) {
    const bool ends_line = i % 3 == 0 || i % 7 == 0 || i > 5000;
    text += ends_line ? '\n' : '\v';
    count += ends_line ? 1 : 0;
    if (i < 200 || i % 997 == 0) {
      ASSERT_EQ(count_newlines(text), count) << i;
    }
  }
  EXPECT_EQ(count_newlines(text), count);
}

TEST(OddBytes, OfBothKindsAreToldApart) {
  EXPECT_EQ(find_odd_bytes(""), OddBytes{});
  EXPECT_EQ(find_odd_bytes("\x1b[0m gr\xc3\xbc"), (OddBytes{true, true}));
  EXPECT_EQ(find_odd_bytes(std::string(20, 'x') + "\r" + std::string(20, '\xe4')),
            (OddBytes{true, true}));
}

}  // namespace
}  // namespace ncclog
