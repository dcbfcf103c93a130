#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/build_job.h"
#include "model/ledger/call_ledger.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;

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
