#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/wording/wording_table.h"

namespace ncclog {
namespace {

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
}  // namespace ncclog
