// A report is read at night on a terminal: that of the largest job has to fit on it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "report/report.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

constexpr int kManyRanks = 1024;
constexpr int kLate = 700;

std::string nccl_line(int rank, std::string_view message) {
  return fmt::format("dgx-{:03}:{}:{} [{}] NCCL INFO {}\n", rank / 8, 40000 + rank, 40000 + rank,
                     rank % 8, message);
}

std::string rank_lines(int rank, int calls) {
  const int dev = rank % 8;
  std::string text = nccl_line(
      rank, fmt::format("ncclCommInitRankConfig comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} "
                        "busId {:x} commId 0x55 - Init COMPLETE",
                        0x1000 + rank, rank, kManyRanks, dev, dev, (dev + 1) << 12));
  for (int i = 0; i < calls; ++i) {
    text += nccl_line(rank, fmt::format("AllReduce: opCount {:x} sendbuff 0x1 recvbuff 0x1 count "
                                        "1048576 datatype 7 op 0 root 0 comm {:#x} [nranks={}] "
                                        "stream 0x5",
                                        i, 0x1000 + rank, kManyRanks));
  }
  return text;
}

std::string timeout_line(int rank) {
  return fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1048576, "
      "NumelOut=1048576, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n",
      rank);
}

TEST(OneScreen, HoldsTheReportOfAHangOf1024Ranks) {
  std::string log;
  for (int rank = 0; rank < kManyRanks; ++rank) log += rank_lines(rank, rank == kLate ? 2 : 3);
  for (int rank = 0; rank < kManyRanks; ++rank) {
    if (rank != kLate) log += timeout_line(rank);
  }
  const Report report = testing::report_on_text(log);
  ASSERT_FALSE(report.diagnosis.findings.empty());
  EXPECT_EQ(report.diagnosis.findings.front().id, "collective-rank-missing");
  EXPECT_EQ(report.diagnosis.findings.front().ranks, std::vector<int>{kLate});
  const std::string text = write_text(report, {});
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_LE(lines, 40) << text;
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 110u) << line;
  EXPECT_NE(text.find("ranks 0-699,701-1023 entered call 3"), std::string::npos) << text;
}

}  // namespace
}  // namespace ncclog
