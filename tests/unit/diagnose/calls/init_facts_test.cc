#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/guilty.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::guilty_answer;
using testing::GuiltyCase;
using testing::job_from_files;

constexpr std::string_view kMissing = "job.rank_missing_at_init";
constexpr std::string_view kMissingPerhaps = "job.rank_missing_at_init_perhaps";
constexpr std::string_view kUnseen = "job.rank_unseen_at_init";
constexpr std::string_view kPartial = "job.init_partial";
constexpr std::string_view kPartialPerhaps = "job.init_partial_perhaps";
constexpr std::string_view kStalled = "job.init_stalled";
constexpr std::string_view kStalledPerhaps = "job.init_stalled_perhaps";

const std::string kCancelled =
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n";
const std::string kStuck =
    "[rank0]:[E105 09:14:03.101002003 ProcessGroupNCCL.cpp:1174] [PG ID 0 PG GUID 0(default_pg) "
    "Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in "
    "monitoring enqueued collectives.\n";
const std::string kNew = "n1:100:100 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n";
const std::string kOld = "NCCL version 2.20.5+cuda12.4\n";

/// A line of the process of `rank`, two ranks a host: n1:100, n1:101, n2:102, …
std::string line(int rank, std::string_view message) {
  return fmt::format("n{}:{}:{} [{}] NCCL INFO {}\n", rank / 2 + 1, 100 + rank, 100 + rank,
                     rank % 2, message);
}

std::string phase(int rank, int nranks, std::string_view phase, int id = 0x51) {
  return line(rank, fmt::format("ncclCommInitRank comm {:#x} rank {} nranks {} cudaDev {} nvmlDev "
                                "{} busId {}000 commId {:#x} - Init {}",
                                0x7000 + id * 16 + rank, rank, nranks, rank % 2, rank % 2,
                                rank % 2 + 1, id, phase));
}

std::string start(int rank, int nranks, int id = 0x51) { return phase(rank, nranks, "START", id); }

std::string complete(int rank, int nranks, int id = 0x51) {
  return phase(rank, nranks, "COMPLETE", id);
}

std::string bootstrap(int rank) { return line(rank, "Bootstrap: Using eth0:10.0.0.4<0>"); }

/// The lines of 2.10 that a rank prints until others are needed, and its COMPLETE.
std::string old_network(int rank) {
  return fmt::format("[1,{}]<stdout>:{}", rank, line(rank, "Using network Socket"));
}
std::string old_complete(int rank, int nranks) {
  return fmt::format("[1,{}]<stdout>:{}", rank,
                     line(rank, fmt::format("comm 0x7{} rank {} nranks {} cudaDev 0 busId 1000 - "
                                            "Init COMPLETE",
                                            rank, rank, nranks)));
}
const std::string kOldest = "NCCL version 2.10.3+cuda11.3\n";

std::string starts(int from, int to, int nranks) {
  std::string text;
  for (int rank = from; rank < to; ++rank) text += start(rank, nranks);
  return text;
}

