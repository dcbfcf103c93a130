#include "app/read_again.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/read_job.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::compressed;
using testing::TempDir;

std::string line(int rank, std::string_view message) {
  return fmt::format("n3:{0}:{0} [{1}] NCCL INFO {2}\n", 50 + rank, rank, message);
}

std::string init(int rank) {
  return line(rank,
              fmt::format("ncclCommInitRank comm 0x{0}0 rank {0} nranks 2 cudaDev {0} nvmlDev "
                          "{0} busId {1}000 commId 0x77 - Init COMPLETE",
                          rank, rank + 1));
}

std::string call(int rank, int64_t count) {
  return line(rank, fmt::format("AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count {} datatype "
                                "7 op 0 root 0 comm 0x{}0 [nranks=2] stream 0x5",
                                count, rank));
}

/// A rank that made `calls` calls of sizes 0, 1, 2 …, but for call number `odd`.
std::string rank_file(int rank, int calls, int odd) {
  std::string text = init(rank);
  for (int i = 0; i < calls; ++i) text += call(rank, i == odd ? 1000000 : i);
  return text;
}

struct Row {
  const char* name;
  int odd;
};

class DeepDifference : public ::testing::TestWithParam<Row> {};

TEST_P(DeepDifference, IsFoundExactlyHoweverTheInputIsCut) {
  const TempDir dir;
  const std::vector<std::string> inputs = {dir.add("a.txt", rank_file(0, 5000, -1)),
                                           dir.add("b.txt", rank_file(1, 5000, GetParam().odd))};
  for (const uint64_t unit_bytes : {uint64_t{3000}, uint64_t{50000}, uint64_t{1} << 30}) {
    const Job job = read_job(inputs, {.threads = 2, .unit_bytes = unit_bytes});
    ASSERT_EQ(job.communicators.size(), 1u);
    const auto& difference = job.communicators[0].difference;
    ASSERT_TRUE(difference.has_value()) << unit_bytes;
    EXPECT_TRUE(difference->is_exact()) << unit_bytes;
    EXPECT_EQ(difference->index, static_cast<uint64_t>(GetParam().odd)) << unit_bytes;
    ASSERT_EQ(difference->camps.size(), 2u);
    EXPECT_EQ(difference->camps[0].call.call.count, GetParam().odd);
    EXPECT_EQ(difference->camps[1].call.call.count, 1000000);
    EXPECT_EQ(file_line(job, difference->camps[1].call.where).line,
              static_cast<uint64_t>(GetParam().odd) + 2);
  }
}

TEST_P(DeepDifference, IsFoundExactlyInStreams) {
  const TempDir dir;
  const std::vector<std::string> inputs = {
      dir.add("a.gz", compressed(Compression::Gzip, rank_file(0, 5000, -1))),
      dir.add("b.zst", compressed(Compression::Zstd, rank_file(1, 5000, GetParam().odd)))};
  const Job job = read_job(inputs, {.threads = 3, .unit_bytes = 20000});
  ASSERT_EQ(job.communicators.size(), 1u);
  const auto& difference = job.communicators[0].difference;
  ASSERT_TRUE(difference.has_value());
  EXPECT_TRUE(difference->is_exact());
  EXPECT_EQ(difference->index, static_cast<uint64_t>(GetParam().odd));
  ASSERT_EQ(difference->camps.size(), 2u);
  EXPECT_EQ(file_line(job, difference->camps[1].call.where).line,
            static_cast<uint64_t>(GetParam().odd) + 2);
}

INSTANTIATE_TEST_SUITE_P(Rows, DeepDifference,
                         ::testing::Values(Row{"AtTheFirstCall", 0}, Row{"NearTheBeginning", 77},
                                           Row{"AtACheckpoint", 128}, Row{"InTheMiddle", 2500},
                                           Row{"AmongTheLastCalls", 4990}, Row{"AtTheEnd", 4999}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ReadAgain, FillsInTheTextsOfLinesThatAreKnownByPlaceOnly) {
  const TempDir dir;
  const std::vector<std::string> inputs = {dir.add("a.txt", rank_file(0, 300, -1))};
  const ReadJob read = read_job_with_units(inputs, {.threads = 1, .unit_bytes = 4000});
  std::vector<Finding> findings(1);
  const CommSegment& segment = read.job.logs[0].comms.all[0];
  findings[0].evidence = {
      {segment.calls.last, {}}, {{0, 999999}, {}}, {segment.calls.first, "kept"}};
  fill_evidence(inputs, read.units, findings);
  EXPECT_EQ(findings[0].evidence[0].text + "\n", call(0, 299));
  EXPECT_EQ(findings[0].evidence[1].text, "");
  EXPECT_EQ(findings[0].evidence[2].text, "kept");
}

TEST(ReadAgain, AFileThatIsGoneLeavesTextsEmpty) {
  const TempDir dir;
  const std::string path = dir.add("a.txt", rank_file(0, 3, -1));
  const ReadJob read = read_job_with_units(std::vector{path}, {.threads = 1});
  std::filesystem::remove(path);
  std::vector<Finding> findings(1);
  findings[0].evidence = {{read.job.logs[0].first, {}}};
  fill_evidence(std::vector{path}, read.units, findings);
  EXPECT_EQ(findings[0].evidence[0].text, "");
}

}  // namespace
}  // namespace ncclog
