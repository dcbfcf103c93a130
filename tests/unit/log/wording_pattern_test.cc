#include "log/wording_pattern.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace ncclog {
namespace {

/// A kind with a field of every type.
const Kind kKind{"sample",
                 0,
                 Source::Nccl,
                 Subsystem::None,
                 {},
                 {{"text", FieldType::Text},
                  {"number", FieldType::Integer},
                  {"pointer", FieldType::Hex},
                  {"more", FieldType::Text}}};

/// "no", or the fields separated by "|".
std::string match(std::string_view wording_text, std::string_view text) {
  const Wording wording{.text = wording_text, .example = ""};
  Message message;
  if (!match_wording(compile_wording(kKind, wording), text, message)) return "no";
  std::string result;
  for (size_t i = 0; i < kKind.fields.size(); ++i) {
    result += (i > 0 ? "|" : "") + std::string(message.fields[i]);
  }
  return result;
}

struct Case {
  std::string_view wording;
  std::string_view text;
  std::string_view fields;
};

TEST(WordingPattern, TakesTextsApart) {
  const Case cases[] = {
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
  };
  for (const Case& c : cases) {
    EXPECT_EQ(match(c.wording, c.text), c.fields) << c.wording << " on " << c.text;
  }
}

TEST(WordingPattern, RefusesMalformedWordings) {
  for (const std::string_view text : {"", "{text}{more}", "{unknown}", "open {text"}) {
    const Wording wording{.text = text, .example = ""};
    EXPECT_THROW(compile_wording(kKind, wording), std::logic_error) << text;
  }
}

}  // namespace
}  // namespace ncclog
