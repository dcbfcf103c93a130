#include "rules/evaluate.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/outcome/outcome.h"
#include "log/known_messages.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// The instances for which the rule holds. With `absence_is_unknown` also those for which only
/// missing lines keep it from an answer: nothing that the log shows excludes it.
std::vector<Firing> firings_of(const Rule& rule, JobView& view, const FindingsById& findings,
                               bool absence_is_unknown) {
  RuleJudge judge(view, findings, absence_is_unknown);
  std::vector<Firing> firings;
  if (!judge.is_possible(rule.when)) return firings;
  for (const Instance& instance : view.instances(rule.per)) {
    std::vector<Hit> hits;
    const Answer answer = judge.judge(rule.when, instance, hits);
    if (answer == Answer::No || (answer == Answer::Unknown && !absence_is_unknown)) continue;
    firings.push_back({&instance, std::move(hits)});
    if (absence_is_unknown) break;  // One is enough to ask for more lines.
  }
  return firings;
}

OverlayEffect effect_of(const Overlay& overlay, Finding finding) {
  return {std::move(finding), overlay.severity, overlay.reason, overlay.until, overlay.where};
}

/// Takes out what overlays suppress.
void suppress(const Rulebook& rulebook, const Rule& rule, JobView& view,
              std::vector<Firing>& firings, Found& found) {
  for (const Overlay& overlay : rulebook.overlays) {
    if (overlay.rule != rule.id || overlay.severity) continue;
    std::vector<Firing> meant;
    std::erase_if(firings, [&](Firing& one) {
      const bool is_taken = is_meant(overlay, build_finding(rule, view, {one}));
      if (is_taken) meant.push_back(one);
      return is_taken;
    });
    if (meant.empty()) continue;
    found.overlays.push_back(effect_of(overlay, build_finding(rule, view, meant)));
  }
}

void add_finding(const Rulebook& rulebook, const Rule& rule, JobView& view,
                 std::vector<Firing> firings, Found& found) {
  // Before overlays take something out, because other rules ask what was found, not what is
  // reported.
  const auto build = [&] {
    Finding finding = build_finding(rule, view, firings);
    check_by_reports(rule, view.job(), finding);
    return finding;
  };
  Finding whole = build();
  const size_t total = firings.size();
  suppress(rulebook, rule, view, firings, found);
  if (firings.empty()) found.suppressed.insert(rule.id);
  // Where nothing is left to tell, other rules still learn what was found.
  const bool some_left = !firings.empty() && firings.size() < total;
  found.findings.emplace(rule.id, some_left ? build() : std::move(whole));
}

/// Whether a last resort is not judged beside these findings: where another one is an error or a
/// warning. Advice of severity warning on a setting, and a warning that is no more than possible, do
/// not silence a last resort of severity error, because they tell no failure. False for rules that
/// are none.
bool stands_back(const Rule& rule, const FindingsById& findings) {
  return rule.last_resort && std::ranges::any_of(findings, [&](const auto& entry) {
           const Finding& other = entry.second;
           const bool is_info =
               other.severity == Severity::Info || other.host_check.is_against_finding;
           if (entry.first == rule.id || is_info) return false;
           const bool tells_no_failure =
               other.severity == Severity::Warning &&
               (other.role == Role::Advice || other.confidence == Confidence::Possible);
           return !(tells_no_failure && rule.severity == Severity::Error);
         });
}

/// Adds what those of the rules find that are, or are not, a last resort.
void find_with(const Rulebook& rulebook, RulesAbout about, bool last_resort, JobView& view,
               Found& found) {
  const FindingsById others = last_resort ? found.findings : FindingsById{};
  for (const Rule& rule : rulebook.rules) {
    const bool is_left_out =
        about != RulesAbout::Everything && rule.of_all_runs != (about == RulesAbout::TheRuns);
    if (is_left_out) continue;
    // `others` is fixed before the first last resort is judged: they do not hold back each other.
    if (rule.last_resort != last_resort || stands_back(rule, others)) continue;
    const auto open = open_needs(rule, view);
    if (!open.empty() && rule.severity == Severity::Info) continue;
    std::vector<Firing> firings = firings_of(rule, view, found.findings, !open.empty());
    if (firings.empty()) continue;
    found.open_needs.insert(open.begin(), open.end());
    if (open.empty()) add_finding(rulebook, rule, view, std::move(firings), found);
  }
}

/// Gives a finding the severity that it has in the end, and notes what the overlay that means it does
/// to it; nullptr: there is none.
void settle(const Rule& rule, const Job& job, const Overlay* overlay, Finding& finding,
            Found& found) {
  finding.severity = final_severity(finding, rule, job);
  if (overlay == nullptr) return;
  found.overlays.push_back(effect_of(*overlay, finding));
  finding.severity = final_severity(finding, rule, job, overlay);
}

/// Settles all findings, once all rules are judged. Overlays that suppress have been applied.
void settle_all(const Rulebook& rulebook, const Job& job, Found& found) {
  std::set<std::string_view> changed;
  for (const Overlay& overlay : rulebook.overlays) {
    const auto entry = found.findings.find(overlay.rule);
    if (!overlay.severity || entry == found.findings.end() || changed.contains(overlay.rule) ||
        found.suppressed.contains(overlay.rule) || !is_meant(overlay, entry->second)) {
      continue;
    }
    changed.insert(overlay.rule);
    settle(*find_rule(rulebook, overlay.rule), job, &overlay, entry->second, found);
  }
  for (auto& [id, finding] : found.findings) {
    if (!changed.contains(id)) settle(*find_rule(rulebook, id), job, nullptr, finding, found);
  }
}

