#include "model/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "model/derive/build_job.h"

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

TEST(InputClock, KeepsTheFirstMarkersAndCountsAll) {
  InputClock clock;
  std::vector<Marker> added;
  for (uint64_t i = 0; i < kMaxMarkers + 5; ++i) {
    const Marker marker{static_cast<int64_t>(10 * i), i % 2 == 0 ? 500 : -1,
                        i % 3 == 0 ? kOwnWording : uint16_t{2}};
    clock.add(marker);
    added.push_back(marker);
  }
  EXPECT_EQ(clock.total, kMaxMarkers + 5);
  added.resize(kMaxMarkers);
  EXPECT_EQ(clock.markers, added);
}

TEST(InputClock, JoinsToWhatReadingInOneGoGives) {
  const std::vector<int64_t> steps = {5, 6, 7, 3, 4, INT64_C(1) << 60, 0};
  for (size_t cut = 0; cut <= steps.size(); ++cut) {
    InputClock whole;
    InputClock parts[2];
    for (size_t i = 0; i < steps.size(); ++i) {
      whole.add({steps[i], -1, 1}, {0, i + 1});
      parts[i < cut ? 0 : 1].add({steps[i], -1, 1}, {0, i + 1});
    }
    parts[0].merge(parts[1]);
    EXPECT_EQ(parts[0].markers, whole.markers) << cut;
    EXPECT_EQ(parts[0].total, whole.total) << cut;
    EXPECT_EQ(parts[0].last, whole.last) << cut;
  }
}

TEST(CallMarks, NoteACallOnlyWhereMarkersCameBetween) {
  CallMarks marks;
  marks.note({0, 0, 0});
  marks.note({0, 0, 1});
  marks.note({0, 2, 2});
  marks.note({0, 2, 3});
  marks.note({3, 0, 4});
  marks.note({3, 1, 900});
  const std::vector<CallMark> expected = {{0, 0, 0}, {0, 2, 2}, {3, 0, 4}, {3, 1, 900}};
  EXPECT_EQ(marks.all(), expected);
}

TEST(CallMarks, DoNotDependOnWhereTheInputWasCut) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    // true: a marker, false: a call.
    std::vector<bool> lines(200);
    for (size_t i = 0; i < lines.size(); ++i) lines[i] = random() % 4 == 0;
    struct Stretch {
      CallMarks marks;
      InputClock markers;
      uint64_t calls = 0;
    };
    const auto read = [&](size_t from, size_t to) {
      Stretch stretch;
      for (size_t i = from; i < to; ++i) {
        if (lines[i]) {
          stretch.markers.add({});
        } else {
          stretch.marks.note({4, stretch.markers.total, stretch.calls++});
        }
      }
      return stretch;
    };
    const size_t cut = random() % lines.size();
    Stretch first = read(0, cut);
    Stretch second = read(cut, lines.size());
    second.marks.shift([&](uint64_t) { return first.markers.total; });
    first.marks.merge(second.marks, first.calls);
    EXPECT_EQ(first.marks, read(0, lines.size()).marks) << round;
  }
}

}  // namespace
}  // namespace ncclog
