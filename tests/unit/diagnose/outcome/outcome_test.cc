#include "diagnose/outcome/outcome.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/job_span.h"
#include "model/derive/build_job.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

std::string line(int rank, std::string_view message) {
  return fmt::format("n1:{}:{} [{}] NCCL INFO {}\n", 70 + rank, 70 + rank, rank, message);
}

std::string init(int rank, std::string_view phase, int nranks = 2) {
  return line(rank,
              fmt::format("ncclCommInitRank comm 0x5a{} rank {} nranks {} cudaDev {} nvmlDev {} "
                          "busId 3d000 commId 0x77 - Init {}",
                          rank, rank, nranks, rank, rank, phase));
}

std::string up(int nranks = 2) {
  std::string log;
  for (int rank = 0; rank < nranks; ++rank) {
    log += init(rank, "START", nranks) + init(rank, "COMPLETE", nranks);
  }
  return log;
}

std::string end(int rank, std::string_view action = "Destroy") {
  return line(rank, fmt::format("comm 0x5a{} rank {} nranks 2 cudaDev {} busId 3d000 - {} COMPLETE",
                                rank, rank, rank, action));
}

std::string begins_end(int rank, std::string_view action) {
  return line(rank, fmt::format("comm 0x5a{} rank {} nRanks 2 cudaDev {} busId 3d000 - {} START",
                                rank, rank, rank, action));
}

const std::string kTest =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 20 agg "
    "iters: 1 validation: 1 graph: 0\n";
const std::string kDestroyed = end(0) + end(1);
const std::string kSummary = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 96.4\n";
const std::string kNoise =
    "n1:71:99 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
    "n2<41822>\n";
const std::string kFullShm =
    "n1:71:71 [1] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-x to 9637892 "
    "bytes\n";
const std::string kWatchdog =
    "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
const std::string kRunStop =
    ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1767614400000, \"event_type\": \"INTERVAL_END\", "
    "\"key\": \"run_stop\", \"value\": null, \"metadata\": {\"file\": \"train.py\", \"lineno\": "
    "96, "
    "\"status\": \"success\"}}\n";
const std::string kStep = "step 3 loss 2.1\n";
const std::string kCancelled =
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n";

struct EndRow {
  std::string_view name;
  std::string log;
  EndState state;
  std::string_view shown;  ///< In the line that shows it; empty: none does.
};

