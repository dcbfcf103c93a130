#include "diagnose/iterations/iterations.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/derive/build_job.h"
#include "report/tables/tables.h"
#include "support/call_lines.h"
#include "support/letter_calls.h"

namespace ncclog {
namespace {

using testing::LetterCalls;
using testing::repeated;

/// A process that calls so, one letter a call.
struct LetterProcess {
  explicit LetterProcess(std::string_view text) : letters(text) {
    track.tape = letters.tape;
    calls.track = &track;
    calls.kinds = letters.kinds;
  }

  std::string text(const CallCounts& counts) const {
    std::string text;
    for (const auto& [entry, n] : counts) {
      text += std::to_string(n) + static_cast<char>(calls.kinds[entry]);
    }
    return text;
  }

  /// "1B; 1-700: 4G4S1R; …": before, each run, behind; "together" and "!" as in IterationRun.
  std::string counted(const std::vector<IterationSpan>& spans) const {
    const ProcessIterations found = count_iterations(calls, calls.folded(), spans);
    std::string all = text(found.before);
    for (const IterationRun& run : found.runs) {
      all += "; " + std::to_string(run.first) + "-" + std::to_string(run.last);
      if (run.together > 1) all += " together";
      all += ": " + text(found.counts[run.calls]) + (run.cut_short ? "!" : "");
    }
    return all + "; " + text(found.after);
  }

  LetterCalls letters;
  CallTrack track;
  ProcessCalls calls;
};

TEST(IterationCalls, InARowAreCountedAsEachAlone) {
  const std::string layers = repeated("GS", 4) + "R";
  const LetterProcess process("B" + repeated(layers, 700) + "C");
  const auto all = static_cast<size_t>(1 + 9 * 700);
  EXPECT_EQ(process.counted({{1, 700, 1, all, false, true}}), "1B; 1-700: 4G4S1R; 1C");
  std::vector<IterationSpan> each;
  for (int i = 0; i < 700; ++i) {
    const auto begin = static_cast<size_t>(1 + 9 * i);
    each.push_back({i + 1, i + 1, begin, begin + 9, false});
  }
  EXPECT_EQ(process.counted(each), "1B; 1-700: 4G4S1R; 1C");
  EXPECT_EQ(process.counted({{1, 350, 1, all, false, true}}), "1B; 1-350: 8G8S2R; 1C");
}

TEST(IterationCalls, DifferInsideALoopWhereTheyBeginAtDifferentPlaces) {
  // Iterations of 3 calls in a loop of 2 or of 6.
  EXPECT_EQ(LetterProcess(repeated("AB", 300)).counted({{1, 4, 300, 312, false, true}}),
            "150A150B; 1-1: 2A1B; 2-2: 1A2B; 3-3: 2A1B; 4-4: 1A2B; 144A144B");
  EXPECT_EQ(LetterProcess(repeated("ABCACB", 200)).counted({{1, 200, 0, 600, false, true}}),
            "; 1-200: 1A1B1C; 200A200B200C");
}

TEST(IterationCalls, OthersStandAsTheyWereCut) {
  const LetterProcess process("rGSRGSRGS");
  EXPECT_EQ(process.counted({{0, 1, 1, 7, false}, {2, 2, 7, 9, true}}),
            "1r; 0-1 together: 2G2S2R; 2-2: 1G1S!; ");
  EXPECT_EQ(process.counted({}), "1r3G3S2R; ");
}

using testing::call_lines;

/// "0: 1 AllGather, 1 Broadcast; 1-2: 1 AllGather": what most processes call, iteration by
/// iteration, behind where it is known from.
std::string iterations_of(const std::string& log, const IterationChoice& choice = {}) {
  const Job job = job_from_text(log);
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, choice);
  if (!found) return "none";
  std::string text(found->source);
  if (!found->preset.empty()) text += " " + found->preset;
  for (const IterationPattern& pattern : found->patterns) {
    text += ";";
    for (const auto& [first, last] : pattern.iterations) {
      text += " " + std::to_string(first);
      if (last != first) text += "-" + std::to_string(last);
    }
    text += ": " + calls_text(pattern.calls) + (pattern.cut_short ? "!" : "");
  }
  return text;
}

TEST(Iterations, AreCutAtMarkersAndAlignedToEachProcess) {
  // pid 41 prints; pid 42 is a call ahead, pid 43 a call behind.
  const std::string log = call_lines(
      "41:r 42:r 43:r #iteration: 0 | x# 41:BGSR 42:BGSRG 43:BGS #iteration: 1 | x# "
      "41:GSR 42:SRG 43:RGSR #iteration: 2 | x# 41:GSR 42:SR 43:GSR 41:r 42:r 43:r");
  EXPECT_EQ(iterations_of(log),
            "preset iteration; 0: 1 AllGather, 1 AllReduce, 1 Broadcast, 1 ReduceScatter; 1-2: 1 "
            "AllGather, 1 AllReduce, 1 ReduceScatter");
  const Job job = job_from_text(log);
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ahead, 1u);
  EXPECT_EQ(found->behind, 1u);
  for (const ProcessIterations& process : found->processes) {
    EXPECT_EQ(calls_text(by_operation(calls.processes[process.calls], process.before)),
              "1 AllReduce");
    EXPECT_EQ(calls_text(by_operation(calls.processes[process.calls], process.after)),
              "1 AllReduce");
  }
}

