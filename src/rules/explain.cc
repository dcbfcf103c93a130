#include "rules/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "rules/find_all.h"
#include "rules/rule_tools.h"

namespace ncclog {
namespace {

std::string process_name(const Job& job, int index) {
  const Process& process = job.processes[static_cast<size_t>(index)];
  std::string name = process.rank >= 0 ? fmt::format("rank {}", process.rank) : "a process";
  if (!process.host.empty()) name += " on " + process.host;
  return process.pid >= 0 ? fmt::format("{} (pid {})", name, process.pid) : name;
}

std::string instance_name(const Job& job, const Instance& instance) {
  if (instance.scope == Scope::Job) return "the job";
  const bool is_process = instance.scope == Scope::Process && instance.processes.size() == 1;
  return is_process ? process_name(job, instance.processes.front()) : name_of(job, instance);
}

/// What the fact is for the instance; empty: unknown.
std::string value_of(const FactCondition& condition, const Instance& instance, JobView& view) {
  const Fact& fact = *condition.fact;
  const Instance* about = fact.scope == instance.scope
                              ? &instance
                              : view.instance_around(instance.processes, fact.scope);
  if (about == nullptr) return {};
  const FactValue& value = view.fact(fact, *about);
  if (!value.known()) return {};
  return value.what.empty() ? fact_text(value)
                            : fmt::format("{}: {}", fact_text(value), value.what);
}

ExplainedStep step_of(const JudgedCondition& judged, const Instance& instance, JobView& view) {
  ExplainedStep step{judged.depth, judged.condition->text, judged.answer, judged.reason, {}, {}, 0};
  if (const auto* fact = std::get_if<FactCondition>(&judged.condition->what)) {
    step.value = value_of(*fact, instance, view);
  }
  for (const Hit& hit : judged.hits) {
    for (const ReadRecord* read : hit.records) {
      ++step.lines;
      if (step.evidence.size() < ExplainedStep::kMostLines) {
        step.evidence.push_back({read->record->where, read->record->text});
      }
    }
  }
  return step;
}

ExplainedInstances explain_instance(const Rule& rule, const Instance& instance, JobView& view,
                                    RuleJudge& judge) {
  ExplainedInstances explained;
  JudgedConditions steps;
  std::vector<Hit> hits;
  judge.record_in(&steps);
  explained.answer = judge.judge(rule.when, instance, hits);
  judge.record_in(nullptr);
  explained.names = {instance_name(view.job(), instance)};
  for (const JudgedCondition& judged : steps) {
    explained.steps.push_back(step_of(judged, instance, view));
  }
  return explained;
}

/// True if two instances are told as one: the lines that show the answers may differ.
bool is_alike(const ExplainedInstances& a, const ExplainedInstances& b) {
  const auto same_step = [](const ExplainedStep& x, const ExplainedStep& y) {
    return std::tie(x.condition, x.answer, x.reason, x.value) ==
           std::tie(y.condition, y.answer, y.reason, y.value);
  };
  return a.answer == b.answer &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same_step);
}

/// How far an instance came: its answer, then how many of its conditions hold.
std::pair<Answer, int64_t> progress(const ExplainedInstances& instances) {
  const auto yes =
      std::count_if(instances.steps.begin(), instances.steps.end(),
                    [](const ExplainedStep& step) { return step.answer == Answer::Yes; });
  return {instances.answer, yes};
}

std::vector<ExplainedInstances> explain_instances(const Rule& rule, JobView& view,
                                                  const FindingsById& findings) {
  RuleJudge judge(view, findings);
  std::vector<ExplainedInstances> groups;
  for (const Instance& instance : view.instances(rule.per)) {
    ExplainedInstances explained = explain_instance(rule, instance, view, judge);
    const auto alike =
        std::find_if(groups.begin(), groups.end(),
                     [&](const ExplainedInstances& group) { return is_alike(group, explained); });
    if (alike == groups.end()) {
      groups.push_back(std::move(explained));
    } else {
      alike->names.push_back(std::move(explained.names.front()));
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return progress(a) > progress(b); });
  return groups;
}

bool any_instance(const Explanation& explanation, Answer answer) {
  return std::any_of(explanation.instances.begin(), explanation.instances.end(),
                     [&](const ExplainedInstances& one) { return one.answer == answer; });
}

std::pair<Standing, std::string> outcome_of(const Rule& rule, const Explanation& explanation,
                                            const Found& found) {
  const auto finding = found.findings.find(rule.id);
  if (found.suppressed.contains(rule.id)) {
    return {Standing::Suppressed, "It holds, and an overlay suppresses it."};
  }
  if (finding != found.findings.end()) return {Standing::Found, finding->second.message};
  if (!explanation.open_needs.empty()) {
    return {Standing::NotJudged, "It is not judged: the log leaves open what it needs."};
  }
  // A rule that holds and found nothing was not asked.
  if (any_instance(explanation, Answer::Yes)) {
    return {Standing::NotJudged, "It is a last resort, and other rules found something."};
  }
  if (any_instance(explanation, Answer::Unknown)) {
    return {Standing::Undecided, "Nothing excludes it, but something that it asks for is unknown."};
  }
  return {Standing::DoesNotHold, "It does not hold."};
}

std::vector<std::string> explained_by(const Found& found, const std::string& id) {
  std::vector<std::string> ids;
  for (const auto& [other, finding] : found.findings) {
    const auto& explains = finding.explains;
    if (std::find(explains.begin(), explains.end(), id) != explains.end()) ids.push_back(other);
  }
  return ids;
}

}  // namespace

std::string_view to_string(Standing outcome) {
  constexpr std::string_view kNames[] = {"found", "suppressed", "not_judged", "undecided",
                                         "does_not_hold"};
  return kNames[static_cast<size_t>(outcome)];
}

Explanation explain(const Rulebook& rulebook, const Job& job, std::string_view id) {
  const Rule& rule = required_rule(rulebook, id);
  JobView view(job);
  Coverage coverage(job);
  const Found found = find_all(rulebook, view, coverage);
  Explanation explanation;
  explanation.id = rule.id;
  explanation.title = rule.title;
  explanation.path = rule.path;
  for (const CoverageQuestion* need : coverage.open_needs(rule)) {
    explanation.open_needs.push_back(
        {std::string(need->question), coverage.answer(*need).reason, need->how_to_capture(job)});
  }
  if (found.findings.contains(rule.id)) explanation.explained_by = explained_by(found, rule.id);
  std::copy_if(found.overlays.begin(), found.overlays.end(),
               std::back_inserter(explanation.overlays),
               [&](const OverlayEffect& effect) { return effect.finding.id == rule.id; });
  explanation.instances = explain_instances(rule, view, found.findings);
  std::tie(explanation.outcome, explanation.sentence) = outcome_of(rule, explanation, found);
  return explanation;
}

}  // namespace ncclog
