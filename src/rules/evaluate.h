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

/// Whether a last resort is not judged beside these findings: where another one is an error or a
/// warning. Advice of severity warning on a setting does not silence a last resort of severity
/// error, because it tells no failure. False for rules that are none.
bool stands_back(const Rule& rule, const FindingsById& findings);

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

// The verdict: the one sentence that somebody at three in the morning reads first, over findings in
// the order of their causes.
//
//   PROBLEM   Rank 3 was killed by the kernel; 4 other findings (12 lines) follow from it.

/// The verdict over findings in causal order: an error makes a problem, a warning makes the job
/// suspicious. Without either, the job is clean if it evidently finished; else nothing was found in
/// what the lines cover, or, where NCCL was not heard at all, nothing can be judged.
Verdict make_verdict(const std::vector<Finding>& findings, const Job& job);

/// Where nothing was found but an overlay suppresses an error or a warning, the headline says so.
void mention_suppressed(const std::vector<OverlayEffect>& overlays, Verdict& verdict);

/// The sentence without the full stop at its end.
std::string without_stop(std::string sentence);

/// The first sentence of a message: up to a full stop before a blank and an upper-case letter.
std::string first_sentence(std::string_view message);

/// All that follows from a finding, directly or not.
std::vector<const Finding*> consequences_of(const std::vector<Finding>& findings,
                                            const Finding& cause);

/// Orders findings, a cause above what follows from it: errors before warnings before info, where a
/// cause counts as severe as what it explains; causes before advice before symptoms; certain before
/// possible; then by id. What a present finding explains, directly or not, stands below it. Adds to
/// `explains` what of `explains_same_ranks` names no other ranks, and trims it to the findings that
/// are present. Same set, same order.
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ncclog