const EndRow kEnds[] = {
    {"nothing", "", EndState::Unknown, ""},
    {"ranks that start", init(0, "START") + init(1, "START"), EndState::Unknown, ""},
    {"ranks at work", up(), EndState::Unfinished, "Init COMPLETE"},
    {"all destroyed", up() + kDestroyed, EndState::Finished, "rank 1"},
    {"all aborted without an error", up() + end(0, "Abort") + end(1, "Abort"), EndState::Finished,
     "rank 1"},
    {"an abort without anything before", end(0, "Abort"), EndState::Unknown, ""},
    {"an exception behind an abort",
     up() + end(0, "Abort") + end(1, "Abort") +
         "torch.AcceleratorError: CUDA error: device not ready\n",
     EndState::Unknown, ""},
    {"an exception behind a destruction", up() + kDestroyed + "RuntimeError: no such file\n",
     EndState::Unknown, ""},
    {"an abort that is not shown to end", up() + end(0) + begins_end(1, "Abort"),
     EndState::Unfinished, "Abort START"},
    {"a destruction that is not shown to end", up() + end(0) + begins_end(1, "Destroy"),
     EndState::Unfinished, "Destroy START"},
    {"a destruction from its beginning to its end",
     up() + begins_end(0, "Destroy") + begins_end(1, "Destroy") + kDestroyed, EndState::Finished,
     "rank 1"},
    {"one of two destroyed", up() + end(0), EndState::Unfinished, "rank 1"},
    {"a child that is left to the end of the process",
     up() +
         line(0,
              "ncclCommSplit comm 0x6b rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 3d000 parent "
              "0x5a0 splitCount 1 color 1 key 0 - Init COMPLETE") +
         kDestroyed,
     EndState::Finished, "rank 1"},
    {"a communicator that is begun after the largest one",
     up() + kDestroyed +
         line(0,
              "ncclCommInitRank comm 0x6b rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 3d000 "
              "commId 0x78 - Init START"),
     EndState::Unfinished, "commId 0x78"},
    {"nccl-tests", up() + kSummary, EndState::Finished, "# Out of bounds"},
    {"nccl-tests, and a test without results", up() + kSummary + kTest, EndState::Unfinished,
     "# nThread"},
    {"nccl-tests, and a test without results behind the end of the processes",
     up() + kTest + kSummary + kDestroyed + kTest, EndState::Unfinished, "# nThread"},
    {"two tests", up() + kTest + kSummary + kTest + kSummary, EndState::Finished,
     "# Out of bounds"},
    {"nccl-tests, and the next test", kSummary + up(), EndState::Unfinished, "Init COMPLETE"},
    {"MLPerf, and noise", up() + kRunStop + kNoise, EndState::Finished, "run_stop"},
    {"MLPerf, and a WARN that would be fatal elsewhere", up() + kRunStop + kFullShm,
     EndState::Finished, "run_stop"},
    {"a fatal WARN", up() + kFullShm, EndState::Failed, "failed to extend"},
    {"a time-out and a destroy", up() + kWatchdog + kDestroyed, EndState::Failed,
     "Watchdog caught"},
    {"a time-out that the job outlived", up() + kWatchdog + kRunStop, EndState::Finished,
     "run_stop"},
    {"Lightning", up() + "`Trainer.fit` stopped: `max_steps=100` reached.\n", EndState::Finished,
     "Trainer.fit"},
    {"transformers", up() + "{'train_runtime': 41.7, 'train_loss': 2.1, 'epoch': 1.0}\n",
     EndState::Finished, "train_runtime"},
    {"the end of an epoch", up() + "Training completed\nstep=10, skipped=0, lr=[0.1]\n",
     EndState::Unfinished, "Init COMPLETE"},
    {"the scheduler", up() + kCancelled, EndState::Stopped, "TIME LIMIT"},
    {"the scheduler, after the end", up() + kSummary + kCancelled, EndState::Finished,
     "# Out of bounds"},
    {"tasks that fail behind the summary, for which the step is cancelled",
     up() + kSummary + "srun: error: n1: tasks 0-1: Exited with exit code 1\n" + kCancelled,
     EndState::Failed, "exit code 1"},
    {"all tests", up() + "=== All Tests Complete ===\n", EndState::Finished, "All Tests"},
    {"a test of several", up() + "Test 1 completed successfully\n", EndState::Unfinished,
     "Init COMPLETE"},
    {"a part of the work", up() + "Validation complete\nInitialization complete\n",
     EndState::Unfinished, "Init COMPLETE"},
    {"an evaluation of nobody knows whom", up() + "Evaluation completed.\n", EndState::Unfinished,
     "Init COMPLETE"},
    {"last words", up() + kStep + "Job finished at Mon Jan  5 12:00:00 UTC 2026\n",
     EndState::Finished, "Job finished"},
    {"an exit code", up() + kStep + "Process finished with exit code 0\n", EndState::Finished,
     "code 0"},
    {"last words of nobody who worked", up() + "Success!\n", EndState::Unfinished, "Init COMPLETE"},
    {"last words of two parts", up() + kStep + "Finished in 3.1 s\nFinished in 3.2 s\n",
     EndState::Unfinished, "Init COMPLETE"},
    {"last words before more work", up() + kStep + "Elapsed time: 3.1 s\n" + kStep,
     EndState::Unfinished, "Init COMPLETE"},
    {"last words after a failure", up() + kStep + kWatchdog + "Job finished\n", EndState::Failed,
     "Watchdog caught"},
    {"last words before a failure", up() + kStep + "Job finished\n" + kWatchdog, EndState::Failed,
     "Watchdog caught"},
    {"all tests, and an error", up() + "All tests completed\n" + kWatchdog, EndState::Failed,
     "Watchdog caught"},
    {"what the scheduler kills did not die by itself",
     up() + kCancelled + "srun: error: n1: task 1: Killed\n", EndState::Stopped, "TIME LIMIT"},
    {"a launcher that saw a rank die", up() + "x3c0s1: rank 1 died from signal 6 and dumped core\n",
     EndState::Failed, "died from signal 6"},
    {"torchrun",
     up() + "E0209 11:22:33.123000 4200 torch/distributed/elastic/multiprocessing/"
            "api.py:826] failed (exitcode: 1) local_rank: 1 (pid: 71) of binary: python\n",
     EndState::Failed, "exitcode: 1"},
    {"torchrun, which ends the others of one that was killed",
     "W0209 11:22:33.123000 4200 torch/distributed/elastic/multiprocessing/api.py:897] Sending "
     "process 4301 closing signal SIGTERM\n"
     "E0209 11:22:34.123000 4200 torch/distributed/elastic/multiprocessing/api.py:826] failed "
     "(exitcode: -9) local_rank: 3 (pid: 4304) of binary: python\n",
     EndState::Failed, "exitcode: -9"},
    {"DeepSpeed's launcher on SIGTERM",
     up() + "Killing subprocess 70\nMain process received SIGTERM, exiting\n", EndState::Stopped,
     "Main process"},
};

