#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "log/wording/wording_table.h"

namespace ncclog {
namespace {

/// A field of every type.
constexpr Field kFields[] = {{"text", FieldType::Text, {}},
                             {"number", FieldType::Integer, {}},
                             {"pointer", FieldType::Hex, {}},
                             {"more", FieldType::Text, {}}};

/// "no", or the fields separated by "|".
std::string match(std::string_view wording_text, std::string_view text) {
  const Kind kind{.name = "sample", .fields = kFields};
  WordingStore store;
  const Wording wording{
      .text = wording_text, .kind = &kind, .steps = compile_wording(wording_text, kFields, store)};
  Message message;
  if (!match_wording(wording, text, message)) return "no";
  std::string result;
  for (size_t i = 0; i < std::size(kFields); ++i) {
    result += (i > 0 ? "|" : "") + std::string(message.fields[i]);
  }
  return result;
}

struct FieldsCase {
  std::string_view wording;
  std::string_view text;
  std::string_view fields;
};

TEST(WordingPattern, TakesTextsApart) {
  const FieldsCase cases[] = {
      {"Connected all rings", "Connected all rings", "|||"},
      {"Connected all rings", "Connected all rings  ", "|||"},
      {"Connected all rings", "Connected all rings, use", "no"},
      {"rank {number}", "rank -3", "|-3||"},
      {"rank {number}", "rank 3a", "no"},
      {"rank {number}", "rank ", "no"},
      {"at {pointer}", "at 0x7f10", "||0x7f10|"},
      {"at {pointer}", "at 7f10", "||7f10|"},
      {"at {pointer}", "at (nil)", "||(nil)|"},
      {"at {pointer}", "at zero", "no"},
      // Text ends at the first occurrence of what follows it, and may be empty.
      {"from {text} to {more...}", "from a to b to c", "a|||b to c"},
      {"segment {text} (size {number})", "segment  (size 0)", "|0||"},
      // Before the last literal it reaches to the end.
      {"failure '{text}'", "failure 'it's 'quoted''", "it's 'quoted'|||"},
      {"failure '{text}'", "failure 'cut", "no"},
      {"call({text})", "call(a,(nil))", "a,(nil)|||"},
      {"{text:word}: {more...}", "init.cc: text", "init.cc|||text"},
      {"{text:word} : {more...}", "two words : text", "no"},
      {"{text:word}", "", "no"},
      {"is {text:available|not available} on", "is not available on", "not available|||"},
      {"[{text:Proxy|Proxy Service}]", "[Proxy Service]", "Proxy Service|||"},
      {"is {text:a|b}", "is c", "no"},
      {"Channel {number} : {text:ints}", "Channel 00 :    0   1 12", "0   1 12|00||"},
      {"Channel {number} : {text:ints}", "Channel 00 : 0 1 2...", "0 1 2...|00||"},
      {"Channel {number} : {text:ints}", "Channel 00 : 0[0] -> 1[1]", "no"},
      {"Channel {number} : {text:ints}", "Channel 00 : ", "no"},
      {"rank {:int} of {number}, {} at {:hex} {...}", "rank 1 of 2, x at 0x3 y", "|2||"},
      {"Using{text...}", "Using", "|||"},
      {"trailing {text}  ", "trailing x", "x|||"},
      {"timeout {text:number}s", "timeout 2.5s", "2.5|||"},
      {"timeout {text:number}s", "timeout 1e-05s", "1e-05|||"},
      {"timeout {text:number}s", "timeout -infs", "-inf|||"},
      {"timeout {text:number}s", "timeout .5s", "no"},
      {"took {text:number}.", "took 3.", "3|||"},
      {"channel{{Lo..Hi}}={{{number}..{:int}}}", "channel{Lo..Hi}={0..31}", "|0||"},
  };
  for (const FieldsCase& c : cases) {
    EXPECT_EQ(match(c.wording, c.text), c.fields) << c.wording << " on " << c.text;
  }
}

TEST(WordingPattern, RefusesMalformedWordings) {
  struct Row {
    std::string_view text;
    size_t offset;
    std::string_view what;
    std::string_view hint;
  };
  const Row rows[] = {
      {"", 0, "the wording is empty", ""},
      {"{text}{more}", 6, "two holes side by side", "put a literal between them"},
      {"a {numbre}", 3, "unknown field 'numbre'", "did you mean 'number'?"},
      {"open {text", 5, "unclosed hole", "write '{{' for a brace"},
      {"is {text:a||b}", 9, "empty choice", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.text));
    WordingStore store;
    try {
      compile_wording(row.text, kFields, store);
      ADD_FAILURE() << "was accepted";
    } catch (const MalformedWording& error) {
      EXPECT_EQ(error.what(), row.what);
      EXPECT_EQ(error.offset, row.offset);
      EXPECT_EQ(error.hint, row.hint);
    }
  }
}

TEST(WordingPattern, TellsWhereATextPartsFromIt) {
  const Kind kind{.name = "sample", .fields = kFields};
  WordingStore store;
  const std::string_view text = "rank {number} of {:int} is late";
  const Wording wording{
      .text = text, .kind = &kind, .steps = compile_wording(text, kFields, store)};
  EXPECT_EQ(matched_bytes(wording, "rank 3 of eight is late"), 10u);
  EXPECT_EQ(matched_bytes(wording, "rank 3 of 8 is late"), 19u);
}

}  // namespace
}  // namespace ncclog
