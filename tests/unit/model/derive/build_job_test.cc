#include "model/derive/build_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/derive/steps.h"
#include "model/shard/read_log.h"

namespace ncclog {
namespace {

constexpr std::string_view kTwoRanks = R"(
node-a:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0
node-a:10:10 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>
node-a:10:10 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
node-a:10:10 [0] NCCL INFO Using network Socket
node-a:10:10 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1
node-a:10:10 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0ffee - Init START
node-b:11:11 [1] NCCL INFO ncclCommInitRank comm 0xb rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 70 commId 0xc0ffee - Init START
node-a:10:10 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0ffee - Init COMPLETE
)";

TEST(BuildJob, JoinsRanksOfOneCommId) {
  const Job job = job_from_text(kTwoRanks);
  ASSERT_EQ(job.communicators.size(), 1u);
  const Communicator& comm = job.communicators[0];
  EXPECT_EQ(comm.id, "0xc0ffee");
  EXPECT_EQ(comm.nranks, 2);
  EXPECT_EQ(comm.hosts, (std::vector<std::string>{"node-a", "node-b"}));
  EXPECT_EQ(comm.ranks[0].state, RankState::Complete);
  EXPECT_EQ(comm.ranks[1].state, RankState::Started);
  EXPECT_EQ(comm.calls, std::nullopt);
}

TEST(BuildJob, SumsUpVersionsNetworkAndSettings) {
  const Job job = job_from_text(kTwoRanks);
  EXPECT_EQ(job.nccl_versions, std::vector<std::string>{"2.28.9"});
  EXPECT_EQ(job.cuda_versions, std::vector<std::string>{"13.0"});
  EXPECT_EQ(job.network.name, "Socket");
  EXPECT_EQ(job.network.interfaces,
            (std::vector<Interface>{{"node-a", "eth0", "10.0.0.1", -1, "Ethernet"}}));
  ASSERT_EQ(job.environment.size(), 1u);
  EXPECT_EQ(job.environment[0].name, "NCCL_P2P_DISABLE");
  EXPECT_EQ(job.environment[0].value, "1");
  EXPECT_EQ(job.nranks, 2);
  EXPECT_EQ(job.nhosts, 2);
}

TEST(BuildJob, FrameworkRecordsJoinTheProcessOfTheirRank) {
  const Job job = job_from_text(
      std::string(kTwoRanks) +
      "[rank1]:[E105 09:14:02.907718211 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
      "Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n");
  ASSERT_EQ(job.processes.size(), 2u);
  EXPECT_EQ(job.processes[1].host, "node-b");
  EXPECT_EQ(job.processes[1].rank, 1);
  EXPECT_EQ(job.processes[1].logs.size(), 2u);
}

TEST(BuildJob, WhoEndedItsCommunicatorInOrderWaitedForNobodyInVain) {
  const std::string ended =
      "n1:7:7 [0] NCCL INFO ncclCommInitRank comm 0xa0 rank 0 nranks 2 cudaDev 0 busId 1000 commId "
      "0x9 - Init COMPLETE\n"
      "n1:7:7 [0] NCCL INFO comm 0xa0 rank 0 nranks 2 cudaDev 0 busId 1000 - Destroy COMPLETE\n";
  const std::string timeout =
      "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE, NumelIn=9, NumelOut=9, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
  EXPECT_EQ(job_from_text(ended + timeout).processes.size(), 2U);
  EXPECT_EQ(job_from_text(ended + "[rank0]: Traceback (most recent call last):\n").processes.size(),
            1U);
}

TEST(BuildJob, RanksThatNoLineShowsAreListedAsNotSeen) {
  const Job job = job_from_text(
      "n:1:1 [0] NCCL INFO ncclCommInitRank comm 0xa rank 2 nranks 4 cudaDev 0 nvmlDev 0 busId 60 "
      "commId 0xc - Init START\n");
  ASSERT_EQ(job.communicators[0].ranks.size(), 4u);
  EXPECT_EQ(job.communicators[0].ranks[0].state, RankState::NotSeen);
  EXPECT_EQ(job.communicators[0].ranks[2].state, RankState::Started);
}

TEST(BuildJob, AnErrorOnTheWayUpMakesAStartedRankFailed) {
  const Job job = job_from_text(
      "n:1:1 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 60 "
      "commId 0xc - Init START\n"
      "n:1:1 [0] NCCL INFO init.cc:771 -> 2\n");
  EXPECT_EQ(job.communicators[0].ranks[0].state, RankState::Failed);
}

TEST(BuildJob, CommunicatorsWithoutCommIdAreInferredAndKeptApart) {
  const Job job = job_from_text(
      "n:1:1 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 busId 60 - Init COMPLETE\n"
      "n:2:2 [1] NCCL INFO comm 0xb rank 1 nranks 2 cudaDev 1 busId 70 - Init COMPLETE\n"
      "n:3:3 [2] NCCL INFO comm 0xc rank 0 nranks 2 cudaDev 2 busId 80 - Init COMPLETE\n");
  ASSERT_EQ(job.communicators.size(), 2u);
  EXPECT_EQ(job.communicators[0].id, "inferred-1");
  EXPECT_EQ(job.communicators[0].ranks.size(), 2u);
  const auto other = static_cast<size_t>(job.communicators[1].ranks[0].process);
  EXPECT_EQ(job.processes[other].pid, 3);
}

TEST(BuildJob, LinesOfCallsAreOfTheOnlyGpuThatTheProcessNames) {
  constexpr std::string_view kCall =
      "node-a:10:10 NCCL CALL ncclAllReduce(7f2100,7f2100,1,7,0,0,0x99,(nil))\n";
  constexpr std::string_view kOtherGpu =
      "node-a:10:12 [3] NCCL INFO ncclCommInitRank comm 0xd rank 3 nranks 4 cudaDev 3 nvmlDev 3 "
      "busId 90 commId 0xbeef - Init START\n";
  const auto gpu = [](const std::string& text) {
    for (const Communicator& comm : job_from_text(text).communicators) {
      if (comm.inferred) return comm.ranks.front().cuda_dev;
    }
    return -2;
  };
  EXPECT_EQ(gpu(fmt::format("{}{}", kTwoRanks, kCall)), 0);
  EXPECT_EQ(gpu(fmt::format("{}{}{}", kTwoRanks, kOtherGpu, kCall)), -1);
}

TEST(BuildJob, ChildrenOfASplitAreJoinedByParentCountAndColor) {
  std::string text;
  for (int r = 0; r < 4; ++r) {
    const std::string pid = std::to_string(10 + r);
    const std::string at = "n:" + pid + ":" + pid + " [0] NCCL INFO ";
    const std::string rank = std::to_string(r);
    text += at + "ncclCommInitRank comm 0x" + rank + "1 rank " + rank +
            " nranks 4 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0 - Init COMPLETE\n";
    text += at + "ncclCommSplit comm 0x" + rank + "2 rank " + std::to_string(r % 2) +
            " nranks 2 cudaDev 0 nvmlDev 0 busId 60 parent 0x" + rank + "1 splitCount 1 color " +
            std::to_string(r / 2) + " key 0 - Init COMPLETE\n";
  }
  const Job job = job_from_text(text);
  ASSERT_EQ(job.communicators.size(), 3u);
  EXPECT_EQ(job.communicators[0].id, "0xc0");
  for (const size_t child : {1u, 2u}) {
    EXPECT_EQ(job.communicators[child].parent, 0);
    EXPECT_TRUE(job.communicators[child].is_child);
    EXPECT_EQ(job.communicators[child].ranks.size(), 2u);
  }
}

TEST(BuildJob, SplitsThatUseColorsAgainAreToldApartByTheirOrder) {
  // Two splits of four ranks, without a number as in 2.23.4: {0 1} {2 3}, then {0 2} {1 3}.
  std::string text;
  for (int r = 0; r < 4; ++r) {
    const std::string pid = std::to_string(10 + r);
    const std::string at = "n:" + pid + ":" + pid + " [0] NCCL INFO ";
    const std::string rank = std::to_string(r);
    const auto child = [&](const std::string& comm, int own, int color) {
      text += at + "ncclCommSplit comm 0x" + rank + comm + " rank " + std::to_string(own) +
              " nranks 2 cudaDev 0 nvmlDev 0 busId 60 parent 0x" + rank + "1 color " +
              std::to_string(color) + " key 0 - Init COMPLETE\n";
    };
    text += at + "ncclCommInitRank comm 0x" + rank + "1 rank " + rank +
            " nranks 4 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0 - Init COMPLETE\n";
    child("2", r % 2, r / 2);
    child("3", r / 2, r % 2);
  }
  const Job job = job_from_text(text);
  std::set<std::vector<int>> members;
  for (const Communicator& comm : job.communicators) {
    std::vector<int> ranks;
    for (const CommRank& rank : comm.ranks) {
      ranks.push_back(job.processes[static_cast<size_t>(rank.process)].rank);
    }
    members.insert(ranks);
  }
  EXPECT_EQ(members, (std::set<std::vector<int>>{{0, 1, 2, 3}, {0, 1}, {2, 3}, {0, 2}, {1, 3}}));
}

std::string torn_inits(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    text += "n:1:1 [0] NCCL INFO ncclCommInitRank comm 0x" + std::to_string(i) +
            " rank 0 nranks 65536 cudaDev 0 nvmlDev 0 busId 60 commId 0x" + std::to_string(i) +
            " - Init START\n";
  }
  return text;
}

