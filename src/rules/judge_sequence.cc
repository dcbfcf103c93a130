// Did one process print these lines in this order?
//
//   sequence: [retry, failed], unless: done       n1:7:7   retry  failed           yes
//                                                 n1:8:8   retry  done  failed     no
//                                                 n1:9:9   failed  retry           no
//
// Lines of one process are ordered where they stand in one input. Of equal lines only the first is
// kept: where some were printed again, an order that the first ones do not show is unknown, not no.

#include <algorithm>

#include "diagnose/facts/line_evidence.h"
#include "rules/judge.h"

namespace ncclog {
namespace {

/// Lines of one process that one element lets through.
struct Lines {
  std::vector<const ReadRecord*> records;  ///< In log order.
  bool open = false;                       ///< There may be more.
  bool repeated = false;                   ///< Some came again, later.
  std::string_view label;
};

using Chain = std::vector<const ReadRecord*>;  ///< One line of each element, in order.

bool is_before(const Job& job, const ReadRecord& a, const ReadRecord& b) {
  return a.record->where < b.record->where && are_ordered(job, a.record->where, b.record->where);
}

/// The chain that ends with `last` and begins as late as it can; empty: there is none.
Chain latest_chain(const Job& job, const std::vector<Lines>& elements, const ReadRecord& last) {
  Chain chain(elements.size());
  chain.back() = &last;
  for (size_t i = elements.size() - 1; i-- > 0;) {
    const auto& records = elements[i].records;
    const auto found = std::find_if(records.rbegin(), records.rend(), [&](const ReadRecord* read) {
      return is_before(job, *read, *chain[i + 1]);
    });
    if (found == records.rend()) return {};
    chain[i] = *found;
  }
  return chain;
}

/// True if the lines can have come in this order, counting those that came again.
bool may_be_in_order(const Job& job, const std::vector<Lines>& elements) {
  const ReadRecord* before = nullptr;
  for (const Lines& lines : elements) {
    if (lines.open) continue;
    if (lines.records.empty()) return false;
    const auto next =
        std::find_if(lines.records.begin(), lines.records.end(), [&](const ReadRecord* read) {
          return before == nullptr || before->record->where < read->record->where ||
                 !are_ordered(job, before->record->where, read->record->where);
        });
    if (next != lines.records.end()) {
      before = *next;
    } else if (!lines.repeated) {
      return false;
    }
  }
  return true;
}

/// Whether no line of `stops` stands between the ends of the chain.
Answer is_undisturbed(const Job& job, const Chain& chain, const Lines& stops) {
  bool may_be_between = stops.open;
  for (const ReadRecord* stop : stops.records) {
    const bool after_first = is_before(job, *chain.front(), *stop);
    if (after_first && is_before(job, *stop, *chain.back())) return Answer::No;
    const bool ordered = are_ordered(job, stop->record->where, chain.back()->record->where);
    may_be_between |= !ordered || (stops.repeated && !after_first);
  }
  return may_be_between ? Answer::Unknown : Answer::Yes;
}

Answer is_within(const Job& job, const Chain& chain, const Window& window) {
  const ReadRecord& first = *chain.front();
  const ReadRecord& last = *chain.back();
  if (window.calls) {
    const auto calls = calls_between(job, first.process, first.record->where, last.record->where);
    if (!calls || (calls->at_least <= *window.calls && calls->at_most > *window.calls)) {
      return Answer::Unknown;
    }
    return calls->at_most <= *window.calls ? Answer::Yes : Answer::No;
  }
  if (window.nanoseconds) {
    const auto distance = nanoseconds_between(first.record->text, last.record->text);
    if (!distance) return Answer::Unknown;
    return *distance <= *window.nanoseconds ? Answer::Yes : Answer::No;
  }
  return Answer::Yes;
}

/// Label of an event or a line.
std::string_view label_of(const Condition& line) {
  if (const auto* event = std::get_if<EventCondition>(&line.what)) return event->label;
  return std::get<LineCondition>(line.what).label;
}

}  // namespace

Answer RuleJudge::judge_sequence(const SequenceCondition& sequence, int process,
                                 std::vector<Hit>& hits) {
  const Job& job = view_.job();
  const bool torn = job.processes[static_cast<size_t>(process)].torn;
  const auto lines_of = [&](const Condition& condition) {
    const Matches& found = matches(condition);
    Lines lines;
    lines.open = torn || holds(found.open, process);
    lines.repeated = holds(found.repeated, process);
    lines.label = label_of(condition);
    const auto own = of_process(found.records, process);
    lines.records.assign(own.begin(), own.end());
    std::sort(lines.records.begin(), lines.records.end(),
              [](const auto* a, const auto* b) { return a->record->where < b->record->where; });
    return lines;
  };
  std::vector<Lines> elements;
  for (const Condition& element : sequence.of) {
    elements.push_back(lines_of(element));
    if (elements.back().records.empty() && !elements.back().open) return Answer::No;
  }
  Lines stops;
  if (!sequence.unless.empty()) stops = lines_of(sequence.unless.front());
  Answer best = Answer::No;
  for (const ReadRecord* last : elements.back().records) {
    const Chain chain = latest_chain(job, elements, *last);
    if (chain.empty()) continue;
    best = std::max(
        best, std::min(is_undisturbed(job, chain, stops), is_within(job, chain, sequence.within)));
    if (best != Answer::Yes) continue;
    for (size_t i = 0; i < chain.size(); ++i) {
      hits.push_back({.label = elements[i].label, .records = {chain[i]}});
    }
    return best;
  }
  const bool more = std::any_of(elements.begin(), elements.end(),
                                [](const Lines& lines) { return lines.open || lines.repeated; });
  const bool unordered = std::any_of(elements.begin(), elements.end(), [&](const Lines& lines) {
    return !lines.records.empty() && !elements.back().records.empty() &&
           !are_ordered(job, lines.records.front()->record->where,
                        elements.back().records.back()->record->where);
  });
  if ((more || unordered) && may_be_in_order(job, elements)) best = std::max(best, Answer::Unknown);
  return best;
}

Answer RuleJudge::judge(const SequenceCondition& sequence, const Instance& instance,
                        std::vector<Hit>& hits) {
  const Instance* where = reached(instance, sequence.reach);
  if (where == nullptr) return unknown_because([] { return "no host or rank is known"; });
  const size_t before = hits.size();
  Answer answer = absence_is_unknown_ ? Answer::Unknown : Answer::No;
  for (const int process : where->processes) {
    answer = std::max(answer, judge_sequence(sequence, process, hits));
  }
  const bool inside = sequence.reach == Reach::Instance || instance.scope == Scope::Job;
  for (size_t i = before; i < hits.size(); ++i) hits[i].inside = inside;
  if (answer == Answer::Unknown) {
    return unknown_because([] { return "the order or the distance of the lines is not known"; });
  }
  return answer;
}

}  // namespace ncclog
