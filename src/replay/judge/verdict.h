// What did a replay prove, how sure is that, how fast was it, and what must not be concluded from
// it?
//
//   defect hangs as recorded, clean completes    → reproduced-hypothesis: the defect suffices
//   defect hangs,             clean hangs        → reproduced-fault: it is not needed
//   defect completes,         clean completes    → not-reproduced; not-comparable where the replay
//                                                  differs from the record in what matters
//   a rank was killed from outside               → inconclusive
//
// and in sentences (verdict_words.table)
//
//   "As recorded, AllReduce, call 29 of communicator 0x9c1b… does not complete when rank 5 makes
//    another call in its place; when all ranks behave, everything completes."
//
// Pure: everything follows from the plan, the outcome and what the runs' own logs say. Runs with
// varied settings are judged pair by pair; the most telling pair is the verdict.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/perf/measured/measurement.h"
#include "replay/judge/differences.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"

namespace ncclog {

/// The most telling first.
enum class ReplayVerdictKind {
  /// A run in which all ranks behave hangs, fails or is wrong. Of a plan without a recorded fault
  /// it is one of the replaying machine.
  ReproducedFault,
  ReproducedHypothesis,  ///< The defect gives the recorded fault, the clean run completes.
  NotReproduced,         ///< The defect gives no fault, and nothing that matters differs.
  CleanWithoutDefect,    ///< The clean run completes; no defect was run.
  NotComparable,         ///< No fault, or another one, but the replay is not like the record.
  Inconclusive,          ///< Runs are missing, or show nothing.
  Refused,               ///< Nothing was run.
};

constexpr std::string_view enum_words(ReplayVerdictKind) {
  return "reproduced-fault|reproduced-hypothesis|not-reproduced|clean-without-defect|"
         "not-comparable|inconclusive|refused";
}
constexpr std::string_view noun_of(ReplayVerdictKind) { return "kind of verdict"; }

/// How sure a claim about the job is; the surest first.
enum class ReplayConfidence { Certain, Likely, Possible };

constexpr std::string_view enum_words(ReplayConfidence) { return "certain|likely|possible"; }
constexpr std::string_view noun_of(ReplayConfidence) { return "confidence"; }

/// What the runs of one variation show.
struct ReplayPair {
  std::string settings;  ///< "NCCL_P2P_DISABLE=1"; empty: nothing was varied.
  ReplayVerdictKind kind = ReplayVerdictKind::Inconclusive;
  RunReading defect;
  RunReading clean;
  std::vector<ReplayDifference> differences;

  bool operator==(const ReplayPair&) const = default;
};

/// The judgement. Sentences are for people, with a full stop; clauses in `held` are without.
struct ReplayVerdict {
  ReplayVerdictKind kind = ReplayVerdictKind::Inconclusive;
  /// nullopt: it claims nothing about the job (not-comparable, inconclusive, refused).
  std::optional<ReplayConfidence> confidence;
  std::string headline;              ///< One sentence.
  std::vector<std::string> held;     ///< What was as recorded.
  std::vector<std::string> changed;  ///< What was not.
  std::vector<std::string> runs;     ///< One line each.
  std::vector<std::string> limits;   ///< What this replay cannot show.
  std::vector<std::string> must_not_conclude;
  std::vector<std::string> next;              ///< What to do now.
  std::vector<ReplayDifference> differences;  ///< Those of the pair that was judged.
  std::vector<ReplayPair> pairs;              ///< By variation, in the order of the runs.

