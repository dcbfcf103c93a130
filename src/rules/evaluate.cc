#include "rules/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "log/known_messages.h"
#include "model/build/split_runs.h"
#include "rules/host_checks.h"
#include "rules/judge_runs.h"

namespace ncclog {

// The verdict, and the order of findings.

namespace {

bool explains(const Finding& cause, const Finding& effect) {
  return std::ranges::find(cause.explains, effect.id) != cause.explains.end();
}

}  // namespace

std::vector<const Finding*> consequences_of(const std::vector<Finding>& findings,
                                            const Finding& cause) {
  std::set<std::string_view> known = {cause.id};
  std::vector<const Finding*> open = {&cause};
  std::vector<const Finding*> result;
  while (!open.empty()) {
    const Finding& from = *open.back();
    open.pop_back();
    for (const Finding& next : findings) {
      if (!explains(from, next) || !known.insert(next.id).second) continue;
      open.push_back(&next);
      result.push_back(&next);
    }
  }
  return result;
}

std::string without_stop(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

namespace {

std::string headline_of(const std::vector<Finding>& findings, const Finding& first) {
  const std::vector<const Finding*> others = consequences_of(findings, first);
  if (others.empty()) return first_sentence(first.message);
  const std::string sentence = without_stop(first_sentence(first.message));
  uint64_t shown = 0;
  for (const Finding* other : others) shown += other->evidence.size() + other->evidence_omitted;
  const std::string lines = shown > others.size() ? fmt::format(" ({} lines)", shown) : "";
  return others.size() == 1 ? fmt::format("{}; another finding{} follows from it.", sentence, lines)
                            : fmt::format("{}; {} other findings{} follow from it.", sentence,
                                          others.size(), lines);
}

std::string why_unusable(const LossTable& losses, bool has_dumps) {
  if (losses.lines == 0 && has_dumps) {
    return "There are only dumps of the Flight Recorder, and nothing in them shows that the job "
           "stopped: what the program printed says that.";
  }
  if (losses.lines == 0) return "There is no line to judge.";
  if (losses.count(Loss::LineInDoubt) + losses.count(Loss::LineTorn) > 0) {
    return "Processes tore each other's lines, so that none of them is sure: nothing to judge.";
  }
  return "No line of NCCL was found: nothing to judge.";
}

std::string lines_words(const Job& job) {
  return job.losses.lines == 1 ? "this line" : fmt::format("these {} lines", job.losses.lines);
}

Verdict without_fault(const std::vector<Finding>& findings, const Job& job) {
  const EndOf& end = outcome_of(job).job;
  const bool says_otherwise = job.stated && *job.stated != StatedOutcome::Finished;
  // Whoever reports the failure need not be NCCL: it is told all the same.
  if (end.state == EndState::Failed && !says_otherwise) {
    return {VerdictStatus::Suspicious,
            fmt::format("The job failed, and these logs do not say why: {}.", end.what),
            {}};
  }
  const bool only_dumps = job.losses.lines == 0 && !job.flight_recorders.empty();
  if (job.losses.lines == 0 && !job.host_reports.empty() && !only_dumps) {
    return {
        VerdictStatus::NothingFound,
        fmt::format("Nothing that the rules name was found on {}, as far as it could be read.",
                    job.host_reports.size() == 1 ? job.host_reports.front().host : "these hosts"),
        {}};
  }
  // A line that tells how NCCL or the framework fares; a progress bar does not.
  const auto is_usable = [](const SpeakerLog& log) {
    const auto is_nccl = [](const auto& entry) {
      return all_kinds()[entry.first].source == Source::Nccl;
    };
    return !log.comms.all.empty() || !log.connections.all.empty() ||
           std::any_of(log.records.begin(), log.records.end(), is_nccl);
  };
  if (only_dumps || (findings.empty() && std::ranges::none_of(job.logs, is_usable)))
    return {VerdictStatus::CannotJudge, why_unusable(job.losses, only_dumps), {}};
  if (says_otherwise) {
    constexpr std::string_view kSeen[] = {"hung", "crashed", "was slow"};
    return {
        VerdictStatus::NothingFound,
        fmt::format("You say that the job {}, and nothing in {} shows why: {}.",
                    kSeen[static_cast<size_t>(*job.stated)], lines_words(job), extent_words(job)),
        {}};
  }
  if (end.state == EndState::Finished) {
    return {
        VerdictStatus::Clean, "The job finished, and nothing is wrong in what its logs show.", {}};
  }
  return {VerdictStatus::NothingFound,
          fmt::format("No problem in {}: {}.", lines_words(job), extent_words(job)),
          {}};
}

}  // namespace

/// A quotation is open at that place, and closed after it.
static bool is_quoted(std::string_view message, size_t at) {
  return std::count(message.begin(), message.begin() + static_cast<ptrdiff_t>(at), '"') % 2 == 1 &&
         message.find('"', at) != message.npos;
}

std::string first_sentence(std::string_view message) {
  for (size_t dot = message.find(". "); dot != message.npos; dot = message.find(". ", dot + 1)) {
    const size_t next = dot + 2;
    const bool begins = next < message.size() && message[next] >= 'A' && message[next] <= 'Z';
    if (begins && !is_quoted(message, dot)) {
      return std::string(message.substr(0, dot + 1));
    }
  }
  return std::string(message);
}

Verdict make_verdict(const std::vector<Finding>& findings, const Job& job) {
  Severity worst = Severity::Info;
  for (const Finding& finding : findings) worst = std::min(worst, finding.severity);
  if (worst == Severity::Info) return without_fault(findings, job);
  const Finding& first = findings.front();
  std::string headline = headline_of(findings, first);
  if (outcome_of(job).job.state == EndState::Finished) {
    headline = without_stop(std::move(headline)) + "; the job finished.";
  }
  return {worst == Severity::Error ? VerdictStatus::Problem : VerdictStatus::Suspicious,
          std::move(headline), first.id};
}

// Findings by cause.

namespace {

void explain_same_ranks(std::vector<Finding>& findings) {
  for (Finding& cause : findings) {
    for (const Finding& effect : findings) {
      const auto& wanted = cause.explains_same_ranks;
      const bool meant = std::ranges::find(wanted, effect.id) != wanted.end();
      // It names ranks, and all of them are among those of the cause.
      if (meant && !effect.ranks.empty() && std::ranges::includes(cause.ranks, effect.ranks)) {
        cause.explains.push_back(effect.id);
      }
    }
    cause.explains_same_ranks.clear();
  }
}

}  // namespace

std::vector<Finding> order_by_cause(std::vector<Finding> findings) {
  explain_same_ranks(findings);
  for (Finding& finding : findings) {
    std::erase_if(finding.explains, [&](const std::string& id) {
      return id == finding.id || std::ranges::find(findings, id, &Finding::id) == findings.end();
    });
  }
  // The worst severity of a finding and all that follows from it.
  std::map<std::string, Severity> weights;
  for (const Finding& finding : findings) {
    Severity& worst = weights.emplace(finding.id, finding.severity).first->second;
    for (const Finding* effect : consequences_of(findings, finding)) {
      worst = std::min(worst, effect->severity);
    }
  }
  const auto key = [&](const Finding& finding) {
    const bool is_explained = std::ranges::any_of(
        findings, [&](const Finding& other) { return explains(other, finding); });
    // Causes, then advice, then symptoms.
    return std::make_tuple(is_explained, weights.at(finding.id), finding.severity,
                           finding.role != Role::Cause, finding.role != Role::Advice,
                           finding.confidence, std::string_view(finding.id));
  };
  std::vector<Finding> result;
  // Findings that explain each other in a circle are placed as if nothing explained them.
  while (!findings.empty()) {
    const auto next = std::ranges::min_element(findings, {}, key);
    result.push_back(std::move(*next));
    findings.erase(next);
  }
  return result;
}

// What each rule finds.

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

/// True if the overlay means everybody whom a finding names. With conditions on hosts or ranks it
/// means no finding that names nobody.
bool matches(const Overlay& overlay, const Finding& finding) {
  const auto means_all = [](const auto& names, const std::vector<ValueTest>& tests) {
    const auto is_meant = [&](const auto& name) { return passes(FactValue{name}, tests); };
    return tests.empty() || (!names.empty() && std::ranges::all_of(names, is_meant));
  };
  return means_all(finding.hosts, overlay.host) && means_all(finding.ranks, overlay.rank);
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
      const bool is_meant = matches(overlay, build_finding(rule, view, {one}));
      if (is_meant) meant.push_back(one);
      return is_meant;
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

/// Gives findings the severity that overlays want, once all rules are judged by their own.
void change_severities(const Rulebook& rulebook, Found& found) {
  std::set<std::string_view> changed;
  for (const Overlay& overlay : rulebook.overlays) {
    const auto entry = found.findings.find(overlay.rule);
    if (!overlay.severity || entry == found.findings.end() || changed.contains(overlay.rule) ||
        found.suppressed.contains(overlay.rule) || !matches(overlay, entry->second)) {
      continue;
    }
    changed.insert(overlay.rule);
    found.overlays.push_back(effect_of(overlay, entry->second));
    entry->second.severity = *overlay.severity;
  }
}

// What findings come to on a job that evidently finished, or was ended.
//
//   740 WARN lines of proxies behind "run_stop … success"    → no findings; one info counts them
//   a closed connection behind "CANCELLED … TIME LIMIT"      → the same
//   gdr-distance, advice of severity warning                 → info: the job was slower, not broken
//   socket-instead-of-ib, which halves the bandwidth         → still a warning
//
// Processes leave one after the other and take their sockets down, so NCCL warns of what its peers
// did. And whoever reads "suspicious" of a job that did its work looks for a fault that is not
// there.

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

/// Takes out findings that only lines after the end of the work show. Makes an info of
/// advice, unless its rule says that it costs half of the bandwidth, and of what a last resort
/// quotes: the job outlived it. Of a job that was ended, severities stay, as they do where the user
/// says something else than that the job finished; nothing is done to other jobs.
void weigh_by_end(const Rulebook& rulebook, const Job& job, Found& found) {
  const EndState end = outcome_of(job).job.state;
  const bool finished = end == EndState::Finished;
  if (finished || end == EndState::Stopped) {
    std::erase_if(found.findings, [&](const auto& entry) {
      return entry.second.role != Role::Advice && is_noise(job, entry.second, end);
    });
  }
  // Who says that it was slow asks for just this advice.
  if (job.stated ? job.stated != StatedOutcome::Finished : !finished) return;
  for (auto& [id, finding] : found.findings) {
    const Rule* rule = find_rule(rulebook, id);
    if (rule == nullptr) continue;
    // Advice that costs little, or a failed call that nobody explains and that the job outlived.
    const bool is_advice = finding.role == Role::Advice && finding.severity == Severity::Warning;
    const bool is_cheap = is_advice && !rule->halves_bandwidth;
    if (rule->last_resort || is_cheap) finding.severity = Severity::Info;
  }
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

bool stands_back(const Rule& rule, const FindingsById& findings) {
  return rule.last_resort && std::ranges::any_of(findings, [&](const auto& entry) {
           const Finding& other = entry.second;
           if (entry.first == rule.id || other.severity == Severity::Info) return false;
           const bool only_advice =
               other.severity == Severity::Warning && other.role == Role::Advice;
           return !(only_advice && rule.severity == Severity::Error);
         });
}

Found find_all(const Rulebook& rulebook, JobView& view, RulesAbout about) {
  Found found;
  find_with(rulebook, about, false, view, found);
  find_with(rulebook, about, true, view, found);
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

}  // namespace

void mention_suppressed(const std::vector<OverlayEffect>& overlays, Verdict& verdict) {
  const bool silent =
      verdict.status == VerdictStatus::Clean || verdict.status == VerdictStatus::NothingFound;
  const bool hides_a_fault = std::ranges::any_of(overlays, [](const OverlayEffect& effect) {
    return !effect.severity && effect.finding.severity != Severity::Info;
  });
  if (silent && hides_a_fault) {
    verdict.headline = "No problem found but what overlays suppress; see there.";
  }
}

void add_shown_by_reports(const Rulebook& rulebook, const Job& job, Found& found) {
  for (const Rule& rule : rulebook.rules) {
    if (found.findings.contains(rule.id)) continue;
    std::optional<Finding> shown = finding_of_reports(rule, job);
    if (!shown) continue;
    const auto overlay = std::ranges::find_if(rulebook.overlays, [&](const Overlay& each) {
      return each.rule == rule.id && matches(each, *shown);
    });
    if (overlay != rulebook.overlays.end()) {
      found.overlays.push_back(effect_of(*overlay, *shown));
      if (!overlay->severity) continue;
      shown->severity = *overlay->severity;
    }
    found.findings.emplace(rule.id, std::move(*shown));
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
  if (!split.runs.empty()) {
    return judge_runs(rulebook, job, std::move(split), std::move(further));
  }
  JobView view(job);
  Found found = find_all(rulebook, view);
  add_shown_by_reports(rulebook, job, found);
  return diagnose(rulebook, view, std::move(found), std::move(further));
}

}  // namespace ncclog
