// Judges a job by a rulebook.
//
// A condition has three answers: yes, no, unknown. A rule finds something only where the answer is
// yes. What could not be judged because the log lacks it becomes a question of the diagnosis.
//
// Where the logs hold several runs each is judged for itself (judge_runs).

#pragma once

#include <optional>
#include <set>
#include <vector>

#include "model/derive/split_runs.h"
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

// Judges each run for itself, where the logs hold several, and joins what is found.
//
//   PROBLEM   Run 1: Rank 3 is missing in a collective: …; run 2: healthy, finished.
//
// The first run that failed leads. Findings of the others stay, and their messages name the run; of
// what all runs have in common nothing is said twice. Nothing is compared across runs. What belongs
// to no run is judged by itself; it may make the verdict worse, never better.

/// The diagnosis of the runs in `split`, of which there is one at least. `read` is what was taken
/// apart: of it only rules about the runs themselves are asked, and what reports of hosts show.
/// `further` are findings that no rule made.
Diagnosis judge_runs(const Rulebook& rulebook, const Job& read, SplitRuns split,
                     std::vector<Finding> further);

// What do reports of hosts say about findings, and what do they show that no log does?
//
//   memlock-limit, likely           + node105: any amount may be locked   → refuted, an info
//   shm-container-too-small         + c5ab17e0d2f4: /dev/shm has 64 MiB   → certain
//   nothing in the logs             + gpu-n42: ACS is on          → acs-breaks-gdr, possible
//
// A rule's clause `host` names the fact that is asked of each host of the finding. A report is no
// older than the job's logs may be: words always name it.

/// Asks the reports of the finding's hosts; of all hosts of the job, or all reports, where the
/// finding or the job names none.
void check_by_reports(const Rule& rule, const Job& job, Finding& finding);

/// What the reports show of a rule that fired on no log; nullopt: nothing, or the rule needs logs.
std::optional<Finding> finding_of_reports(const Rule& rule, const Job& job);

}  // namespace ncclog
