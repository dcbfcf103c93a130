// Judges a job by a rulebook: all rules, several runs one by one, what nobody could judge.

#pragma once

#include <map>
#include <set>
#include <vector>

#include "diagnose/facts/coverage.h"
#include "model/build/run_parts.h"
#include "model/job.h"
#include "rules/build_finding.h"
#include "rules/finding.h"
#include "rules/judge.h"
#include "rules/rule.h"

namespace ncclog {

// What do the rules find in a job, before findings are ordered and told?

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

// Judges each run for itself, where the logs hold several, and joins what is found.
//
//   PROBLEM   Run 1: Rank 3 is missing in a collective: …; run 2: healthy, finished.
//
// The first run that failed leads. Findings of the others stay, and their messages name the run; of
// what all runs have in common nothing is said twice. Nothing is compared across runs.

/// Judges a job as if it were one run.
Diagnosis evaluate_as_one(const Rulebook& rulebook, const Job& job,
                          std::vector<Finding> further = {});

/// `whole` is what evaluate_as_one says: of it stays what is about the runs themselves.
Diagnosis judge_runs(const Rulebook& rulebook, const Job& job, const RunParts& parts,
                     Diagnosis whole);

// Judges a job by a rulebook.
//
// A condition has three answers: yes, no, unknown. A rule finds something only where the answer is
// yes. What could not be judged because the log lacks it becomes a question of the diagnosis.

/// Findings ordered by cause, the verdict over them, and what could not be judged. Pure: the same
/// rulebook and job give the same diagnosis.
/// `further` are findings that no rule made; they take part in the order and in the verdict.
Diagnosis evaluate(const Rulebook& rulebook, const Job& job, std::vector<Finding> further = {});

/// Says which line patterns of the rulebook match a line; empty if it has none. May be called from
/// any thread and outlives the rulebook.
LineMatcher make_line_matcher(const Rulebook& rulebook);

}  // namespace ncclog
