#include "log/word_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ncclog {
namespace {

std::vector<const WordingPattern*> fitting(const WordIndex& index, std::string_view text) {
  const std::string_view word = first_word(text);
  std::vector<const WordingPattern*> patterns;
  for (const Candidate& candidate : index.find(word)) {
    if (candidate.may_fit(bytes_at(text, word.size()))) patterns.push_back(candidate.pattern);
  }
  return patterns;
}

TEST(WordIndex, FindsByWordAndByWhatStandsBehindIt) {
  const WordingPattern rings;
  const WordingPattern trees;
  const WordingPattern any;
  WordIndex index;
  index.add("Connected", rings, " all rings");
  index.add("Connected", any, "");
  index.add("Connected", trees, " all trees");
  using Patterns = std::vector<const WordingPattern*>;
  EXPECT_EQ(fitting(index, "Connected all rings"), (Patterns{&rings, &any}));
  EXPECT_EQ(fitting(index, "Connected all trees"), (Patterns{&any, &trees}));
  EXPECT_EQ(fitting(index, "Connected al"), (Patterns{&any}));
  EXPECT_EQ(fitting(index, "Connected"), (Patterns{&any}));
  EXPECT_EQ(fitting(index, "Connecte"), Patterns{});
  EXPECT_EQ(fitting(index, "Connected2 all rings"), Patterns{});
  EXPECT_EQ(fitting(index, ""), Patterns{});
}

TEST(WordIndex, KeepsEveryWordWhileItGrows) {
  std::vector<std::string> words;
  for (int i = 0; i < 2000; ++i) words.push_back("word/" + std::to_string(i) + "/with/a/tail");
  const std::vector<WordingPattern> patterns(words.size());
  WordIndex index;
  for (size_t i = 0; i < words.size(); ++i) index.add(words[i], patterns[i], "");
  for (size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(index.find(words[i]).size(), 1u) << words[i];
    EXPECT_EQ(index.find(words[i]).front().pattern, &patterns[i]);
  }
}

TEST(BytesAt, AreZeroBehindTheEnd) {
  EXPECT_EQ(bytes_at("abcdefghij", 2), bytes_at("cdefghij", 0));
  EXPECT_EQ(bytes_at("ab", 1), bytes_at(std::string_view("b\0\0\0\0\0\0\0", 8), 0));
  EXPECT_EQ(bytes_at("ab", 2), 0u);
  EXPECT_EQ(bytes_at("ab", 9), 0u);
}

}  // namespace
}  // namespace ncclog
