#include "input/line_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"

namespace ncclog {
namespace {

using namespace std::string_literals;

/// A line, kept: number, offset, text, cut.
using Kept = std::tuple<uint64_t, uint64_t, std::string, bool>;

struct ReadLines {
  std::vector<Kept> lines;
  uint64_t newlines = 0;
  bool operator==(const ReadLines&) const = default;
};

/// Gives out `text` in blocks whose sizes `next_size` says.
template <typename NextSize>
ReadLines read_lines(std::string_view text, NextSize next_size) {
  LineReader reader([&](char* buffer, size_t capacity) {
    const size_t count = text.copy(buffer, std::min<size_t>(capacity, next_size()));
    text.remove_prefix(count);
    return count;
  });
  ReadLines reading;
  for (Line line; reader.next(line);) {
    // What a line is said to be without must not be in it; what is odd is looked at line by line.
    const OddBytes odd = find_odd_bytes(line.text);
    EXPECT_EQ((OddBytes{line.has_control, line.has_high}), odd) << line.offset;
    reading.lines.emplace_back(line.number, line.offset, line.text, line.cut);
  }
  Line line;
  EXPECT_FALSE(reader.next(line));
  reading.newlines = reader.newlines();
  return reading;
}

ReadLines read_whole(std::string_view text) {
  return read_lines(text, [] { return size_t{1} << 30; });
}

/// What the rules in line_reader.h say, one byte after the other.
ReadLines reference(const std::string& text) {
  ReadLines reading;
  uint64_t number = 1;
  size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  const auto deliver = [&](size_t end) {
    const std::string piece = text.substr(begin, end - begin);
    reading.lines.emplace_back(number, begin, piece.substr(0, kMaxLineBytes),
                               piece.size() > kMaxLineBytes);
    begin = end + 1;
  };
  for (size_t i = begin; i < text.size(); ++i) {
    const bool ends_cr = text[i] == '\n' && i > 0 && text[i - 1] == '\r' && begin == i;
    if (text[i] == '\r' || (text[i] == '\n' && !ends_cr)) deliver(i);
    if (ends_cr) begin = i + 1;
    if (text[i] == '\n') ++number;
  }
  if (begin < text.size()) deliver(text.size());
  reading.newlines = number - 1;
  return reading;
}

struct LinesCase {
  const char* name;
  std::string text;
  std::vector<Kept> lines;
};

const LinesCase kLinesCases[] = {
    {"nothing", "", {}},
    {"one line", "a\n", {{1, 0, "a", false}}},
    {"no final newline", "a\nlast", {{1, 0, "a", false}, {2, 2, "last", false}}},
    {"empty lines",
     "\n\na\n\n",
     {{1, 0, "", false}, {2, 1, "", false}, {3, 2, "a", false}, {4, 4, "", false}}},
    {"Windows", "a\r\n\r\nb\r\n", {{1, 0, "a", false}, {2, 3, "", false}, {3, 5, "b", false}}},
    {"progress bar",
     "1%\r2%\r3%\nb\n",
     {{1, 0, "1%", false}, {1, 3, "2%", false}, {1, 6, "3%", false}, {2, 9, "b", false}}},
    {"lone carriage return at the end", "a\r", {{1, 0, "a", false}}},
    {"carriage return, then Windows end",
     "a\r\r\nb",
     {{1, 0, "a", false}, {1, 2, "", false}, {2, 4, "b", false}}},
    {"newline, then carriage return",
     "a\n\rb\n",
     {{1, 0, "a", false}, {2, 2, "", false}, {2, 3, "b", false}}},
    {"NULs and odd bytes are bytes",
     "a\0b\xff\xfe\n\0"s,
     {{1, 0, "a\0b\xff\xfe"s, false}, {2, 6, "\0"s, false}}},
    {"byte order mark", "\xEF\xBB\xBFhello\n", {{1, 3, "hello", false}}},
    {"byte order mark alone", "\xEF\xBB\xBF", {}},
    {"half a byte order mark", "\xEF\xBB", {{1, 0, "\xEF\xBB", false}}},
    {"byte order mark later on",
     "a\n\xEF\xBB\xBF",
     {{1, 0, "a", false}, {2, 2, "\xEF\xBB\xBF", false}}},
};

TEST(LineReader, CutsLines) {
  for (const LinesCase& row : kLinesCases) {
    EXPECT_EQ(read_whole(row.text).lines, row.lines) << row.name;
    EXPECT_EQ(reference(row.text).lines, row.lines) << row.name;
  }
}

TEST(LineReader, CutsTheSameLinesFromBlocksOfAnySize) {
  for (const LinesCase& row : kLinesCases) {
    for (size_t size = 1; size <= row.text.size(); ++size) {
      EXPECT_EQ(read_lines(row.text, [&] { return size; }).lines, row.lines) << row.name << size;
    }
  }
}

TEST(LineReader, CountsNewlinesAsGrepDoes) {
  EXPECT_EQ(read_whole("a\rb\r\n\nc").newlines, 2u);
  EXPECT_EQ(read_whole("a\r\n").newlines, 1u);
  EXPECT_EQ(read_whole(std::string(kMaxLineBytes + 1, 'x') + "\n").newlines, 1u);
  EXPECT_EQ(read_whole("").newlines, 0u);
}

TEST(LineReader, CutsOnlyLinesLongerThanTheLimit) {
  for (const std::string end : {"", "\n", "\r\n", "\r"}) {
    const ReadLines exact = read_whole(std::string(kMaxLineBytes, 'x') + end);
    ASSERT_EQ(exact.lines.size(), 1u);
    EXPECT_FALSE(std::get<3>(exact.lines[0]));
    const ReadLines longer = read_whole(std::string(kMaxLineBytes + 1, 'x') + end);
    ASSERT_EQ(longer.lines.size(), 1u);
    EXPECT_TRUE(std::get<3>(longer.lines[0]));
    EXPECT_EQ(std::get<2>(longer.lines[0]).size(), kMaxLineBytes);
  }
}

TEST(LineReader, SkipsTheRestOfALongLineAndGoesOn) {
  const std::string text =
      "before\n" + std::string(10 << 20, 'x') + "\r" + std::string(1 << 20, 'y') + "\r\nafter\n";
  const ReadLines reading = read_whole(text);
  ASSERT_EQ(reading.lines.size(), 4u);
  EXPECT_EQ(reading, reference(text));
  EXPECT_EQ(reading.lines[3], Kept(3, text.size() - 6, "after", false));
}

TEST(LineReader, StartsWhereItIsTold) {
  std::string_view text = "\xEF\xBB\xBFx\ny";
  LineReader reader(
      [&](char* buffer, size_t capacity) {
        const size_t count = text.copy(buffer, capacity);
        text.remove_prefix(count);
        return count;
      },
      1000);
  Line line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.text, "\xEF\xBB\xBFx") << "a byte order mark is one at the start of a file only";
  EXPECT_EQ(line.offset, 1000u);
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.offset, 1005u);
  EXPECT_EQ(line.number, 2u);
}

