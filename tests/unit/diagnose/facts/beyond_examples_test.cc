// Law: facts answer rightly to logs that no example of a rule can be, of several files or hundreds
// of ranks, torn or cut in every way, or with a second finding beside the rule's.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/facts/fact.h"
#include "model/derive/build_job.h"
#include "model/derive/split_runs.h"
#include "support/call_log.h"
#include "support/empty_split.h"
#include "support/guilty.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::CallLog;
using testing::fact_of;
using testing::guilty_answer;
using testing::GuiltyCase;
using testing::job_from_files;
using testing::world;

constexpr std::string_view kMissing = "job.rank_missing_in_collective";
constexpr std::string_view kMessages = "job.messages_unmatched";

constexpr int kManyRanks = 300;  ///< More peers than a rank's messages are counted for.

/// Rank 0 receives from all others, which then call an AllReduce; rank 150 has not sent.
CallLog gather_without_one() {
  CallLog log;
  for (int rank = 0; rank < kManyRanks; ++rank) log.init(rank, kManyRanks, 1);
  for (int rank = 1; rank < kManyRanks; ++rank) {
    log.call(0, 1, "Recv", 8, rank).call(rank, 1);
    if (rank != 150) log.call(rank, 1, "Send", 8, 0);
  }
  return log;
}

/// Rank 5 sends to all others and then calls an AllReduce with them, but not the third time.
CallLog hub_without_call() {
  CallLog log;
  for (int rank = 0; rank < kManyRanks; ++rank) log.init(rank, kManyRanks, 1);
  for (int i = 0; i < 3; ++i) {
    for (int rank = 0; rank < kManyRanks; ++rank) {
      if (rank != 5) log.call(5, 1, "Send", 8, rank).call(rank, 1, "Recv", 8, 5);
    }
    for (int rank = 0; rank < kManyRanks; ++rank) {
      if (i < 2 || rank != 5) log.call(rank, 1);
    }
  }
  return log;
}

/// Three stages of a pipeline after five iterations; in the sixth rank 1 sends nothing to rank 2.
CallLog without_send() {
  CallLog log = world(3);
  for (int i = 0; i < 6; ++i) {
    log.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
    if (i < 5) log.call(1, 1, "Send", 8, 2);
    log.call(2, 1, "Recv", 8, 1).call(0, 1).call(1, 1);
    if (i < 5) log.call(2, 1);
  }
  return log;
}

std::vector<GuiltyCase> cases() {
  return {
      {"a message that once was not needed was not left out by who waits for somebody else",
       kMessages, testing::empty_split().text(), "yes 5"},
      {"nor does it hide who is awaited", kMissing, testing::empty_split().text(), "yes 5"},
      {"of many peers, too, who waits for a message is not late", kMissing,
       gather_without_one().timeout(1, 1).text(), "unknown"},
      {"and who owes it is known", kMessages, gather_without_one().timeout(1, 1).text(),
       "yes 0,150"},
      {"messages with many peers hide nobody", kMissing, hub_without_call().timeout(0, 3).text(),
       "yes 5"},
  };
}

TEST(HangFacts, NameWhoHoldsUpALargeJob) {
  for (const GuiltyCase& one : cases()) {
    EXPECT_EQ(guilty_answer(one.fact, one.log), one.answer) << one.what << "\n" << one.log;
  }
}

TEST(HangFacts, ShowWhatBothEndsOfAMissingMessageCalledLast) {
  const CallLog log = without_send();
  const auto line_of_last = [&](std::string_view begin) {
    const size_t at = log.text().rfind(begin);
    return static_cast<uint64_t>(std::count(log.text().begin(), log.text().begin() + at, '\n')) + 1;
  };
  const FactValue value = fact_of(kMessages, without_send().timeout(0, 7).text());
  ASSERT_EQ(value.evidence.size(), 2u);
  EXPECT_EQ(value.evidence[0].where.line, line_of_last("n3:52:52 [2] NCCL INFO Recv"));
  EXPECT_EQ(value.evidence[1].where.line, line_of_last("n3:51:51 [1] NCCL INFO AllReduce"));
}

TEST(HangFacts, SayThatOnlySomeMessagesDifferInSize) {
  CallLog log = world(2);
  log.call(0, 1, "Send", 64, 1).call(1, 1, "Recv", 64, 0);
  log.call(0, 1, "Send", 64, 1).call(1, 1, "Recv", 128, 0);
  EXPECT_EQ(fact_of(kMessages, log.timeout(0, 3, "SEND").text()).what,
            "of the 2 messages from rank 0 to rank 1, not all were sent and received in one size");
}

