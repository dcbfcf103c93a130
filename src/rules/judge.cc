#include "rules/judge.h"

#include <algorithm>

namespace ncclog {

// The job as rules ask about it.

namespace {

/// Ranks print the same messages, so what a message decides alone is decided once.
bool is_of_message(const FieldTest& test) {
  return is_of_message(test.field) && std::ranges::all_of(test.tests, [](const ValueTest& demand) {
           return demand.op != Operator::SameAs || is_of_message(demand.other);
         });
}

}  // namespace

const MatchingLines& JobView::lines(const LineCondition& condition) {
  const auto known = std::ranges::find_if(lines_, [&](const MatchingLines& other) {
    return other.condition->kind == condition.kind && other.condition->number == condition.number &&
           other.condition->where == condition.where;
  });
  if (known != lines_.end()) return *known;
  const RecordsOf& all = condition.kind != nullptr
                             ? records_of_kind(job_, condition.kind->index)
                             : records_of_pattern(job_, static_cast<size_t>(condition.number));
  MatchingLines& result = lines_.emplace_back(&condition);
  result.open = all.full;
  result.repeated = all.repeated;
  std::vector<FieldTest> of_line = condition.where;
  const auto rest = std::stable_partition(
      of_line.begin(), of_line.end(), [](const FieldTest& test) { return is_of_message(test); });
  const std::vector<FieldTest> of_message(of_line.begin(), rest);
  of_line.erase(of_line.begin(), rest);
  std::vector<bool> passed;
  for (const uint32_t text : all.texts) {
    passed.push_back(passes(job_, all.records[text], of_message));
  }
  if (std::ranges::find(passed, true) == passed.end()) return result;
  for (const ReadRecord& read : all.records) {
    const bool is_match = passed[read.text] && (of_line.empty() || passes(job_, read, of_line));
    if (is_match) result.records.push_back(&read);
  }
  result.records.shrink_to_fit();
  return result;
}

const std::vector<Instance>& JobView::instances(Scope scope) {
  const auto [known, is_new] = instances_.try_emplace(scope);
  if (is_new) known->second = instances_of(job_, scope);
  return known->second;
}

const std::vector<int>& JobView::instance_by_process(Scope scope) {
  std::vector<int>& result = instance_by_process_[scope];
  if (!result.empty()) return result;
  result.assign(job_.processes.size(), -1);
  const std::vector<Instance>& all = instances(scope);
  for (size_t i = 0; i < all.size(); ++i) {
    for (const int process : all[i].processes) result[process] = static_cast<int>(i);
  }
  return result;
}

const Instance* JobView::instance_around(std::span<const int> processes, Scope scope) {
  const std::vector<Instance>& all = instances(scope);
  if (scope == Scope::Job) return &all.front();
  const bool splits_processes =
      scope == Scope::Host || scope == Scope::Process || scope == Scope::Rank;
  if (!splits_processes || processes.empty()) return nullptr;
  const std::vector<int>& by_process = instance_by_process(scope);
  const int first = by_process[processes.front()];
  const bool same =
      std::ranges::all_of(processes, [&](int process) { return by_process[process] == first; });
  return same && first >= 0 ? &all[first] : nullptr;
}

const FactValue& JobView::fact(const Fact& fact, const Instance& instance) {
  const auto [known, is_new] = facts_.try_emplace({&fact, &instance});
  if (is_new) known->second = fact.ask(job_, instance);
  return known->second;
}

const FactValue* JobView::fact_about(const Fact& of, const Instance& instance) {
  // A fact of the job may be asked of a rank, one of a host of its ranks.
  const Instance* about =
      of.scope == instance.scope ? &instance : instance_around(instance.processes, of.scope);
  return about == nullptr ? nullptr : &fact(of, *about);
}

const std::vector<TableRow>& JobView::rows(const JobTable& table) {
  const auto [known, is_new] = rows_.try_emplace(&table);
  if (is_new) known->second = table.rows(job_);
  return known->second;
}

const FactValue& JobView::gathered(const EachCondition& each) {
  const auto known = gathered_.find(&each);
  if (known != gathered_.end()) return known->second;
  return gathered_.emplace(&each, gather(each, *this)).first->second;
}

// Conditions that are made of others, facts, findings.

bool RuleJudge::is_possible(const Condition& condition) {
  // Lines are looked up once for all instances, so most rules end here, before any instance is
  // made.
  if (const auto* lines = std::get_if<LineCondition>(&condition.what)) {
    const MatchingLines& found = view_.lines(*lines);
    return absence_is_unknown_ || !found.records.empty() || !found.open.empty() ||
           lines->least <= 0;
  }
  if (const auto* finding = std::get_if<FindingCondition>(&condition.what)) {
    const auto found = findings_.find(finding->rule);
    return found != findings_.end() && !found->second.host_check.is_against_finding;
  }
  const auto possible = [&](const Condition& inner) { return is_possible(inner); };
  if (const auto* sequence = std::get_if<SequenceCondition>(&condition.what)) {
    return std::ranges::all_of(sequence->of, possible);
  }
  const auto* group = std::get_if<GroupCondition>(&condition.what);
  if (group == nullptr || group->type == GroupCondition::Type::None) return true;
  return group->type == GroupCondition::Type::All ? std::ranges::all_of(group->of, possible)
                                                  : std::ranges::any_of(group->of, possible);
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
  // By number: members of the condition are appended behind it, which moves what is there.
  const size_t number = steps_->size();
  const size_t before = hits.size();
  steps_->push_back({.depth = depth_, .condition = text_of(condition)});
  ++depth_;
  const Answer answer = judge_what(condition, instance, hits);
  --depth_;
  ExplainedStep& step = (*steps_)[number];
  step.answer = answer;
  if (std::holds_alternative<GroupCondition>(condition.what)) return answer;
  for (size_t i = before; i < hits.size(); ++i) {
    for (const ReadRecord* read : hits[i].records) {
      if (++step.lines > ExplainedStep::kMostLines) continue;
      step.evidence.push_back({read->where(), read->record().text()});
    }
  }
  return answer;
}

Answer RuleJudge::judge(const GroupCondition& group, const Instance& instance,
                        std::vector<Hit>& hits) {
  const size_t before = hits.size();
  // No < Unknown < Yes: `all` is the lowest answer of its members, `any` the highest.
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
  // What a member found shows nothing where the group does not hold.
  if (answer != Answer::Yes) hits.resize(before);
  return answer;
}

Answer RuleJudge::judge(const EachCondition& condition, const Instance&, std::vector<Hit>& hits) {
  const FactValue& value = view_.gathered(condition);
  if (!is_yes(value)) return Answer::No;
  if (steps_ != nullptr) steps_->back().value = value.what;
  hits.push_back({.label = condition.lines.label, .value = &value});
  return Answer::Yes;
}

Answer RuleJudge::judge(const FactCondition& condition, const Instance& instance,
                        std::vector<Hit>& hits) {
  const FactValue* value = view_.fact_about(*condition.fact, instance);
  if (value == nullptr) return unknown_because("no host or rank is known");
  if (!value->known()) {
    return unknown_because(value->why.empty() ? std::string_view("the log does not tell the fact")
                                              : std::string_view(value->why));
  }
  if (steps_ != nullptr) {
    steps_->back().value = fact_text(*value) + (value->what.empty() ? "" : ": ") + value->what;
  }
  if (!passes(*value, condition.tests)) return Answer::No;
  hits.push_back({.value = value});
  return Answer::Yes;
}

Answer RuleJudge::judge(const FindingCondition& condition, const Instance&,
                        std::vector<Hit>& hits) {
  const auto found = findings_.find(condition.rule);
  if (found == findings_.end() || found->second.host_check.is_against_finding) return Answer::No;
  hits.push_back({.finding = &found->second});
  return Answer::Yes;
}

// Conditions about lines.

namespace {

/// Those of one process; `records` is sorted by process.
std::span<const ReadRecord* const> of_process(const std::vector<const ReadRecord*>& records,
                                              int process) {
  const auto own = std::ranges::equal_range(records, process, {}, &ReadRecord::process);
  return {own.begin(), own.end()};
}

/// True if the sorted list has the process.
bool holds(std::span<const int> sorted, int process) {
  return std::binary_search(sorted.begin(), sorted.end(), process);
}

/// A hit of the matches that the instance's processes printed. Both are sorted by process.
Hit hit_of_instance(const std::vector<const ReadRecord*>& records, const Instance& instance) {
  Hit hit;
  if (instance.scope == Scope::Job) {
    hit.records = records;
  } else if (instance.processes.size() == 1) {
    hit.records = of_process(records, instance.processes.front());
  } else if (!records.empty()) {
    std::vector<const ReadRecord*> all;
    for (const int process : instance.processes) {
      const auto own = of_process(records, process);
      all.insert(all.end(), own.begin(), own.end());
    }
    hit.own = std::make_shared<const std::vector<const ReadRecord*>>(std::move(all));
    hit.records = *hit.own;
  }
  return hit;
}

bool is_any_torn(const Job& job) { return std::ranges::any_of(job.processes, &Process::torn); }

bool any_torn(const Job& job, const Instance& instance) {
  // That of the job is asked about each of the others.
  if (instance.scope == Scope::Job) return job.answers.of<&is_any_torn>(job);
  return std::ranges::any_of(instance.processes,
                             [&](int process) { return job.processes[process].torn; });
}

bool any_open(std::span<const int> open, const Instance& instance) {
  const std::span<const int> own = instance.processes;
  const auto [fewer, more] = std::minmax(
      open, own,
      [](std::span<const int> a, std::span<const int> b) { return a.size() < b.size(); });
  return std::ranges::any_of(fewer, [&](int process) { return holds(more, process); });
}

}  // namespace

Answer RuleJudge::judge(const LineCondition& lines, const Instance& instance,
                        std::vector<Hit>& hits) {
  const MatchingLines& found = view_.lines(lines);
  const Instance* where = reached(instance, lines.reach);
  if (where == nullptr) return unknown_because("no host or rank is known");
  Hit hit = hit_of_instance(found.records, *where);
  // A line that is not there may have been lost in a tear, or among those that are not kept.
  const bool is_torn = any_torn(view_.job(), *where);
  const bool is_open = any_open(found.open, *where);
  const bool exact = !is_open && !is_torn && !absence_is_unknown_;
  const int64_t count = std::ssize(hit.records);
  Answer answer = count > lines.most || count < lines.least ? Answer::No : Answer::Yes;
  // Perhaps more match: they may make enough of too few, and too many of enough.
  const bool may_change =
      count <= lines.most && (count < lines.least || lines.most != LineCondition::kAny);
  if (!exact && may_change) answer = Answer::Unknown;
  if (answer == Answer::Unknown) {
    return unknown_because(is_torn ? "lines of these processes are torn or in doubt"
                           : is_open
                               ? "more different lines of this sort were printed than are kept"
                               : "the log lacks lines that the rule needs");
  }
  if (answer == Answer::Yes && !hit.records.empty()) {
    hit.label = lines.label;
    // Lines from around the instance are evidence, but name nobody.
    hit.inside = lines.reach == Reach::Instance || instance.scope == Scope::Job;
    hits.push_back(std::move(hit));
  }
  return answer;
}

// Did one process print these lines in this order?
//
//   sequence: [retry, failed], unless: done       n1:7:7   retry  failed           yes
//                                                 n1:8:8   retry  done  failed     no
//                                                 n1:9:9   failed  retry           no
//
// Lines of one process are ordered where they stand in one input. Of equal lines only the first is
// kept: where some were printed again, an order that the first ones do not show is unknown, not no.

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
  return a.where() < b.where() && are_ordered(job, a.where(), b.where());
}