TEST(Outcome, IsShownByALine) {
  for (const EndRow& row : kEnds) {
    const Job job = job_from_text(row.log);
    const EndOf& end = outcome_of(job).job;
    EXPECT_EQ(to_string(end.state), to_string(row.state)) << row.name << ": " << end.what;
    const std::string shown = end.evidence.empty() ? "" : end.evidence.front().text;
    EXPECT_EQ(shown.empty(), row.shown.empty()) << row.name << ": " << shown;
    EXPECT_NE(shown.find(row.shown), shown.npos) << row.name << ": " << shown;
  }
}

TEST(Outcome, AFileOfOneRankSaysThatItIsDone) {
  const auto state_of = [](std::string_view first, std::string_view second) {
    const auto file = [](int rank, std::string_view last) {
      return init(rank, "START") + init(rank, "COMPLETE") + line(rank, "Launch mode Parallel") +
             std::string(last);
    };
    const Job job =
        testing::job_from_files({{"0.log", file(0, first)}, {"1.log", file(1, second)}});
    return outcome_of(job).job.state;
  };
  EXPECT_EQ(state_of("Complete time:  9.1\n", "Complete time:  9.2\n"), EndState::Finished);
  EXPECT_NE(state_of("Complete time:  9.1\n", "\n"), EndState::Finished);
  EXPECT_EQ(state_of("all_reduce result: 8\n", "all_reduce result: 8\n"), EndState::Finished);
  EXPECT_NE(state_of("Model saved to /ckpt\n", "\n"), EndState::Finished);
}

TEST(Outcome, MoreExitsThanAreKeptAreCounted) {
  constexpr int kProcesses = 300;
  const auto end_of = [](int exits) {
    std::string log = up(kProcesses);
    for (int rank = 0; rank < exits; ++rank) {
      log += fmt::format("Process {} exits successfully.\n", 70 + rank);
    }
    return outcome_of(job_from_text(log)).job.state;
  };
  EXPECT_EQ(end_of(kProcesses), EndState::Finished);
  EXPECT_NE(end_of(kProcesses - 1), EndState::Finished);
}

