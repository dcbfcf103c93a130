#include "log/wording/wording_table.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "log/known_messages.h"
#include "log/wording/message_file.h"

namespace ncclog::testing {
namespace {

/// Wordings that begin alike are tried from the step at which they part; that must not show.
TEST(WordingTableDispatch, FindsWhatTryingEachWordingFromItsBeginningFinds) {
  const WordingTable& table = all_wordings();
  size_t texts = 0;
  for (const Kind& kind : table.kinds) {
    if (kind.source != Source::Nccl) continue;
    for (const Wording& wording : kind.wordings) {
      const std::string_view example = wording.example;
      for (size_t size = 1; size <= example.size(); ++size) {
        for (const std::string_view end : {"", " comm 0x7f nRanks 02", "/flush=None", "]"}) {
          const std::string text = std::string(example.substr(0, size)) + std::string(end);
          const Message found = table.nccl.parse(text);
          if (found.kind != nullptr) {
            Message alone;
            ASSERT_TRUE(match_wording(*found.wording, text, alone)) << text;
            ASSERT_EQ(found.fields, alone.fields) << text;
          }
          // Trying all takes long.
          if (++texts % 997 != 0) continue;
          const auto fitting = table.all_matches(text, Source::Nccl);
          if (fitting.size() == 1) {
            ASSERT_EQ(found.wording, fitting.front()) << text;
          }
          ASSERT_EQ(found.kind == nullptr, fitting.empty()) << text;
        }
      }
    }
  }
  EXPECT_GT(texts, 10'000u);
}

/// A field of every type.
constexpr Field kFields[] = {{"text", FieldType::Text, {}},
                             {"number", FieldType::Integer, {}},
                             {"pointer", FieldType::Hex, {}},
                             {"more", FieldType::Text, {}}};

/// "no", or the fields separated by "|".
std::string match(std::string_view wording_text, std::string_view text) {
  const Kind kind{.name = "sample", .fields = kFields};
  WordingStore store;
  const Wording wording{.text = wording_text,
                        .kind = &kind,
                        .steps = compile_wording(wording_text, kFields, {}, store)};
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

TEST(WordingPattern, TellsWhereATextPartsFromIt) {
  const Kind kind{.name = "sample", .fields = kFields};
  WordingStore store;
  const std::string_view text = "rank {number} of {:int} is late";
  const Wording wording{
      .text = text, .kind = &kind, .steps = compile_wording(text, kFields, {}, store)};
  EXPECT_EQ(matched_bytes(wording, "rank 3 of eight is late"), 10u);
  EXPECT_EQ(matched_bytes(wording, "rank 3 of 8 is late"), 19u);
}

std::vector<const Wording*> fitting(const WordIndex& index, std::string_view text) {
  const std::string_view word = first_word(text);
  std::vector<const Wording*> wordings;
  for (const Candidate& candidate : index.find(word)) {
    if (candidate.may_fit(bytes_at(text, word.size()))) wordings.push_back(candidate.wording);
  }
  return wordings;
}

TEST(WordIndex, FindsByWordAndByWhatStandsBehindIt) {
  const Wording rings;
  const Wording trees;
  const Wording any;
  WordIndex index;
  index.add("Connected", rings, " all rings");
  index.add("Connected", any, "");
  index.add("Connected", trees, " all trees");
  index.finish();
  using Wordings = std::vector<const Wording*>;
  EXPECT_EQ(fitting(index, "Connected all rings"), (Wordings{&rings, &any}));
  EXPECT_EQ(fitting(index, "Connected all trees"), (Wordings{&any, &trees}));
  EXPECT_EQ(fitting(index, "Connected al"), (Wordings{&any}));
  EXPECT_EQ(fitting(index, "Connected"), (Wordings{&any}));
  EXPECT_EQ(fitting(index, "Connecte"), Wordings{});
  EXPECT_EQ(fitting(index, "Connected2 all rings"), Wordings{});
  EXPECT_EQ(fitting(index, ""), Wordings{});
}

TEST(WordIndex, KeepsEveryWordWhileItGrows) {
  std::vector<std::string> words;
  for (int i = 0; i < 2000; ++i) words.push_back("word/" + std::to_string(i) + "/with/a/tail");
  const std::vector<Wording> wordings(words.size());
  WordIndex index;
  for (size_t i = 0; i < words.size(); ++i) index.add(words[i], wordings[i], "");
  index.finish();
  for (size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(index.find(words[i]).size(), 1u) << words[i];
    EXPECT_EQ(index.find(words[i]).front().wording, &wordings[i]);
  }
}

TEST(BytesAt, AreZeroBehindTheEnd) {
  EXPECT_EQ(bytes_at("abcdefghij", 2), bytes_at("cdefghij", 0));
  EXPECT_EQ(bytes_at("ab", 1), bytes_at(std::string_view("b\0\0\0\0\0\0\0", 8), 0));
  EXPECT_EQ(bytes_at("ab", 2), 0u);
  EXPECT_EQ(bytes_at("ab", 9), 0u);
}

}  // namespace
}  // namespace ncclog::testing