/// The chain that ends with `last` and begins as late as it can; empty: there is none.
Chain latest_chain(const Job& job, const std::vector<Lines>& elements, const ReadRecord& last) {
  Chain chain(elements.size());
  chain.back() = &last;
  // Backwards, the latest line that fits each time: if this chain is too long, all others are.
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
    const auto next = std::ranges::find_if(lines.records, [&](const ReadRecord* read) {
      return before == nullptr || before->where() < read->where() ||
             !are_ordered(job, before->where(), read->where());
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
    const bool ordered = are_ordered(job, stop->where(), chain.back()->where());
    // One that came before the chain may have come again inside it.
    may_be_between |= !ordered || (stops.repeated && !after_first);
  }
  return may_be_between ? Answer::Unknown : Answer::Yes;
}

}  // namespace

Answer RuleJudge::judge_sequence(const SequenceCondition& sequence, int process,
                                 std::vector<Hit>& hits) {
  const Job& job = view_.job();
  const bool torn = job.processes[process].torn;
  const auto lines_of = [&](const Condition& element) {
    const auto& condition = std::get<LineCondition>(element.what);
    const MatchingLines& found = view_.lines(condition);
    Lines lines;
    lines.open = torn || holds(found.open, process);
    lines.repeated = holds(found.repeated, process);
    lines.label = condition.label;
    const auto own = of_process(found.records, process);
    lines.records.assign(own.begin(), own.end());
    std::ranges::sort(lines.records,
                      [](const auto* a, const auto* b) { return a->where() < b->where(); });
    return lines;
  };
  std::vector<Lines> elements;
  for (const Condition& element : sequence.of) {
    elements.push_back(lines_of(element));
    // Provably no such line, so there is no chain whatever the others did.
    if (elements.back().records.empty() && !elements.back().open) return Answer::No;
  }
  Lines stops;
  if (!sequence.unless.empty()) stops = lines_of(sequence.unless.front());
  Answer best = Answer::No;
  for (const ReadRecord* last : elements.back().records) {
    const Chain chain = latest_chain(job, elements, *last);
    if (chain.empty()) continue;
    best = std::max(best, is_undisturbed(job, chain, stops));
    if (best != Answer::Yes) continue;
    for (size_t i = 0; i < chain.size(); ++i) {
      const auto own = std::make_shared<const Chain>(1, chain[i]);
      hits.push_back({.label = elements[i].label, .records = *own, .own = own});
    }
    return best;
  }
  const bool more = std::ranges::any_of(
      elements, [](const Lines& lines) { return lines.open || lines.repeated; });
  const bool unordered = std::ranges::any_of(elements, [&](const Lines& lines) {
    return !lines.records.empty() && !elements.back().records.empty() &&
           !are_ordered(job, lines.records.front()->where(),
                        elements.back().records.back()->where());
  });
  if ((more || unordered) && may_be_in_order(job, elements)) best = std::max(best, Answer::Unknown);
  return best;
}

Answer RuleJudge::judge(const SequenceCondition& sequence, const Instance& instance,
                        std::vector<Hit>& hits) {
  const Instance* where = reached(instance, sequence.reach);
  if (where == nullptr) return unknown_because("no host or rank is known");
  const size_t before = hits.size();
  Answer answer = absence_is_unknown_ ? Answer::Unknown : Answer::No;
  for (const int process : where->processes) {
    answer = std::max(answer, judge_sequence(sequence, process, hits));
  }
  const bool inside = sequence.reach == Reach::Instance || instance.scope == Scope::Job;
  for (size_t i = before; i < hits.size(); ++i) hits[i].inside = inside;
  if (answer == Answer::Unknown) return unknown_because("the order of the lines is not known");
  return answer;
}

}  // namespace ncclog
