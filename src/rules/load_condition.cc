#include "rules/load_condition.h"

#include <algorithm>

#include "log/known_messages.h"
#include "rules/condition_keys.h"
#include "rules/load_lines.h"
#include "rules/load_tests.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

FactCondition load_fact_condition(const RuleFile& file, const RuleNode& node, Scope per) {
  const RuleNode& name = required(file, node, "fact");
  FactCondition condition;
  condition.fact = &load_fact(file, name.place, scalar_of(file, name, "the name of a fact"), per);
  condition.tests = load_fact_tests(file, node, *condition.fact);
  return condition;
}

FindingCondition load_finding(const RuleFile& file, const RuleNode& node) {
  only_keys(file, node, keys_of_condition("finding"));
  const RuleNode& id = required(file, node, "finding");
  return {scalar_of(file, id, "the id of a rule"), id.place};
}

GroupCondition load_group(const RuleFile& file, const RuleNode& node, GroupCondition::Type type,
                          ConditionNames& names) {
  constexpr std::string_view kKeys[] = {"all", "any", "none"};
  const std::string_view key = kKeys[static_cast<size_t>(type)];
  only_keys(file, node, {key});
  ConditionNames hidden{names.per, {}};
  ConditionNames& inner = type == GroupCondition::Type::None ? hidden : names;
  GroupCondition group{type, {}};
  for (const RuleNode& item : items_of(file, *node.find(key), "a list of conditions")) {
    group.of.push_back(load_condition(file, item, inner));
  }
  return group;
}

using Loader = void (*)(const RuleFile& file, const RuleNode& node, ConditionNames& names,
                        Condition& condition);

/// A sort of condition, by the key that only it has.
struct Sort {
  std::string_view key;
  Loader load;
};

template <GroupCondition::Type type>
void load_group_as(const RuleFile& file, const RuleNode& node, ConditionNames& names,
                   Condition& condition) {
  condition.what = load_group(file, node, type, names);
}

constexpr Sort kSorts[] = {
    {"event", [](auto& file, auto& node, auto& names,
                 auto& to) { to.what = load_event(file, node, names); }},
    {"fact", [](auto& file, auto& node, auto& names,
                auto& to) { to.what = load_fact_condition(file, node, names.per); }},
    {"line",
     [](auto& file, auto& node, auto& names, auto& to) { to.what = load_line(file, node, names); }},
    {"finding",
     [](auto& file, auto& node, auto&, auto& to) { to.what = load_finding(file, node); }},
    {"sequence", [](auto& file, auto& node, auto& names,
                    auto& to) { to.what = load_sequence(file, node, names); }},
    {"all", load_group_as<GroupCondition::Type::All>},
    {"any", load_group_as<GroupCondition::Type::Any>},
    {"none", load_group_as<GroupCondition::Type::None>},
};

Condition load_any_condition(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  entries_of(file, node, "a condition");
  Condition condition;
  for (const Sort& sort : kSorts) {
    if (node.find(sort.key) == nullptr) continue;
    sort.load(file, node, names, condition);
    return condition;
  }
  Names known;
  for (const Sort& sort : kSorts) known.push_back(sort.key);
  const RuleNode::Entry& first = node.entries.front();
  fail_unknown(file, first.place, "condition '{}'", first.key, known);
}

/// True if a rule judged per `per` has exactly one instance of `scope` around each of its own.
bool is_around(Scope scope, Scope per) {
  if (scope == Scope::Job || scope == per) return true;
  if (scope == Scope::Host) return per == Scope::Process || per == Scope::Rank;
  return scope == Scope::Rank && per == Scope::Process;
}

/// What the patterns of a label capture under that name.
FieldRef load_capture(const RuleFile& file, Place place, const LabelMeaning& meaning,
                      std::string_view name) {
  FieldRef field;
  field.group = name;
  std::vector<std::string> groups;
  for (const Pattern& pattern : meaning.patterns) {
    const auto names = pattern.group_names();
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      field.patterns.push_back(pattern);
    }
    groups.insert(groups.end(), names.begin(), names.end());
  }
  if (!field.patterns.empty()) return field;
  if (groups.empty()) {
    fail_at(file, place, fmt::format("the pattern captures nothing as '{}'", name),
            fmt::format("name a part of it: (?P<{}>…)", name));
  }
  fail_unknown(file, place, "capture '{}'", name, Names(groups.begin(), groups.end()));
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
  const bool is_number = header == HeaderField::Rank || header == HeaderField::Pid;
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
    for (const auto& [name, meaning] : names.labels) labels.push_back(name);
    fail_unknown(file, place, "label '{}'", label, labels);
  }
  const LabelMeaning& meaning = known->second;
  const std::string_view name = text.substr(dot + 1);
  if (meaning.kind != nullptr) {
    return {std::string(label), load_field(file, place, *meaning.kind, name)};
  }
  return {std::string(label), load_capture(file, place, meaning, name)};
}

}  // namespace ncclog
