#include "rules/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "model/build/run_parts.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

std::vector<Firing> firings_of(const Rule& rule, JobView& view, RuleJudge& judge) {
  std::vector<Firing> firings;
  if (!judge.is_possible(rule.when)) return firings;
  for (const Instance& instance : view.instances(rule.per)) {
    std::vector<Hit> hits;
    if (judge.judge(rule.when, instance, hits) != Answer::Yes) continue;
    firings.push_back({&instance, std::move(hits)});
  }
  return firings;
}

/// True if only missing lines keep the rule from an answer: nothing that the log shows excludes it.
bool might_apply(const Rule& rule, JobView& view, const FindingsById& findings) {
  RuleJudge judge(view, findings, true);
  if (!judge.is_possible(rule.when)) return false;
  const std::vector<Instance>& instances = view.instances(rule.per);
  return std::any_of(instances.begin(), instances.end(), [&](const Instance& instance) {
    std::vector<Hit> hits;
    return judge.judge(rule.when, instance, hits) != Answer::No;
  });
}

OverlayEffect effect_of(const Overlay& overlay, Finding finding) {
  return {std::move(finding), overlay.severity, overlay.reason, to_string(overlay.until),
          overlay.where};
}

/// Takes the firings out whose finding the overlay means.
std::vector<Firing> take_meant(const Overlay& overlay, const Rule& rule, JobView& view,
                               std::vector<Firing>& firings) {
  const auto first = std::stable_partition(firings.begin(), firings.end(), [&](const Firing& one) {
    const Finding finding = build_finding(rule, view, {one});
    return !matches(overlay, finding.hosts, finding.ranks);
  });
  std::vector<Firing> meant(std::make_move_iterator(first), std::make_move_iterator(firings.end()));
  firings.erase(first, firings.end());
  return meant;
}

/// Takes out what overlays suppress.
void suppress(const Rulebook& rulebook, const Rule& rule, JobView& view,
              std::vector<Firing>& firings, Found& found) {
  for (const Overlay& overlay : rulebook.overlays) {
    if (overlay.rule != rule.id || overlay.severity || firings.empty()) continue;
    const std::vector<Firing> meant = take_meant(overlay, rule, view, firings);
    if (meant.empty()) continue;
    found.overlays.push_back(effect_of(overlay, build_finding(rule, view, meant)));
  }
}

void add_finding(const Rulebook& rulebook, const Rule& rule, JobView& view,
                 std::vector<Firing> firings, Found& found) {
  // Before overlays take something out, because other rules ask what was found, not what is
  // reported.
  Finding whole = build_finding(rule, view, firings);
  const size_t total = firings.size();
  suppress(rulebook, rule, view, firings, found);
  if (firings.empty()) found.suppressed.insert(rule.id);
  // Where nothing is left to tell, other rules still learn what was found.
  const bool some_left = !firings.empty() && firings.size() < total;
  found.findings.emplace(rule.id,
                         some_left ? build_finding(rule, view, firings) : std::move(whole));
}

/// Adds what the rules find that are, or are not, a last resort.
void find_with(const Rulebook& rulebook, bool last_resort, JobView& view, Found& found) {
  const FindingsById others = last_resort ? found.findings : FindingsById{};
  for (const Rule& rule : rulebook.rules) {
    // `others` is fixed before the first last resort is judged: they do not hold back each other.
    if (rule.last_resort != last_resort || stands_back(rule, others)) continue;
    const auto open = open_needs(rule, view);
    if (open.empty()) {
      RuleJudge judge(view, found.findings);
      std::vector<Firing> firings = firings_of(rule, view, judge);
      if (!firings.empty()) add_finding(rulebook, rule, view, std::move(firings), found);
    } else if (rule.severity != Severity::Info && might_apply(rule, view, found.findings)) {
      found.open_needs.insert(open.begin(), open.end());
    }
  }
}

