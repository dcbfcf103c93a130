#include "diagnose/calls/ras_series.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/job_from_files.h"

namespace ncclog {
namespace {

/// An answer of RAS in which rank 5 launched `fewer` operations and seven others `more`.
std::string answer(int more, int fewer) {
  return fmt::format(
      "NCCL version 2.28.9 compiled with CUDA 13.0\n"
      "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
      "    #  in group  per comm  per node  per comm  in group\n"
      "    0         1         2         4         8         8   RUNNING  MISMATCH\n"
      "#0-0 (00000000000000a7) MISMATCH\n"
      "  Communicator ranks have different AllReduce operation counts\n"
      "  7 ranks have launched up to operation {}\n"
      "  Rank 5 has launched up to operation {} -- GPU 5 managed by process 515 on node 10.1.2.4\n",
      more, fewer);
}

struct Row {
  std::string_view name;
  std::vector<std::pair<std::string, std::string>> files;
  RasTrend trend;
};

TEST(RasSeries, CountsAnAnswerOnceWhateverItsFileIsCalled) {
  const std::string stands = answer(90, 88);
  const std::string later = answer(95, 93);
  const std::vector<Row> rows = {
      {"asked twice in one file", {{"ras.log", stands + stands}}, RasTrend::Behind},
      {"a series by its numbers", {{"ras-1.txt", stands}, {"ras-2.txt", stands}}, RasTrend::Behind},
      {"a copy", {{"hang.txt", stands}, {"ras.txt", stands}}, RasTrend::Unclear},
      {"what a browser calls a copy",
       {{"ras (1).txt", stands}, {"ras.txt", stands}},
       RasTrend::Unclear},
      {"two hosts at once", {{"h1/ras.txt", stands}, {"h2/ras.txt", stands}}, RasTrend::Unclear},
      {"one name at two moments", {{"h1/ras.txt", stands}, {"h2/ras.txt", later}}, RasTrend::Grows},
      {"a copy behind a series",
       {{"ras-1.txt", stands}, {"ras-2.txt", stands}, {"sent.txt", stands}},
       RasTrend::Behind},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ras_series(testing::job_from_files(row.files)).trend, row.trend) << row.name;
  }
}

TEST(RasSeries, IsInTheOrderOfItsTimes) {
  const auto trend = [](std::vector<std::pair<std::string, int>> answers) {
    Job job;
    for (const auto& [time, operations] : answers) {
      RasReport& report = job.ras_reports.emplace_back();
      report.timestamp = "2026-01-05 12:00:" + time;
      report.nranks = 4;
      report.communicators = {{.hash = "a7", .nranks = 4, .operations = operations}};
    }
    return ras_series(job).trend;
  };
  EXPECT_EQ(trend({{"10", 400}, {"20", 480}}), RasTrend::Grows);
  EXPECT_EQ(trend({{"20", 480}, {"10", 400}}), RasTrend::Grows);
  EXPECT_EQ(trend({{"10", 400}, {"20", 400}}), RasTrend::Level);
  EXPECT_EQ(trend({{"10", 400}, {"10", 400}}), RasTrend::Unclear);
  EXPECT_EQ(trend({{"10", 400}, {"20", 480}, {"10", 400}}), RasTrend::Grows);
}

TEST(RasSeries, IsOfAJobThatRunsWhereStepsGoOn) {
  const std::string steps = "[rank0]: step 7 loss 8.3\n[rank0]: step 8 loss 8.2\n";
  const auto trend = [](std::string text) {
    return ras_series(testing::job_from_files({{"train.log", std::move(text)}})).trend;
  };
  const std::string stands = answer(90, 88);
  EXPECT_EQ(trend(steps + stands + stands), RasTrend::Behind);
  EXPECT_EQ(trend(stands + steps + stands), RasTrend::Grows);
  EXPECT_EQ(trend(stands + stands + steps), RasTrend::Grows);
  // What was printed late, by a job that stands.
  EXPECT_EQ(trend(stands + "[rank0]: step 7 loss 8.3\n" + stands), RasTrend::Behind);
}

}  // namespace
}  // namespace ncclog
