#include "rules/judge_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "rules/causal_order.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// One run with all that is said of it.
struct Judged {
  JudgedRun run;
  Diagnosis diagnosis;
};

Judged judge_run(const Rulebook& rulebook, const Job& job, const RunParts& parts, int number) {
  const RunPart& part = parts.runs[static_cast<size_t>(number)];
  Job own = job_of_run(job, parts, number);
  // What the user saw is how the logs end.
  if (part.is_last) own.stated = job.stated;
  Judged judged{.diagnosis = evaluate_as_one(rulebook, own)};
  JudgedRun& run = judged.run;
  run.name = part.name;
  run.verdict = judged.diagnosis.verdict;
  run.end = outcome_of(own).job;
  run.place = place_of_run(job, parts, number);
  for (const int p : part.processes) {
    run.pids.push_back(job.processes[static_cast<size_t>(p)].pid);
  }
  std::sort(run.pids.begin(), run.pids.end());
  for (const Finding& finding : judged.diagnosis.findings) run.findings.push_back(finding.id);
  return judged;
}

int badness(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return 3;
    case VerdictStatus::Suspicious:
      return 2;
    case VerdictStatus::NothingFound:
    case VerdictStatus::CannotJudge:
      return 1;
    case VerdictStatus::Clean:
      break;
  }
  return 0;
}

/// The first of the worst: what came later may follow from it.
const Judged& leading(const std::vector<Judged>& all) {
  const Judged* worst = &all.front();
  for (const Judged& one : all) {
    if (badness(one.run.verdict.status) > badness(worst->run.verdict.status)) worst = &one;
  }
  return *worst;
}

std::string with_capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  return text;
}

Finding* find(std::vector<Finding>& findings, std::string_view id) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

/// Adds a finding of a run; those of the run that leads come first.
void add(const Finding& finding, const std::string& run, std::vector<Finding>& all) {
  if (Finding* known = find(all, finding.id)) {
    // One finding an id, and whom it names is of the run that leads.
    if (finding.severity != Severity::Info) {
      known->message += fmt::format(" {}: {}", with_capital(run), first_sentence(finding.message));
    }
    return;
  }
  all.push_back(finding);
  if (finding.severity == Severity::Info) return;
  all.back().message = fmt::format("{}: {}", with_capital(run), finding.message);
}

/// "run 2: healthy, finished".
std::string short_words(const JudgedRun& run) {
  const std::string_view end = to_string(run.end.state);
  switch (run.verdict.status) {
    case VerdictStatus::Clean:
      return fmt::format("{}: healthy, finished", run.name);
    case VerdictStatus::Problem:
      return fmt::format("{}: a problem, {}", run.name, end);
    case VerdictStatus::Suspicious:
      return fmt::format("{}: suspicious, {}", run.name, end);
    case VerdictStatus::NothingFound:
      return fmt::format("{}: no problem seen, {}", run.name,
                         run.end.state == EndState::Unknown ? "end unknown" : end);
    case VerdictStatus::CannotJudge:
      break;
  }
  return fmt::format("{}: cannot be judged", run.name);
}

std::string without_stop(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

Verdict joined_verdict(const std::vector<Judged>& all, const Job& job) {
  const Judged& lead = leading(all);
  Verdict verdict = lead.run.verdict;
  std::vector<std::string> words;
  const bool leads = badness(verdict.status) > 1;
  for (const Judged& one : all) {
    if (!leads || &one != &lead) words.push_back(short_words(one.run));
  }
  if (leads) {
    verdict.headline = fmt::format("{}: {}; {}.", with_capital(lead.run.name),
                                   without_stop(verdict.headline), join(words, "; "));
  } else if (badness(verdict.status) == 0) {
    verdict.headline = fmt::format(
        "All {} runs finished, and nothing is wrong in what their logs show.", all.size());
  } else {
    // Some run is not seen to its end, whatever became of the others.
    verdict.status = VerdictStatus::NothingFound;
    verdict.headline = fmt::format("No problem in these {} lines of {} runs; {}.", job.losses.lines,
                                   all.size(), join(words, "; "));
  }
  return verdict;
}

/// A verdict cannot be better than a finding that is of no run.
void weigh(const Finding& finding, Verdict& verdict) {
  if (finding.severity == Severity::Info) return;
  const VerdictStatus status =
      finding.severity == Severity::Error ? VerdictStatus::Problem : VerdictStatus::Suspicious;
  if (badness(verdict.status) >= badness(status)) return;
  verdict = {status, first_sentence(finding.message), finding.id};
}

/// Adds what rules say of all runs together, or was made by no rule, as a profile's finding.
void add_of_whole(const Rulebook& rulebook, std::vector<Finding> whole,
                  std::vector<Finding>& findings, Verdict& verdict) {
  for (Finding& finding : whole) {
    const Rule* rule = find_rule(rulebook, finding.id);
    if (rule != nullptr && !rule->of_all_runs) continue;
    weigh(finding, verdict);
    findings.push_back(std::move(finding));
  }
}

/// Adds what lines say of which the run is not known, beside what the runs themselves show.
void add_of_nobody(const Rulebook& rulebook, const Job& job, const RunParts& parts,
                   std::vector<Finding>& findings, Verdict& verdict) {
  const Job rest = job_of_run(job, parts, -1);
  if (rest.logs.empty()) return;
  for (Finding& finding : evaluate_as_one(rulebook, rest).findings) {
    if (finding.severity == Severity::Info || find(findings, finding.id) != nullptr) continue;
    finding.message = "In one of the runs: " + finding.message;
    weigh(finding, verdict);
    findings.push_back(std::move(finding));
  }
}

void add_overlays(const std::vector<Judged>& all, Diagnosis& diagnosis) {
  for (const Judged& one : all) {
    for (const OverlayEffect& effect : one.diagnosis.overlays) {
      const bool known =
          std::any_of(diagnosis.overlays.begin(), diagnosis.overlays.end(),
                      [&](const OverlayEffect& other) { return other.where == effect.where; });
      if (!known) diagnosis.overlays.push_back(effect);
    }
  }
}

}  // namespace

Diagnosis judge_runs(const Rulebook& rulebook, const Job& job, const RunParts& parts,
                     Diagnosis whole) {
  std::vector<Judged> all;
  for (size_t r = 0; r < parts.runs.size(); ++r) {
    all.push_back(judge_run(rulebook, job, parts, static_cast<int>(r)));
  }
  const Judged& lead = leading(all);
  Diagnosis diagnosis;
  diagnosis.not_judged = lead.diagnosis.not_judged;
  diagnosis.capture = lead.diagnosis.capture;
  diagnosis.ended_overlays = std::move(whole.ended_overlays);
  add_overlays(all, diagnosis);
  std::vector<Finding> findings;
  for (const Finding& finding : lead.diagnosis.findings) add(finding, lead.run.name, findings);
  for (const Judged& one : all) {
    if (&one == &lead) continue;
    for (const Finding& finding : one.diagnosis.findings) add(finding, one.run.name, findings);
  }
  diagnosis.verdict = joined_verdict(all, job);
  add_of_whole(rulebook, std::move(whole.findings), findings, diagnosis.verdict);
  add_of_nobody(rulebook, job, parts, findings, diagnosis.verdict);
  diagnosis.findings = order_by_cause(std::move(findings));
  diagnosis.leading_run = static_cast<size_t>(&lead - all.data());
  for (Judged& one : all) diagnosis.runs.push_back(std::move(one.run));
  return diagnosis;
}

}  // namespace ncclog
