#include "rules/find_all.h"

#include <algorithm>
#include <utility>

#include "rules/end_of_work.h"

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
void find_with(const Rulebook& rulebook, bool last_resort, JobView& view, Coverage& coverage,
               Found& found) {
  const FindingsById others = last_resort ? found.findings : FindingsById{};
  for (const Rule& rule : rulebook.rules) {
    if (rule.last_resort != last_resort || stands_back(rule, others)) continue;
    const auto open = coverage.open_needs(rule);
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

}  // namespace

const CoverageAnswer& Coverage::answer(const CoverageQuestion& question) {
  const auto known = answers_.find(&question);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(&question, question.ask(job_)).first->second;
}

std::vector<const CoverageQuestion*> Coverage::open_needs(const Rule& rule) {
  std::vector<const CoverageQuestion*> open;
  std::copy_if(rule.needs.begin(), rule.needs.end(), std::back_inserter(open),
               [&](const CoverageQuestion* need) { return !answer(*need).covered; });
  return open;
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

Found find_all(const Rulebook& rulebook, JobView& view, Coverage& coverage) {
  Found found;
  find_with(rulebook, false, view, coverage, found);
  find_with(rulebook, true, view, coverage, found);
  weigh_by_end(rulebook, view.job(), found);
  change_severities(rulebook, found);
  return found;
}

}  // namespace ncclog