/// Gives findings the severity that overlays want, once all rules are judged by their own.
void change_severities(const Rulebook& rulebook, Found& found) {
  std::set<std::string_view> changed;
  for (const Overlay& overlay : rulebook.overlays) {
    const auto entry = found.findings.find(overlay.rule);
    if (!overlay.severity || entry == found.findings.end() || changed.contains(overlay.rule) ||
        found.suppressed.contains(overlay.rule) ||
        !matches(overlay, entry->second.hosts, entry->second.ranks)) {
      continue;
    }
    changed.insert(overlay.rule);
    found.overlays.push_back(effect_of(overlay, entry->second));
    entry->second.severity = *overlay.severity;
  }
}

// What findings come to on a job that evidently finished.
//
//   740 WARN lines of proxies behind "run_stop … success"    → no findings; one info counts them
//   gdr-distance, advice of severity warning                 → info: the job was slower, not broken
//   socket-instead-of-ib, which halves the bandwidth         → still a warning
//
// Processes leave one after the other and take their sockets down, so NCCL warns of what its peers
// did. And whoever reads "suspicious" of a job that did its work looks for a fault that is not
// there.

/// Everything that shows the finding was printed by NCCL after the end of the work.
bool is_noise(const Job& job, const Finding& finding) {
  return !finding.evidence.empty() &&
         std::all_of(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& line) {
           const Level level = parse_event(line.text, all_wordings()).header.level;
           const bool is_nccl = level != Level::None && level != Level::Framework;
           return is_nccl && is_after_end(job, line);
         });
}

/// Advice that costs little, or a failed call that nobody explains and that the job outlived.
bool matters_little(const Rulebook& rulebook, const Finding& finding) {
  if (finding.severity == Severity::Info) return false;
  const Rule* rule = find_rule(rulebook, finding.id);
  if (rule == nullptr) return false;
  const bool is_advice = finding.role == Role::Advice && finding.severity == Severity::Warning;
  return rule->last_resort || (is_advice && !rule->halves_bandwidth);
}

/// Takes out findings that only NCCL's lines after the end of the work show. Makes an info of
/// advice, unless its rule says that it costs half of the bandwidth, and of what a last resort
/// quotes: the job outlived it. Does nothing to other jobs, and leaves severities alone where the
/// user says something else than that the job finished.
void weigh_by_end(const Rulebook& rulebook, const Job& job, Found& found) {
  const bool finished = outcome_of(job).job.state == EndState::Finished;
  if (finished) {
    std::erase_if(found.findings, [&](const auto& entry) {
      return entry.second.role != Role::Advice && is_noise(job, entry.second);
    });
  }
  // Who says that it was slow asks for just this advice.
  if (job.stated ? job.stated != StatedOutcome::Finished : !finished) return;
  for (auto& [id, finding] : found.findings) {
    if (matters_little(rulebook, finding)) finding.severity = Severity::Info;
  }
}

}  // namespace

std::vector<const Fact*> open_needs(const Rule& rule, JobView& view) {
  std::vector<const Fact*> open;
  std::copy_if(rule.needs.begin(), rule.needs.end(), std::back_inserter(open),
               [&](const Fact* need) { return !is_yes(view.fact(*need)); });
  return open;
}

NotJudged not_judged(const Fact& question, JobView& view) {
  return {std::string(question.meaning), view.fact(question).why,
          question.how_to_capture(view.job())};
}

bool stands_back(const Rule& rule, const FindingsById& findings) {
  return rule.last_resort && std::any_of(findings.begin(), findings.end(), [&](const auto& entry) {
           const Finding& other = entry.second;
           if (entry.first == rule.id || other.severity == Severity::Info) return false;
           const bool only_advice =
               other.severity == Severity::Warning && other.role == Role::Advice;
           return !(only_advice && rule.severity == Severity::Error);
         });
}

