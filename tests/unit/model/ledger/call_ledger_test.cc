// Law: one front answers "who is behind?" whoever tells of the calls.

#include "model/ledger/call_ledger.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/read/read_example.h"
#include "base/text.h"
#include "model/derive/build_job.h"
#include "support/call_log.h"
#include "support/dump_line.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::DumpLine;

/// "front 28: behind 5, ahead 0-4,6,7, unknown 3": of the source's first account, by rank.
std::string front_text(const Job& job, CallSource source) {
  const auto& accounts = call_ledger(job, source);
  if (accounts.empty()) return "no account";
  const CallAccount& account = accounts.front();
  const CallFront front = front_of(account);
  std::string text = fmt::format("front {}", front.front);
  const auto add = [&](std::string_view name, const std::vector<int>& members) {
    std::vector<int> ranks;
    for (const int m : members) ranks.push_back(account.ranks[static_cast<size_t>(m)].rank);
    if (!ranks.empty()) text += fmt::format(", {} {}", name, ranges_text(ranks));
  };
  add("behind", front.behind);
  add("ahead", front.ahead);
  add("unknown", front.unknown);
  return text;
}

/// What the watchdog of a rank says when it gives up on `seq`, or, with seq 0, when another one has.
std::string watchdog(int rank, int seq, int enqueued, int completed) {
  if (seq == 0) {
    return fmt::format(
        "[rank{0}]:[E209 11:22:37.123456799 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID "
        "0(default_pg) Rank {0}] Received a dump signal due to a collective timeout from  rank 0 "
        "and we will try our best to dump the debug info. Last enqueued NCCL work: {1}, last "
        "completed NCCL work: {2}.This is most likely caused by incorrect usages of collectives\n",
        rank, enqueued, completed);
  }
  return fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n"
      "[rank{0}]:[E209 11:22:33.123456799 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID "
      "0(default_pg) Rank {0}]  failure detected by watchdog at work sequence id: {1} PG status: "
      "last enqueued work: {2}, last completed work: {3}\n",
      rank, seq, enqueued, completed);
}

CallLog three_ranks(int first, int second, int third) {
  CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1);
  for (int call = 0; call < 9; ++call) {
    if (call < first) log.call(0, 1);
    if (call < second) log.call(1, 1);
    if (call < third) log.call(2, 1);
  }
  return log;
}

struct FrontCase {
  std::string_view what;
  CallSource source;
  std::string text;
  std::string_view front;
};