TEST(Outcome, ALauncherSeesAllItsWorkersEndWhereNcclIsSilent) {
  const std::string size = "distributed init: rank=0 world_size=2\n";
  const std::string one = "Process 71 exits successfully.\n";
  const std::string two = one + "Process 72 exits successfully.\n";
  EXPECT_EQ(outcome_of(job_from_text(size + two)).job.state, EndState::Finished);
  EXPECT_NE(outcome_of(job_from_text(size + one)).job.state, EndState::Finished);
  EXPECT_NE(outcome_of(job_from_text(two)).job.state, EndState::Finished);
}

TEST(Outcome, EachProcessEndsForItself) {
  const Job job = job_from_text(up() + end(1) + kWatchdog);
  const JobOutcome& outcome = outcome_of(job);
  ASSERT_EQ(outcome.processes.size(), job.processes.size());
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const EndState expected = job.processes[p].rank == 0 ? EndState::Failed : EndState::Finished;
    EXPECT_EQ(outcome.processes[p].state, expected) << job.processes[p].rank;
  }
}

TEST(Outcome, WhatAFinishedJobSurvivedIsNoEndOfAProcess) {
  for (const std::string& text : {up() + kFullShm + kRunStop, up() + kRunStop + kFullShm}) {
    const Job job = job_from_text(text);
    for (const EndOf& end : outcome_of(job).processes) EXPECT_EQ(end.state, EndState::Unknown);
  }
}

TEST(Outcome, AProcessWhoseLinesWereHeldBackRevivesNobody) {
  const auto failed = [](const std::string& text) {
    const Job job = job_from_text(text);
    return std::ranges::count(outcome_of(job).processes, EndState::Failed, &EndOf::state);
  };
  const std::string first =
      init(0, "START", 3) + init(2, "START", 3) + init(0, "COMPLETE", 3) + kWatchdog;
  const std::string later = init(1, "START", 3) + init(1, "COMPLETE", 3) + init(2, "COMPLETE", 3);
  EXPECT_EQ(failed(first + later), 1);
  std::string anew = up(3);
  for (size_t at = 0; (at = anew.find("0x77", at)) != anew.npos;) anew.replace(at, 4, "0x78");
  EXPECT_EQ(failed(first + anew), 0);
}

TEST(Outcome, OnlyLinesAfterTheEndAreNoise) {
  const std::string text = kNoise + up() + kNoise + kRunStop + kNoise;
  const Job job = job_from_text(text);
  const auto is_noise = [&](uint64_t number) {
    return is_after_end(job, {{0, number}, kNoise.substr(0, kNoise.size() - 1)});
  };
  EXPECT_FALSE(is_noise(1));
  EXPECT_FALSE(is_noise(6));
  EXPECT_TRUE(is_noise(8));
}

TEST(Outcome, WhatAProcessPrintsAfterItsOwnDestroyIsNoise) {
  const Job job = job_from_text(up() + end(1) + kNoise + end(0));
  EXPECT_TRUE(is_after_end(job, {{0, 6}, kNoise.substr(0, kNoise.size() - 1)}));
}

TEST(Outcome, TheEndOfAProcessIsItsOwnWhereOnlyCutOnesAreLeft) {
  const Evidence noise = {{0, 6}, kNoise.substr(0, kNoise.size() - 1)};
  const std::string text = up() + end(1) + kNoise;
  EXPECT_FALSE(is_after_end(job_from_text(text), noise));
  Job cut = job_from_text(text);
  cut.processes[0].cut = true;
  EXPECT_TRUE(is_after_end(cut, noise));
}

struct ExtentRow {
  std::string log;
  std::string_view words;
};