TEST(BuildJob, TornSizesDoNotListRanksWithoutBound) {
  const Job job = job_from_text(torn_inits(2000));
  ASSERT_EQ(job.communicators.size(), 2000u);
  EXPECT_EQ(job.communicators.front().ranks.size(), 65536u);
  EXPECT_EQ(job.communicators.back().ranks.size(), 1u);
  size_t ranks = 0;
  for (const Communicator& comm : job.communicators) ranks += comm.ranks.size();
  EXPECT_LE(ranks, 2000u + (1u << 18));
}

TEST(BuildJob, ALongChainOfSplitsHasAParentEach) {
  constexpr int kSplits = 20'000;
  std::string text;
  for (int i = 1; i <= kSplits; ++i) {
    text += "n:1:1 [0] NCCL INFO ncclCommSplit comm 0x" + std::to_string(i + 1) +
            " rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 parent 0x" + std::to_string(i) +
            " splitCount 1 color 0 key 0 - Init COMPLETE\n";
  }
  const Job job = job_from_text(text);
  ASSERT_EQ(job.communicators.size(), static_cast<size_t>(kSplits));
  size_t with_parent = 0;
  for (const Communicator& comm : job.communicators) with_parent += comm.parent >= 0 ? 1 : 0;
  EXPECT_EQ(with_parent, static_cast<size_t>(kSplits) - 1);
}

