#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diagnose/fact.h"
#include "diagnose/outcome/silence.h"
#include "diagnose/stop_evidence.h"
#include "model/build/build_job.h"

namespace ncclog {
namespace {

std::string line(int rank, std::string_view message) {
  return fmt::format("n1:{}:{} [{}] NCCL INFO {}\n", 70 + rank, 70 + rank, rank, message);
}

std::string init(int rank, std::string_view phase) {
  return line(rank,
              fmt::format("ncclCommInitRank comm 0x5a{} rank {} nranks 3 cudaDev {} nvmlDev {} "
                          "busId 3d000 commId 0x77 - Init {}",
                          rank, rank, rank, rank, phase));
}

std::string up() {
  std::string log;
  for (int rank = 0; rank < 3; ++rank) log += init(rank, "START");
  for (int rank = 0; rank < 3; ++rank) log += init(rank, "COMPLETE");
  return log;
}

std::string call(int rank, int count = 512) {
  return line(rank, fmt::format("AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count {} datatype "
                                "7 op 0 root 0 comm 0x5a{} [nranks=3] stream 0x5",
                                count, rank));
}

std::string end(int rank, std::string_view action) {
  return line(rank, fmt::format("comm 0x5a{} rank {} nranks 3 cudaDev {} busId 3d000 - {} COMPLETE",
                                rank, rank, rank, action));
}

/// The same lines, each with NCCL's stamp.
std::string stamped(std::string_view time, std::string_view lines) {
  std::string result;
  while (!lines.empty()) {
    const size_t end = lines.find('\n') + 1;
    result += fmt::format("[2026-02-03 {}] {}", time, lines.substr(0, end));
    lines.remove_prefix(end);
  }
  return result;
}

std::string step(std::string_view time, int number) {
  return fmt::format("2026-02-03 {} INFO train: step {} loss 8.31\n", time, number);
}

std::string signalled(std::string_view time) {
  return fmt::format(
      "W0203 {} 40 torch/distributed/elastic/agent/server/api.py:739] Received 15 death signal, "
      "shutting down workers\n",
      time);
}

std::string gave_up(int rank) {
  return fmt::format(
      "[rank{}]:[E203 04:05:41.100000000 ProcessGroupNCCL.cpp:689] [Rank {}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=512, "
      "NumelOut=512, Timeout(ms)=20000) ran for 20071 milliseconds before timing out.\n",
      rank, rank);
}

const std::string kSteps =
    step("04:05:06,100", 0) + step("04:05:06,700", 5) + step("04:05:07,300", 10);
const std::string kCancelled =
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-02-03T04:35:42 DUE TO TIME LIMIT ***\n";
const std::string kStepCancelled =
    "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-02-03T04:05:30 ***\n"
    "srun: error: n1: tasks 0-2: Terminated\n";
const std::string kUndated =
    " iteration        1/    1000 | consumed samples:         1024 | lm loss: 9.1 |\n";
const std::string kAllCalled = call(0) + call(1) + call(2);
const std::string kTwoCalled = kAllCalled + call(0) + call(2);

struct Row {
  std::string_view name;
  std::string log;
  std::string_view fact;  ///< Of these it is asked whether it is yes.
  bool yes = false;
  std::vector<int> ranks;  ///< Whom it names.
};

const Row kRows[] = {
    {"signal after a silence",
     up() + kSteps + signalled("04:05:29.8"),
     "job.stalled_before_end",
     true,
     {}},
    {"the scheduler, and what it ended",
     up() + kSteps + kStepCancelled,
     "job.stalled_before_end",
     true,
     {}},
    {"six seconds are none",
     up() + kSteps + signalled("04:05:13.3"),
     "job.stalled_before_end",
     false,
     {}},
    {"two printed steps with others between them",
     up() + step("04:05:06,100", 0) + step("04:05:06,700", 5) + signalled("04:05:29.8"),
     "job.stalled_before_end",
     true,
     {}},
    {"signal at work",
     up() + kSteps + signalled("04:05:07.9"),
     "job.stalled_before_end",
     false,
     {}},
    {"it is said to have been at work",
     up() + kSteps + signalled("04:05:07.9"),
     "job.ended_at_work",
     true,
     {}},
    {"steps go on without times",
     up() + kSteps + kUndated + signalled("04:05:29.8"),
     "job.stalled_before_end",
     false,
     {}},
    {"no rhythm is known",
     up() + "2026-02-03 04:05:06,100 INFO train: loading\n" + signalled("04:05:29.8"),
     "job.stalled_before_end",
     false,
     {}},
    {"slow steps",
     up() + step("04:05:00,0", 0) + step("04:05:30,0", 1) + step("04:06:00,0", 2) +
         signalled("04:06:50.0"),
     "job.stalled_before_end",
     false,
     {}},
    {"the scheduler's clock may keep another zone",
     up() + kSteps + kCancelled,
     "job.stalled_before_end",
     false,
     {}},
    {"silence names who is behind",
     up() + kAllCalled + kSteps + call(0) + call(2) + signalled("04:05:29.8"),
     "job.rank_missing_in_collective",
     true,
     {1}},
    {"at work nobody is behind",
     up() + kAllCalled + kSteps + call(0) + call(2) + signalled("04:05:07.9"),
     "job.rank_missing_in_collective",
     false,
     {}},
    {"the log ends", up() + kTwoCalled, "job.ends_at_work", true, {}},
    {"who alone is behind is worth a look", up() + kTwoCalled, "job.rank_behind", true, {1}},
    {"what a scheduler ended, and nobody knows when it last worked",
     up() + kTwoCalled + kStepCancelled,
     "job.ends_at_work",
     true,
     {}},
    {"what a launcher ended by a request",
     up() + kTwoCalled +
         "mpirun noticed that process rank 0 with PID 70 on node n1 exited on signal 15 "
         "(Terminated).\n",
     "job.ends_at_work",
     true,
     {}},
    {"what a scheduler ended at work",
     up() + kSteps + kTwoCalled + signalled("04:05:07.9"),
     "job.ends_at_work",
     false,
     {}},
    {"the scheduler prints whole seconds",
     up() + kTwoCalled + kSteps +
         "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-02-03T04:05:07 ***\n",
     "job.ends_at_work",
     false,
     {}},
    {"steps without times beside calls that have them",
     up() + stamped("04:05:06.1", call(0) + call(1) + call(2)) +
         stamped("04:05:06.7", call(0) + call(1) + call(2)) +
         stamped("04:05:07.3", call(0) + call(1) + call(2)) + kUndated + signalled("04:05:29.8"),
     "job.stalled_before_end",
     true,
     {}},
    {"captured calls are not printed again",
     up() + stamped("04:05:06.1", call(0) + call(1) + call(2)) +
         stamped("04:05:06.7", call(0) + call(1) + call(2)) +
         stamped("04:05:07.3", call(0) + call(1) + call(2)) + kUndated + kUndated + kUndated +
         signalled("04:05:29.8"),
     "job.stalled_before_end",
     false,
     {}},
    {"all entered, and then silence",
     up() + kAllCalled + kSteps + signalled("04:05:29.8"),
     "job.collectives_all_entered",
     true,
     {}},
    {"all entered, and at work",
     up() + kAllCalled + kSteps + signalled("04:05:07.9"),
     "job.collectives_all_entered",
     false,
     {}},
    {"it came to its end",
     up() + kTwoCalled + end(0, "Destroy") + end(1, "Destroy") + end(2, "Destroy"),
     "job.ends_at_work",
     false,
     {}},
    {"own last words",
     up() + kAllCalled + "2026-02-03 04:05:07,5 INFO train[rank 2]: data exhausted, leaving\n" +
         call(0) + call(1) + gave_up(0) + gave_up(1),
     "job.left_early",
     true,
     {2}},
    {"last words of a job that ended well",
     up() + kAllCalled + "2026-02-03 04:05:07,5 INFO train[rank 2]: data exhausted, leaving\n" +
         end(0, "Destroy") + end(1, "Destroy") + end(2, "Destroy"),
     "job.left_early",
     false,
     {}},
    {"two of three were through: the third one goes on too long",
     up() + kAllCalled + end(0, "Destroy") + end(1, "Destroy") + call(2) + gave_up(2),
     "job.left_early",
     false,
     {}},
    {"one of three was through",
     up() + kAllCalled + end(1, "Destroy") + call(0) + call(2) + gave_up(0) + gave_up(2),
     "job.left_early",
     true,
     {1}},
    {"an abort before all others gave up",
     up() + end(1, "Abort") + gave_up(0) + gave_up(2),
     "job.aborted_early",
     true,
     {1}},
    {"aborts after they gave up",
     up() + gave_up(0) + gave_up(1) + gave_up(2) + end(0, "Abort") + end(1, "Abort") +
         end(2, "Abort"),
     "job.aborted_early",
     false,
     {}},
};

std::vector<int> ranks_named(const Job& job, const FactValue& value) {
  std::vector<int> ranks = value.ranks;
  for (const int p : value.processes) ranks.push_back(job.processes[static_cast<size_t>(p)].rank);
  return ranks;
}

TEST(StallFacts, TellHowJobsEndWithoutAWatchdog) {
  for (const Row& row : kRows) {
    const Job job = job_from_text(row.log);
    const FactValue value = find_fact(row.fact)->derive(job, {});
    const bool* yes = std::get_if<bool>(&value.value);
    EXPECT_EQ(yes != nullptr && *yes, row.yes) << row.name;
    if (row.yes) {
      EXPECT_EQ(ranks_named(job, value), row.ranks) << row.name;
    }
  }
}

TEST(StallFacts, WhatTheUserSawDecidesWhereTheLogsEnd) {
  Job job = job_from_text(up() + kTwoCalled);
  EXPECT_FALSE(stood_still(job));
  job.stated = StatedOutcome::Hung;
  EXPECT_TRUE(stood_still(job));
  const FactValue missing = find_fact("job.rank_missing_in_collective")->derive(job, {});
  EXPECT_EQ(ranks_named(job, missing), std::vector<int>{1});
  Job slow = job_from_text(up() + kSteps + signalled("04:05:29.8"));
  EXPECT_TRUE(stood_still(slow));
  for (const StatedOutcome seen :
       {StatedOutcome::Slow, StatedOutcome::Finished, StatedOutcome::Crashed}) {
    slow.stated = seen;
    EXPECT_FALSE(stood_still(slow)) << to_string(seen);
  }
}

TEST(StallFacts, DurationsAreWordsForPeople) {
  constexpr int64_t kMs = 1'000'000;
  EXPECT_EQ(duration_words(114 * kMs), "0.11 s");
  EXPECT_EQ(duration_words(22'617 * kMs), "22.6 s");
  EXPECT_EQ(duration_words(600'000 * kMs), "10 minutes");
}

}  // namespace
}  // namespace ncclog
