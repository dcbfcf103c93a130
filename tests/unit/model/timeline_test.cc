#include "model/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/build/build_job.h"

namespace ncclog {
namespace {

/// "pid time what: detail" for each milestone.
std::vector<std::string> told(const Job& job) {
  std::vector<std::string> lines;
  for (const Milestone& m : build_timeline(job).milestones) {
    lines.push_back(fmt::format("{} {} {}: {}", job.processes[static_cast<size_t>(m.process)].pid,
                                m.time, m.what, m.detail));
  }
  return lines;
}

TEST(Timeline, TellsTheLifeOfAProcess) {
  const Job job = job_from_text(
      "h:1:1 [0] NCCL INFO cudaDriverVersion 12040\n"
      "h:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
      "h:1:1 [0] NCCL INFO Using network Socket\n"
      "h:1:1 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 "
      "commId 0xc0 - Init START\n"
      "h:1:1 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 "
      "commId 0xc0 - Init COMPLETE\n"
      "h:1:1 [0] NCCL INFO Init timings - ncclCommInitRank: rank 0 nranks 2 total 1.11 (kernels "
      "0.33, rest 0.06)\n"
      "h:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 "
      "root 0 comm 0xa [nranks=2] stream (nil)\n"
      "h:1:1 [0] NCCL INFO AllGather: opCount 1 sendbuff 0x1 recvbuff 0x1 count 9 datatype 7 op 0 "
      "root 0 comm 0xa [nranks=2] stream (nil)\n"
      "\n"
      "[2026-02-03 04:05:06] h:1:1 [0] misc/socket.cc:57 NCCL WARN words of a warning\n"
      "h:1:1 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 busId 60 - Destroy COMPLETE\n"
      "h:1:1 [0] NCCL INFO words of the end\n");
  const std::vector<std::string> wanted = {
      "1  first line: cudaDriverVersion 12040",
      "1  version: NCCL 2.28.9, built for CUDA 13.0",
      "1  network: Socket",
      "1  init start: 0xc0, rank 0 of 2",
      "1  init end: 0xc0, 1.11 s (kernels 0.33, rest 0.06)",
      "1  first call: 0xc0",
      "1  last call: 0xc0, AllGather with count 9, call 2",
      "1 2026-02-03 04:05:06 WARN: words of a warning",
      "1  destroyed: 0xc0",
      "1  last line: words of the end",
  };
  EXPECT_EQ(told(job), wanted);
}

std::string line(const char* time, int pid, const char* message) {
  return fmt::format("{}h:{}:1 [0] NCCL INFO {}\n", time, pid, message);
}

TEST(Timeline, OrdersProcessesByTimeOnlyWhereAllTheirLinesHaveOne) {
  const std::string timed = line("[2026-02-03 04:05:07] ", 1, "Using network IB") +
                            line("[2026-02-03 04:05:09] ", 1, "words") +
                            line("[2026-02-03 04:05:06] ", 2, "Using network IB") +
                            line("[2026-02-03 04:05:08] ", 2, "words");
  const Job ordered = job_from_text(timed);
  const std::vector<std::string> wanted = {
      "2 2026-02-03 04:05:06 network: IB", "1 2026-02-03 04:05:07 network: IB",
      "2 2026-02-03 04:05:08 last line: words", "1 2026-02-03 04:05:09 last line: words"};
  EXPECT_EQ(told(ordered), wanted);
  const Job mixed = job_from_text(timed + line("", 0, "Using network IB"));
  const Timeline timeline = build_timeline(mixed);
  EXPECT_EQ(timeline.timed_processes, 2u);
  EXPECT_EQ(timeline.untimed_processes, 1u);
  EXPECT_EQ(mixed.processes[static_cast<size_t>(timeline.milestones.back().process)].pid, 0);
}

TEST(Timeline, DoesNotCompareTimesWithAndWithoutZone) {
  const Job job = job_from_text(line("2026-02-03T04:05:06Z ", 1, "Using network IB") +
                                line("2026-02-03T04:05:07Z ", 3, "Using network IB") +
                                line("[2026-02-03 04:05:01] ", 2, "Using network IB"));
  const Timeline timeline = build_timeline(job);
  EXPECT_EQ(timeline.timed_processes, 2u);
  EXPECT_EQ(timeline.untimed_processes, 1u);
}

TEST(Timeline, StopsAfterSomeWarningsOfAProcessAndCountsTheRest) {
  std::string text;
  for (int i = 0; i < 13; ++i) {
    text += fmt::format("h:1:1 [0] misc/socket.cc:57 NCCL WARN words number {}\n", i);
  }
  const Timeline timeline = build_timeline(job_from_text(text));
  EXPECT_EQ(timeline.warnings_omitted, 3u);
}

}  // namespace
}  // namespace ncclog