Found find_all(const Rulebook& rulebook, JobView& view) {
  Found found;
  find_with(rulebook, false, view, found);
  find_with(rulebook, true, view, found);
  weigh_by_end(rulebook, view.job(), found);
  change_severities(rulebook, found);
  return found;
}

namespace {

/// Adds what the log leaves open, where rules that might apply need it or everybody should know.
void add_open_questions(JobView& view, const Found& found, Diagnosis& diagnosis) {
  std::vector<const Fact*> open;
  for (const Fact& question : coverage_facts()) {
    const FactValue& answer = view.fact(question);
    if (is_yes(answer) || (!answer.known() && !found.open_needs.contains(&question))) continue;
    open.push_back(&question);
    diagnosis.not_judged.push_back(not_judged(question, view));
  }
  diagnosis.capture = capture_advice(view.job(), open);
}

std::vector<Finding> told_findings(Found& found) {
  std::vector<Finding> findings;
  for (auto& [id, finding] : found.findings) {
    if (!found.suppressed.contains(id)) findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<EndedOverlay> ended_overlays(const Rulebook& rulebook) {
  std::vector<EndedOverlay> ended;
  for (const Overlay& overlay : rulebook.ended) {
    ended.push_back({overlay.rule, overlay.reason, to_string(overlay.until), overlay.where});
  }
  return ended;
}

bool hides_a_fault(const OverlayEffect& effect) {
  return !effect.severity && effect.finding.severity != Severity::Info;
}

Verdict verdict_of(const Diagnosis& diagnosis, const Job& job) {
  Verdict verdict = make_verdict(diagnosis.findings, job);
  const bool hidden =
      std::any_of(diagnosis.overlays.begin(), diagnosis.overlays.end(), hides_a_fault);
  const bool silent =
      verdict.status == VerdictStatus::Clean || verdict.status == VerdictStatus::NothingFound;
  if (silent && hidden) {
    verdict.headline = "No problem found but what overlays suppress; see there.";
  }
  return verdict;
}

/// Judges a job as if it were one run.
Diagnosis evaluate_as_one(const Rulebook& rulebook, const Job& job,
                          std::vector<Finding> further = {}) {
  JobView view(job);
  Found found = find_all(rulebook, view);
  Diagnosis diagnosis;
  std::vector<Finding> findings = told_findings(found);
  std::move(further.begin(), further.end(), std::back_inserter(findings));
  diagnosis.findings = order_by_cause(std::move(findings));
  diagnosis.overlays = std::move(found.overlays);
  diagnosis.ended_overlays = ended_overlays(rulebook);
  diagnosis.verdict = verdict_of(diagnosis, job);
  add_open_questions(view, found, diagnosis);
  return diagnosis;
}

// Several runs.
//
//   PROBLEM   Run 1: Rank 3 is missing in a collective: …; run 2: healthy, finished.

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

/// Judges each run for itself, where the logs hold several, and joins what is found. The first run
/// that failed leads. Findings of the others stay, and their messages name the run; of what all
/// runs have in common nothing is said twice. Nothing is compared across runs.
/// `whole` is what evaluate_as_one says: of it stays what is about the runs themselves.
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
  // Both may make the verdict worse, never better.
  add_of_whole(rulebook, std::move(whole.findings), findings, diagnosis.verdict);
  add_of_nobody(rulebook, job, parts, findings, diagnosis.verdict);
  diagnosis.findings = order_by_cause(std::move(findings));
  diagnosis.leading_run = static_cast<size_t>(&lead - all.data());
  for (Judged& one : all) diagnosis.runs.push_back(std::move(one.run));
  return diagnosis;
}

}  // namespace

Diagnosis evaluate(const Rulebook& rulebook, const Job& job, std::vector<Finding> further) {
  const RunParts parts = run_parts(job);
  Diagnosis whole = evaluate_as_one(rulebook, job, std::move(further));
  return parts.runs.empty() ? whole : judge_runs(rulebook, job, parts, std::move(whole));
}

}  // namespace ncclog
