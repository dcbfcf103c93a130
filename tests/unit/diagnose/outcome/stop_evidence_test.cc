#include "diagnose/outcome/stop_evidence.h"

#include <gtest/gtest.h>

#include <optional>

#include "model/derive/build_job.h"
#include "support/call_log.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::guilty_answer;
using testing::GuiltyCase;

const std::string kRank1 =
    "n1:4242:4242 [1] NCCL INFO ncclCommInitRank comm 0x5a rank 1 nranks 4 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init COMPLETE\n";

const std::string kRaise1 =
    "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: labels out of range\n";

TEST(FailureFacts, CallTheFirstOfSeveralExceptionsFirst) {
  EXPECT_EQ(
      guilty_answer("job.raised_first", kRaise1 + "[rank0]: Traceback (most recent call last):\n"
                                                  "[rank0]: KeyError: 'x'\n"),
      "yes 1");
}

/// It was caught.
TEST(FailureFacts, CallNoExceptionFirstAfterWhichAllRanksGoOnCalling) {
  testing::CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77).line(kRaise1);
  for (int i = 0; i < 70; ++i) log.call(0, 0x77).call(1, 0x77);
  EXPECT_EQ(guilty_answer("job.raised_first", log.text()), "unknown");
}

TEST(FailureFacts, TakeNoConsequenceForAFailureOfItsOwn) {
  EXPECT_EQ(guilty_answer("job.warned_of_failure",
                          kRank1 + "n1:4242:4300 [1] misc/socket.cc:57 NCCL WARN socketProgress: "
                                   "Connection closed by remote peer n2<41822>\n"),
            "unknown");
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

const std::string kStart =
    "n1:4242:4242 [1] NCCL INFO ncclCommInitRank comm 0x5a rank 1 nranks 4 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init START\n";
const std::string kWatchdogFired =
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

struct StopRow {
  std::string_view name;
  std::string log;
  std::string_view what;  ///< Empty: unknown.
};

const StopRow kStops[] = {
    {"a job that starts", kStart, ""},
    {"the watchdog", kStart + kWatchdogFired, "rank 0 reports that ALLREDUCE timed out"},
    {"the store",
     "[rank3]: torch.distributed.DistBackendError: [3] is setting up NCCL communicator and "
     "retrieving ncclUniqueId from [0] via c10d key-value store by key '1', but store->get('1') "
     "got error: wait timeout after 20000ms, keys: /default_pg/0//cuda//1\n",
     "rank 3 waited in the store for an ncclUniqueId in vain"},
    {"a timeout says more than an exception before it", kRaised + kWatchdogFired,
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
    {"the lines of one run end where the next one starts",
     kStart + kWatchdogFired + kFailed + kRestart, "rank 0 reports that ALLREDUCE timed out"},
    {"what comes after the new start", kFailed + kRestart + kStart + kWatchdogFired,
     "rank 0 reports that ALLREDUCE timed out"},
    {"the scheduler",
     "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n",
     "the scheduler ended the job at its time limit"},
    {"the scheduler, of a step by hand",
     "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-01-05T12:00:00 ***\n",
     "the scheduler cancelled step 77.0"},
    {"the reason of a step, which the line of its job gives",
     "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-01-05T12:00:00 ***\n"
     "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO PREEMPTION ***\n",
     "the scheduler took the job's hosts for another one"},
    {"not that of another job",
     "slurmstepd: error: *** JOB 78 ON n1 CANCELLED AT 2026-01-05T12:00:00 ***\n"
     "slurmstepd: error: *** JOB 79 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n",
     "the scheduler cancelled the job"},
};

TEST(StopEvidence, IsALineThatSaysWhy) {
  for (const StopRow& row : kStops) {
    const auto evidence = stop_evidence(job_from_text(row.log));
    EXPECT_EQ(evidence ? evidence->what : "", row.what) << row.name;
    const std::string line = evidence ? evidence->line.text : "";
    EXPECT_NE(row.log.find(line), row.log.npos) << row.name;
  }
}

TEST(StopEvidence, WhatTheUserSawDecidesWhetherTheJobStoodStill) {
  testing::CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1).call(rank, 1);
  const auto stood = [](const std::string& text, std::optional<StatedOutcome> stated) {
    Job job = job_from_text(text);
    job.stated = stated;
    return stood_still(job);
  };
  const std::string one_behind = testing::CallLog(log).call(0, 1).call(2, 1).text();
  EXPECT_FALSE(stood(one_behind, std::nullopt));
  EXPECT_TRUE(stood(one_behind, StatedOutcome::Hung));
  const std::string signalled =
      log.line("2026-02-03 04:05:06,100 INFO train: step 0 loss 8.31")
          .line("2026-02-03 04:05:06,700 INFO train: step 5 loss 8.31")
          .line("2026-02-03 04:05:07,300 INFO train: step 10 loss 8.31")
          .line(
              "W0203 04:05:29.8 40 torch/distributed/elastic/agent/server/api.py:739] Received "
              "15 death signal, shutting down workers")
          .text();
  EXPECT_TRUE(stood(signalled, std::nullopt));
  for (const StatedOutcome seen :
       {StatedOutcome::Slow, StatedOutcome::Finished, StatedOutcome::Crashed}) {
    EXPECT_FALSE(stood(signalled, seen)) << to_string(seen);
  }
}

}  // namespace

}  // namespace ncclog
