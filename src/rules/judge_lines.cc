// Conditions about lines.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/judge.h"

namespace ncclog {
namespace {

/// The matches that the instance's processes printed. Both are sorted by process.
std::vector<const ReadRecord*> of_instance(const std::vector<const ReadRecord*>& records,
                                           const Instance& instance) {
  if (instance.scope == Scope::Job) return records;
  std::vector<const ReadRecord*> result;
  for (const int process : instance.processes) {
    const auto own = of_process(records, process);
    result.insert(result.end(), own.begin(), own.end());
  }
  return result;
}

bool any_torn(const Job& job, const Instance& instance) {
  return std::any_of(instance.processes.begin(), instance.processes.end(),
                     [&](int process) { return job.processes[static_cast<size_t>(process)].torn; });
}

bool any_open(const std::vector<int>& open, const Instance& instance) {
  return std::any_of(open.begin(), open.end(),
                     [&](int process) { return holds(instance.processes, process); });
}

/// Whether a count holds, where `found` lines match and, if not `exact`, perhaps more do.
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

}  // namespace

std::span<const ReadRecord* const> of_process(const std::vector<const ReadRecord*>& records,
                                              int process) {
  const auto begin =
      std::lower_bound(records.begin(), records.end(), process,
                       [](const ReadRecord* read, int wanted) { return read->process < wanted; });
  const auto end =
      std::upper_bound(begin, records.end(), process,
                       [](int wanted, const ReadRecord* read) { return wanted < read->process; });
  return {begin, end};
}

RuleJudge::Matches RuleJudge::matching(const RecordsOf& all, const std::vector<FieldTest>& where,
                                       std::optional<LifePhase> phase) {
  Matches result;
  std::set<int> open(all.full.begin(), all.full.end());
  const Job& job = view_.job();
  for (const ReadRecord& read : all.records) {
    if (!passes(job, read, where)) continue;
    if (phase) {
      const Evidence line{read.record->where, read.record->text};
      const auto inside = is_in_phase(job, read.process, line, *phase);
      // It may have been printed again in that phase.
      if (!inside || (!*inside && holds(all.repeated, read.process))) open.insert(read.process);
      if (inside != true) continue;
    }
    result.records.push_back(&read);
  }
  result.open.assign(open.begin(), open.end());
  result.repeated = all.repeated;
  return result;
}

const RuleJudge::Matches& RuleJudge::matches(const EventCondition& event) {
  const auto known = matches_.find(&event);
  if (known != matches_.end()) return known->second;
  return matches_.emplace(&event, matching(view_.records(*event.kind), event.where, event.phase))
      .first->second;
}

const RuleJudge::Matches& RuleJudge::matches(const LineCondition& line) {
  const auto known = matches_.find(&line);
  if (known != matches_.end()) return known->second;
  return matches_.emplace(&line, matching(view_.line_matches(line.number), {}, line.phase))
      .first->second;
}

const RuleJudge::Matches& RuleJudge::matches(const Condition& line) {
  if (const auto* event = std::get_if<EventCondition>(&line.what)) return matches(*event);
  return matches(std::get<LineCondition>(line.what));
}

std::string RuleJudge::doubt_phrase(const Matches& found, const Instance& where) const {
  if (any_torn(view_.job(), where)) return "lines of these processes are torn or in doubt";
  if (any_open(found.open, where)) {
    return "more different lines of this sort were printed than are kept, or their phase is not "
           "known";
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
      !any_open(found.open, *where) && !any_torn(view_.job(), *where) && !absence_is_unknown_;
  const Answer answer = judge_count(count, static_cast<int64_t>(records.size()), exact);
  if (answer == Answer::Unknown) {
    return unknown_because([&] { return doubt_phrase(found, *where); });
  }
  if (answer == Answer::Yes && !records.empty()) {
    const bool inside = reach == Reach::Instance || instance.scope == Scope::Job;
    hits.push_back({.label = label, .records = std::move(records), .inside = inside});
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

}  // namespace ncclog
