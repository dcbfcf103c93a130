#include "bench/speed_results.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "bench/timed_runs.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

TEST(SpeedResults, CriterionSaysWhetherItHolds) {
  struct Row {
    Criterion criterion;
    const char* text;
  };
  const Row rows[] = {
      {{.what = "a to b", .limit = 1.5, .measured = 1.5},
       "a to b: at most 1.50, measured 1.50: holds"},
      {{.what = "a to b", .limit = 1.5, .measured = 1.51},
       "a to b: at most 1.50, measured 1.51: does not hold"},
      {{.what = "speed", .limit = 400, .measured = 399, .is_minimum = true, .unit = "MB/s"},
       "speed: at least 400 MB/s, measured 399 MB/s: does not hold"},
      {{.what = "speed", .limit = 400, .measured = 400, .is_minimum = true, .unit = "MB/s"},
       "speed: at least 400 MB/s, measured 400 MB/s: holds"},
      {{.what = "a to rg", .limit = 2, .reason = "no rg here"},
       "a to rg: at most 2.00, no rg here: not measured"},
  };
  for (const Row& row : rows) EXPECT_EQ(verdict_text(row.criterion), row.text);
}

TEST(SpeedResults, DocumentHoldsRecipeLimitsAndRuns) {
  SpeedResults results{.recipe = "./dev bench --bytes 5", .machine = {"2 cores"}};
  results.criteria = {{.what = "a | b to c", .limit = 2, .measured = 1, .by_cpu = 1.5}};
  results.reports = {{"1 to 8 threads", true}, {"plain and .gz", false}};
  results.tables = {{"a log", 5'000'000, 25'000, {{"wc -l", 0.5, 0.25, 2}}}};
  results.instructions = "a | b | 3\n";
  const std::string text = results_text(results);
  for (const char* part :
       {"    ./dev bench --bytes 5\n", "- 2 cores\n",
        "| a \\| b to c | at most 2.00 | 1.00 | 1.50 | holds |\n",
        "| 1 to 8 threads | the same bytes |\n", "| plain and .gz | **differ** |\n",
        "**a log**: 5 MB, 0.03 million lines\n", "| `wc -l` | 0.500 | 0.250 | 10 | 2 |\n",
        "```\na | b | 3\n```\n"}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\nis not in\n" << text;
  }
}

TEST(TimedRuns, MedianIsTheMiddleOne) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({7}), 7);
}

TEST(TimedRuns, RunsTakeTurnsAndKeepTheirNames) {
  const TempDir folder;
  const std::string turns = folder.add("turns", "");
  const auto runs = run_in_turns({{"a", "printf a >>" + turns}, {"b", "printf b >>" + turns}}, 3);
  EXPECT_EQ(read_file(turns), "ababab");
  EXPECT_EQ(timed(runs, "b").name, "b");
  EXPECT_GT(timed(runs, "b").seconds, 0);
  EXPECT_THROW(timed(runs, "other"), std::out_of_range);
}

TEST(TimedRuns, CommandThatCannotRunIsNoTime) {
  EXPECT_THROW(run_in_turns({{"gone", "exec no-such-program"}}, 1), std::runtime_error);
}

}  // namespace
}  // namespace ncclog::testing
