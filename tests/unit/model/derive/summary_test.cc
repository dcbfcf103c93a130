#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/build_job.h"
#include "model/shard/shard.h"

namespace ncclog {
namespace {

constexpr std::string_view kRow =
    "8388608 2097152 float sum -1 4915.3 1.71 3.20 0 5012.1 1.67 3.14 2\n";

const std::string kConfig =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 8388608 step: 2(factor) warmup iters: 5 iters: 20 agg "
    "iters: 1 validation: 1 graph: 0\n"
    "#  Rank  0 Group  0 Pid    855 on gpu-a device  0 [0xa4] NVIDIA A100-SXM4-80GB\n"
    "#  Rank  1 Group  0 Pid    855 on gpu-a device  1 [0xa9] NVIDIA A100-SXM4-80GB\n";

const std::string kSums = "# Out of bounds values : 1 FAILED\n# Avg bus bandwidth    : 3.17\n#\n";

/// "all_reduce_perf 2 ranks 1 rows 3.17 wrong 1; …"
std::string runs_of(const std::string& log) {
  std::string text;
  for (const NcclTestsRun& run : job_from_text(log).nccl_tests) {
    text += fmt::format("{} {} ranks {} rows {} wrong {}; ", run.test, run.nranks, run.rows.size(),
                        run.busbw, run.out_of_bounds);
  }
  return text;
}

TEST(BuildNcclTests, ARunEndsWhereTheNextOneBegins) {
  const std::string run = kConfig + std::string(kRow) + std::string(kRow) + kSums;
  EXPECT_EQ(runs_of(run), " 2 ranks 2 rows 3.17 wrong 1; ");
  EXPECT_EQ(runs_of(run + run), " 2 ranks 2 rows 3.17 wrong 1;  2 ranks 2 rows 3.17 wrong 1; ");
  const std::string noise = "gpu-a:855:855 [0] NCCL INFO cudaDriverVersion 12040\n";
  EXPECT_EQ(runs_of(kConfig + noise + std::string(kRow) + noise + kSums),
            " 2 ranks 1 rows 3.17 wrong 1; ");
}

TEST(BuildNcclTests, AQuotedTableWithoutBeginningIsARun) {
  EXPECT_EQ(runs_of(std::string(kRow) + kSums), " -1 ranks 1 rows 3.17 wrong 1; ");
  EXPECT_EQ(runs_of(std::string(kRow)), " -1 ranks 1 rows  wrong -1; ");
  EXPECT_EQ(runs_of("no table\n"), "");
}

TEST(BuildNcclTests, RunsHaveTheNameThatIsPrintedOrThatOfTheCommand) {
  EXPECT_EQ(runs_of("# Collective test starting: all_gather_perf\n" + kConfig + std::string(kRow)),
            "all_gather_perf 2 ranks 1 rows  wrong -1; ");
  EXPECT_EQ(
      runs_of("$ mpirun -np 2 ./build/all_reduce_perf -b 8 -e 8M\n" + kConfig + std::string(kRow) +
              kSums + "$ ./sendrecv_perf\n" + kConfig),
      "all_reduce_perf 2 ranks 1 rows 3.17 wrong 1; sendrecv_perf 2 ranks 0 rows  wrong -1; ");
}

TEST(BuildNcclTests, WrongValuesAreCountsOnly) {
  struct Row {
    std::string_view printed;
    int64_t count;
  };
  const Row kRows[] = {{"0", 0},    {"12", 12}, {"1.2e+06", 1200000}, {"2e-07", -1}, {"4e+00", -1},
                       {"N/A", -1}, {"", -1},   {"nan", -1},          {"e+09", -1}};
  for (const Row& row : kRows) {
    EXPECT_EQ(nccl_tests_wrong_values(row.printed), row.count) << row.printed;
  }
}

TEST(BuildNcclTests, LinesAreKeptWhateverTheCut) {
  const std::string run = kConfig + std::string(kRow) + std::string(kRow) + kSums;
  for (size_t cut = run.find('\n') + 1; cut < run.size(); cut = run.find('\n', cut) + 1) {
    Shard whole = read_text(run.substr(0, cut));
    whole.merge(read_text(run.substr(cut)));
    uint64_t lines = 0;
    for (const auto& [speaker, log] : whole.speakers) lines += log.benchmarks->kept.size();
    EXPECT_EQ(lines, 7u) << cut;
  }
}

}  // namespace

}  // namespace ncclog
