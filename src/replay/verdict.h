// What did a replay prove, how sure is that, and what must not be concluded from it?
//
//   defect hangs as recorded, clean completes    → reproduced-hypothesis: the departure suffices
//   defect hangs,             clean hangs        → reproduced-fault: it is not needed
//   defect completes,         clean completes    → not-reproduced; not-comparable where the replay
//                                                  differs from the record in what matters
//   a rank was killed from outside               → inconclusive
//
// Pure: everything follows from the plan, the outcome and what the runs' own logs say. Runs with
// varied settings are judged pair by pair; the most telling pair is the verdict.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/differences.h"
#include "replay/outcome.h"
#include "replay/plan.h"
#include "replay/run_reading.h"

namespace ncclog {

struct ReadBack;  // replay/read_back.h

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
std::string_view to_string(ReplayVerdictKind kind);
std::optional<ReplayVerdictKind> parse_replay_verdict_kind(std::string_view word);

/// How sure a claim about the job is; the surest first.
enum class ReplayConfidence { Certain, Likely, Possible };
std::string_view to_string(ReplayConfidence confidence);
std::optional<ReplayConfidence> parse_replay_confidence(std::string_view word);

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

/// The run of a pair in which all ranks behaved: the clean one; of a plan without a departure,
/// whose two modes make the same calls, the one that shows a fault.
const RunReading& behaving_run(const ReplayPlan& plan, const RunReading& defect,
                               const RunReading& clean);

/// True if that run of a defect hung, and could only end so: wherever a call or a message is left
/// out, the others wait for it. It tests the plan and the machine, not who left it out. `defect`
/// may be nullptr: there is none.
bool proves_little(const ReplayPlan& plan, const RunOutcome* defect);

/// The kind for one pair of runs. `comparable`: the replay is like the record in what matters.
ReplayVerdictKind judge_pair(const ReplayPlan& plan, const RunReading& defect,
                             const RunReading& clean, bool comparable);

}  // namespace ncclog