constexpr std::string_view kMismatched = "job.collectives_mismatched";

/// Each rank makes one call with its own number of elements.
CallLog counts(const std::vector<int64_t>& of_ranks) {
  const int nranks = static_cast<int>(of_ranks.size());
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  for (size_t rank = 0; rank < of_ranks.size(); ++rank) {
    log.call(static_cast<int>(rank), 1, "AllReduce", of_ranks[rank]);
  }
  return log;
}

/// Two ranks in loops of 8 or 10 large calls and a small one. In the last one rank 1 makes a large
/// call smaller, where a small one would do as well; behind it both leave the loop.
CallLog loop_that_ends_behind() {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1);
  const auto both = [&](int times, int64_t count) {
    for (int i = 0; i < times; ++i) {
      for (int rank = 0; rank < 2; ++rank) log.call(rank, 1, "AllReduce", count);
    }
  };
  for (const int length : {8, 10, 8, 10}) {
    both(length, 512);
    both(1, 8);
  }
  both(8, 512);
  log.call(0, 1).call(1, 1, "AllReduce", 256);
  both(1, 512);
  both(1, 8);
  both(3, 512);
  both(1, 64);
  return log;
}

TEST(MismatchFacts, BlameNobodyWhereTwoDifferFromTwo) {
  EXPECT_EQ(guilty_answer(kMismatched, counts({8, 8, 4, 4}).text()), "yes");
}

TEST(MismatchFacts, AreNotDecidedByWhatIsCalledBehindTheDifference) {
  EXPECT_EQ(guilty_answer(kMismatched, loop_that_ends_behind().text()), "yes");
}

TEST(MismatchFacts, AreLessSureWhereTheCommunicatorIsInferred) {
  CallLog log;
  log.size(1, 3).call(0, 1).call(1, 1).call(2, 1, "AllReduce", 8);
  const FactValue value = fact_of(kMismatched, log.text());
  EXPECT_TRUE(value.inferred);
  EXPECT_EQ(value.processes.size(), 1u);
  EXPECT_FALSE(fact_of(kMismatched, counts({8, 8, 4}).text()).inferred);
}

const std::string kCancelled =
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n";

/// Two ranks a host: n1:100, n1:101, n2:102, …
std::string start(int rank, int nranks) {
  return fmt::format(
      "n{0}:{1}:{1} [{2}] NCCL INFO ncclCommInitRank comm {3:#x} rank {4} nranks {5} cudaDev {2} "
      "nvmlDev {2} busId {6}000 commId 0x51 - Init START\n",
      rank / 2 + 1, 100 + rank, rank % 2, 0x7510 + rank, rank, nranks, rank % 2 + 1);
}

/// A file for each rank's NCCL lines, and one for what the framework prints.
TEST(InitFacts, ARankThatSpeaksElsewhereMayHaveAFileThatIsNotThere) {
  const std::string framework =
      "[rank3]:[W105 09:14:02.007718211 socket.cpp:207] [c10d] The hostname of the client socket "
      "cannot be retrieved. err=-3\n" +
      kCancelled;
  const Job job = job_from_files({{"nccl.n1.100.log", start(0, 4)},
                                  {"nccl.n1.101.log", start(1, 4)},
                                  {"nccl.n2.102.log", start(2, 4)},
                                  {"stdout.log", framework}});
  EXPECT_EQ(fact_text(find_fact("job.rank_missing_at_init")->ask(job, job_instance(job))),
            "unknown");
  EXPECT_EQ(fact_text(find_fact("job.rank_unseen_at_init")->ask(job, job_instance(job))), "yes");
}

/// The first run stopped, the second one starts.
TEST(InitFacts, RunsAreJudgedOneByOne) {
  const auto run = [](int id, int pid, std::string_view end) {
    std::string text;
    for (int rank = 0; rank < 2; ++rank) {
      text += fmt::format(
          "n1:{0}:{0} [{1}] NCCL INFO ncclCommInitRank comm {2:#x} rank {1} nranks 2 cudaDev {1} "
          "nvmlDev {1} busId {1}000 commId {2:#x} - Init START\n",
          pid + rank, rank, id + rank);
    }
    return text + fmt::format("n1:{0}:{0} [0] NCCL INFO {1}\n", pid, end);
  };
  const Job job =
      job_from_files({{"a/nccl.log", run(0x51, 100, "Bootstrap timings total 0.08 (create 0.01)")},
                      {"b/nccl.log", run(0x61, 200, "Bootstrap timings total 0.08 (create 0.01)")},
                      {"slurm.log", kCancelled}});
  const SplitRuns split = split_runs(job);
  ASSERT_EQ(split.runs.size(), 2U);
  for (const Job& one : split.runs) {
    EXPECT_EQ(fact_text(find_fact("job.init_stalled")->ask(one, job_instance(one))), "unknown");
  }
}

