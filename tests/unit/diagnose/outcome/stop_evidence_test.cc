#include "diagnose/outcome/stop_evidence.h"

#include <gtest/gtest.h>

#include "model/build/build_job.h"
#include "support/guilty.h"
#include "support/letter_calls.h"

namespace ncclog {
namespace {

using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kKilled = "job.killed";
constexpr std::string_view kSegfaulted = "job.segfaulted";
constexpr std::string_view kRaisedFirst = "job.raised_first";
constexpr std::string_view kStore = "job.store_root_silent";

const std::string kRank1 =
    "n1:4242:4242 [1] NCCL INFO ncclCommInitRank comm 0x5a rank 1 nranks 4 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init COMPLETE\n";
const std::string kTimeout =
    "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
const std::string kAgentLine =
    "E0209 11:22:33.123000 4200 torch/distributed/elastic/multiprocessing/api.py:826] ";

/// Two ranks of one communicator.
const std::string kPair =
    "n1:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
    "busId 1000 commId 0x77 - Init COMPLETE\n"
    "n1:42:42 [1] NCCL INFO ncclCommInitRank comm 0x5b rank 1 nranks 2 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init COMPLETE\n";

/// So many calls of each.
std::string calls_of_pair(int first, int second) {
  const std::string end =
      " NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 count 8 datatype 7 op 0 "
      "root 0 comm 0x5";
  return testing::repeated("n1:41:41 [0]" + end + "a [nranks=2] stream 0x1\n", first) +
         testing::repeated("n1:42:42 [1]" + end + "b [nranks=2] stream 0x1\n", second);
}

const GuiltyCase kDeaths[] = {
    {"by pid", kKilled, kRank1 + "bash: line 1:  4242 Killed                  python3 train.py\n",
     "yes 1"},
    {"by the command's RANK", kKilled,
     "bash: line 1:  9 Killed                  env RANK=3 LOCAL_RANK=1 python3 train.py\n",
     "yes 3"},
    {"aborted only", kKilled, "bash: line 1:  9 Aborted                 python3 train.py\n",
     "unknown"},
    {"torchrun's exit code", kKilled,
     kRank1 + kAgentLine + "failed (exitcode: -9) local_rank: 1 (pid: 4242) of binary: python\n",
     "yes 1"},
    {"torchrun's table", kKilled,
     "  time      : 2026-02-09_11:22:33\n  host      : n1\n  rank      : 6 (local_rank: 2)\n"
     "  exitcode  : -9 (pid: 77)\n",
     "yes 6"},
    {"torchrun's victim", kKilled,
     kAgentLine + "Unable to shutdown process 77 via Signals.SIGTERM, forcefully exiting via "
                  "Signals.SIGKILL\n  rank      : 6 (local_rank: 2)\n  exitcode  : -9 (pid: 77)\n",
     "unknown"},
    {"srun", kKilled, "srun: error: n2: task 5: Killed\n", "yes 5"},
    {"Slurm's memory limit", kKilled,
     "slurmstepd: error: Detected 1 oom_kill event in StepId=991.0. Some of the step tasks have "
     "been OOM Killed.\nsrun: error: n2: task 1: Out Of Memory\n",
     "yes 1"},
    {"mpirun", kKilled,
     "mpirun noticed that process rank 3 with PID 77 on node n2 exited on signal 9 (Killed).\n",
     "yes 3"},
    {"MPICH, on two lines", kKilled,
     "=   RANK 3 PID 77 RUNNING AT n2\n=   KILLED BY SIGNAL: 9 (Killed)\n", "yes 3"},
    {"a container's exit code", kKilled, "command terminated with exit code 137\n", "yes"},
    {"the kernel", kKilled,
     kRank1 +
         "[77123.456789] Out of memory: Killed process 4242 (python3) total-vm:1kB, anon-rss:9kB\n",
     "yes 1"},
    {"the scheduler ended the job", kKilled,
     "slurmstepd: error: *** JOB 77 ON n2 CANCELLED AT 2026-02-09T11:22:33 DUE TO TIME LIMIT ***\n"
     "srun: error: n2: tasks 0-3: Killed\n",
     "no"},
    {"a hung job was cleaned up", kKilled,
     kRank1 + kTimeout + "srun: error: n2: tasks 0-3: Killed\n", "no"},
    {"by pid", kSegfaulted,
     kRank1 + "bash: line 1:  4242 Segmentation fault      (core dumped) python3 train.py\n",
     "yes 1"},
    {"exit code -11", kSegfaulted,
     kRank1 + kAgentLine + "failed (exitcode: -11) local_rank: 1 (pid: 4242) of binary: python\n",
     "yes 1"},
    {"killed is not crashed", kSegfaulted, "srun: error: n2: task 5: Killed\n", "unknown"},
};

const std::string kTrace1 = "[rank1]: Traceback (most recent call last):\n";
const std::string kRaise1 = kTrace1 + "[rank1]: ValueError: labels out of range\n";

const GuiltyCase kExceptions[] = {
    {"one rank", kRaisedFirst, kRaise1 + kTimeout, "yes 1"},
    {"after a timeout", kRaisedFirst, kTimeout + kRaise1, "unknown"},
    {"no traceback above it", kRaisedFirst, "[rank1]: ValueError: labels out of range\n",
     "unknown"},
    {"the same on two ranks", kRaisedFirst,
     kRaise1 + "[rank0]: Traceback (most recent call last):\n[rank0]: ValueError: labels out of "
               "range\n",
     "yes 0,1"},
    {"another one later", kRaisedFirst,
     kRaise1 + "[rank0]: Traceback (most recent call last):\n[rank0]: KeyError: 'x'\n", "yes 1"},
    {"a lost connection", kRaisedFirst, kTrace1 + "[rank1]: ConnectionResetError: [Errno 104]\n",
     "unknown"},
    {"NCCL's error in other words", kRaisedFirst,
     kTrace1 + "[rank1]: RuntimeError: [2] ProcessGroupNCCL is gone\n", "unknown"},
    {"out of memory has its own name", kRaisedFirst,
     kTrace1 + "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n",
     "unknown"},
    {"so has a failed assertion", kRaisedFirst,
     kTrace1 + "[rank1]: RuntimeError: CUDA error: device-side assert triggered\n", "unknown"},
    {"NCCL failed by itself", kRaisedFirst,
     kRaise1 + "n1:7:9 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n",
     "unknown"},
    {"caught: training went on", kRaisedFirst,
     kRaise1 + "iteration: 1 | loss\niteration: 2 | loss\niteration: 3 | loss\n", "unknown"},
    {"caught: all ranks go on calling", kRaisedFirst, kPair + kRaise1 + calls_of_pair(70, 70),
     "unknown"},
    {"its peer runs ahead", kRaisedFirst, kPair + kRaise1 + calls_of_pair(70, 3), "yes 1"},
    {"torchrun names who", kRaisedFirst,
     kRank1 + "Traceback (most recent call last):\nValueError: labels out of range\n" + kAgentLine +
         "failed (exitcode: 1) local_rank: 1 (pid: 4242) of binary: python\n",
     "yes 1"},
};

std::string wait(int rank, std::string_view prefix) {
  return std::string(prefix) + "RuntimeError: [" + std::to_string(rank) +
         "] is setting up NCCL communicator and retreiving ncclUniqueId from [0] via c10d "
         "key-value store by key '0', but store->get('0') got error: Socket Timeout\n";
}

const GuiltyCase kWaits[] = {
    {"nobody speaks for the root", kStore, wait(1, "") + wait(2, ""), "yes 0"},
    {"the root waits as well", kStore, wait(1, "") + wait(0, ""), "unknown"},
    {"the root has a communicator", kStore,
     "n1:7:7 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId "
     "3d000 commId 0x77 - Init COMPLETE\n" +
         wait(1, ""),
     "no"},
    {"the root raised", kStore,
     "[rank0]: Traceback (most recent call last):\n[rank0]: KeyError: 'x'\n" + wait(1, "[rank1]: "),
     "no"},
    {"somebody unknown raised", kStore, "KeyError: 'x'\n" + wait(1, ""), "no"},
    {"a smaller group", kStore, wait(1, "[rank5]: "), "unknown"},
};

TEST(FailureFacts, JoinDeathsToRanks) {
  for (const GuiltyCase& row : kDeaths) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(FailureFacts, CallAnExceptionFirstOnlyIfNothingCausedIt) {
  for (const GuiltyCase& row : kExceptions) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(FailureFacts, NameTheRootThatOthersWaitFor) {
  for (const GuiltyCase& row : kWaits) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(FailureFacts, SayWhoDied) {
  EXPECT_EQ(testing::fact_of(kKilled, kDeaths[0].log).what, "rank 1 (pid 4242 on n1)");
  EXPECT_EQ(testing::fact_of(kKilled, "srun: error: n2: task 5: Killed\n").what, "rank 5 on n2");
}

TEST(FailureFacts, QuoteTheWarnNearestToACause) {
  const std::string closed =
      "n1:7:9 [0] misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by remote peer "
      "n2<41822>\n";
  const std::string skipped =
      "n1:7:9 [0] net_ib.cc:57 NCCL WARN NET/IB : Unable to open device mlx5_3\n";
  const std::string xml = "n2:8:9 [0] graph/xml.cc:57 NCCL WARN XML Parse : Unexpected EOF\n";
  const std::string info = "n2:8:9 [0] NCCL INFO XML Parse : Unexpected EOF\n";
  const GuiltyCase rows[] = {
      {"a symptom comes last", "", closed + xml, "NCCL warns: \"XML Parse : Unexpected EOF\". "},
      {"so does what NCCL survives", "", skipped + closed,
       "NCCL warns: \"socketProgress: Connection closed by remote peer n2<41822>\". "},
      {"among equals the first", "",
       "n1:7:9 [0] init.cc:57 NCCL WARN Invalid rank requested : 8/8\n" + xml,
       "NCCL warns: \"Invalid rank requested : 8/8\". "},
      {"the same words as INFO are no WARN", "", info, "No WARN of NCCL says more."},
      {"a WARN that nobody knows", "", "n1:7:9 [0] init.cc:57 NCCL WARN Frobnicated\n",
       "A WARN in unknown words says: \"Frobnicated\"."},
      {"no WARN", "", kRank1, "No WARN of NCCL says more."},
  };
  for (const GuiltyCase& row : rows) {
    const std::string what = testing::fact_of("job.warned", row.log).what;
    EXPECT_TRUE(what.starts_with(row.answer)) << row.what << ": " << what;
  }
}

constexpr std::string_view kWarnedOf = "job.warned_of_failure";
const std::string kPortInUse =
    "n1:4242:4300 [1] misc/socket.cc:310 NCCL WARN Call to bind failed: Address already in use\n";

const GuiltyCase kWarnings[] = {
    {"a call that fails", kWarnedOf, kRank1 + kPortInUse, "yes 1"},
    {"a consequence", kWarnedOf,
     kRank1 + "n1:4242:4300 [1] misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by "
              "remote peer n2<41822>\n",
     "unknown"},
    {"a process that ended in order", kWarnedOf,
     kRank1 + kPortInUse +
         "n1:4242:4242 [1] NCCL INFO comm 0x5a rank 1 nranks 4 cudaDev 1 busId 3d000 - Destroy "
         "COMPLETE\n",
     "unknown"},
    {"not at this level", kWarnedOf,
     kRank1 + "n1:4242:4300 [1] NCCL INFO Call to bind failed: Address already in use\n",
     "unknown"},
};

TEST(FailureFacts, NameWhoWarnsOfAFailureOfItsOwn) {
  for (const GuiltyCase& c : kWarnings) {
    EXPECT_EQ(guilty_answer(c.fact, c.log), c.answer) << c.what;
  }
}

const std::string kStart =
    "n1:4242:4242 [1] NCCL INFO ncclCommInitRank comm 0x5a rank 1 nranks 4 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init START\n";
const std::string kWatchdog =
    "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
const std::string kRaised =
    "[rank2]: Traceback (most recent call last):\n"
    "[rank2]: ValueError: no such shard\n";
const std::string kAgent =
    "E0209 11:22:33.123000 4200 torch/distributed/elastic/multiprocessing/api.py:826] ";
const std::string kFailed =
    kAgent + "failed (exitcode: 1) local_rank: 1 (pid: 4242) of binary: python\n";
const std::string kRestart =
    kAgent + "[default] Worker group FAILED. 2/3 attempts left; will restart worker group\n";

struct Row {
  std::string_view name;
  std::string log;
  std::string_view what;  ///< Empty: unknown.
};

const Row kRows[] = {
    {"a job that starts", kStart, ""},
    {"the watchdog", kStart + kWatchdog, "rank 0 reports that ALLREDUCE timed out"},
    {"the store",
     "[rank3]: torch.distributed.DistBackendError: [3] is setting up NCCL communicator and "
     "retrieving ncclUniqueId from [0] via c10d key-value store by key '1', but store->get('1') "
     "got error: wait timeout after 20000ms, keys: /default_pg/0//cuda//1\n",
     "rank 3 waited in the store for an ncclUniqueId in vain"},
    {"a timeout says more than an exception before it", kRaised + kWatchdog,
     "rank 0 reports that ALLREDUCE timed out"},
    {"an exception of the program", kRaised, "rank 2 raised ValueError: no such shard"},
    {"an exception that was caught",
     kRaised + "iteration: 3 | loss: 2.1\niteration: 4 | loss: 2.0\niteration: 5 | loss: 1.9\n",
     ""},
    {"a WARN after which the call fails",
     "n1:4242:4242 [1] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-x to "
     "9637892 bytes\n",
     "NCCL warns: \"Error: failed to extend /dev/shm/nccl-x to 9637892 bytes\""},
    {"a peer that closed its socket, as at every end",
     "n1:4242:4242 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote "
     "peer n2<41822>\n",
     ""},
    {"a kill", "bash: line 1:  9 Killed                  env RANK=3 python3 train.py\n",
     "rank 3 was killed"},
    {"an abort that only the shell reports",
     "bash: line 1:  9 Aborted                 python3 train.py\n", "a process ended: Aborted"},
    {"torchrun", kFailed, "a process ended with exit code 1"},
    {"torchrun that starts the workers anew", kFailed + kRestart + kStart, ""},
    {"the lines of one run end where the next one starts", kStart + kWatchdog + kFailed + kRestart,
     "rank 0 reports that ALLREDUCE timed out"},
    {"what comes after the new start", kFailed + kRestart + kStart + kWatchdog,
     "rank 0 reports that ALLREDUCE timed out"},
    {"the scheduler",
     "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n",
     "the scheduler cancelled the job"},
};

TEST(StopEvidence, IsALineThatSaysWhy) {
  for (const Row& row : kRows) {
    const auto evidence = stop_evidence(job_from_text(row.log));
    EXPECT_EQ(evidence ? evidence->what : "", row.what) << row.name;
    const std::string line = evidence ? evidence->line.text : "";
    EXPECT_NE(row.log.find(line), row.log.npos) << row.name;
  }
}

}  // namespace

}  // namespace ncclog
