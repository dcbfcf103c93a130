// When does it prove something that a process did not print a line?

#include "diagnose/facts/line_evidence.h"

#include <gtest/gtest.h>

#include "log/known_messages.h"
#include "model/build/build_job.h"

namespace ncclog {
namespace {

const std::string kComm =
    "n1:7:9 [0] NCCL INFO ncclCommInitRank comm 0x7f10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "a1000 commId 0x9c - Init ";
const std::string kStart = kComm + "START\n";
const std::string kComplete = kComm + "COMPLETE\n";
const std::string kDevices = "n1:7:9 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n";
const std::string kWhole = kStart + kDevices + kComplete;

struct Row {
  const char* kind;
  std::string log;
  const char* gap;  ///< Empty: the silence proves something.
};

const Row kRows[] = {
    {"network_selected", kWhole, ""},
    {"network_selected", kStart + kDevices, "rank 0: it shows no whole initialisation"},
    {"network_selected", kDevices + kComplete, "rank 0: it shows no whole initialisation"},
    {"network_selected", kStart + kComplete, "rank 0: nothing shows that such lines were logged"},
    {"network_selected", kWhole + "n1:7:9 [0] NCCL INFO nobody knows this line\n",
     "rank 0: it printed lines that ncclog does not know"},
    {"network_selected", kWhole + "n1:7:9 [0] NCCL IN", "rank 0: its log is cut"},
    // A WARN comes at any level.
    {"bootstrap_rank_twice", kStart + kComplete, ""},
    {"watchdog_timeout", kWhole, "rank 0: nothing shows that such lines were logged"},
    {"shm_usage", kWhole, "rank 0: nothing shows that such lines were logged"},
};

TEST(ClosedWorld, SilenceProvesSomethingOnlyInAWholeLog) {
  for (const Row& row : kRows) {
    const Job job = job_from_text(row.log);
    const Proof proof = silence_proves(job, 0, find_kind(row.kind));
    EXPECT_EQ(proof.gap, row.gap) << row.kind << "\n" << row.log;
    EXPECT_EQ(proof.holds, proof.gap.empty());
  }
}

TEST(ClosedWorld, ATornOrRestartedProcessProvesNothing) {
  const Kind* kind = find_kind("network_selected");
  Job torn = job_from_text(kWhole);
  torn.processes[0].torn = true;
  EXPECT_EQ(silence_proves(torn, 0, kind).gap, "rank 0: its lines are torn or in doubt");
  Job restarted = job_from_text(kWhole);
  restarted.processes[0].restarted = true;
  EXPECT_EQ(silence_proves(restarted, 0, kind).gap, "rank 0: its pid may have had two lives");
}

TEST(ClosedWorld, WhoPrintsWhatOthersPrintLaterCamePast) {
  const std::string log = kDevices + "n1:8:9 [0] NCCL INFO Using network Socket\n" +
                          "n1:8:9 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n";
  const Job job = job_from_text(log);
  ASSERT_EQ(job.processes.size(), 2u);
  const Kind* kind = find_kind("network_selected");
  EXPECT_FALSE(silence_proves(job, 0, kind).holds);
  EXPECT_TRUE(silence_proves(job, 0, kind, {{1, {0, 2}}}).holds);
  // The other one printed its devices before the line in question.
  EXPECT_FALSE(silence_proves(job, 0, kind, {{1, {0, 3}}}).holds);
  EXPECT_TRUE(silence_proves(job, 0, nullptr, {{1, {0, 2}}}).holds);
}

TEST(ClosedWorld, AHostIsWholeWhereItsRanksAreCounted) {
  const Job two = job_from_text(kWhole);
  const Instance host = instances_of(two, Scope::Host).at(0);
  EXPECT_EQ(all_are_there(two, host).gap, "no line of rank 1 is there");
  EXPECT_EQ(all_are_there(two, job_instance(two)).gap, "no line of rank 1 is there");
  EXPECT_TRUE(all_are_there(two, instances_of(two, Scope::Process).at(0)).holds);
  const Job counted =
      job_from_text(kWhole +
                    "n1:7:9 [0] NCCL INFO comm 0x7f10 rank 0 nRanks 2 nNodes 2 localRanks "
                    "1 localRank 0 MNNVL 0\n");
  EXPECT_TRUE(all_are_there(counted, instances_of(counted, Scope::Host).at(0)).holds);
  EXPECT_FALSE(all_are_there(counted, job_instance(counted)).holds);
}

}  // namespace

}  // namespace ncclog