TEST(BuildJob, ChildrenOfLookalikeParentsStayApart) {
  std::string text;
  for (int pid = 1; pid <= 2; ++pid) {
    const std::string at = "n:" + std::to_string(pid) + ":1 [0] NCCL INFO ";
    text += at + "comm 0xa rank 0 nranks 4 cudaDev 0 busId 60 - Init COMPLETE\n";
    text += at + "ncclCommSplit comm 0xb rank " + std::to_string(pid - 1) +
            " nranks 2 cudaDev 0 nvmlDev 0 busId 60 parent 0xa splitCount 1 color 0 key 0 - Init "
            "COMPLETE\n";
  }
  const Job job = job_from_text(text);
  ASSERT_EQ(job.communicators.size(), 4u);
  EXPECT_EQ(job.communicators[2].parent, 0);
  EXPECT_EQ(job.communicators[3].parent, 1);
}

TEST(BuildJob, ARankThatFitsNoNumberIsUnknown) {
  const Job job = job_from_text(
      "n:1:1 [0] NCCL INFO comm 0xa rank 4294967297 nranks 2 cudaDev 0 busId 60 - Init "
      "COMPLETE\n");
  ASSERT_EQ(job.communicators.size(), 1u);
  EXPECT_EQ(job.communicators[0].ranks[0].rank, -1);
}

TEST(BuildJob, ManyVoicesFindTheirProcesses) {
  constexpr int kProcesses = 20'000;
  std::string text;
  for (int i = 0; i < kProcesses; ++i) {
    const std::string number = std::to_string(i);
    text += "n:" + std::to_string(i + 100) + ":1 [0] NCCL INFO ncclCommInitRank comm 0xa rank " +
            number + " nranks 20000 cudaDev 0 nvmlDev 0 busId 60 commId 0xc - Init START\n";
    text += "[rank" + number + "]: Traceback (most recent call last):\n";
  }
  const Job job = job_from_text(text);
  ASSERT_EQ(job.processes.size(), static_cast<size_t>(kProcesses));
  EXPECT_EQ(job.processes.back().rank, kProcesses - 1);
  EXPECT_EQ(job.processes.back().logs.size(), 2u);
}