  bool operator==(const ReplayVerdict&) const = default;
};

/// Judges. `seen` has what the log of each run says, by run; runs beyond its end were not read.
ReplayVerdict judge_replay(const ReplayPlan& plan, const ReplayOutcome& outcome,
                           std::span<const ReadBack> seen);

/// The kind for one pair of runs. `comparable`: the replay is like the record in what matters.
ReplayVerdictKind judge_pair(const ReplayPlan& plan, const RunReading& defect,
                             const RunReading& clean, bool comparable);

// All that a replay gives: what was to be tested, what happened, what it proves, how fast it was.
//
//   {"schema": "ncclog.replay-result/1", "plan": "5f0c…", "verdict": {"kind":
//    "reproduced-hypothesis", "confidence": "likely", "headline": "As recorded, …", …},
//    "timings": [{"op": "AllReduce", "bytes": 67108864, "median_us": 412.0, "share": 0.81, …}],
//    "outcome": {"schema": "ncclog.replay-outcome/1", …}}
//
// A value without clock or path of its own: the same plan, outcome and logs give the same bytes.
// As JSON it is described by src/replay/judge/result.schema.json.

/// A repeated call, and what of the slowest link between the GPUs it used.
struct ReplayTiming {
  std::string settings;  ///< What was varied in the run; empty: nothing.
  CallTiming timing;
  double link_bw = -1;    ///< GB/s of that path as NCCL's topology lists it; -1: not known.
  std::string link_type;  ///< "NVL", "PHB", …; empty: not known.
  /// busbw / link_bw, of the series where one was timed: launches are no matter of links. -1: not
  /// known.
  double share = -1;

  bool operator==(const ReplayTiming&) const = default;
};

/// The result as a value; what it has of the plan is what reports need without it.
struct ReplayResult {
  static constexpr std::string_view kSchema = "ncclog.replay-result/1";

  std::string tool_version;                ///< Of the ncclog that judged.
  std::string plan;                        ///< SHA-256 of the plan's text.
  std::vector<std::string> logs;           ///< What the plan was made of, as the user named it.
  std::vector<std::string> nccl_versions;  ///< As recorded.
  std::string cuda_version;                ///< Likewise; empty: not known.
  int recorded_nranks = 0;
  int recorded_nhosts = 0;
  Hypothesis hypothesis;                   ///< As the plan has it.
  std::vector<std::string> communicators;  ///< Ids of the plan's, by their place in it.
  ReplayVerdict verdict;
  std::vector<ReplayTiming> timings;
  ReplayOutcome outcome;

  bool operator==(const ReplayResult&) const = default;
};

/// Judges, and puts together. `plan_hash` as plan_hash() gives it, `seen` what the log of each run
/// says, by run.
ReplayResult make_result(const ReplayPlan& plan, std::string_view plan_hash,
                         const ReplayOutcome& outcome, std::span<const ReadBack> seen);

/// As JSON. Equal results give equal bytes. Texts that are not UTF-8 are repaired.
std::string write_result(const ReplayResult& result);

/// The result in `text`; `source` is its name for people. Throws Error with the place if it is not
/// one.
ReplayResult parse_result(std::string_view text, const std::string& source);

// What do times under varied settings show?
//
//   NCCL_P2P_DISABLE=0   median 897.9 us, 880.1 - 910.3
//   NCCL_P2P_DISABLE=1   median 9651.9 us, 9601.0 - 9702.2
//   → "AllReduce of 268435456 bytes: NCCL_P2P_DISABLE=1 takes 10.7 times as long as
//      NCCL_P2P_DISABLE=0 (9651.9 against 897.9 us)."
//
// Where the times of single runs overlap, the medians are not compared: nothing is shown.

/// One sentence for each setting but the fastest of its call, held against that one, in the order
/// of `timings`. Empty: nothing was varied, or nothing was timed under two settings.
std::vector<std::string> time_comparisons(std::span<const ReplayTiming> timings);

// What `replay run --time` measured, in the terms of benchmarks: curves of bandwidth over size.
//
//   {"op": "AllReduce", "bytes": 67108864, "median_us": 412.0, "busbw": 285.1, …}
//     → a Measurement of AllReduce with a point at 64 MiB, of the GPUs that the replay ran on
//
// It is the machine of the replay that was measured, whatever machine the logs are of. The series
// of calls back to back counts where one was timed: nccl-tests measures so, too.

/// One for each operation, number of ranks and varied setting, in the order of the timings. Points
/// have no place in a log, and `hosts` are not named.
std::vector<Measurement> replay_measurements(const ReplayResult& result);

}  // namespace ncclog
