#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "import/document.h"
#include "support/describe_document.h"
#include "support/paths.h"

namespace ncclog {
namespace {

using namespace std::string_literals;

struct TextRow {
  std::string written;
  std::optional<std::string> meant;
};

const TextRow kStrings[] = {
    {"'abc'", "abc"},
    {"\"it's\"", "it's"},
    {"''", ""},
    {R"('a\\b\'\"\n\t\x00\xfF')", "a\\b'\"\n\t\0\xff"s},
    {"'open", std::nullopt},
    {"'", std::nullopt},
    {"'a\"", std::nullopt},
    {"", std::nullopt},
    {R"('\q')", std::nullopt},
    {R"('\x4')", std::nullopt},
    {R"('a\')", std::nullopt},
};

/// The text that a pickle of one opcode and its line pushes; nullopt if that is refused.
std::optional<std::string> text_of(char opcode, const std::string& line) {
  const std::string bytes = opcode + line + "\n.";
  const ParsedDocument document = read_pickle(bytes);
  if (!document.problem.empty()) return std::nullopt;
  return std::string(ncclog::text_of(document.value));
}

TEST(PickleText, DecodesPythonStrings) {
  for (const TextRow& row : kStrings) EXPECT_EQ(text_of('S', row.written), row.meant);
}

const TextRow kUnicode[] = {
    {"", ""},
    {"abc", "abc"},
    {"\xe9", "\u00e9"},
    {R"(\u20ac\U0001F600)", "\u20ac\U0001F600"},
    {R"(a\b)", R"(a\b)"},
    {R"(\u12)", std::nullopt},
    {R"(\u12g4)", std::nullopt},
    {R"(\U00110000)", std::nullopt},
};

TEST(PickleText, DecodesRawUnicode) {
  for (const TextRow& row : kUnicode) EXPECT_EQ(text_of('V', row.written), row.meant);
}

using namespace std::string_literals;
using testing::describe_document;

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// One dict as Python 3 writes it in protocols 0, 1, 2 and 4. "big" is 2**70.
constexpr std::string_view kByProtocol[] = {
    "286470300a56610a70310a286c70320a49310a61492d320a61493330300a61492d37303030300a614c323134373438"
    "333634384c0a6146332e350a614e614930310a614930300a6156e95c75303030610a70330a612874612849310a7470"
    "340a612849310a49320a7470350a612849310a49320a49330a7470360a612849310a49320a49330a49340a7470370a"
    "6173566269670a70380a4c313138303539313632303731373431313330333432344c0a73566e65670a70390a4c2d31"
    "3039393531313632373737364c0a7356630a7031300a28647031310a56780a7031320a286c7031330a73732e",
    "7d71002858010000006171015d7102284b014afeffffff4d2c014a90eefeff4c323134373438333634384c0a47400c"
    "0000000000004e4930310a4930300a5803000000c3a90a710329284b01747104284b014b02747105284b014b024b03"
    "747106284b014b024b034b0474710765580300000062696771084c3131383035393136323037313734313133303334"
    "32"
    "344c0a58030000006e656771094c2d313039393531313632373737364c0a580100000063710a7d710b580100000078"
    "71"
    "0c5d710d73752e",
    "80027d71002858010000006171015d7102284b014afeffffff4d2c014a90eefeff8a05000000800047400c00000000"
    "00004e88895803000000c3a90a7103294b018571044b014b028671054b014b024b03877106284b014b024b034b0474"
    "710765580300000062696771088a0900000000000000004058030000006e656771098a060000000000ff5801000000"
    "63710a7d710b580100000078710c5d710d73752e",
    "8004957f000000000000007d94288c0161945d94284b014afeffffff4d2c014a90eefeff8a05000000800047400c00"
    "00000000004e88898c03c3a90a94294b0185944b014b0286944b014b024b038794284b014b024b034b047494658c03"
    "626967948a090000000000000000408c036e6567948a060000000000ff8c0163947d948c0178945d9473752e",
};

TEST(ReadPickle, ReadsTheSameDataFromEveryProtocol) {
  for (const std::string_view hex : kByProtocol) {
    const std::string bytes = from_hex(hex);
    EXPECT_EQ(describe_document(read_pickle(bytes)),
              "{\"a\":[1,-2,300,-70000,2147483648,3.5,null,true,false,\"\u00e9\\n\",[],[1],[1,2],"
              "[1,2,3],[1,2,3,4]],\"big\":null,\"c\":{\"x\":[]},\"neg\":-1099511627776}");
  }
}

struct PickleRow {
  const char* name;
  std::string bytes;
  std::string result;
};

const PickleRow kReadRows[] = {
    {"bytes", "\x80\x03"s + "C\x02hi.", "\"hi\""},
    {"long bytes", "B\x02\0\0\0hi."s, "\"hi\""},
    {"very long text", "\x8d\x02\0\0\0\0\0\0\0hi."s, "\"hi\""},
    {"very long bytes", "\x8e\x02\0\0\0\0\0\0\0hi."s, "\"hi\""},
    {"a byte array", "\x96\x02\0\0\0\0\0\0\0hi."s, "\"hi\""},
    {"Python 2's text", "U\x02hi."s, "\"hi\""},
    {"Python 2's long text", "T\x02\0\0\0hi."s, "\"hi\""},
    {"a text with escapes", "S'it\\'s\\x21'\n.", "\"it's!\""},
    {"a character beyond the plane", "V\\U0001f600\n.", "\"\U0001F600\""},
    {"LONG4", "\x8b\x01\0\0\0\xff."s, "-1"},
    {"an empty LONG1", "\x8a\0."s, "0"},
    {"a number of just 64 bits", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.",
     "9223372036854775807"},
    {"a number of just 65 bits", "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0."s, "null"},
    {"a negative number of just 65 bits", "\x8a\x09\0\0\0\0\0\0\0\0\xff."s, "null"},
    {"an odd number in text", "I12x\n.", "null"},
    {"an odd fraction in text", "Fnonsense\n.", "null"},
    {"lists and dicts from a mark", "(K\1K\2l.", "[1,2]"},
    {"a dict from a mark", "(U\1aK\1d."s, "{\"a\":1}"},
    {"pairs set one by one", "}U\1aK\1sU\1bK\2s."s, "{\"a\":1,\"b\":2}"},
    {"popped values",
     "K\1K\2"
     "0K\3(K\4"
     "1"
     "0.",
     "1"},
    {"a popped mark", "(0K\1.", "1"},
    {"a doubled value", "]2K\1a0.", "[1]"},
    {"memo by number in text", "U\1ap7\n0g7\n."s, "\"a\""},
    {"memo by a long number",
     "U\1ar\0\0\1\0"
     "0j\0\0\1\0."s,
     "\"a\""},
    {"bytes after the end", "N.garbage", "null"},
};

TEST(ReadPickle, ReadsPlainData) {
  for (const PickleRow& row : kReadRows) {
    EXPECT_EQ(describe_document(read_pickle(row.bytes)), row.result) << row.name;
  }
}

const PickleRow kRefusedRows[] = {
    {"nothing", "", "the pickle ends after 0 bytes without its end marker"},
    {"no end", "\x80\x02}", "the pickle ends after 3 bytes without its end marker"},
    {"an end with nothing", ".", "STOP at byte 0 finds nothing on the stack"},
    {"no opcode", "N\xff.", "byte 1 (0xff) is no pickle opcode"},
    {"a later protocol", "\x80\x06N.", "pickle protocol 6 is not known"},
    {"a text of 1 GB", "X\0\0\0\x40"s + "abc",
     "BINUNICODE at byte 0 announces 1073741824 bytes, but 3 follow"},
    {"a text of 2^63", "\x8d\0\0\0\0\0\0\0\x80"s,
     "BINUNICODE8 at byte 0 announces 9223372036854775808 bytes, but 0 follow"},
    {"bytes of 2^64 - 1", "\x8e\xff\xff\xff\xff\xff\xff\xff\xff"s,
     "BINBYTES8 at byte 0 announces 18446744073709551615 bytes, but 0 follow"},
    {"a number of 2 GB", "\x8b\xff\xff\xff\x7f"s,
     "LONG4 at byte 0 announces 2147483647 bytes, but 0 follow"},
    {"a frame of 1 GB", "\x80\x04\x95\0\0\0\x40\0\0\0\0N."s,
     "FRAME at byte 2 announces 1073741824 bytes, but 2 follow"},
    {"a cut length", "X\0\0"s, "BINUNICODE at byte 0 announces 4 bytes, but 2 follow"},
    {"a line without end", "S'abc'", "STRING at byte 0 has no end"},
    {"a text without quotes", "Sabc\n.", "STRING at byte 0 is malformed"},
    {"a half escape", "V\\u12\n.", "UNICODE at byte 0 is malformed"},
    {"a memo that is not set", "h\5."s, "BINGET at byte 0 asks for memo 5, which is not set"},
    {"a memo without number", "gx\n.", "GET at byte 0 names no place"},
    {"a negative memo", "Np-1\n.", "PUT at byte 1 names no place"},
    {"nothing to remember", "q\0."s, "BINPUT at byte 0 finds nothing on the stack"},
    {"nothing to append to", "K\1a.", "APPEND at byte 2 finds nothing on the stack"},
    {"appending to a number", "K\1K\1a.", "APPEND at byte 4 needs a list"},
    {"a key of a list", "]K\1K\1s.", "SETITEM at byte 5 needs a dict"},
    {"a key without value", "}(K\1u.", "SETITEMS at byte 4 has a key without value"},
    {"no mark", "N]e.", "APPENDS at byte 2 has no MARK before it"},
    {"values behind the mark", "K\1(a.", "APPEND at byte 3 finds nothing on the stack"},
    {"a list in itself", "]q\0h\0a."s, "it refers to the same parts too often"},
    {"too many marks", std::string(kMaxNesting + 1, '('),
     "the pickle nests deeper than 512 at byte 512"},
};

TEST(ReadPickle, SaysWhyAndWhereItRefuses) {
  for (const PickleRow& row : kRefusedRows) {
    EXPECT_EQ(describe_document(read_pickle(row.bytes)), row.result) << row.name;
  }
}

struct ForbiddenRow {
  uint8_t code;
  const char* complaint;
};

constexpr ForbiddenRow kForbidden[] = {
    {'c', "GLOBAL at byte 2 imports a name"},
    {0x93, "STACK_GLOBAL at byte 2 imports a name"},
    {0x82, "EXT1 at byte 2 imports a name"},
    {0x83, "EXT2 at byte 2 imports a name"},
    {0x84, "EXT4 at byte 2 imports a name"},
    {'R', "REDUCE at byte 2 calls a function"},
    {'b', "BUILD at byte 2 builds an object"},
    {'i', "INST at byte 2 builds an object"},
    {'o', "OBJ at byte 2 builds an object"},
    {0x81, "NEWOBJ at byte 2 builds an object"},
    {0x92, "NEWOBJ_EX at byte 2 builds an object"},
    {'P', "PERSID at byte 2 refers to an object outside the file"},
    {'Q', "BINPERSID at byte 2 refers to an object outside the file"},
    {0x97, "NEXT_BUFFER at byte 2 refers to an object outside the file"},
    {0x98, "READONLY_BUFFER at byte 2 refers to an object outside the file"},
    {0x8f, "EMPTY_SET at byte 2 builds a set"},
    {0x90, "ADDITEMS at byte 2 builds a set"},
    {0x91, "FROZENSET at byte 2 builds a set"},
};

TEST(ReadPickle, RefusesWhateverMakesMoreThanPlainData) {
  for (const ForbiddenRow& row : kForbidden) {
    const std::string bytes = "\x80\x04"s + static_cast<char>(row.code) + "os\nsystem\n.";
    EXPECT_EQ(describe_document(read_pickle(bytes)),
              row.complaint + ", which plain data never does"s);
  }
}

TEST(ReadPickle, RefusesNoOtherOpcode) {
  for (int code = 0; code < 256; ++code) {
    const std::string bytes(1, static_cast<char>(code));
    const bool is_refused = read_pickle(bytes).problem.find("plain data never") != bytes.npos;
    const bool is_listed = std::any_of(std::begin(kForbidden), std::end(kForbidden),
                                       [&](const ForbiddenRow& row) { return row.code == code; });
    EXPECT_EQ(is_refused, is_listed) << code;
  }
}

TEST(ReadPickle, NeedsEveryByteOfADump) {
  const std::string dump = testing::read_file(testing::sample_logs("size-mismatch") / "fr_3");
  ASSERT_EQ(read_pickle(dump).problem, "");
  for (size_t size = 0; size < dump.size(); ++size) {
    // A copy of exactly this size, so that the sanitizer sees reads behind it.
    std::string cut(dump, 0, size);
    cut.shrink_to_fit();
    ASSERT_NE(read_pickle(cut).problem, "") << size;
  }
}

TEST(ReadPickle, DoesNotRecurseIntoDeepData) {
  const size_t depth = 300000;
  const std::string bytes = std::string(depth, ']') + std::string(depth - 1, 'a') + ".";
  EXPECT_EQ(read_pickle(bytes).problem, "it refers to the same parts too often");
}

}  // namespace

}  // namespace ncclog