TEST(BuildJob, TreesNameTheRankWhereInitialisationLinesDoNot) {
  const Job job = job_from_text(
      "n:1:9 [1] NCCL INFO Trees [0] 2/-1/-1->1->0|0->1->2/-1/-1 [1] 2/-1/-1->1->0\n"
      "n:2:9 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1\n");
  ASSERT_EQ(job.processes.size(), 2u);
  EXPECT_EQ(job.processes[0].pid, 2);
  EXPECT_EQ(job.processes[0].rank, 0);
  EXPECT_EQ(job.processes[1].rank, 1);
}

TEST(BuildJob, TreesOfSeveralCommunicatorsNameNoGlobalRank) {
  const Job job = job_from_text(
      "n:1:9 [1] NCCL INFO Trees [0] 2/-1/-1->1->0\n"
      "n:1:9 [1] NCCL INFO Trees [0] 1/-1/-1->0->-1\n");
  EXPECT_EQ(job.processes[0].rank, -1);
}

TEST(BuildJob, TablesTellWhichProcessIsWhichRank) {
  const Job tests = job_from_text(
      "#  Rank  0 Group  0 Pid   4101 on n1 device  0 [0x17] NVIDIA H200\n"
      "#  Rank  1 Group  0 Pid   4102 on n2 device  0 [0x17] NVIDIA H200\n"
      "n2: Test NCCL failure common.cu:1005 'unhandled system error'\n"
      " .. n2 pid 4102: Test failure common.cu:891\n");
  EXPECT_EQ(tests.hosts, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(tests.processes[static_cast<size_t>(process_of_pid(tests, 4102))].rank, 1);
  constexpr std::string_view kFailed =
      "  host      : n7.example\n"
      "  rank      : 3 (local_rank: 3)\n"
      "  exitcode  : 1 (pid: 4246)\n";
  const Job torchrun =
      job_from_text("[rank3]: Traceback (most recent call last):\n" + std::string(kFailed));
  const Process& failed = torchrun.processes[static_cast<size_t>(process_of_rank(torchrun, 3))];
  EXPECT_EQ(failed.pid, 4246);
  EXPECT_EQ(failed.host, "n7");
  EXPECT_EQ(listed_host(torchrun, 4246), "n7");
}

TEST(BuildJob, AWarnThatOneRankQuotesIsOfItsProcess) {
  const std::string warn = "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory";
  const std::string own = "n1:77:80 [1] transport/net_ib.cc:600 " + warn + "\n";
  const Job job = job_from_text(own + "[rank5]: Last error: " + warn.substr(10) + "\n");
  ASSERT_EQ(job.processes.size(), 1u);
  EXPECT_EQ(job.processes[0].rank, 5);
}

TEST(BuildJob, HostsAreThoseOfAllRanksWhereAllAreSeen) {
  const auto rank = [](int number, const char* layout) {
    const std::string n = std::to_string(number);
    const std::string head = "n1:1" + n + ":1" + n + " [" + n + "] NCCL INFO ";
    return head + "ncclCommInitRank comm 0x1" + n + " rank " + n + " nranks 2 cudaDev " + n +
           " nvmlDev " + n + " busId 1" + n + "000 commId 0xc - Init START\n" + head + "comm 0x1" +
           n + " rank " + n + layout;
  };
  constexpr const char* kTwo = " nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n";
  EXPECT_EQ(job_from_text(rank(0, kTwo) + rank(1, kTwo)).nhosts, 1);
  EXPECT_EQ(job_from_text(rank(0, kTwo)).nhosts, 2);
}

TEST(BuildJob, OneVoiceDoesNotTellTheSizeOfTheJob) {
  EXPECT_EQ(job_from_text("[rank6]: Traceback (most recent call last):\n").nranks, std::nullopt);
  EXPECT_EQ(job_from_text("NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n").nranks,
            std::nullopt);
}

TEST(BuildJob, ProcessesOfAnExcerptDoNotTellTheSizeOfTheJob) {
  EXPECT_EQ(job_from_text("n:1:1 [1] NCCL INFO Using network IB\n"
                          "n:2:2 [5] NCCL INFO Using network IB\n")
                .nranks,
            std::nullopt);
  EXPECT_EQ(job_from_text("[rank0]: Traceback (most recent call last):\n"
                          "[rank1]: Traceback (most recent call last):\n")
                .nranks,
            2);
  EXPECT_EQ(job_from_text("$ docker run trainer python train.py --world-size 8\n").nranks, 8);
}

TEST(BuildJob, AnAddressBeforeALineIsNoRank) {
  const Job job = job_from_text("10.0.0.10: n:1:1 [0] NCCL INFO Using network IB\n");
  ASSERT_EQ(job.processes.size(), 1u);
  EXPECT_EQ(job.processes[0].rank, -1);
}

TEST(BuildJob, TheLastLineIsThatOfTheProcesssOwnFile) {
  const LineMatcher none;
  LogReader own(0, 0, none);
  own.add(
      {"n:7:7 [0] NCCL INFO ncclCommInitRank comm 0xa rank 1 nranks 2 cudaDev 0 nvmlDev 0 "
       "busId 60 commId 0xc - Init START",
       1, 0, false});
  LogReader launcher(1, 1, none);
  launcher.add({"[rank1]: Traceback (most recent call last):", 1, 0, false});
  Shard shard = own.finish();
  shard.merge(launcher.finish());
  const LossTable losses = shard.losses;
  const Job job =
      build_job(std::move(shard), std::vector<JobInput>(2), {{0, 0, 1}, {1, 1, 1}}, losses);
  ASSERT_EQ(job.processes.size(), 1u);
  EXPECT_EQ(job.processes[0].last, (SourceRef{0, 1}));
}

std::string repeated(std::string_view line, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += std::string(line) + "\n";
  return text;
}

TEST(BuildJob, ATornHostNameIsNoOtherHost) {
  const std::string first = repeated("gpu-node-01:7:7 [0] NCCL INFO Connected all rings", 40);
  const std::string second = repeated("gpu-node-02:7:7 [0] NCCL INFO Connected all rings", 40);
  const Job job =
      job_from_text(first + second + first + "u-node-01:7:7 [0] NCCL INFO Connected all trees\n");
  EXPECT_EQ(job.hosts, (std::vector<std::string>{"gpu-node-01", "gpu-node-02"}));
  ASSERT_EQ(job.processes.size(), 2u);
  EXPECT_TRUE(job.logs[job.processes[0].logs[0]].torn);
}

TEST(BuildJob, ARecordCutOffByAnotherIsLostAndCounted) {
  const Job job = job_from_text(
      "b:2:2 [0] NCCL INFO Using network Socket\n" +
      repeated("b:2:2 [0] NCCL INFO Connected all rings", 100) +
      "a:1:1 [0] NCCL INFO Using network Sockb:2:2 [0] NCCL INFO Connected all trees\n");
  EXPECT_EQ(job.network.name, "Socket");
  EXPECT_EQ(job.losses.count(Loss::LineTorn), 1u);
  EXPECT_EQ(job.hosts, std::vector<std::string>{"b"});
}

TEST(BuildJob, NamesHostsAsNcclDoesWhateverCollectorsCallThem) {
  constexpr std::string_view kPods =
      "[pod/worker-0/c] node-a:10:10 [0] NCCL INFO Using network Socket\n"
      "[pod/worker-0/c] Traceback (most recent call last):\n"
      "[pod/worker-0/c] (TrainWorker pid=10) Traceback (most recent call last):\n"
      "worker-1  | Traceback (most recent call last):\n";
  const Job job = job_from_text(kPods);
  EXPECT_EQ(job.hosts, std::vector<std::string>{"node-a"});
  EXPECT_EQ(job.nhosts, 1);
  EXPECT_EQ(job_from_text("worker-1  | Traceback (most recent call last):\n").hosts,
            std::vector<std::string>{"worker-1"});
}

// srun numbers tasks, and a task may be a node with eight ranks.
TEST(BuildJob, TakesALaunchersLabelForARankOnlyWhereSomebodyConfirmsIt) {
  const auto rank = [](const std::string& text) {
    const Job job = job_from_text(text);
    return job.processes[static_cast<size_t>(process_of_pid(job, 10))].rank;
  };
  const std::string line = "node-a:10:10 [0] NCCL INFO Using network Socket\n";
  const std::string other =
      "node-a:11:11 [1] NCCL INFO ncclCommInitRank comm 0xa0 rank 1 nranks 4 cudaDev 1 nvmlDev 1 "
      "busId 2000 commId 0x77 - Init START\n";
  EXPECT_EQ(rank("3: " + line + "3: " + line), -1) << "nobody confirms it";
  EXPECT_EQ(rank("[1,3]<stdout>:" + line), -1) << "nobody confirms it";
  EXPECT_EQ(rank("3: " + line + "1: " + other), 3) << "NCCL gives another task its number";
  EXPECT_EQ(rank("3: " + line + "3: [rank3]: Traceback (most recent call last):\n"), 3);
  EXPECT_EQ(rank("2: " + line + "3: node-a:11:11 [1] NCCL INFO Using network Socket\n"), 2)
      << "they go up with the GPUs of a host";
  EXPECT_EQ(rank("3: " + line + "2: " + other), -1) << "NCCL gives another task another number";
  EXPECT_EQ(rank("1: " + line + "1: " + other), -1) << "one number for two processes";
  EXPECT_EQ(rank("3: " + line + "4: " + line + "1: " + other), -1) << "they number lines";
}

TEST(BuildJob, LabelsOfAnExcerptDoNotSayHowManyRanksThereAre) {
  const Job job = job_from_text(
      "0: step 1\n"
      "1: node-a:10:10 [0] NCCL INFO Using network Socket\n"
      "1: node-a:11:11 [1] NCCL INFO Using network Socket\n"
      "2: node-b:10:10 [0] NCCL INFO Using network Socket\n");
  EXPECT_EQ(job.nranks, std::nullopt);
  for (const Process& process : job.processes) EXPECT_EQ(process.rank, -1);
}

TEST(BuildJob, WhatIsPrintedOnceOfACommunicatorCountsOnceHoweverOftenItCame) {
  const std::string head = "node-a:10:10 [0] NCCL INFO ";
  const std::string comm =
      head + "ncclCommInitRank comm 0xa rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 60 ";
  const std::string start = comm + "commId 0xc0ffee - Init START\n";
  const std::string layout =
      head + "comm 0xa rank 0 nRanks 1 nNodes 1 localRanks 1 localRank 0 MNNVL 0\n";
  const std::string complete = comm + "commId 0xc0ffee - Init COMPLETE\n";
  const std::string call = head +
                           "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 4 datatype 7 op 0 "
                           "root 0 comm 0xa [nranks=1] stream 0x3\n";
  const std::string end = head + "comm 0xa rank 0 nranks 1 cudaDev 0 busId 60 - Destroy COMPLETE\n";
  const std::string all = start + layout + complete + call + call + end;
  struct RepeatedRow {
    std::string_view name;
    std::string log;
    size_t segments = 1;
    uint64_t calls = 2;
  };
  const RepeatedRow rows[] = {
      {"nothing", all},
      {"the start", start + all},
      {"start and layout", start + layout + all},
      {"the completion", start + layout + complete + complete + call + call + end},
      {"the whole initialisation", start + layout + complete + all},
      {"start and completion in the wrong order", layout + complete + start + call + call + end},
      {"the start, between calls", start + layout + complete + call + start + call + end},
      {"the end", all + end},
      {"calls are never one", start + layout + complete + call + call + call + end, 1, 3},
      {"a second life has another id",
       all + "node-a:10:10 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 1 cudaDev 0 "
             "nvmlDev 0 busId "
             "60 commId 0xc0ffef - Init START\n",
       2},
  };
  for (const RepeatedRow& row : rows) {
    const Job job = job_from_text(row.log);
    ASSERT_EQ(job.logs.size(), 1u) << row.name;
    const std::vector<CommSegment>& segments = job.logs[0].comms.all;
    EXPECT_EQ(segments.size(), row.segments) << row.name;
    EXPECT_EQ(segments[0].calls->total, row.calls) << row.name;
    EXPECT_TRUE(segments[0].started.is_known() && segments[0].completed.is_known()) << row.name;
    EXPECT_EQ(segments[0].end, CommFate::Destroyed) << row.name;
  }
}

TEST(BuildJob, CountsWhatRayLeftOut) {
  const Job job = job_from_text(
      "(W pid=10) node-a:10:10 [0] NCCL INFO NCCL_IB_HCA set to mlx5 [repeated 7x across "
      "cluster]\n");
  EXPECT_EQ(job.losses.count(Loss::LineLeftOut), 6u);
  ASSERT_EQ(job.environment.size(), 1u);
  EXPECT_EQ(job.environment[0].value, "mlx5");
}

TEST(BuildJob, EveryLineHasOneFate) {
  const Job job =
      job_from_text(std::string(kTwoRanks) + "step 1\nn:1:1 [0] NCCL INFO no such words\n");
  EXPECT_EQ(job.losses.lines, job.losses.recognised + job.losses.unrecognised + job.losses.foreign +
                                  job.losses.unreadable);
  EXPECT_EQ(job.losses.unrecognised, 1u);
}

TEST(FileLine, CountsFromTheUnitsFirstLine) {
  Job job;
  job.inputs.resize(2);
  job.inputs[1].path = "b.log";
  job.units = {{0, 0, 1}, {7, 1, 1}, {8, 1, 501}};
  EXPECT_EQ(file_line(job, {8, 3}).path, "b.log");
  EXPECT_EQ(file_line(job, {8, 3}).line, 503u);
  EXPECT_EQ(file_line(job, {2, 3}).path, "") << "numbers have gaps";
}

SpeakerLog log_of(Speaker speaker, uint64_t lines, bool torn) {
  SpeakerLog log;
  log.speaker = std::move(speaker);
  log.lines = lines;
  log.torn = torn;
  return log;
}

Speaker rank(int number) {
  Speaker speaker;
  speaker.rank = number;
  return speaker;
}

Speaker process(std::string host, int64_t pid) { return {.host = std::move(host), .pid = pid}; }

std::vector<std::string> names(const std::vector<SpeakerLog>& logs) {
  std::vector<std::string> result;
  for (const SpeakerLog& log : logs) {
    const Speaker& speaker = log.speaker;
    result.push_back(speaker.rank >= 0 ? "rank " + std::to_string(speaker.rank)
                                       : speaker.host + ":" + std::to_string(speaker.pid));
  }
  return result;
}

struct TornSpeakerRow {
  std::string name;
  std::vector<SpeakerLog> logs;
  std::vector<std::string> kept;
};

TEST(TornSpeakers, NamesThatOnlyATornLineGivesAreForgotten) {
  const std::vector<TornSpeakerRow> rows = {
      {"a host that took bytes in",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("gnode-", 7), 1, true)},
       {"gpu-node-1:7"}},
      {"a host behind what was cut off before it",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("gpugpu-node-1", 7), 1, false)},
       {"gpu-node-1:7"}},
      {"a host that begins anew inside its name",
       {log_of(process("gpu-node-1", 7), 40, false), log_of(process("gpu-node-1gpu", 7), 1, false)},
       {"gpu-node-1:7"}},
      {"the end of a host before its beginning",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("pu-node-1gp", 8), 1, false)},
       {"gpu-node-1:7"}},
      {"what is left of a host where others are torn",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("g1", 7), 1, false)},
       {"gpu-node-1:7"}},
      {"containers share pids",
       {log_of(process("gpu-a", 7), 40, true), log_of(process("gpu-b", 7), 40, true)},
       {"gpu-a:7", "gpu-b:7"}},
      {"nothing is torn",
       {log_of(process("gpu-a", 7), 40, false), log_of(process("gpu-b", 7), 1, false)},
       {"gpu-a:7", "gpu-b:7"}},
      {"a frame's number is no rank",
       {log_of(process("gpu-a", 7), 40, false), log_of(rank(6), 1, false)},
       {"gpu-a:7"}},
      {"a launcher's task",
       {log_of(process("gpu-a", 7), 40, false), log_of(rank(6), 30, false)},
       {"gpu-a:7", "rank 6"}},
      {"a few lines are all there is",
       {log_of(rank(0), 1, false), log_of(rank(1), 1, false)},
       {"rank 0", "rank 1"}},
  };
  for (const TornSpeakerRow& row : rows) {
    std::vector<SpeakerLog> logs = row.logs;
    join_torn_speakers(logs);
    EXPECT_EQ(names(logs), row.kept) << row.name;
  }
}

