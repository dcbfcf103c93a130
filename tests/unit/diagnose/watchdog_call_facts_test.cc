#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diagnose/watchdog_calls.h"
#include "support/call_log.h"
#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::CallLog;
using testing::fact_of;

constexpr std::string_view kOnCall = "job.watchdogs_on_call";
constexpr std::string_view kDisagrees = "job.watchdog_disagrees";

struct FitCase {
  std::string_view what;
  CallSignature call;
  std::string_view op;
  int64_t in;
  int64_t out;
  bool fits;
};

const FitCase kFits[] = {
    {"what all give", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, true},
    {"another size", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 9, 9, false},
    {"another function", {"Broadcast", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, false},
    {"an AllGather counts what one rank gives",
     {"AllGather", 8, 7, 0, 0},
     "_ALLGATHER_BASE",
     8,
     64,
     true},
    {"up to 2.21 in bytes", {"AllGather", 32, 0, 0, 0}, "_ALLGATHER_BASE", 8, 64, true},
    {"a ReduceScatter counts what one rank gets",
     {"ReduceScatter", 8, 7, 0, 0},
     "_REDUCE_SCATTER_BASE",
     64,
     8,
     true},
    {"an all-to-all is many calls", {"Send", 8, 7, 0, 0}, "ALLTOALL_BASE", 8, 8, false},
    {"no size printed", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", -1, -1, false},
};

TEST(WatchdogCalls, FitByOperationAndSize) {
  for (const FitCase& row : kFits) {
    TimedOutWork work;
    work.op = row.op;
    work.numel_in = row.in;
    work.numel_out = row.out;
    EXPECT_EQ(fits(row.call, work), row.fits) << row.what;
  }
}

/// `nranks` ranks that made one AllReduce of 512 together.
CallLog world(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  for (int rank = 0; rank < nranks; ++rank) log.call(rank, 1);
  return log;
}

std::string timeout(int rank, int seq, std::string_view op, int64_t numel) {
  return fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn={3}, NumelOut={3}, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n",
      rank, seq, op, numel);
}

TEST(WatchdogCalls, AreTiedToTheCallOfTheFinding) {
  const std::string missing = world(3).call(0, 1).call(2, 1).text();
  EXPECT_EQ(
      fact_of(kOnCall, missing + timeout(0, 2, "ALLREDUCE", 512) + timeout(2, 2, "ALLREDUCE", 512))
          .what,
      ". The watchdogs of ranks 0,2 gave up on it as SeqNum 2");
  EXPECT_EQ(fact_of(kOnCall, missing + timeout(0, 2, "ALLREDUCE", 64)).what, "");
  const std::string differ = world(3).call(0, 1).call(1, 1).call(2, 1, "AllReduce", 64).text();
  EXPECT_EQ(
      fact_of(kOnCall, differ + timeout(0, 2, "ALLREDUCE", 512) + timeout(2, 2, "ALLREDUCE", 64))
          .what,
      ". The watchdogs of ranks 0,2 gave up on it as SeqNum 2");
  EXPECT_EQ(fact_of(kOnCall, world(3).text() + timeout(1, 1, "ALLREDUCE", 512)).what,
            ". The watchdogs of rank 1 gave up on it as SeqNum 1");
}

TEST(WatchdogCalls, DisagreeOnlyWhereTheLogShowsAllCalls) {
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + timeout(0, 1, "ALLREDUCE", 512)), "no");
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + timeout(0, 1, "BROADCAST", 512)), "yes");
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + timeout(0, 1, "ALLREDUCE", 5000)), "yes");
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + timeout(0, 1, "ALLTOALL_BASE", 4096)), "no");
  EXPECT_EQ(answer_of(kDisagrees, timeout(0, 1, "BROADCAST", 512)), "no");
}

}  // namespace
}  // namespace ncclog