TEST(StopFacts, ARankThatAllGoOnCallingWithDidNotFailByItsException) {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1);
  log.line("[rank1]: Traceback (most recent call last):");
  log.line("[rank1]: ValueError: labels out of range");
  CallLog ahead = log;
  for (int call = 0; call < 70; ++call) {
    log.call(0, 1).call(1, 1);
    ahead.call(0, 1);
  }
  constexpr std::string_view kRaisedFirst = "job.raised_first";
  EXPECT_EQ(guilty_answer(kRaisedFirst, log.text()), "unknown");
  EXPECT_EQ(guilty_answer(kRaisedFirst, ahead.text()), "yes 1");
}

TEST(WatchdogFacts, SeeNoEvaluationThatIsLongAgo) {
  const std::string eval = "Validation:   1%|1         | 2/210 [00:01<02:58,  1.16it/s]\n";
  const std::string late =
      "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
  EXPECT_EQ(answer_of("job.watchdog_at_eval", eval + late), "yes");
  EXPECT_EQ(answer_of("job.watchdog_at_eval", eval + std::string(800, '\n') + late), "unknown");
}

constexpr std::string_view kPerhaps = "job.device_changed_perhaps";

/// A line of rank's process, which has pid 100 + rank.
std::string gpu_line(int rank, int dev, std::string_view message) {
  return fmt::format("n1:{0}:{0} [{1}] NCCL INFO {2}\n", 100 + rank, dev, message);
}

std::string phase(int rank, int dev, int id, std::string_view phase) {
  return gpu_line(
      rank, dev,
      fmt::format("ncclCommInitRankConfig comm {:#x} rank {} nranks 3 cudaDev {} nvmlDev "
                  "{} busId {}000 commId {:#x} - Init {}",
                  0x7000 + id * 16 + rank, rank, dev, dev, dev + 1, id, phase));
}

std::string complete(int rank, int dev, int id) {
  return phase(rank, dev, id, "START") + phase(rank, dev, id, "COMPLETE");
}

const std::string kAll = complete(0, 0, 0x51) + complete(1, 1, 0x51) + complete(2, 2, 0x51);
const std::string kTimeout =
    "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600019 milliseconds before timing out.\n";
const std::string kClosing = "ENV/Plugin: Closing env plugin ncclEnvDefault";