const ExtentRow kExtents[] = {
    {init(0, "START") + init(1, "START"), "the start of 2 ranks, no end"},
    {up(), "init done by 2 ranks, no end"},
    {init(0, "START") + init(1, "START") + init(1, "COMPLETE"),
     "init done by 1 of 2 ranks, not by rank 0 on n1, no end"},
    {up() + "Processed prompts:   0%|          | 0/16 [00:00<?, ?it/s]\n",
     "init done by 2 ranks, no end"},
    {up() + "Processed prompts:   6%|6         | 1/16 [00:01<00:15, 1.0it/s]\n",
     "2 ranks at work, no end"},
    {up() + "step 3 loss 2.1\n", "2 ranks at work, step 3, no end"},
    {line(0, "Using network Socket") + "Batch 0 Loss: 9.1, Speed: 4.8 samples/sec, lr: 0.0001\n" +
         "Batch 1 Loss: 9.0, Speed: 9.9 samples/sec, lr: 0.0001\n",
     "1 process at work, steps 0 to 1, no end"},
    {line(0, "Using network Socket") + init(0, "START") + init(0, "COMPLETE"),
     "init done by 1 rank, network Socket, no end"},
    {up() + "Train Epoch: 3 [640/60000 (1%)]\tLoss: 0.86\n", "2 ranks at work, no end"},
    {up() + kCancelled, "init done by 2 ranks"},
    {up() + begins_end(1, "Destroy"),
     "init done by 2 ranks, the destruction of a communicator begins and is not shown to end"},
    {line(0, "Using network Socket"), "the start of 1 process, no end"},
};

TEST(Extent, SaysWhatTheLinesCover) {
  for (const ExtentRow& row : kExtents) EXPECT_EQ(extent_words(job_from_text(row.log)), row.words);
}

TEST(Span, GoesFromTheEarliestToTheLatestTime) {
  EXPECT_EQ(span_of(job_from_text(up())), std::nullopt);
  const Job job = job_from_text(
      "[2026-02-03 04:05:06] n1:70:70 [0] NCCL INFO Using network Socket\n"
      "[2026-02-03 04:05:01] n2:70:70 [0] NCCL INFO Using network Socket\n"
      "[2026-02-03 04:05:04] n2:70:70 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\n");
  EXPECT_EQ(span_of(job), (JobSpan{"2026-02-03 04:05:01", "2026-02-03 04:05:06"}));
}

TEST(UtcOf, NeedsZoneAndYear) {
  struct Row {
    std::string_view printed;
    std::string_view utc;
  };
  constexpr Row kRows[] = {
      {"2026-01-05T12:00:00Z", "2026-01-05T12:00:00Z"},
      {"2026-01-05T12:00:00.25+02:00", "2026-01-05T10:00:00.250Z"},
      {"2026-01-05T12:00:00.000000001Z", "2026-01-05T12:00:00.000000001Z"},
      {"2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00Z"},
      {"2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"},
      {"2026-02-28T23:30:00-01:00", "2026-03-01T00:30:00Z"},
      {"2026-03-01T00:30:00+01:00", "2026-02-28T23:30:00Z"},
      {"2028-02-28T23:30:00-01:00", "2028-02-29T00:30:00Z"},
      {"2026-02-29T12:00:00Z", ""},
      {"2026-01-05 12:00:00", ""},
      {"Jan  5 12:00:00", ""},
  };
  for (const Row& row : kRows) {
    const LineTime time = find_line_time(row.printed);
    EXPECT_TRUE(time.known()) << row.printed;
    EXPECT_EQ(utc_of(time), row.utc) << row.printed;
  }
}

TEST(UtcOf, ReadsNoDayBeforeTheText) {
  LineTime time = find_line_time("2026-02-28T12:00:00Z");
  time.nanoseconds += int64_t{86'400} * 1'000'000'000;
  for (const std::string_view text : {"20260229", "12:00:00Z", ""}) {
    time.text = text;
    EXPECT_EQ(utc_of(time), "") << text;
  }
}

TEST(Outcome, DurationsAreWordsForPeople) {
  constexpr int64_t kMs = 1'000'000;
  EXPECT_EQ(duration_words(114 * kMs), "0.11 s");
  EXPECT_EQ(duration_words(22'617 * kMs), "22.6 s");
  EXPECT_EQ(duration_words(600'000 * kMs), "10 minutes");
}

}  // namespace

}  // namespace ncclog
