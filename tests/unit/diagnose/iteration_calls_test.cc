#include "diagnose/iteration_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/letter_calls.h"

namespace ncclog {
namespace {

using testing::LetterCalls;
using testing::repeated;

/// A process that calls so, one letter a call.
struct Process {
  explicit Process(std::string_view text) : letters(text) {
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
  const Process process("B" + repeated(layers, 700) + "C");
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
  EXPECT_EQ(Process(repeated("AB", 300)).counted({{1, 4, 300, 312, false, true}}),
            "150A150B; 1-1: 2A1B; 2-2: 1A2B; 3-3: 2A1B; 4-4: 1A2B; 144A144B");
  EXPECT_EQ(Process(repeated("ABCACB", 200)).counted({{1, 200, 0, 600, false, true}}),
            "; 1-200: 1A1B1C; 200A200B200C");
}

TEST(IterationCalls, OthersStandAsTheyWereCut) {
  const Process process("rGSRGSRGS");
  EXPECT_EQ(process.counted({{0, 1, 1, 7, false}, {2, 2, 7, 9, true}}),
            "1r; 0-1 together: 2G2S2R; 2-2: 1G1S!; ");
  EXPECT_EQ(process.counted({}), "1r3G3S2R; ");
}

}  // namespace
}  // namespace ncclog
