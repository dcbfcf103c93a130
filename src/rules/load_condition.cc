#include "rules/load_condition.h"

#include <algorithm>

#include "log/messages/all_messages.h"
#include "rules/load_tests.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

const Names kReaches = {"instance", "job", "host", "process", "rank"};

/// Kinds of which only sums are kept (model/shard.cc): a log holds millions of such lines.
bool is_summed_up(const Kind& kind) {
  return kind.index == kKindIndex<CollectiveCall> || kind.index == kKindIndex<ChannelConnected>;
}

const Kind& load_kind(const RuleFile& file, const RuleNode& node) {
  const std::string& name = scalar_of(file, node, "the name of a message kind");
  const Kind* kind = find_kind(name);
  if (kind == nullptr) {
    Names known;
    for (const Kind& candidate : all_kinds()) known.push_back(candidate.name);
    fail_unknown(file, node.place, "event '{}'", name, known);
  }
  if (is_summed_up(*kind)) {
    fail_at(file, node.place, fmt::format("single lines of {} are not kept", name),
            "ask a fact about them");
  }
  return *kind;
}

Reach load_reach(const RuleFile& file, const RuleNode& condition) {
  const RuleNode* in = condition.find("in");
  if (in == nullptr) return Reach::Instance;
  return static_cast<Reach>(word_of(file, *in, "reach", kReaches));
}

CountTest load_count_of(const RuleFile& file, const RuleNode& condition) {
  const RuleNode* count = condition.find("count");
  return count != nullptr ? load_count(file, *count) : CountTest{};
}

std::string load_label(const RuleFile& file, const RuleNode& condition,
                       std::string_view otherwise) {
  const RuleNode* as = condition.find("as");
  return as != nullptr ? scalar_of(file, *as, "a label") : std::string(otherwise);
}

void add_label(const RuleFile& file, Place place, const std::string& label, const Kind* kind,
               ConditionNames& names) {
  const auto [known, is_new] = names.labels.try_emplace(label, kind);
  if (!is_new && known->second != kind) {
    fail_at(file, place, fmt::format("the label '{}' stands for lines of two kinds", label));
  }
}

EventCondition load_event(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  only_keys(file, node, {"event", "where", "in", "count", "as"});
  EventCondition event;
  event.kind = &load_kind(file, required(file, node, "event"));
  if (const RuleNode* where = node.find("where"))
    event.where = load_where(file, *where, *event.kind);
  event.reach = load_reach(file, node);
  event.count = load_count_of(file, node);
  event.label = load_label(file, node, event.kind->name);
  add_label(file, node.place, event.label, event.kind, names);
  add_label(file, node.place, std::string(event.kind->name), event.kind, names);
  return event;
}

FactCondition load_fact_condition(const RuleFile& file, const RuleNode& node, Scope per) {
  const RuleNode& name = required(file, node, "fact");
  FactCondition condition;
  condition.fact = &load_fact(file, name.place, scalar_of(file, name, "the name of a fact"), per);
  condition.tests = load_fact_tests(file, node, *condition.fact);
  return condition;
}

LineCondition load_line(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  only_keys(file, node, {"line", "in", "count", "as"});
  LineCondition line;
  line.pattern = load_pattern(file, required(file, node, "line"));
  line.reach = load_reach(file, node);
  line.count = load_count_of(file, node);
  line.label = load_label(file, node, "line");
  add_label(file, node.place, line.label, nullptr, names);
  return line;
}

FindingCondition load_finding(const RuleFile& file, const RuleNode& node) {
  only_keys(file, node, {"finding"});
  const RuleNode& id = required(file, node, "finding");
  return {scalar_of(file, id, "the id of a rule"), id.place};
}

GroupCondition load_group(const RuleFile& file, const RuleNode& node, GroupCondition::Type type,
                          std::string_view key, ConditionNames& names) {
  only_keys(file, node, {key});
  ConditionNames hidden{names.per, {}};
  ConditionNames& inner = type == GroupCondition::Type::None ? hidden : names;
  GroupCondition group{type, {}};
  for (const RuleNode& item : items_of(file, *node.find(key), "a list of conditions")) {
    group.of.push_back(load_condition(file, item, inner));
  }
  return group;
}

