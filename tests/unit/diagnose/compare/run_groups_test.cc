#include "diagnose/compare/run_groups.h"

#include <gtest/gtest.h>

#include <vector>

namespace ncclog {
namespace {

/// A run of which only this is known.
ComparedRun run_with(const Job& job, std::string_view version) {
  ComparedRun run{job, {}};
  FactValue fact{.value = std::string(version), .of = "NCCL"};
  run.facts.try_emplace({Topic::Version, "NCCL"}, std::move(fact));
  return run;
}

std::vector<ComparedRun> runs_with(const Job& job, std::vector<std::string_view> versions) {
  std::vector<ComparedRun> runs;
  for (const std::string_view version : versions) runs.push_back(run_with(job, version));
  return runs;
}

TEST(RunGroups, SayHowLikelyAFactGoesAlongByChance) {
  struct GroupRow {
    std::vector<std::string_view> good;
    std::vector<std::string_view> bad;
    std::string_view value;
    double chance;
    int more_runs;
  };
  // Chances are those of Fisher's exact test, one-sided, by hand: C(3,2)·C(1,0)/C(4,2), …
  const GroupRow kRows[] = {
      {{"a", "b"}, {"a", "a"}, "a", 0.5, 8},
      {{"b", "b", "b"}, {"a", "a", "a"}, "a", 0.05, 0},
      {{"b", "b", "b"}, {"a"}, "a", 0.25, 4},
      {{"b"}, {"a"}, "a", 0.5, 4},
  };
  const Job job;
  for (const GroupRow& row : kRows) {
    const FactsOfFailures facts =
        facts_of_failures(runs_with(job, row.good), runs_with(job, row.bad));
    ASSERT_EQ(facts.rows.size(), 1U);
    EXPECT_EQ(facts.rows[0].value, row.value);
    EXPECT_NEAR(facts.rows[0].chance, row.chance, 1e-6);
    EXPECT_EQ(facts.rows[0].more_runs, row.more_runs);
    EXPECT_EQ(facts.varied, 1);
  }
}

TEST(RunGroups, SayNothingOfWhatAllRunsHave) {
  const Job job;
  const FactsOfFailures facts =
      facts_of_failures(runs_with(job, {"a", "a"}), runs_with(job, {"a"}));
  EXPECT_TRUE(facts.rows.empty());
  EXPECT_EQ(facts.compared, 1);
  EXPECT_EQ(facts.varied, 0);
}

TEST(RunGroups, CountNoRunThatDoesNotTell) {
  const Job job;
  std::vector<ComparedRun> good = runs_with(job, {"b", "b"});
  good.push_back({job, {}});
  const FactsOfFailures facts = facts_of_failures(good, runs_with(job, {"a"}));
  ASSERT_EQ(facts.rows.size(), 1U);
  EXPECT_EQ(facts.rows[0].without.runs, 2);
}

TEST(RunGroups, BoundSharesByTheNumberOfRuns) {
  // Clopper and Pearson: 1 - 0.025^(1/3) of none of three.
  const ShareBounds none = share_bounds({0, 3});
  EXPECT_EQ(none.least, 0);
  EXPECT_NEAR(none.most, 0.70760, 1e-4);
  EXPECT_EQ(share_bounds({2, 2}).most, 1);
  EXPECT_EQ(share_bounds({}).least, 0);
  EXPECT_EQ(share_bounds({}).most, 1);
}

}  // namespace
}  // namespace ncclog