TEST(Iterations, AStepThatEveryRankPrintsIsOne) {
  const std::string log = call_lines(
      "41:GSR 42:GSR #[step=1/9]##[step=1/9]# 41:GSR 42:GSR #[step=2/9]##[step=2/9]# 41:GSR "
      "42:GSR #[step=3/9]##[step=3/9]#");
  EXPECT_EQ(iterations_of(log), "preset olmo; 1-3: 1 AllGather, 1 AllReduce, 1 ReduceScatter");
}

TEST(Iterations, StepsThatAreNotPrintedAreToldApartByTheCalls) {
  const std::string log = call_lines(
      "41:GSRGSR # iteration        2/      90 | loss# 41:GSRGSR # iteration        4/      90 | "
      "loss# 41:GSRGSR # iteration        6/      90 | loss# 41:GSR");
  EXPECT_EQ(iterations_of(log), "preset megatron; 1-7: 1 AllGather, 1 AllReduce, 1 ReduceScatter");
}

TEST(Iterations, ANewAttemptCountsItsOwnSteps) {
  const std::string log = call_lines(
      "41:r #iteration: 7 | x# 41:GSR #iteration: 8 | x# 41:GSR #iteration: 9 | x# 41:GSR "
      "52:r #iteration: 8 | x# 52:GSR #iteration: 9 | x# 52:GSR #iteration: 10 | x# 52:GSR");
  EXPECT_EQ(
      iterations_of(log),
      "preset iteration; 7 10: 1 AllGather, 1 AllReduce, 1 ReduceScatter; 8-9: 1 AllGather, 1 "
      "AllReduce, 1 ReduceScatter");
}

TEST(Iterations, WithoutMarkersWhatRepeatsItselfIsAnIteration) {
  EXPECT_EQ(iterations_of(call_lines("41:rB" + repeated("GSGSR", 5) + "r")),
            "period; 1-5: 2 AllGather, 2 ReduceScatter, 1 AllReduce");
  EXPECT_EQ(iterations_of(call_lines("41:r><Br")), "none");
  EXPECT_EQ(iterations_of("no calls\n"), "none");
}

TEST(Iterations, MessagesOfChangingSizesAreTheSameCalls) {
  EXPECT_EQ(iterations_of(call_lines("41:" + repeated("><><R", 6))),
            "period; 1-6: 2 Recv, 2 Send, 1 AllReduce");
}

TEST(Iterations, TheUserMayNameTheMarker) {
  const std::string log = call_lines(
      "#round 5# 41:GSR #iteration: 1 | x# 41:GSR #round 6# 41:GSR #iteration: 2 | x# 41:GSR "
      "#round 7# 41:GSRGSR");
  EXPECT_EQ(iterations_of(log, {.by = IterationChoice::By::Period}),
            "period; 1-6: 1 AllGather, 1 AllReduce, 1 ReduceScatter");
  EXPECT_EQ(iterations_of(log, {.by = IterationChoice::By::Preset, .preset = "iteration"}),
            "preset iteration; 1: 2 AllGather, 2 AllReduce, 2 ReduceScatter; 2: 3 AllGather, 3 "
            "AllReduce, 3 ReduceScatter");
}

TEST(Iterations, OneProcessThatStopsEarlyChangesNothingForTheOthers) {
  std::string words;
  for (int i = 0; i < 4; ++i) {
    words += "#iteration: " + std::to_string(i) + " | x#";
    words += i < 2    ? " 41:GSR 42:GSR 43:GSR "
             : i == 2 ? " 41:GS 42:GSR 43:GSR "
                      : " 42:GSR 43:GSR ";
  }
  const Job job = job_from_text(call_lines(words));
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->patterns.size(), 2u);
  EXPECT_EQ(found->patterns[0].iterations.front(), (std::pair<int64_t, int64_t>{0, 2}));
  EXPECT_EQ(found->patterns[1].iterations.front(), (std::pair<int64_t, int64_t>{3, 3}));
  EXPECT_EQ(found->patterns[1].present, 2u);
  EXPECT_EQ(found->patterns[1].calls, found->patterns[0].calls);
  const ProcessIterations& stopped = found->processes[0];
  EXPECT_EQ(stopped.runs.back().first, 2);
  EXPECT_TRUE(stopped.runs.back().cut_short);
}

TEST(Iterations, AProcessThatSkipsACallKeepsItsOtherIterations) {
  std::string words = "41:r 42:r 43:r ";
  for (int i = 0; i < 5; ++i) {
    words += "#iteration: " + std::to_string(i) + " | x#";
    words += i == 2 ? " 41:GSR 42:GS 43:GSR " : " 41:GSR 42:GSR 43:GSR ";
  }
  const Job job = job_from_text(call_lines(words));
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  ASSERT_TRUE(found);
  const ProcessIterations& skipping = found->processes[1];
  ASSERT_EQ(skipping.runs.size(), 3u);
  EXPECT_EQ(skipping.runs[1].first, 2);
  EXPECT_EQ(calls_text(by_operation(calls.processes[1], skipping.counts[skipping.runs[1].calls])),
            "1 AllGather, 1 ReduceScatter");
  EXPECT_EQ(skipping.runs[2].last, 4);
}

}  // namespace

}  // namespace ncclog