const GuiltyCase kMissingCases[] = {
    {"its lines end earlier", kMissing, starts(0, 3, 4) + bootstrap(3) + kCancelled, "yes 3"},
    {"a job that starts", kMissing, starts(0, 3, 4) + bootstrap(3), "unknown"},
    {"a job that starts may hang", kMissingPerhaps, starts(0, 3, 4) + bootstrap(3), "yes 3"},
    {"somebody completed: lines are lost", kMissing,
     starts(0, 3, 4) + bootstrap(3) + complete(0, 4) + kCancelled, "unknown"},
    {"the framework names it beside NCCL's lines", kMissing,
     starts(0, 3, 4) +
         "[rank3]: loading shard 7\n[rank3]:[W105 09:14:02.007718211 "
         "socket.cpp:207] [c10d] The hostname of the client socket cannot be retrieved. err=-3\n" +
         kCancelled,
     "yes 3"},
    {"NCCL_DEBUG on one rank only", kMissing,
     start(0, 2) +
         "[rank1]:[W105 09:14:02.007718211 socket.cpp:207] [c10d] The hostname of the "
         "client socket cannot be retrieved. err=-3\n" +
         kCancelled,
     "unknown"},
    {"it failed by itself", kMissing,
     starts(0, 3, 4) + bootstrap(3) +
         "n2:103:103 [1] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n" +
         kCancelled,
     "unknown"},
    {"one that waits failed by itself", kMissing,
     starts(0, 3, 4) + bootstrap(3) +
         "n1:101:101 [1] enqueue.cc:1104 NCCL WARN Cuda failure 'unspecified launch failure'\n" +
         kCancelled,
     "unknown"},
    {"training went on: lines are lost", kMissing,
     starts(0, 3, 4) + bootstrap(3) + "iteration: 0 | loss: 2.2\niteration: 1 | loss: 2.1\n" +
         kCancelled,
     "unknown"},
    {"two processes of NCCL name no rank", kMissing,
     starts(0, 3, 4) + bootstrap(3) + bootstrap(5) + kCancelled, "unknown"},
    {"most ranks are not there", kMissing, start(0, 8) + bootstrap(1) + kCancelled, "unknown"},
    {"a group's rank, and all processes are there", kMissing,
     starts(0, 4, 4) + complete(0, 4) + complete(1, 4) + complete(2, 4) + complete(3, 4) +
         start(0, 2, 0x60) + kCancelled,
     "yes"},
    {"a group's rank, and one process is not there", kMissing,
     starts(0, 3, 4) + complete(0, 4) + complete(1, 4) + complete(2, 4) + start(0, 2, 0x60) +
         kCancelled,
     "unknown"},
    {"before Init START", kMissing,
     kOldest + old_network(0) + old_network(1) + "[1,2]<stdout>:" + bootstrap(2) + kCancelled,
     "yes 2"},
    {"before Init START, beside NCCL's lines", kMissing,
     kOldest + old_network(0) + old_network(1) + "[1,2]<stdout>:Loading data\n" + kCancelled,
     "yes 2"},
    {"before Init START, all are as far", kMissing,
     kOldest + old_network(0) + old_network(1) + old_network(2) + kCancelled, "unknown"},
    {"before Init START, ranks unknown", kMissing,
     kOldest + line(0, "Using network Socket") + line(1, "Using network Socket") +
         "[rank0]: Traceback (most recent call last):\n" + kCancelled,
     "unknown"},
};

const GuiltyCase kUnseenCases[] = {
    {"one of a host's ranks", kUnseen, starts(0, 3, 4) + kCancelled, "yes 3"},
    {"one of one host's ranks", kUnseen, start(0, 3) + start(1, 3) + kCancelled, "yes 2"},
    {"a job that starts", kUnseen, starts(0, 3, 4), "unknown"},
    {"two ranks", kUnseen, starts(0, 2, 4) + kCancelled, "unknown"},
    {"only one rank's file", kUnseen, start(0, 2) + kCancelled, "unknown"},
    {"a whole host", kUnseen, start(0, 3) + start(2, 3) + kCancelled, "unknown"},
    {"somebody completed", kUnseen, starts(0, 3, 4) + complete(1, 4) + kCancelled, "unknown"},
};

const std::string kThreeOfFour = starts(0, 4, 4) + complete(0, 4) + complete(1, 4) + complete(2, 4);

const GuiltyCase kPartialCases[] = {
    {"one does not complete", kPartial, kOld + kThreeOfFour + kStuck, "yes 3"},
    {"it was ended and may have been fine", kPartial, kOld + kThreeOfFour + kCancelled, "unknown"},
    {"the job may only start", kPartial, kOld + kThreeOfFour, "unknown"},
    {"the job may hang", kPartialPerhaps, kOld + kThreeOfFour, "yes 3"},
    {"connections are made later", kPartial, kNew + kThreeOfFour + kStuck, "unknown"},
    {"no version is printed", kPartial, kThreeOfFour + kStuck, "unknown"},
    {"most do not complete", kPartial, kOld + starts(0, 4, 4) + complete(0, 4) + kStuck, "unknown"},
    {"a later communicator of all came up", kPartial,
     kOld + kThreeOfFour + complete(0, 4, 0x61) + complete(1, 4, 0x61) + complete(2, 4, 0x61) +
         kStuck,
     "unknown"},
    {"the rank went on", kPartial, kOld + kThreeOfFour + complete(3, 2, 0x61) + kStuck, "unknown"},
    {"the communicator was destroyed", kPartial,
     kOld + kThreeOfFour +
         line(0, "comm 0x7510 rank 0 nranks 4 cudaDev 0 busId 1000 - Destroy COMPLETE") + kStuck,
     "unknown"},
    {"before Init START", kPartial,
     kOldest + old_network(2) + old_complete(0, 3) + old_complete(1, 3) + kStuck, "yes 2"},
    {"before Init START, no line of it", kPartial,
     kOldest + old_complete(0, 3) + old_complete(1, 3) + kStuck, "unknown"},
};

