// All that a replay gives: what was to be tested, what happened, what it proves, how fast it was.
//
//   {"schema": "ncclog.replay-result/1", "plan": "5f0c…", "verdict": {"kind":
//    "reproduced-hypothesis", "confidence": "likely", "headline": "As recorded, …", …},
//    "timings": [{"op": "AllReduce", "bytes": 67108864, "median_us": 412.0, "share": 0.81, …}],
//    "outcome": {"schema": "ncclog.replay-outcome/1", …}}
//
// A value without clock or path of its own: the same plan, outcome and logs give the same bytes.
// As JSON it is described by src/replay/result.schema.json.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/outcome.h"
#include "replay/plan.h"
#include "replay/verdict.h"

namespace ncclog {

struct ReadBack;  // replay/read_back.h

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

}  // namespace ncclog