/// Everything that shows the finding was printed after the end of the work by NCCL, or after the job
/// was ended by NCCL and the programs around it. Where lines of the kernel stand says nothing:
/// people paste them below.
bool is_noise(const Job& job, const Finding& finding, EndState end) {
  return !finding.evidence.empty() &&
         std::ranges::all_of(finding.evidence, [&](const Evidence& line) {
           const Event event = parse_event(line.text, all_wordings());
           const Kind* kind = event.message.kind;
           const bool is_program = kind == nullptr || kind->library != Library::Pasted;
           return (is_nccl(event.header) || (end == EndState::Stopped && is_program)) &&
                  is_after_end(job, line);
         });
}

/// Takes out what only lines after the end of a job show: processes leave one after the other and
/// take their sockets down, so NCCL warns of what its peers did.
///
///   740 WARN lines of proxies behind "run_stop … success"    → no findings; one info counts them
///   a closed connection behind "CANCELLED … TIME LIMIT"      → the same
void drop_noise(const Job& job, Found& found) {
  const EndState end = outcome_of(job).job.state;
  if (end != EndState::Finished && end != EndState::Stopped) return;
  std::erase_if(found.findings, [&](const auto& entry) {
    return entry.second.role != Role::Advice && is_noise(job, entry.second, end);
  });
}

/// A cause is told that is more than possible: NCCL's own lines would tell no other one.
bool is_cause_told(const Found& found) {
  return std::ranges::any_of(found.findings, [](const auto& entry) {
    const Finding& finding = entry.second;
    return finding.severity == Severity::Error && finding.role == Role::Cause &&
           finding.confidence != Confidence::Possible;
  });
}

/// Adds what the log leaves open, where rules that might apply need it or everybody should know. Where
/// a cause is told without a line of NCCL, nobody need ask what NCCL says.
void add_open_questions(JobView& view, const Found& found, Diagnosis& diagnosis) {
  const Fact& heard = *std::ranges::find(coverage_facts(), "nccl", &Fact::name);
  const bool asks_nccl = is_yes(view.fact(heard)) || !is_cause_told(found);
  std::vector<const Fact*> open;
  for (const Fact& question : coverage_facts()) {
    if (!asks_nccl && nccl_answers(question)) continue;
    const FactValue& answer = view.fact(question);
    if (is_yes(answer) || (!answer.known() && !found.open_needs.contains(&question))) continue;
    open.push_back(&question);
    diagnosis.not_judged.push_back(not_judged(question, view));
  }
  diagnosis.capture = capture_advice(view.job(), open);
}

}  // namespace

std::vector<const Fact*> open_needs(const Rule& rule, JobView& view) {
  std::vector<const Fact*> open;
  std::ranges::copy_if(rule.needs, std::back_inserter(open),
                       [&](const Fact* need) { return !is_yes(view.fact(*need)); });
  return open;
}

NotJudged not_judged(const Fact& question, JobView& view) {
  return {std::string(question.meaning), view.fact(question).why,
          question.how_to_capture(view.job())};
}

Found find_all(const Rulebook& rulebook, JobView& view, RulesAbout about) {
  Found found;
  find_with(rulebook, about, false, view, found);
  find_with(rulebook, about, true, view, found);
  drop_noise(view.job(), found);
  settle_all(rulebook, view.job(), found);
  return found;
}

void add_shown_by_reports(const Rulebook& rulebook, const Job& job, Found& found) {
  for (const Rule& rule : rulebook.rules) {
    if (found.findings.contains(rule.id)) continue;
    std::optional<Finding> shown = finding_of_reports(rule, job);
    if (!shown) continue;
    const auto meant = std::ranges::find_if(
        rulebook.overlays, [&](const Overlay& overlay) { return is_meant(overlay, *shown); });
    const Overlay* overlay = meant != rulebook.overlays.end() ? &*meant : nullptr;
    settle(rule, job, overlay, *shown, found);
    const bool is_suppressed = overlay != nullptr && !overlay->severity;
    if (!is_suppressed) found.findings.emplace(rule.id, std::move(*shown));
  }
}

std::vector<Finding> take_reported(Found& found) {
  std::vector<Finding> findings;
  for (auto& [id, finding] : found.findings) {
    if (!found.suppressed.contains(id)) findings.push_back(std::move(finding));
  }
  return findings;
}

Diagnosis diagnose(const Rulebook& rulebook, JobView& view, Found found,
                   std::vector<Finding> further) {
  std::ranges::move(take_reported(found), std::back_inserter(further));
  Diagnosis diagnosis;
  diagnosis.findings = order_by_cause(std::move(further));
  diagnosis.overlays = std::move(found.overlays);
  diagnosis.ended_overlays = rulebook.ended;
  diagnosis.verdict = make_verdict(diagnosis.findings, view.job());
  mention_suppressed(diagnosis.overlays, diagnosis.verdict);
  add_open_questions(view, found, diagnosis);
  return diagnosis;
}

Diagnosis evaluate(const Rulebook& rulebook, const Job& job, std::vector<Finding> further) {
  SplitRuns split = split_runs(job);
  if (!split.runs.empty()) return judge_runs(rulebook, job, std::move(split), std::move(further));
  JobView view(job);
  Found found = find_all(rulebook, view);
  add_shown_by_reports(rulebook, job, found);
  return diagnose(rulebook, view, std::move(found), std::move(further));
}

}  // namespace ncclog
