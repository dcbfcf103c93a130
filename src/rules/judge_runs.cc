#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "rules/evaluate.h"
#include "rules/headline.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// The diagnosis of one run, which alone is in its `runs`. Frees the run's job: jobs of thousands of
/// ranks are large.
Diagnosis judge_run(const Rulebook& rulebook, const Job& read, SplitRuns& split, size_t number) {
  const Run& part = split.parts.runs[number];
  const Job job = std::move(split.runs[number]);
  JobView view(job);
  Diagnosis judged = diagnose(rulebook, view, find_all(rulebook, view, RulesAbout::OneRun));
  JudgedRun& run = judged.runs.emplace_back();
  run.name = part.name;
  run.verdict = judged.verdict;
  run.end = outcome_of(job).job;
  run.place = place_of_run(read, split.parts, static_cast<int>(number));
  for (const int p : part.processes) run.pids.push_back(nth_process(read, p).pid);
  std::ranges::sort(run.pids);
  for (const Finding& finding : judged.findings) run.findings.push_back(finding.id);
  return judged;
}

/// In the order of VerdictStatus.
int badness(VerdictStatus status) {
  constexpr int kBadness[] = {3, 2, 0, 1, 1};
  return kBadness[static_cast<size_t>(status)];
}

/// The first of the worst: what came later may follow from it. Of runs that somebody started one
/// after the other the last with a problem, which is what still has to be mended, else the last
/// that can be judged.
const Diagnosis& leading(const std::vector<Diagnosis>& all, bool are_appended) {
  const auto how_bad = [](const Diagnosis& one) { return badness(one.verdict.status); };
  if (!are_appended) return *std::ranges::max_element(all, {}, how_bad);
  const Diagnosis& last = *std::ranges::max_element(all.rbegin(), all.rend(), {}, how_bad);
  if (how_bad(last) > 1) return last;
  const auto is_judged = [](const Diagnosis& one) {
    return one.verdict.status != VerdictStatus::CannotJudge;
  };
  const auto judged = std::find_if(all.rbegin(), all.rend(), is_judged);
  return judged == all.rend() ? all.back() : *judged;
}

/// The finding, said of `whom`: "Run 2: ".
void put_before(std::string_view whom, Finding& finding) {
  finding.headline = fitted_headline(std::string(whom) + headline_of(finding));
  finding.message.insert(0, whom);
  if (finding.told_by_headline > 0) finding.told_by_headline += whom.size();
}

/// Adds a finding of a run; those of the run that leads come first.
void add(const Finding& finding, const std::string& run, std::vector<Finding>& all) {
  const auto known = std::ranges::find(all, finding.id, &Finding::id);
  if (known != all.end()) {
    // One finding an id, and whom it names is of the run that leads.
    if (finding.severity != Severity::Info) {
      known->message += fmt::format(" {}: {}", capitalised(run), headline_of(finding));
    }
    return;
  }
  all.push_back(finding);
  if (finding.severity == Severity::Info) return;
  put_before(capitalised(run) + ": ", all.back());
}

/// "run 2: healthy, finished"
std::string short_words(const JudgedRun& run) {
  constexpr std::string_view kStatus[] = {"a problem, {}", "suspicious, {}", "healthy, finished",
                                          "no problem seen, {}", "cannot be judged"};
  const bool unseen =
      run.verdict.status == VerdictStatus::NothingFound && run.end.state == EndState::Unknown;
  const std::string_view end = unseen ? "end unknown" : to_string(run.end.state);
  const std::string_view words = kStatus[static_cast<size_t>(run.verdict.status)];
  return fmt::format("{}: {}", run.name, fmt::format(fmt::runtime(words), end));
}

Verdict joined_verdict(const std::vector<Diagnosis>& all, const Diagnosis& lead, const Job& read,
                       const RunParts& parts) {
  Verdict verdict = lead.verdict;
  std::vector<std::string> words;
  int worst = 0;
  for (const Diagnosis& one : all) {
    words.push_back(short_words(one.runs.front()));
    worst = std::max(worst, badness(one.verdict.status));
  }
  if (worst > 1 || (worst > 0 && parts.are_appended)) {
    const JudgedRun& last = all.back().runs.front();
    const std::string_view end =
        &lead == &all.back()                          ? ""
        : last.verdict.status == VerdictStatus::Clean ? " (the last one finished well)"
        : last.end.state == EndState::Stopped         ? " (the last one was stopped)"
                                                      : "";
    verdict.headline =
        fitted_headline(fmt::format("{} of {}{}: {}", capitalised(lead.runs.front().name),
                                    all.size() + parts.earlier, end, verdict.headline));
  } else if (worst == 0) {
    verdict.headline = fmt::format(
        "All {} runs finished, and nothing is wrong in what their logs show.", all.size());
  } else {
    // Some run is not seen to its end, whatever became of the others.
    verdict.status = VerdictStatus::NothingFound;
    verdict.headline =
        fitted_headline(fmt::format("No problem in these {} lines of {} runs; {}.",
                                    read.losses.lines, all.size(), join(words, "; ")));
  }
  return verdict;
}

