#include "rules/judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace ncclog {
namespace {

/// Whether a count holds, where `found` lines match and, if not `exact`, perhaps more did.
Answer judge_count(const CountTest& count, int64_t found, bool exact) {
  const auto at_least = [&](int64_t n) {
    return found >= n ? Answer::Yes : exact ? Answer::No : Answer::Unknown;
  };
  const auto at_most = [&](int64_t n) {
    return found > n ? Answer::No : exact ? Answer::Yes : Answer::Unknown;
  };
  if (!count.at_least && !count.at_most && !count.equals) return at_least(1);
  Answer answer = Answer::Yes;
  if (count.at_least) answer = std::min(answer, at_least(*count.at_least));
  if (count.at_most) answer = std::min(answer, at_most(*count.at_most));
  if (count.equals) answer = std::min({answer, at_least(*count.equals), at_most(*count.equals)});
  return answer;
}

bool needs_a_line(const CountTest& count) {
  if (!count.at_least && !count.at_most && !count.equals) return true;
  return count.at_least.value_or(0) > 0 || count.equals.value_or(0) > 0;
}

/// The matches that the instance's processes printed. Both are sorted by process.
std::vector<const ReadRecord*> of_instance(const std::vector<const ReadRecord*>& records,
                                           const Instance& instance) {
  if (instance.scope == Scope::Job) return records;
  std::vector<const ReadRecord*> result;
  for (const int process : instance.processes) {
    const auto [begin, end] =
        std::equal_range(records.begin(), records.end(), process, [](const auto& a, const auto& b) {
          if constexpr (std::is_same_v<std::decay_t<decltype(a)>, int>) {
            return a < b->process;
          } else {
            return a->process < b;
          }
        });
    result.insert(result.end(), begin, end);
  }
  return result;
}

bool any_torn(const Job& job, const Instance& instance) {
  return std::any_of(instance.processes.begin(), instance.processes.end(),
                     [&](int process) { return job.processes[static_cast<size_t>(process)].torn; });
}

bool any_full(const std::vector<int>& full, const Instance& instance) {
  return std::any_of(full.begin(), full.end(), [&](int process) {
    return std::binary_search(instance.processes.begin(), instance.processes.end(), process);
  });
}

Scope scope_of(Reach reach) {
  switch (reach) {
    case Reach::Host:
      return Scope::Host;
    case Reach::Process:
      return Scope::Process;
    case Reach::Rank:
      return Scope::Rank;
    case Reach::Instance:
    case Reach::Job:
      break;
  }
  return Scope::Job;
}

}  // namespace

bool RuleJudge::is_possible(const Condition& condition) {
  const auto any_line = [&](const auto& lines) {
    const Matches& found = matches(lines);
    return absence_is_unknown_ || !found.records.empty() || !found.full->empty() ||
           !needs_a_line(lines.count);
  };
  if (const auto* event = std::get_if<EventCondition>(&condition.what)) return any_line(*event);
  if (const auto* line = std::get_if<LineCondition>(&condition.what)) return any_line(*line);
  if (const auto* finding = std::get_if<FindingCondition>(&condition.what)) {
    return findings_.contains(finding->rule);
  }
  const auto* group = std::get_if<GroupCondition>(&condition.what);
  if (group == nullptr || group->type == GroupCondition::Type::None) return true;
  const auto possible = [&](const Condition& inner) { return is_possible(inner); };
  return group->type == GroupCondition::Type::All
             ? std::all_of(group->of.begin(), group->of.end(), possible)
             : std::any_of(group->of.begin(), group->of.end(), possible);
}

template <typename Words>
Answer RuleJudge::unknown_because(Words words) {
  if (steps_ != nullptr) reason_ = words();
  return Answer::Unknown;
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

const RuleJudge::Matches& RuleJudge::matches(const EventCondition& event) {
  const auto [entry, is_new] = matches_.try_emplace(&event);
  if (!is_new) return entry->second;
  const RecordsOf& all = view_.records(*event.kind);
  entry->second.full = &all.full;
  for (const ReadRecord& read : all.records) {
    if (passes(view_.job(), read, event.where)) entry->second.records.push_back(&read);
  }
  return entry->second;
}

const RuleJudge::Matches& RuleJudge::matches(const LineCondition& line) {
  const auto [entry, is_new] = matches_.try_emplace(&line);
  if (!is_new) return entry->second;
  const RecordsOf& all = view_.line_matches(line.number);
  entry->second.full = &all.full;
  for (const ReadRecord& read : all.records) entry->second.records.push_back(&read);
  return entry->second;
}

const Instance* RuleJudge::reached(const Instance& instance, Reach reach) {
  if (reach == Reach::Instance) return &instance;
  return view_.instance_around(instance.processes, scope_of(reach));
}

std::string RuleJudge::doubt_phrase(const Matches& found, const Instance& where) const {
  if (any_torn(view_.job(), where)) return "lines of these processes are torn or in doubt";
  if (any_full(*found.full, where)) {
    return fmt::format("more than {} different lines of this sort were printed",
                       RecordList::kMaxKept);
  }
  return "the log lacks lines that the rule needs";
}

Answer RuleJudge::judge_lines(const Matches& found, const CountTest& count, Reach reach,
                              std::string_view label, const Instance& instance,
                              std::vector<Hit>& hits) {
  const Instance* where = reached(instance, reach);
  if (where == nullptr) return unknown_because([] { return "no host or rank is known"; });
  std::vector<const ReadRecord*> records = of_instance(found.records, *where);
  const bool exact =
      !any_full(*found.full, *where) && !any_torn(view_.job(), *where) && !absence_is_unknown_;
  const Answer answer = judge_count(count, static_cast<int64_t>(records.size()), exact);
  if (answer == Answer::Yes && !records.empty()) {
    const bool inside = reach == Reach::Instance || instance.scope == Scope::Job;
    hits.push_back({.label = label, .records = std::move(records), .inside = inside});
  }
  if (answer == Answer::Unknown) {
    return unknown_because([&] { return doubt_phrase(found, *where); });
  }
  return answer;
}

Answer RuleJudge::judge(const EventCondition& event, const Instance& instance,
                        std::vector<Hit>& hits) {
  return judge_lines(matches(event), event.count, event.reach, event.label, instance, hits);
}

Answer RuleJudge::judge(const LineCondition& line, const Instance& instance,
                        std::vector<Hit>& hits) {
  return judge_lines(matches(line), line.count, line.reach, line.label, instance, hits);
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
  if (found == findings_.end()) {
    if (!is_torn(view_.job())) return Answer::No;
    return unknown_because([] { return "lines are torn, and what is lost may have shown it"; });
  }
  hits.push_back({.finding = &found->second});
  return Answer::Yes;
}

}  // namespace ncclog