/// Bytes of which line ends are the most common, and now and then a long line.
std::string random_lines(std::mt19937& random) {
  std::string text = random() % 8 == 0 ? "\xEF\xBB\xBF" : "";
  const size_t pieces = random() % 60;
  for (size_t i = 0; i < pieces; ++i) {
    switch (random() % 8) {
      case 0:
        text += "\r";
        break;
      case 1:
        text += "\n";
        break;
      case 2:
        text += "\r\n";
        break;
      case 3:
        text += '\0';
        break;
      case 4:
        text += "\xEF\xBB\xBF";
        break;
      case 5:
        text += random() % 40 == 0 ? std::string(random() % 400000, 'L') : "l";
        break;
      default:
        text += std::string(random() % 9, 'x');
    }
  }
  return text;
}

TEST(LineReaderProperty, BlocksOfRandomSizesGiveTheReferencesLines) {
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_lines(random);
    const size_t largest = 1 + (text.size() > 5000 ? random() % 300000 : random() % 20);
    const auto next_size = [&] { return 1 + random() % largest; };
    ASSERT_TRUE(read_lines(text, next_size) == reference(text)) << i;
  }
}

/// The lines at the start of `ahead` that may be skipped, `most` at most.
LineRun plain_lines(std::string_view ahead, uint64_t most) {
  LineRun run;
  while (run.lines < most && run.bytes < ahead.size()) {
    const std::string_view rest = ahead.substr(run.bytes);
    const size_t size = rest.find_first_of("\r\n");
    if (find_odd_bytes(rest.substr(0, size)).control) break;
    const bool is_crlf = rest.substr(size).starts_with("\r\n");
    run.bytes += size + (is_crlf ? 2 : 1);
    ++run.lines;
    run.numbers += is_crlf || rest[size] == '\n' ? 1 : 0;
  }
  return run;
}

TEST(LineReaderProperty, LinesAheadCanBeSkippedAndStayUntilTheRefillThatIsAnnounced) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_lines(random);
    const ReadLines expected = reference(text);
    std::string_view rest = text;
    int refills = 0;
    LineReader reader([&](char* buffer, size_t capacity) {
      ++refills;
      const size_t count = rest.copy(buffer, std::min<size_t>(capacity, 1 + random() % 300));
      rest.remove_prefix(count);
      return count;
    });
    size_t at = 0;  // Into the expected lines.
    for (;;) {
      const LineRun run = plain_lines(reader.ahead(), random() % 4);
      if (run.lines > 0) {
        ASSERT_EQ(reader.next_number(), std::get<0>(expected.lines[at]));
        ASSERT_EQ(reader.ahead().substr(0, std::get<2>(expected.lines[at]).size()),
                  std::get<2>(expected.lines[at]));
      }
      reader.skip(run);
      at += run.lines;
      const bool will_refill = reader.will_refill();
      const int before = refills;
      Line line;
      const bool is_line = reader.next(line);
      ASSERT_TRUE(will_refill || refills == before) << i;
      if (!is_line) break;
      ASSERT_LT(at, expected.lines.size());
      ASSERT_EQ(Kept(line.number, line.offset, line.text, line.cut), expected.lines[at]) << i;
      ++at;
    }
    ASSERT_EQ(at, expected.lines.size());
    ASSERT_EQ(reader.newlines(), expected.newlines);
  }
}

}  // namespace
}  // namespace ncclog
