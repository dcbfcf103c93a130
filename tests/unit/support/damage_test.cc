// Does each damage do what its name says, and tell what it touched?

#include "support/damage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"

namespace ncclog::testing {
namespace {

using namespace std::string_view_literals;

/// A log of two files, no two lines alike.
RunFiles two_files() {
  RunFiles files;
  for (const std::string name : {"a.log", "b.log"}) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      text += "node-" + name.substr(0, 1) + ":41:42 [0] NCCL INFO line " + std::to_string(i) + " " +
              std::string(120, 'x') + "\n";
    }
    files.emplace_back(name, text);
  }
  return files;
}

const RunFiles kOther = {{"c.log", "node-c:7:8 [0] NCCL INFO of another job\n"}};

/// How often each line stands in the files.
std::map<std::string, int> counts_of(const RunFiles& files) {
  std::map<std::string, int> counts;
  for (const auto& [name, text] : files) {
    for (const std::string_view line : split(text, '\n')) ++counts[std::string(line)];
  }
  return counts;
}

TEST(Damage, IsAFunctionOfItsSeed) {
  for (uint64_t seed = 0; seed < all_damages().size(); ++seed) {
    EXPECT_EQ(damaged(two_files(), kOther, seed).files, damaged(two_files(), kOther, seed).files);
  }
}

TEST(Damage, ChangesSomething) {
  const RunFiles whole = two_files();
  for (uint64_t place = 0; place < all_damages().size(); ++place) {
    int changed = 0;
    for (uint64_t seed = place; seed < 250; seed += all_damages().size()) {
      changed += damaged(whole, kOther, seed).files != whole ? 1 : 0;
    }
    EXPECT_GE(changed, 7) << all_damages()[place].name;
  }
}

/// Where the form of lines stays, what is not told to be touched stands there as often as before.
TEST(Damage, TellsWhatItTouched) {
  constexpr std::string_view kOfLines[] = {"lost", "cut", "torn", "twice"};
  const RunFiles whole = two_files();
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const std::string_view name = all_damages()[seed % all_damages().size()].name;
    const bool keeps_form = std::ranges::any_of(
        kOfLines, [&](std::string_view word) { return name.find(word) != name.npos; });
    if (!keeps_form) continue;
    const DamagedRun run = damaged(whole, kOther, seed);
    std::map<std::string, int> left = counts_of(run.files);
    for (const auto& [line, count] : counts_of(whole)) {
      if (line.empty() || left[line] == count) continue;
      EXPECT_TRUE(std::ranges::count(run.touched, line) > 0) << name << ": " << line;
    }
  }
}

TEST(Damage, AddsForms) {
  struct FormRow {
    std::string_view name;
    std::string_view begins;
    std::string_view ends;
  };
  const FormRow rows[] = {
      {"lines end with CRLF", "node-a:41:42 [0] NCCL INFO line 0 x", "x\r\n"},
      {"a number before each line", "0: node-a:41:42 [0] NCCL INFO line 0 x", "x\n"},
      {"mpirun's tags", "[1,0]<stdout>:node-a:41:42 [0] NCCL INFO line 0 x", "x\n"},
      {"a node before each line", "node1: node-a:41:42 [0] NCCL INFO line 0 x", "x\n"},
      {"a collector's JSON", R"({"log":"node-a:41:42 [0] NCCL INFO line 0 x)",
       R"(\n","stream":"stdout","time":"2026-01-05T12:00:00.000000001Z"})"
       "\n"},
      {"all lines of one pid", "node-a:77:77 [0] NCCL INFO line 0 x", "x\n"},
      {"no host", "41:42 [0] NCCL INFO line 0 x", "x\n"},
  };
  for (const FormRow& row : rows) {
    const auto* damage = std::ranges::find(all_damages(), row.name, &Damage::name).base();
    const auto place = static_cast<uint64_t>(damage - all_damages().data());
    ASSERT_LT(place, all_damages().size()) << row.name;
    const std::string text = damaged(two_files(), kOther, place).files.front().second;
    EXPECT_TRUE(text.starts_with(row.begins)) << text.substr(0, 80);
    EXPECT_TRUE(text.ends_with(row.ends)) << text.substr(text.size() - 80);
  }
}

TEST(Damage, MixesTwoJobs) {
  const auto last = all_damages().size() - 1;
  const DamagedRun run = damaged(two_files(), kOther, last);
  ASSERT_EQ(run.files.size(), 1u);
  const auto counts = counts_of(run.files);
  EXPECT_EQ(counts.size(), 122u);  // Two times 60, one, and what follows the last line end.
}

TEST(Damage, WritesUtf16) {
  EXPECT_EQ(utf16_of("a\xc3\xa9", false),
            "\xff\xfe"
            "a\0\xe9\0"sv);
  EXPECT_EQ(utf16_of("\xf0\x9f\x98\x80", true, false), "\xd8\x3d\xde\x00"sv);
}

}  // namespace
}  // namespace ncclog::testing