const FrontCase kFronts[] = {
    {"lines: a rank made one less", CallSource::Lines, three_ranks(3, 3, 2).text(),
     "front 2, behind 2, ahead 0,1"},
    {"lines: all alike", CallSource::Lines, three_ranks(3, 3, 3).text(), "front 3"},
    {"lines: who runs ahead by more is ahead of the same call", CallSource::Lines,
     three_ranks(5, 3, 2).text(), "front 2, behind 2, ahead 0,1"},
    {"dumps: two wait in the third call, one made two", CallSource::Recorder,
     DumpLine(3).done(1).done(2).open(3).text() + DumpLine(3).done(1).done(2).open(3).text() +
         DumpLine(3).done(1).done(2).text(),
     "front 2, behind 2, ahead 0,1"},
    {"dumps: who is behind waits in an earlier call", CallSource::Recorder,
     DumpLine(3).done(1).done(2).open(3).text() + DumpLine(3).done(1).done(2).open(3).text() +
         DumpLine(3).done(1).open(2).text(),
     "front 2"},
    {"dumps: who is ahead does not wait in that call", CallSource::Recorder,
     DumpLine(3).done(1).done(2).done(3).text() + DumpLine(3).done(1).done(2).open(3).text() +
         DumpLine(3).done(1).done(2).text(),
     "front 2"},
    {"watchdogs: hosts went on to enqueue behind the call that they wait in", CallSource::Watchdog,
     watchdog(0, 3, 7, 2) + watchdog(1, 3, 5, 2) + watchdog(2, 0, 2, 2),
     "front 2, behind 2, ahead 0,1"},
    {"watchdogs: what a rank says later is of a later moment", CallSource::Watchdog,
     watchdog(0, 3, 3, 2) + watchdog(1, 3, 3, 2) + watchdog(2, 0, 2, 2) + watchdog(2, 3, 3, 2),
     "front 2, behind 2, ahead 0,1"},
    {"watchdogs: who gave up on an earlier call is stuck there", CallSource::Watchdog,
     watchdog(0, 3, 3, 2) + watchdog(1, 3, 3, 2) + watchdog(2, 2, 2, 1),
     "front 2, ahead 0,1, unknown 2"},
    {"desync report: the snapshot tells of all", CallSource::Desync,
     "\t     [1] finished collective #8, but didn't join collective #9 (count from 1)\n"
     "\t   #8 finished ranks:\n"
     "\t     [1] finished ALLREDUCE\n"
     "\t   #9 started ranks:\n"
     "\t     [0, 2] started ALLREDUCE\n",
     "front 8, behind 1, ahead 0,2"},
    {"desync report: a list that somebody shortened", CallSource::Desync,
     "\t   - [0, ..., 3] joined but didn't finish collective #9 (count from 1)\n"
     "\t     [4] finished collective #8, but didn't join collective #9 (count from 1)\n",
     "front 8, behind 4, ahead 0-3"},
    {"desync report: who finished the call before did not join", CallSource::Desync,
     "\t   - [0, 2] joined but didn't finish collective #9 (count from 1)\n"
     "\t     [1] finished collective #8, but didn't join collective #9 (count from 1)\n",
     "front 8, behind 1, ahead 0,2"},
    {"desync report: of two reports the earlier standing counts", CallSource::Desync,
     "\t   - [0, 2] joined but didn't finish collective #9 (count from 1)\n"
     "\t     [1] finished collective #8, but didn't join collective #9 (count from 1)\n"
     "\t   - [0, 1, 2] joined but didn't finish collective #9 (count from 1)\n",
     "front 8, behind 1, ahead 0,2"},
    {"desync reports of groups that no line names may be of several", CallSource::Desync,
     "\t   - [0, 1, 2, 3] joined but didn't finish collective #9 (count from 1)\n"
     "\t   - [0, 1] joined but didn't finish collective #5 (count from 1)\n",
     "front 5"},
    {"watchdogs: before call 0 nobody is behind", CallSource::Watchdog,
     "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
     "collective "
     "operation timeout: WorkNCCL(SeqNum=0, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
     "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n" +
         watchdog(1, 0, 0, 0),
     "front 0"},
    {"watchdogs: nobody gave up", CallSource::Watchdog, three_ranks(3, 3, 2).text(), "no account"},
};

TEST(CallLedger, OneFrontServesAllSources) {
  for (const FrontCase& row : kFronts) {
    EXPECT_EQ(front_text(read_example(row.text, {}), row.source), row.front) << row.what;
  }
}

TEST(CallLedger, CallsAreFoundByNumber) {
  const Job job = read_example(DumpLine(1).done(4).open(5).text(), {});
  const CallAccount& account = call_ledger(job, CallSource::Recorder).front();
  ASSERT_EQ(account.ranks.size(), 1U);
  const LedgerRank& rank = account.ranks.front();
  EXPECT_EQ(rank.call(3), nullptr);
  ASSERT_NE(rank.call(4), nullptr);
  EXPECT_EQ(rank.call(4)->state, CallState::Completed);
  EXPECT_EQ(rank.call(5)->state, CallState::Open);
  EXPECT_EQ(rank.entered, 5U);
  EXPECT_EQ(rank.completed, 4U);
}

CallCoverage coverage_of(const Job& job, int rank) {
  const Communicator& comm = job.communicators.at(0);
  for (const CommRank& one : comm.ranks) {
    if (one.rank == rank) return call_coverage(job, comm, one);
  }
  return CallCoverage::Unknown;
}

TEST(CallCoverage, ARankWithCallLinesInAWholeFileIsCounted) {
  const Job job = job_from_text(CallLog().init(0, 2, 1).call(0, 1).text());
  EXPECT_EQ(coverage_of(job, 0), CallCoverage::Counted);
}