CommSegment segment(uint64_t comm_id, uint64_t parent, uint64_t started) {
  CommSegment result;
  result.comm_id = comm_id;
  result.parent = parent;
  result.started.line = started;
  return result;
}

TEST(TornSpeakers, CommunicatorsWhoseBeginningIsLostAreForgotten) {
  for (const bool torn : {false, true}) {
    std::vector<SpeakerLog> logs = {log_of(process("gpu-a", 7), 40, torn)};
    logs[0].comms.all = {segment(0xc0, 0, 0), segment(0, 0, 3), segment(0, 0xa, 4),
                         segment(0, 0, 0)};
    drop_unplaced_segments(logs);
    EXPECT_EQ(logs[0].comms.all.size(), torn ? 2u : 4u);
  }
}

TEST(TornSpeakers, CommunicatorsOfReleasesThatPrintNoBeginningStay) {
  std::vector<SpeakerLog> logs = {log_of(process("gpu-a", 7), 40, true)};
  CommSegment complete = segment(0, 0, 0);
  complete.completed.line = 5;
  logs[0].comms.all = {complete, segment(0, 0, 0)};
  drop_unplaced_segments(logs);
  ASSERT_EQ(logs[0].comms.all.size(), 1u);
  EXPECT_EQ(logs[0].comms.all[0].completed.line, 5u);
}

