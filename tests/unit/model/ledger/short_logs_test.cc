#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/build_job.h"
#include "model/ledger/call_ledger.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;

/// Four ranks that made `all` calls each, but for the last one, whose log shows `last`.
CallLog logged(int all, int last, std::string_view op_of_last = "AllReduce") {
  CallLog log;
  for (int rank = 0; rank < 4; ++rank) log.init(rank, 4, 1);
  for (int call = 0; call < all; ++call) {
    for (int rank = 0; rank < 3; ++rank) log.call(rank, 1);
    if (call < last) log.call(3, 1, op_of_last);
  }
  return log;
}

/// Rank `rank` gave up on collective `seq` of the group of all ranks, and saw `completed`
/// completed.
std::string gave_up(int rank, int seq, int completed, std::string_view op = "ALLREDUCE",
                    std::string_view group = "0(default_pg)") {
  return fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=512, NumelOut=512, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n"
      "[rank{0}]:[E209 11:22:33.123456799 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID {4} Rank "
      "{0}]  failure detected by watchdog at work sequence id: {1} PG status: last enqueued work: "
      "{1}, last completed work: {3}\n",
      rank, seq, op, completed, group);
}

struct ShortCase {
  std::string_view what;
  std::string text;
  std::string_view answer;
};

/// "rank 3: 2 of 5, ends early", one after the other.
std::string described(const Job& job) {
  std::string text;
  for (const ShortLog& log : short_logs(job)) {
    text +=
        fmt::format("rank {}: {} of {}, {}", job.processes[static_cast<size_t>(log.process)].rank,
                    log.shown, log.made, log.ends_early ? "ends early" : "lacks some");
  }
  return text;
}

TEST(ShortLogs, WhatAWatchdogSawCompletedAllRanksHadEntered) {
  const std::string two = gave_up(0, 6, 5) + gave_up(1, 6, 5);
  const ShortCase cases[] = {
      {"a file that ends early", logged(6, 2).text() + two, "rank 3: 2 of 5, ends early"},
      {"lines between are missing", logged(6, 2, "Broadcast").text() + two,
       "rank 3: 2 of 5, lacks some"},
      {"the late rank of an honest log", logged(6, 5).text() + two, ""},
      {"one call less may be on its way", logged(6, 4).text() + two, ""},
      {"one watchdog is no agreement", logged(6, 2).text() + gave_up(0, 6, 5), ""},
      {"works that are not the calls of their numbers",
       logged(6, 2).text() + two + gave_up(2, 5, 4, "BROADCAST"), ""},
      {"numbers of another group",
       logged(6, 2).text() + gave_up(0, 6, 5, "ALLREDUCE", "3(tp)") +
           gave_up(1, 6, 5, "ALLREDUCE", "3(tp)"),
       ""},
      {"messages move the numbers",
       logged(6, 2).call(0, 1, "Send", 512, 1).call(1, 1, "Recv", 512, 0).text() + two, ""},
      {"nobody says anything", logged(6, 2).text(), ""},
  };
  for (const ShortCase& row : cases) {
    EXPECT_EQ(described(job_from_text(row.text)), row.answer) << row.what;
  }
}

TEST(ShortLogs, AreNotCounted) {
  const std::string two = gave_up(0, 6, 5) + gave_up(1, 6, 5);
  const auto coverage = [&](const std::string& text) {
    const Job job = job_from_text(text);
    const Communicator& comm = job.communicators.front();
    return call_coverage(job, comm, comm.ranks[3]);
  };
  EXPECT_EQ(coverage(logged(6, 5).text() + two), CallCoverage::Counted);
  EXPECT_EQ(coverage(logged(6, 2).text() + two), CallCoverage::AtLeast);
  EXPECT_EQ(coverage(logged(6, 2, "Broadcast").text() + two), CallCoverage::Unknown);
}

}  // namespace

}  // namespace ncclog