TEST(CallCoverage, ARankThatWasNotSeenIsUnknown) {
  const Job job = job_from_text(CallLog().init(0, 2, 1).call(0, 1).text());
  EXPECT_EQ(coverage_of(job, 1), CallCoverage::Unknown);
}

TEST(CallCoverage, ARankWithoutAnyCallLineIsUnknown) {
  const Job job = job_from_text(CallLog().init(0, 2, 1).init(1, 2, 1).call(0, 1).text());
  EXPECT_EQ(coverage_of(job, 1), CallCoverage::Unknown);
}

TEST(CallCoverage, CallsOnAnotherCommunicatorShowThatCallsAreLogged) {
  const Job job = job_from_text(
      CallLog().init(0, 3, 1).init(1, 3, 1).init(1, 2, 2, 0).call(0, 1).call(1, 2).text());
  EXPECT_EQ(coverage_of(job, 1), CallCoverage::Counted);
}

TEST(CallCoverage, ARankOfACutFileMadeAtLeastTheseCalls) {
  Job job = job_from_text(CallLog().init(0, 2, 1).call(0, 1).text());
  job.processes[0].cut = true;
  EXPECT_EQ(coverage_of(job, 0), CallCoverage::AtLeast);
}

TEST(CallCoverage, NothingIsCalledBehindTheEndOfACommunicator) {
  Job job = job_from_text(CallLog().init(0, 2, 1).call(0, 1).destroyed(0, 2, 1).text());
  job.processes[0].cut = true;
  EXPECT_EQ(coverage_of(job, 0), CallCoverage::Counted);
}

TEST(CallCoverage, TornLinesProveNothing) {
  Job job = job_from_text(CallLog().init(0, 2, 1).call(0, 1).text());
  job.processes[0].torn = true;
  EXPECT_EQ(coverage_of(job, 0), CallCoverage::Unknown);
}

TEST(CallCoverage, ARankThatOnlyItsEndNamesLacksItsBeginning) {
  const Job job = job_from_text(CallLog().size(1, 2).call(0, 1).destroyed(0, 2, 1).text());
  EXPECT_EQ(coverage_of(job, 0), CallCoverage::Unknown);
}

TEST(CallCoverage, ProcessesOfOneCommunicatorNeedNoInitialisationLines) {
  const Job job = job_from_text(CallLog().size(1, 2).call(0, 1).call(1, 1).text());
  ASSERT_EQ(job.communicators.size(), 1u);
  EXPECT_EQ(coverage_of(job, -1), CallCoverage::Counted);
}

TEST(CallCoverage, CommunicatorsOfOneSizeCannotBeToldApartWithoutThem) {
  CallLog log;
  log.size(1, 2).size(2, 2).call(0, 1).call(1, 1).call(2, 2).call(3, 2);
  const Job job = job_from_text(log.text());
  ASSERT_EQ(job.communicators.size(), 2u);
  EXPECT_EQ(coverage_of(job, -1), CallCoverage::Unknown);
}

TEST(CallCoverage, CallTracesCountWhereThereAreNoCollLines) {
  const Job job = job_from_text(
      "n3:50:50 [0] NCCL INFO comm 0x7f10a0 rank 0 nranks 2 cudaDev 0 busId 1000 commId 0x77 - "
      "Init "
      "COMPLETE\n"
      "n3:50:50 NCCL CALL ncclAllReduce(7f21e0,7f21e0,64,7,0,0,0x7f10a0,(nil))\n"
      "n3:50:50 NCCL CALL ncclBcast(7f21e0,7f21e0,64,7,0,1,0x7f10a0,(nil))\n");
  EXPECT_EQ(coverage_of(job, 0), CallCoverage::Counted);
  const CollectiveCalls* calls = calls_of(job, job.communicators.at(0).ranks.at(0));
  ASSERT_NE(calls, nullptr);
  EXPECT_EQ(calls->collectives.size(), 2u);
  EXPECT_EQ(calls->last_call, (CallSignature{"Broadcast", 64, 7, 0, 1}));
}

}  // namespace
}  // namespace ncclog
