#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "replay/run/processes.h"
#include "support/replay_trial.h"

namespace ncclog::testing {
namespace {

/// "run-1-defect NCCL_ALGO=Ring; run-2-clean NCCL_ALGO=Ring"
std::string listed(const ReplayPlan& plan, const RunFlags& flags) {
  std::string text;
  try {
    for (const ListedRun& run : list_runs(plan, flags).runs) {
      if (!text.empty()) text += "; ";
      text += run.folder;
      for (const auto& [name, value] : run.varied) text += " " + name + "=" + value;
    }
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  }
  return text;
}

struct RunListRow {
  const char* what;
  RunFlags flags;
  const char* list;
};

const RunListRow kRunLists[] = {
    {"both modes", {}, "run-1-defect; run-2-clean"},
    {"one mode", {.mode = "clean"}, "run-1-clean"},
    {"two variables",
     {.mode = "clean", .vary = {"NCCL_P2P_DISABLE=0,1", "NCCL_ALGO=Ring,Tree"}},
     "run-1-clean NCCL_P2P_DISABLE=0 NCCL_ALGO=Ring; run-2-clean NCCL_P2P_DISABLE=0 "
     "NCCL_ALGO=Tree; run-3-clean NCCL_P2P_DISABLE=1 NCCL_ALGO=Ring; run-4-clean "
     "NCCL_P2P_DISABLE=1 NCCL_ALGO=Tree"},
    {"modes within a variation",
     {.vary = {"NCCL_ALGO=Ring,Tree"}},
     "run-1-defect NCCL_ALGO=Ring; run-2-clean NCCL_ALGO=Ring; run-3-defect NCCL_ALGO=Tree; "
     "run-4-clean NCCL_ALGO=Tree"},
    {"an empty value",
     {.mode = "clean", .vary = {"NCCL_ALGO=,Tree"}},
     "run-1-clean NCCL_ALGO=; run-2-clean NCCL_ALGO=Tree"},
    {"a setting that is none",
     {.set = {"PATH=/x"}},
     "refused: a replay sets variables of NCCL only, and 'PATH' is none"},
    {"a variation that is none",
     {.vary = {"NCCL_ALGO"}},
     "refused: 'NCCL_ALGO' is no setting: NAME=VALUE is wanted"},
    {"too many",
     {.vary = {"NCCL_A=1,2,3,4,5", "NCCL_B=1,2,3,4,5", "NCCL_C=1,2,3,4,5", "NCCL_D=1,2,3,4,5"}},
     "refused: these are more than 128 runs"},
};

TEST(ListRuns, MakesEachVariationInEachMode) {
  for (const RunListRow& row : kRunLists) {
    EXPECT_EQ(listed(two_rank_plan(), row.flags), row.list) << row.what;
  }
}

TEST(ListRuns, MakesOneRunOfAPlanWithoutADefect) {
  ReplayPlan plan = two_rank_plan();
  for (PlannedRank& rank : plan.ranks) {
    for (PlannedCall& call : rank.calls) call.made_in = MadeIn::Both;
  }
  EXPECT_EQ(listed(plan, {}), "run-1-clean");
  EXPECT_EQ(listed(plan, {.mode = "defect"}),
            "refused: the plan has no defect: its two runs would be the same");
}

TEST(RunFlags, AreReadAsTheyAreWritten) {
  CLI::App app;
  RunFlags flags;
  add_run_flags(*app.add_subcommand("run"), flags);
  std::vector<std::string> words = {
      "run",        "--set",  "NCCL_ALGO=Ring", "plan.json", "--out",    "result",  "--mode",
      "clean",      "--vary", "NCCL_A=0,1",     "--vary",    "NCCL_B=x", "--hosts", "2",
      "--devices",  "1,0",    "--share",        "--nccl",    "lib.so",   "--time",  "20",
      "--deadline", "9",      "--multicast",    "--corrupt", "1:2:3"};
  std::reverse(words.begin(), words.end());
  app.parse(words);
  const RunFlags expected = {.plan = "plan.json",
                             .out = "result",
                             .mode = "clean",
                             .hosts = 2,
                             .set = {"NCCL_ALGO=Ring"},
                             .vary = {"NCCL_A=0,1", "NCCL_B=x"},
                             .devices = {1, 0},
                             .share = true,
                             .nccl = "lib.so",
                             .time_runs = 20,
                             .deadline = 9,
                             .multicast = true,
                             .corrupt = "1:2:3"};
  EXPECT_EQ(flags, expected);
}

}  // namespace
}  // namespace ncclog::testing
