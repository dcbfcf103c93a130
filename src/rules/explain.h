// Why did a rule fire here, or why not?
//
//   yes      rank 3 on a07
//     yes      all
//     yes        {event: peer_closed}               nccl.a07.log:812: …
//     unknown    {event: connect_failed, in: host}  lines near a tear were not used
//
// Every instance of the rule's scope is judged with all its conditions, none of them skipped.
// Instances whose answers are alike are told as one; those that came furthest stand first.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "rules/finding.h"
#include "rules/judge.h"
#include "rules/rule.h"

namespace ncclog {

/// One condition and its answer, for the first of the instances that are told as one.
struct ExplainedStep {
  int depth = 0;  ///< Of the condition in `when`, which has 0.
  std::string condition;
  Answer answer = Answer::Unknown;
  std::string reason;              ///< Why it is unknown; empty: its members say it.
  std::string value;               ///< Of a fact, if it is known.
  std::vector<Evidence> evidence;  ///< Lines that show it, the first kMostLines.
  size_t lines = 0;                ///< All lines that show it.

  static constexpr size_t kMostLines = 3;
};

/// Instances that answer alike.
struct ExplainedInstances {
  std::vector<std::string> names;  ///< "rank 3 on a07", in the order of the scope.
  Answer answer = Answer::Unknown;
  std::vector<ExplainedStep> steps;
};

enum class Standing { Found, Suppressed, NotJudged, Undecided, DoesNotHold };

/// "found", "suppressed", "not_judged", …
std::string_view to_string(Standing outcome);

struct Explanation {
  std::string id;
  std::string title;
  std::string path;  ///< The rule's file.
  Standing outcome = Standing::DoesNotHold;
  std::string sentence;               ///< The outcome in words.
  std::vector<NotJudged> open_needs;  ///< Questions that the rule needs and the log leaves open.
  std::vector<std::string> explained_by;  ///< Findings of this job that explain the rule's own.
  std::vector<OverlayEffect> overlays;    ///< On the rule's findings.
  std::vector<ExplainedInstances> instances;
};

/// Judges the job by all rules, and tells about one. Throws Error with the nearest id if there is
/// none of that id.
Explanation explain(const Rulebook& rulebook, const Job& job, std::string_view id);

}  // namespace ncclog