TEST(DeviceFacts, ARankThatMayHaveAnotherGpuIsTold) {
  const GuiltyCase rows[] = {
      {"the job may only start", kPerhaps, kAll + phase(2, 5, 0x61, "START"), "yes 2"},
      {"all ranks change", kPerhaps,
       kAll + complete(0, 3, 0x61) + complete(1, 4, 0x61) + complete(2, 5, 0x61), "yes 0-2"},
      {"the main thread shows another GPU", kPerhaps, kAll + kTimeout + gpu_line(2, 5, kClosing),
       "yes 2"},
  };
  for (const GuiltyCase& row : rows) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

/// A process of host dev-7 up to its initialisation: version, network, Init START of rank `rank`.
std::string rank_lines(int rank, bool fell_back = false) {
  const std::string n = std::to_string(rank);
  const std::string head = "dev-7:410" + n + ":410" + n + " [" + n + "] NCCL INFO ";
  std::string log =
      head + "Bootstrap: Using eth0:10.8.0.7<0>\n" + head + "NCCL version 2.27.3+cuda12.9\n";
  if (fell_back) {
    log += head +
           "cuMem host allocations do not appear to be working; falling back to a /dev/shm/ based "
           "implementation. This could be due to the container runtime disabling NUMA support. To "
           "disable this warning, set NCCL_CUMEM_HOST_ENABLE=0\n";
  }
  return log + head + "Using network Socket\n" + head + "ncclCommInitRankConfig comm 0x5" + n +
         " rank " + n + " nranks 2 cudaDev " + n + " nvmlDev " + n + " busId " + n +
         "000 commId 0x51 - Init START\n";
}

constexpr std::string_view kGarbled =
    "[2026-01-05 08:00:01] dev-7:4101:4177 [1] misc/shmutils.cc:134 NCCL WARN Error while "
    "attaching to shared memory segment /dev/shm/nccl-\xd3 (size 0), error: No such file or "
    "directory (2)\n";

const std::string kFell1 = rank_lines(1, true);
const std::string kKept0 = rank_lines(0);
const std::string kKept1 = rank_lines(1);

/// What the log of two ranks says of a garbled name; `cut` lacks all or none of its beginning.
std::string garbled_answer(const std::string& whole, const std::string& cut) {
  const Job job = job_from_text(whole + cut + std::string(kGarbled));
  for (const Instance& instance : instances_of(job, Scope::Host)) {
    if (instance.host != "dev-7") continue;
    return fact_text(find_fact("host.garbled_attach")->ask(job, instance));
  }
  return "no host";
}

TEST(CumemHostMemory, LosesItsAnswerButNeverChangesItWhereLinesAreCutOff) {
  const std::pair<std::string, std::string> logs[] = {
      {kKept0, kFell1}, {kFell1, kKept0}, {kKept0, kKept1}, {kKept1, kKept0}};
  for (const auto& [whole, other] : logs) {
    const std::string truth = garbled_answer(whole, other);
    ASSERT_NE(truth, "either");
    for (size_t at = 0; at != std::string::npos; at = other.find('\n', at + 1)) {
      const size_t line = at == 0 ? 0 : at + 1;
      for (const std::string& cut : {other.substr(line), other.substr(0, line)}) {
        const std::string answer = garbled_answer(whole, cut);
        EXPECT_TRUE(answer == truth || answer == "either") << answer << " from\n" << cut;
      }
    }
  }
}

TEST(AddressFacts, TakeABlankBehindACommaForAPartOfTheName) {
  EXPECT_EQ(answer_of("job.ifname_not_used",
                      "red1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0, "
                      "eth1\n"
                      "red1:10:10 [0] NCCL INFO Bootstrap : Using eth1:10.4.4.1<0>\n"),
            "yes");
}

TEST(NetworkFacts, NameTheFewThatUseAnotherNetwork) {
  const FactValue answer = fact_of("job.networks_differ",
                                   "red1:10:10 [0] NCCL INFO Using network IB\n"
                                   "red1:11:11 [1] NCCL INFO Using network IB\n"
                                   "red2:20:20 [0] NCCL INFO Using network Socket\n");
  EXPECT_EQ(answer.what, "(IB in 2 processes on red1, Socket in 1 process on red2)");
  EXPECT_EQ(answer.processes, (std::vector<int>{2}));
}

TEST(NetworkFacts, BlameNobodyWithoutAMajority) {
  const FactValue answer = fact_of("job.networks_differ",
                                   "red1:10:10 [0] NCCL INFO Using network IB\n"
                                   "red2:20:20 [0] NCCL INFO Using network Socket\n");
  EXPECT_TRUE(answer.processes.empty());
}

std::string init_of_three(int rank, std::string_view phase) {
  return fmt::format(
      "a:{0}:{0} [0] NCCL INFO ncclCommInitRank comm 0x5a rank {1} nranks 3 cudaDev 0 nvmlDev 0 "
      "busId 3d000 commId 0x77 - Init {2}\n",
      100 + rank, rank, phase);
}

TEST(KilledFact, AKillFarBeforeTheTimeLimitIsNotOfIt) {
  const std::string killed = "srun: error: n1: task 5: Killed\n";
  const std::string limit =
      "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT "
      "***\n";
  std::string others;
  for (int i = 0; i < 150; ++i) others += fmt::format("writing block {}\n", i);
  EXPECT_EQ(answer_of("job.killed", killed + others + limit), "yes");
  EXPECT_EQ(answer_of("job.killed", others + killed + limit), "no");
  EXPECT_EQ(answer_of("job.killed", others + limit + killed), "no");
}

TEST(EnvironmentFacts, TakeASettingForMissingOnlyWhereNoLineIsTorn) {
  Job job = job_from_text(init_of_three(0, "START") + init_of_three(0, "COMPLETE") +
                          init_of_three(1, "START") + init_of_three(1, "COMPLETE") +
                          init_of_three(2, "START") +
                          "a:102:102 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n" +
                          init_of_three(2, "COMPLETE"));
  const auto differs = [&] {
    return is_yes(find_fact("job.env_differs")->ask(Job(job), {}));  // It will change.
  };
  EXPECT_TRUE(differs());
  job.logs[2].torn = true;
  EXPECT_FALSE(differs());
}

}  // namespace

}  // namespace ncclog
