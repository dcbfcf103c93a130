// Dumps of jobs that a seed decides: whatever is lost of them, nobody innocent is named.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "app/read/read_example.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "support/call_log.h"
#include "support/dump_line.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

enum class RecordedFault { None, Late, OtherSize };

/// What happened, and what is left of it.
struct RecordedRun {
  int world = 2;
  int calls = 1;  ///< The last collective that anybody made.
  RecordedFault fault = RecordedFault::None;
  int guilty = -1;
  int at = 1;           ///< The collective with the fault.
  int ring = 64;        ///< Entries that a recorder keeps.
  int lost = -1;        ///< Rank without a dump.
  int stale = -1;       ///< Rank with the dump of another day.
  bool gave_up = true;  ///< A watchdog says so.
};

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  int up_to(int most) { return static_cast<int>(engine_() % static_cast<uint32_t>(most + 1)); }
  bool one_in(int n) { return up_to(n - 1) == 0; }

 private:
  std::mt19937 engine_;
};

RecordedRun make_run(Dice& dice, RecordedFault fault) {
  RecordedRun run;
  run.fault = fault;
  run.world = 2 + dice.up_to(10);
  run.at = 1 + dice.up_to(30);
  run.calls = run.at + dice.up_to(4);
  run.guilty = dice.up_to(run.world - 1);
  run.ring = dice.one_in(3) ? 1 + dice.up_to(8) : 64;
  if (dice.one_in(4)) run.lost = dice.up_to(run.world - 1);
  if (dice.one_in(4)) run.stale = dice.up_to(run.world - 1);
  run.gave_up = fault == RecordedFault::None ? dice.one_in(4) : !dice.one_in(4);
  return run;
}

int64_t size_of(const RecordedRun& run, int rank, int call) {
  const int64_t size = 64 + call % 5;
  return run.fault == RecordedFault::OtherSize && rank == run.guilty && call == run.at ? size + 1
                                                                                       : size;
}

/// In a healthy job ranks are some calls apart, and all but the last ones are completed.
int last_call(const RecordedRun& run, int rank, Dice& dice) {
  if (run.fault == RecordedFault::Late && rank == run.guilty) return run.at - 1;
  return run.fault == RecordedFault::None ? run.calls - dice.up_to(run.calls - run.at) : run.calls;
}

std::string dump_of(const RecordedRun& run, int rank, Dice& dice) {
  DumpLine dump(run.world);
  if (rank == run.stale) dump.later_s(-86400);
  const int last = last_call(run, rank, dice);
  for (int call = std::max(1, last - run.ring + 1); call <= last; ++call) {
    if (call < run.at) {
      dump.done(call, size_of(run, rank, call));
    } else {
      dump.open(call, size_of(run, rank, call));
    }
  }
  return dump.text();
}

/// A dump of no group at all keeps the place of a rank whose dump is lost.
std::string text_of(const RecordedRun& run, Dice& dice) {
  std::string text;
  if (run.gave_up) {
    const int waiting = run.guilty == 0 ? 1 : 0;
    // A healthy job may have given up on something else, long after.
    text = CallLog()
               .timeout(waiting, run.fault == RecordedFault::None ? run.calls + 9 : run.at)
               .text();
  }
  for (int rank = 0; rank < run.world; ++rank) {
    text += rank == run.lost ? "{\"version\":\"2.4\",\"entries\":[]}\n" : dump_of(run, rank, dice);
  }
  return text;
}

std::string answer(const Job& job, std::string_view fact) {
  const FactValue value = find_fact(fact)->ask(job, job_instance(job));
  std::vector<int> ranks = value.ranks;
  for (const int p : value.processes) ranks.push_back(job.processes[static_cast<size_t>(p)].rank);
  return fact_text(value) + (ranks.empty() ? "" : " " + ranges_text(ranks));
}

const uint64_t kRecorderSeeds = affordable(400);  ///< Of each fault.

TEST(RecorderProperty, AHealthyJobsDumpsNameNobody) {
  for (uint32_t seed = 0; seed < kRecorderSeeds; ++seed) {
    Dice dice(seed);
    const RecordedRun run = make_run(dice, RecordedFault::None);
    const Job job = read_example(text_of(run, dice), {});
    EXPECT_EQ(answer(job, "job.recorder_late"), "unknown") << "seed " << seed;
    EXPECT_EQ(answer(job, "job.recorder_mismatch"), "unknown") << "seed " << seed;
  }
}

TEST(RecorderProperty, OnlyTheLateRankIsNamedAndOnlyWhereNothingIsLost) {
  int found = 0;
  int clear = 0;
  for (uint32_t seed = 0; seed < kRecorderSeeds; ++seed) {
    Dice dice(seed);
    const RecordedRun run = make_run(dice, RecordedFault::Late);
    const Job job = read_example(text_of(run, dice), {});
    const std::string late = answer(job, "job.recorder_late");
    const std::string guilty = fmt::format("yes {}", run.guilty);
    EXPECT_EQ(answer(job, "job.recorder_mismatch"), "unknown") << "seed " << seed;
    const bool is_whole = run.lost < 0 && run.stale < 0 && run.gave_up;
    // A stale dump without a call does not show its age, and is of a rank that made none either way.
    const bool is_blank = run.stale == run.guilty && run.at == 1;
    if (!is_whole && !is_blank) {
      EXPECT_EQ(late, "unknown") << "seed " << seed;
      continue;
    }
    EXPECT_TRUE(late == guilty || late == "unknown") << "seed " << seed << ": " << late;
    // The ring of those ahead must reach back to the call before.
    if (run.at == 1 || run.ring <= run.calls - run.at + 1) continue;
    ++clear;
    found += late == guilty ? 1 : 0;
  }
  EXPECT_GT(clear, static_cast<int>(kRecorderSeeds / 8));
  EXPECT_EQ(found, clear);
}

TEST(RecorderProperty, OnlyTheOddRankOfAMajorityIsNamed) {
  int found = 0;
  for (uint32_t seed = 0; seed < kRecorderSeeds; ++seed) {
    Dice dice(seed);
    const RecordedRun run = make_run(dice, RecordedFault::OtherSize);
    const Job job = read_example(text_of(run, dice), {});
    const std::string mismatch = answer(job, "job.recorder_mismatch");
    const std::string guilty = fmt::format("yes {}", run.guilty);
    EXPECT_TRUE(mismatch == guilty || mismatch == "yes" || mismatch == "unknown")
        << "seed " << seed << ": " << mismatch;
    EXPECT_EQ(answer(job, "job.recorder_late"), "unknown") << "seed " << seed;
    if (mismatch != guilty) continue;
    ++found;
    EXPECT_GT(run.world, 2) << "seed " << seed;
  }
  EXPECT_GT(found, static_cast<int>(kRecorderSeeds / 4));
}

}  // namespace
}  // namespace ncclog::testing