/// True if a rule judged per `per` has exactly one instance of `scope` around each of its own.
bool is_around(Scope scope, Scope per) {
  switch (scope) {
    case Scope::Job:
      return true;
    case Scope::Host:
      return per == Scope::Host || per == Scope::Process || per == Scope::Rank;
    case Scope::Process:
      return per == Scope::Process;
    case Scope::Rank:
      return per == Scope::Rank || per == Scope::Process;
    case Scope::Communicator:
      return per == Scope::Communicator;
  }
  return false;
}

Condition load_any_condition(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  entries_of(file, node, "a condition");
  if (node.find("event") != nullptr) return {load_event(file, node, names)};
  if (node.find("fact") != nullptr) return {load_fact_condition(file, node, names.per)};
  if (node.find("line") != nullptr) return {load_line(file, node, names)};
  if (node.find("finding") != nullptr) return {load_finding(file, node)};
  using Type = GroupCondition::Type;
  if (node.find("all") != nullptr) return {load_group(file, node, Type::All, "all", names)};
  if (node.find("any") != nullptr) return {load_group(file, node, Type::Any, "any", names)};
  if (node.find("none") != nullptr) return {load_group(file, node, Type::None, "none", names)};
  const RuleNode::Entry& first = node.entries.front();
  fail_unknown(file, first.place, "condition '{}'", first.key,
               {"event", "fact", "line", "finding", "all", "any", "none"});
}

/// The members of a group have texts of their own.
std::string condition_text(const Condition& condition, const RuleNode& node) {
  const bool is_group = std::holds_alternative<GroupCondition>(condition.what);
  return is_group ? node.entries.front().key : flow_text(node);
}

}  // namespace

Condition load_condition(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  Condition condition = load_any_condition(file, node, names);
  condition.place = node.place;
  condition.text = condition_text(condition, node);
  return condition;
}

FieldRef load_field(const RuleFile& file, Place place, const Kind& kind, std::string_view name) {
  Names known;
  for (size_t i = 0; i < kind.fields.size(); ++i) {
    if (kind.fields[i].name == name) return {i, HeaderField::None, kind.fields[i].type};
    known.push_back(kind.fields[i].name);
  }
  const HeaderField header = parse_header_field(name);
  if (header == HeaderField::None) {
    for (const std::string_view field : header_field_names()) known.push_back(field);
    fail_unknown(file, place, fmt::format("field '{{}}' of event {}", kind.name), name, known);
  }
  const bool is_number =
      header == HeaderField::Rank || header == HeaderField::Pid || header == HeaderField::Dev;
  return {0, header, is_number ? FieldType::Integer : FieldType::Text};
}

const Fact& load_fact(const RuleFile& file, Place place, std::string_view name, Scope per) {
  const Fact* fact = find_fact(name);
  if (fact == nullptr) {
    Names known;
    for (const Fact& candidate : all_facts()) known.push_back(candidate.name);
    fail_unknown(file, place, "fact '{}'", name, known);
  }
  if (!is_around(fact->scope, per)) {
    fail_at(file, place,
            fmt::format("a rule per {} cannot ask for {}, a fact of each {}", to_string(per), name,
                        to_string(fact->scope)),
            fmt::format("per: {}", to_string(fact->scope)));
  }
  return *fact;
}

LabelledField load_labelled_field(const RuleFile& file, Place place, std::string_view text,
                                  const ConditionNames& names) {
  const size_t dot = text.find('.');
  const std::string_view label = text.substr(0, dot);
  const auto known = names.labels.find(label);
  if (dot == text.npos || known == names.labels.end()) {
    Names labels;
    for (const auto& [name, kind] : names.labels) labels.push_back(name);
    fail_unknown(file, place, "label '{}'", label, labels);
  }
  if (known->second == nullptr) {
    fail_at(file, place, "lines that a pattern finds have no fields");
  }
  return {std::string(label), load_field(file, place, *known->second, text.substr(dot + 1))};
}

}  // namespace ncclog
