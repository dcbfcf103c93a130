#include "replay/judge/differences.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/read/read_job.h"
#include "input/find_inputs.h"
#include "model/derive/build_job.h"
#include "support/paths.h"
#include "support/replay_samples.h"

namespace ncclog {
namespace {

using testing::completed_run;
using testing::healthy_plan;

using Texts = std::vector<std::string>;

struct KeptRow {
  const char* name;
  std::vector<PlannedSetting> planned;
  std::vector<std::pair<std::string, std::string>> in_force;
  std::vector<std::pair<std::string, std::string>> varied;
  int pseudo_hosts;
  Texts held;
  Texts changed;
};

TEST(CompareSettings, HoldsWhatWasRecordedAgainstWhatIsInForce) {
  const std::vector<KeptRow> rows = {
      {"set",
       {{"NCCL_ALGO", "Ring", {}, ""}},
       {{"NCCL_ALGO", "Ring"}},
       {},
       1,
       {"NCCL_ALGO=Ring"},
       {}},
      {"left out",
       {{"NCCL_NET", "IB", {}, "not here"}},
       {},
       {},
       1,
       {},
       {"NCCL_NET=IB is not set: not here"}},
      {"left out, and set all the same",
       {{"NCCL_MNNVL_ENABLE", "0", {}, "own hosts"}},
       {{"NCCL_MNNVL_ENABLE", "0"}},
       {},
       2,
       {"NCCL_MNNVL_ENABLE=0"},
       {}},
      {"--set", {}, {{"NCCL_PROTO", "LL128"}}, {}, 1, {}, {"set for the replay: NCCL_PROTO=LL128"}},
      {"--set of another value",
       {{"NCCL_PROTO", "LL", {}, ""}},
       {{"NCCL_PROTO", "Simple"}},
       {},
       1,
       {},
       {"NCCL_PROTO: recorded LL, replayed Simple"}},
      {"what every replay has",
       {},
       {{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT"}, {"NCCL_NVLS_ENABLE", "0"}},
       {},
       1,
       {},
       {}},
      {"what pseudo-hosts have",
       {},
       {{"NCCL_NET", "Socket"}, {"NCCL_SOCKET_IFNAME", "lo"}},
       {},
       2,
       {},
       {}},
      {"the same without them",
       {},
       {{"NCCL_NET", "Socket"}},
       {},
       1,
       {},
       {"set for the replay: NCCL_NET=Socket"}},
      {"varied", {}, {}, {{"NCCL_PROTO", "LL"}}, 1, {}, {"set for the trial: NCCL_PROTO=LL"}},
      {"of some ranks",
       {{"NCCL_ALGO", "Ring", {1}, ""}},
       {{"NCCL_ALGO", "Tree"}},
       {},
       1,
       {"NCCL_ALGO=Ring"},
       {}},
  };
  for (const KeptRow& row : rows) {
    ReplayPlan plan = testing::healthy_plan();
    plan.settings = row.planned;
    ReplayOutcome outcome = testing::outcome_of({});
    outcome.settings = row.in_force;
    outcome.pseudo_hosts = row.pseudo_hosts;
    RunOutcome run;
    run.settings = row.varied;
    Texts held;
    Texts changed;
    compare_settings(plan, outcome, run, held, changed);
    EXPECT_EQ(held, row.held) << row.name;
    EXPECT_EQ(changed, row.changed) << row.name;
  }
}

std::string started(int pid, int dev, const char* comm, int rank, const char* id) {
  const std::string head = "lab:" + std::to_string(pid) + ":" + std::to_string(pid) + " [" +
                           std::to_string(dev) + "] NCCL INFO ";
  const std::string what = std::string("ncclCommInitRankConfig comm ") + comm + " rank " +
                           std::to_string(rank) + " nranks 2 cudaDev " + std::to_string(dev) +
                           " nvmlDev " + std::to_string(dev) + " busId " + std::to_string(dev + 1) +
                           "000 commId " + id;
  return head + what + " - Init START\n" + head +
         "8 coll channels, 8 collnet channels, 0 nvls channels, 8 p2p channels, 2 p2p channels per "
         "peer\n" +
         head + what + " - Init COMPLETE\n";
}

std::string log_of(int pid_of_0, int pid_of_1) {
  return "lab:4700:4700 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n" +
         started(pid_of_0, 0, "0xa0", 0, "0x11") + started(pid_of_1, 1, "0xa1", 1, "0x11") +
         "lab:" + std::to_string(pid_of_0) + ":" + std::to_string(pid_of_0) +
         " [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n" +
         "lab:4700:4700 [0] NCCL INFO AllReduce: 4096 Bytes -> Algo RING proto LL "
         "channel{Lo..Hi}={0..0}\n";
}

TEST(ReadBack, FindsThePlansCommunicatorByItsProcesses) {
  const ReadBack seen =
      read_back(job_from_text(log_of(4700, 4701)), healthy_plan(), completed_run(MadeIn::Clean));
  EXPECT_TRUE(seen.readable);
  ASSERT_EQ(seen.communicators.size(), 1u);
  EXPECT_EQ(seen.communicators[0].recorded_nranks, 2);
  EXPECT_EQ(seen.communicators[0].channels, 8);
  EXPECT_EQ(seen.communicators[0].transports, (std::vector<TransportShare>{{"P2P", 1}}));
  EXPECT_EQ(seen.tuning, (std::vector<RecordedTuning>{{"AllReduce", "RING", "LL", 1}}));
  EXPECT_EQ(seen.nccl_versions, std::vector<std::string>{"2.28.9"});
}

TEST(ReadBack, DoesNotTakeOtherProcessesForThePlans) {
  const ReadBack seen =
      read_back(job_from_text(log_of(4700, 9999)), healthy_plan(), completed_run(MadeIn::Clean));
  EXPECT_EQ(seen.communicators.at(0), PlannedCommunicator());
}

TEST(ReadBack, TellsCommunicatorsOfTheSameRanksApartByTheirOrder) {
  ReplayPlan plan = healthy_plan();
  plan.communicators.push_back(plan.communicators[0]);
  const std::string text = log_of(4700, 4701) + started(4700, 0, "0xb0", 0, "0x22") +
                           started(4701, 1, "0xb1", 1, "0x22");
  const ReadBack seen = read_back(job_from_text(text), plan, completed_run(MadeIn::Clean));
  EXPECT_EQ(seen.communicators.at(1).recorded_nranks, 2);
  plan.communicators.push_back(plan.communicators[0]);
  EXPECT_EQ(read_back(job_from_text(text), plan, completed_run(MadeIn::Clean)).communicators.at(2),
            PlannedCommunicator());
}

/// Four ranks as two pseudo-hosts: NCCL_HOSTID, sockets on loopback.
TEST(ReadBack, SeesSocketsBetweenPseudoHosts) {
  ReplayPlan plan = healthy_plan();
  plan.ranks.resize(4, plan.ranks[0]);
  plan.communicators[0].ranks = {0, 1, 2, 3};
  RunOutcome run = completed_run(MadeIn::Clean);
  constexpr int64_t kFirstPid = 957;
  run.ranks.assign(4, run.ranks[0]);
  for (int rank = 0; rank < 4; ++rank) {
    run.ranks[static_cast<size_t>(rank)].rank = rank;
    run.ranks[static_cast<size_t>(rank)].pid = kFirstPid + rank;
  }
  const std::string logs[] = {testing::sample_logs("hostid-pseudo-hosts").string()};
  const ReadBack seen = read_back(read_job(find_inputs(logs), {}), plan, run);
  EXPECT_EQ(seen.communicators.at(0).transports,
            (std::vector<TransportShare>{{"NET/Socket", 2}, {"P2P", 2}}));
  EXPECT_EQ(seen.communicators.at(0).channels, 2);
  EXPECT_EQ(seen.path, SystemPath());
}

TEST(ReadBack, IsNotReadableWithoutALineOfNccl) {
  EXPECT_FALSE(
      read_back(job_from_text("hello\n"), healthy_plan(), completed_run(MadeIn::Clean)).readable);
}

}  // namespace
}  // namespace ncclog