/// The logs of a text, those of `torn` as torn ones.
std::vector<SpeakerLog> logs_of(std::string_view text, const std::set<int64_t>& torn) {
  std::vector<SpeakerLog> logs;
  for (auto& [speaker, log] : read_text(text).speakers) {
    log.speaker = speaker;
    log.torn = torn.contains(speaker.pid);
    logs.push_back(std::move(log));
  }
  return logs;
}

/// What is left, one line a record.
std::string left(std::vector<SpeakerLog> logs) {
  drop_contradicted_values(logs);
  std::string text;
  for (const SpeakerLog& log : logs) {
    for (const auto& [kind, list] : log.records) {
      for (const Record& record : list.kept) text += record.text() + "\n";
    }
  }
  return text;
}

constexpr std::string_view kAlike =
    "n:1:1 [0] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.\n"
    "n:2:2 [1] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.\n";
constexpr std::string_view kOdd =
    "n:3:3 [2] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0x7ef2\n";

TEST(TornValues, WhatOneTornLogSaysAgainstOthersIsForgotten) {
  const std::string all = std::string(kAlike) + std::string(kOdd);
  EXPECT_EQ(left(logs_of(all, {3})), kAlike);
  // A whole log counts, and so does a torn one that is confirmed.
  EXPECT_EQ(left(logs_of(all, {})), all);
  EXPECT_EQ(left(logs_of(all, {1})), all);
}