/// A verdict cannot be better than a finding that is of no run.
void weigh(const Finding& finding, Verdict& verdict) {
  if (finding.severity == Severity::Info) return;
  const VerdictStatus status =
      finding.severity == Severity::Error ? VerdictStatus::Problem : VerdictStatus::Suspicious;
  if (badness(verdict.status) >= badness(status)) return;
  verdict = {status, headline_of(finding), finding.id};
}

/// What overlays did to the findings, each entry once.
void add_overlays(const std::vector<OverlayEffect>& effects, std::vector<OverlayEffect>& all) {
  for (const OverlayEffect& effect : effects) {
    const auto known = std::ranges::find(all, effect.where, &OverlayEffect::where);
    if (known == all.end()) all.push_back(effect);
  }
}

/// What is said of all runs together: by rules that are about them, by reports of hosts, by
/// `further`.
std::vector<Finding> said_of_all(const Rulebook& rulebook, const Job& read,
                                 std::vector<Finding> further,
                                 std::vector<OverlayEffect>& overlays) {
  JobView view(read);
  Found found = find_all(rulebook, view, RulesAbout::TheRuns);
  add_shown_by_reports(rulebook, read, found);
  add_overlays(found.overlays, overlays);
  std::ranges::move(take_reported(found), std::back_inserter(further));
  return further;
}

/// What lines say of which the run is not known. It is ordered by itself, so that it explains
/// nothing of a run.
std::vector<Finding> said_of_nobody(const Rulebook& rulebook, const Job& rest,
                                    std::vector<OverlayEffect>& overlays) {
  if (rest.logs.empty()) return {};
  JobView view(rest);
  Found found = find_all(rulebook, view, RulesAbout::OneRun);
  add_overlays(found.overlays, overlays);
  std::vector<Finding> findings = order_by_cause(take_reported(found));
  std::erase_if(findings,
                [](const Finding& finding) { return finding.severity == Severity::Info; });
  for (Finding& finding : findings) put_before("In one of the runs: ", finding);
  return findings;
}

}  // namespace

Diagnosis judge_runs(const Rulebook& rulebook, const Job& read, SplitRuns split,
                     std::vector<Finding> further) {
  std::vector<Diagnosis> all;
  for (size_t r = 0; r < split.runs.size(); ++r) all.push_back(judge_run(rulebook, read, split, r));
  const Diagnosis& lead = leading(all, split.parts.are_appended);
  Diagnosis diagnosis;
  diagnosis.not_judged = lead.not_judged;
  diagnosis.capture = lead.capture;
  diagnosis.ended_overlays = rulebook.ended;
  std::vector<Finding> findings;
  const auto add_findings = [&](const Diagnosis& one) {
    for (const Finding& finding : one.findings) add(finding, one.runs.front().name, findings);
  };
  add_findings(lead);
  for (const Diagnosis& one : all) {
    add_overlays(one.overlays, diagnosis.overlays);
    if (&one != &lead) add_findings(one);
  }
  std::set<std::string> of_no_run;
  const auto add_of_no_run = [&](std::vector<Finding> more) {
    for (Finding& finding : more) {
      if (std::ranges::find(findings, finding.id, &Finding::id) != findings.end()) continue;
      of_no_run.insert(finding.id);
      findings.push_back(std::move(finding));
    }
  };
  add_of_no_run(said_of_all(rulebook, read, std::move(further), diagnosis.overlays));
  add_of_no_run(said_of_nobody(rulebook, split.rest, diagnosis.overlays));
  diagnosis.findings = order_by_cause(std::move(findings));
  diagnosis.verdict = within_hosts(joined_verdict(all, lead, read, split.parts), read);
  for (const Finding& finding : diagnosis.findings) {
    if (of_no_run.contains(finding.id)) weigh(finding, diagnosis.verdict);
  }
  mention_suppressed(diagnosis.overlays, diagnosis.verdict);
  diagnosis.leading_run = static_cast<size_t>(&lead - all.data());
  for (Diagnosis& one : all) diagnosis.runs.push_back(std::move(one.runs.front()));
  return diagnosis;
}

}  // namespace ncclog
