// Judges a job by a rulebook.
//
// A condition has three answers: yes, no, unknown. A rule finds something only where the answer is
// yes. What could not be judged because the log lacks it becomes a question of the diagnosis.
//
// Where the logs hold several runs each is judged for itself (rules/judge_runs.h).

#pragma once

#include <set>
#include <vector>

#include "model/job.h"
#include "rules/finding.h"
#include "rules/judge.h"
#include "rules/rule.h"

namespace ncclog {

/// Questions that the rule needs and the job does not answer.
std::vector<const Fact*> open_needs(const Rule& rule, JobView& view);

/// The question with why it is open, for people.
NotJudged not_judged(const Fact& question, JobView& view);

/// What the rules found, by id.
struct Found {
  /// Suppressed ones too: whether somebody wants to be told changes nothing for other rules.
  FindingsById findings;
  std::set<std::string, std::less<>> suppressed;  ///< Ids of those that nobody is told.
  std::vector<OverlayEffect> overlays;
  std::set<const Fact*> open_needs;  ///< Of rules that might apply.
};

/// Which rules are asked. Where the logs hold several runs, those about one run are asked of each,
/// and those about the runs (Rule::of_all_runs) of what was read.
enum class RulesAbout { Everything, OneRun, TheRuns };

Found find_all(const Rulebook& rulebook, JobView& view, RulesAbout about = RulesAbout::Everything);

/// Adds what only reports of hosts show. Other rules do not ask for it: they are about the job.
void add_shown_by_reports(const Rulebook& rulebook, const Job& job, Found& found);

/// Takes out the findings that somebody is told.
std::vector<Finding> take_reported(Found& found);

/// The diagnosis of one run by what was found in it. `further` as for evaluate().
Diagnosis diagnose(const Rulebook& rulebook, JobView& view, Found found,
                   std::vector<Finding> further = {});

/// Findings ordered by cause, the verdict over them, and what could not be judged. Pure: the same
/// rulebook and job give the same diagnosis.
/// `further` are findings that no rule made; they take part in the order and in the verdict.
Diagnosis evaluate(const Rulebook& rulebook, const Job& job, std::vector<Finding> further = {});

}  // namespace ncclog
