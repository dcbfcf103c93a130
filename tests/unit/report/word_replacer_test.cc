// Which words are replaced, and does the number of words cost nothing?

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "report/anonymise/anonymise.h"
#include "support/cpu_growth.h"

namespace ncclog {
namespace {

std::string replaced(const WordReplacer& words, std::string_view text) {
  std::string out;
  words.append_replaced(out, text, 0, text.size());
  return out;
}

TEST(WordReplacer, TakesTheLongestThatStandsAlone) {
  WordReplacer words;
  words.add("gpu-n1", "A");
  words.add("gpu-n1.acme", "B");
  words.add("GPU-N1", "second");
  words.add("Bob", "C");
  EXPECT_EQ(replaced(words, "gpu-n1 GPU-N1.ACME gpu-n12 xgpu-n1 Bob bob"), "A B gpu-n12 xA C bob");
}

TEST(WordReplacer, ALongOneIsTakenInsideOfOthersUnlessThoseAreOrdinary) {
  WordReplacer words;
  words.add("chan", "A");
  words.add("beef", "B");
  words.add("vm1", "C");
  words.set_ordinary_words({"channel"});
  EXPECT_EQ(replaced(words, "Channel 0 xchan1 channels 0xbeef04 roastbeefy kvm1"),
            "Channel 0 xA1 Anels 0xbeef04 roastBy kvm1");
}

double time_of_hosts(int count) {
  WordReplacer words;
  std::string text;
  for (int host = 0; host < count; ++host) {
    const std::string name = fmt::format("gpu-n{:05}", host);
    words.add(name, "host");
    text += name + ' ';
  }
  return least_cpu_time([&] { replaced(words, text); });
}

TEST(WordReplacer, ManyWordsOfOneBeginningCostNoMore) {
  EXPECT_LT(time_of_hosts(12000), kMostGrowthForEightfold * time_of_hosts(1500));
}

}  // namespace
}  // namespace ncclog