const GuiltyCase kStalledCases[] = {
    {"nobody completes", kStalled, starts(0, 4, 4) + kCancelled, "yes"},
    {"a job that starts", kStalled, starts(0, 4, 4), "unknown"},
    {"a job that starts may hang", kStalledPerhaps, starts(0, 4, 4), "yes"},
    {"one rank is not there", kStalled, starts(0, 3, 4) + kCancelled, "unknown"},
    {"one completed", kStalled, starts(0, 4, 4) + complete(1, 4) + kCancelled, "unknown"},
    {"one was killed", kStalled,
     starts(0, 4, 4) + "bash: line 1:  102 Killed                  python3 train.py\n", "unknown"},
    {"one reports an error", kStalled,
     starts(0, 4, 4) + line(2, "bootstrap.cc:45 -> 2") + kCancelled, "unknown"},
    {"a split is collective over its parent", kStalled,
     line(0,
          "ncclCommSplit comm 0x7f20b0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 parent "
          "0x7f10a0 splitCount 1 color 1 key 0- Init START") +
         line(1,
              "ncclCommSplit comm 0x7f20b0 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2000 "
              "parent 0x7f10a0 splitCount 1 color 1 key 1- Init START") +
         kCancelled,
     "unknown"},
};

void expect(const GuiltyCase& row) {
  EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
}

TEST(InitFacts, ARankIsMissingWhereTheLogsCoverIt) {
  for (const GuiltyCase& row : kMissingCases) expect(row);
}

TEST(InitFacts, OneRankWithoutAnyLineIsUnseen) {
  for (const GuiltyCase& row : kUnseenCases) expect(row);
}

TEST(InitFacts, APartialInitialisationIsOneOfOldReleases) {
  for (const GuiltyCase& row : kPartialCases) expect(row);
}

TEST(InitFacts, AStalledInitialisationHasAllRanksAndNoError) {
  for (const GuiltyCase& row : kStalledCases) expect(row);
}

TEST(InitFacts, SayWhereAndWhenAMissingRankSpokeLast) {
  const std::string log = starts(0, 3, 4) + "[2026-01-05 11:00:00] " + bootstrap(3) + kCancelled;
  EXPECT_EQ(testing::fact_of(kMissing, log).what,
            "ranks 0-2 of 4 began to initialise communicator 0x51 and wait, but rank 3 (n2, pid "
            "103) did not begin: its last line, at 2026-01-05 11:00:00, is \"Bootstrap: Using "
            "eth0:10.0.0.4<0>\". The job stopped: the scheduler cancelled the job");
}

TEST(InitFacts, LinesThatGoOnForLongShowThatAJobHangs) {
  const auto log = [](std::string_view minute) {
    std::string text;
    for (int rank = 0; rank < 4; ++rank) text += "2026-01-05T11:00:00Z " + start(rank, 4);
    return text + fmt::format("2026-01-05T11:{}:00Z [rank2]: still loading\n", minute);
  };
  EXPECT_EQ(guilty_answer(kStalled, log("09")), "unknown");
  EXPECT_EQ(guilty_answer(kStalled, log("14")), "yes");
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
  EXPECT_EQ(fact_text(find_fact(kMissing)->derive(job, job_instance(job))), "unknown");
  EXPECT_EQ(fact_text(find_fact(kUnseen)->derive(job, job_instance(job))), "yes");
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
  EXPECT_EQ(fact_text(find_fact(kStalled)->derive(job, job_instance(job))), "unknown");
}

}  // namespace

}  // namespace ncclog
