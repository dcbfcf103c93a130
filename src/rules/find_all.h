// What do the rules find in a job, before findings are ordered and told?

#pragma once

#include <map>
#include <set>
#include <vector>

#include "diagnose/facts/coverage.h"
#include "rules/build_finding.h"
#include "rules/judge.h"

namespace ncclog {

/// Answers to the coverage questions, each asked once.
class Coverage {
 public:
  explicit Coverage(const Job& job) : job_(job) {}

  const CoverageAnswer& answer(const CoverageQuestion& question);

  /// Questions that the rule needs and the job does not answer.
  std::vector<const CoverageQuestion*> open_needs(const Rule& rule);

 private:
  const Job& job_;
  std::map<const CoverageQuestion*, CoverageAnswer> answers_;
};

/// What the rules found, by id.
struct Found {
  /// Suppressed ones too: whether somebody wants to be told changes nothing for other rules.
  FindingsById findings;
  std::set<std::string, std::less<>> suppressed;  ///< Ids of those that nobody is told.
  std::vector<OverlayEffect> overlays;
  std::set<const CoverageQuestion*> open_needs;  ///< Of rules that might apply.
};

/// Whether a last resort is not judged beside these findings: where another one is an error or a
/// warning. Advice of severity warning on a setting does not silence a last resort of severity
/// error, because it tells no failure. False for rules that are none.
bool stands_back(const Rule& rule, const FindingsById& findings);

Found find_all(const Rulebook& rulebook, JobView& view, Coverage& coverage);

}  // namespace ncclog