TEST(TornValues, WhatNobodyContradictsStays) {
  const std::string one = "n:3:3 [2] NCCL INFO NCCL_P2P_DISABLE set by environment to 1\n";
  const std::string all = std::string(kAlike) + one;
  EXPECT_EQ(left(logs_of(all, {1, 2, 3})), all);
}

TEST(TornValues, WhatNobodySetsIsForgottenOfATornLog) {
  const std::string odd = "n:3:3 [2] NCCL INFO NCCL_BUFFSIZE set by environment to 3).\n";
  const std::string all = std::string(kAlike) + odd;
  EXPECT_EQ(left(logs_of(all, {3})), kAlike);
  EXPECT_EQ(left(logs_of(all, {})), all);
}

TEST(TornValues, ANetworkThatOnlyOneNamesIsForgottenWhereAnyLogIsTorn) {
  const std::string alike =
      "n:1:1 [0] NCCL INFO Using network Socket\n"
      "n:2:2 [1] NCCL INFO Using network Socket\n";
  const std::string odd = "n:3:3 [2] NCCL INFO Using network Sockedone\n";
  EXPECT_EQ(left(logs_of(alike + odd, {1})), alike);
  EXPECT_EQ(left(logs_of(alike + odd, {})), alike + odd);
}

}  // namespace

}  // namespace ncclog
