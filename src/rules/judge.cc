#include "rules/judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace ncclog {
namespace {

bool needs_a_line(const CountTest& count) {
  if (!count.at_least && !count.at_most && !count.equals) return true;
  return count.at_least.value_or(0) > 0 || count.equals.value_or(0) > 0;
}

}  // namespace

bool RuleJudge::is_possible(const Condition& condition) {
  const auto any_line = [&](const auto& lines) {
    const Matches& found = matches(lines);
    return absence_is_unknown_ || !found.records.empty() || !found.open.empty() ||
           !needs_a_line(lines.count);
  };
  if (const auto* event = std::get_if<EventCondition>(&condition.what)) return any_line(*event);
  if (const auto* line = std::get_if<LineCondition>(&condition.what)) return any_line(*line);
  if (const auto* finding = std::get_if<FindingCondition>(&condition.what)) {
    return findings_.contains(finding->rule);
  }
  const auto possible = [&](const Condition& inner) { return is_possible(inner); };
  if (const auto* sequence = std::get_if<SequenceCondition>(&condition.what)) {
    return std::all_of(sequence->of.begin(), sequence->of.end(), possible);
  }
  const auto* group = std::get_if<GroupCondition>(&condition.what);
  if (group == nullptr || group->type == GroupCondition::Type::None) return true;
  return group->type == GroupCondition::Type::All
             ? std::all_of(group->of.begin(), group->of.end(), possible)
             : std::any_of(group->of.begin(), group->of.end(), possible);
}

const Instance* RuleJudge::reached(const Instance& instance, Reach reach) {
  if (reach == Reach::Instance) return &instance;
  const Scope scope = reach == Reach::Host ? Scope::Host : Scope::Job;
  return view_.instance_around(instance.processes, scope);
}

Answer RuleJudge::judge_what(const Condition& condition, const Instance& instance,
                             std::vector<Hit>& hits) {
  return std::visit([&](const auto& what) { return judge(what, instance, hits); }, condition.what);
}

Answer RuleJudge::judge(const Condition& condition, const Instance& instance,
                        std::vector<Hit>& hits) {
  if (steps_ == nullptr) return judge_what(condition, instance, hits);
  const size_t step = steps_->size();
  const size_t before = hits.size();
  steps_->push_back({&condition, depth_});
  ++depth_;
  reason_.clear();
  const Answer answer = judge_what(condition, instance, hits);
  --depth_;
  JudgedCondition& judged = (*steps_)[step];
  judged.answer = answer;
  if (answer == Answer::Unknown) judged.reason = std::move(reason_);
  if (!std::holds_alternative<GroupCondition>(condition.what)) {
    judged.hits.assign(hits.begin() + static_cast<ptrdiff_t>(before), hits.end());
  }
  reason_.clear();
  return answer;
}

Answer RuleJudge::judge(const GroupCondition& group, const Instance& instance,
                        std::vector<Hit>& hits) {
  const size_t before = hits.size();
  Answer lowest = Answer::Yes;
  Answer highest = Answer::No;
  for (const Condition& inner : group.of) {
    const Answer answer = judge(inner, instance, hits);
    lowest = std::min(lowest, answer);
    highest = std::max(highest, answer);
  }
  Answer answer = group.type == GroupCondition::Type::All ? lowest : highest;
  if (group.type == GroupCondition::Type::None) {
    answer = highest == Answer::Yes  ? Answer::No
             : highest == Answer::No ? Answer::Yes
                                     : Answer::Unknown;
    hits.resize(before);
  }
  if (answer != Answer::Yes) hits.resize(before);
  return answer;
}

Answer RuleJudge::judge(const FactCondition& condition, const Instance& instance,
                        std::vector<Hit>& hits) {
  const Fact& fact = *condition.fact;
  const Instance* about = fact.scope == instance.scope
                              ? &instance
                              : view_.instance_around(instance.processes, fact.scope);
  if (about == nullptr) return unknown_because([] { return "no host or rank is known"; });
  const FactValue& value = view_.fact(fact, *about);
  if (!value.known()) return unknown_because([] { return "the log does not tell the fact"; });
  if (!passes(value, condition.tests)) return Answer::No;
  hits.push_back({.fact = &fact, .value = &value});
  return Answer::Yes;
}

Answer RuleJudge::judge(const FindingCondition& condition, const Instance&,
                        std::vector<Hit>& hits) {
  const auto found = findings_.find(condition.rule);
  if (found == findings_.end()) return Answer::No;
  hits.push_back({.finding = &found->second});
  return Answer::Yes;
}

}  // namespace ncclog
