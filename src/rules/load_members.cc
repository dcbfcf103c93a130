#include "rules/load_members.h"

#include <algorithm>
#include <utility>

#include "diagnose/settings/nccl_variables.h"
#include "log/messages.h"
#include "rules/load_condition.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

constexpr std::string_view kEnvironment = "environment.";

Scope load_scope(const RuleFile& file, const RuleNode& node) {
  return static_cast<Scope>(
      word_of(file, node, "scope", Names(scope_names().begin(), scope_names().end())));
}

std::optional<Scope> load_set(const RuleFile& file, const RuleNode& condition) {
  const RuleNode* in = condition.find("in");
  return in != nullptr ? std::optional(load_scope(file, *in)) : std::nullopt;
}

/// all, none, some_but_not_all, outlier, {exactly: 2}, {at_least: 2, at_most: 5}
void load_hold(const RuleFile& file, const RuleNode& node, AmongCondition& among) {
  if (node.type == RuleNode::Type::Scalar) {
    among.hold = static_cast<Hold>(
        word_of(file, node, "hold", {"all", "none", "some_but_not_all", "outlier"}));
    return;
  }
  entries_of(file, node, "for how many it must hold");
  only_keys(file, node, {"exactly", "at_least", "at_most"});
  among.hold = Hold::Count;
  if (const RuleNode* n = node.find("exactly")) among.count.equals = number_of(file, *n);
  if (const RuleNode* n = node.find("at_least")) among.count.at_least = number_of(file, *n);
  if (const RuleNode* n = node.find("at_most")) among.count.at_most = number_of(file, *n);
}

/// Such members have lines of their own.
void require_members(const RuleFile& file, Place place, Scope scope) {
  if (scope != Scope::Job) return;
  fail_at(file, place, "the job is no member of a set", "use rank, process, host, …");
}

/// The lines that tell the value are kept as well: they show it.
void load_setting(const RuleFile& file, Place place, DiffersCondition& differs) {
  differs.variable = differs.name.substr(kEnvironment.size());
  if (differs.variable.starts_with("NCCL_") && !is_nccl_variable(differs.variable)) {
    Names known;
    for (const NcclVariable& variable : nccl_variables()) known.push_back(variable.name);
    fail_unknown(file, place, "variable '{}'", differs.variable, known);
  }
  EventCondition line;
  line.kind = &all_kinds()[kKindIndex<EnvSet>];
  FieldTest name{load_field(file, place, *line.kind, "name"), {}};
  ValueTest same;
  same.values = {differs.variable};
  name.tests.push_back(std::move(same));
  line.where.push_back(std::move(name));
  differs.line = std::move(line);
}

void load_compared_field(const RuleFile& file, const RuleNode& condition, Place place,
                         DiffersCondition& differs) {
  const size_t dot = differs.name.find('.');
  if (dot == std::string::npos) {
    fail_at(file, place, fmt::format("'{}' names nothing that can differ", differs.name),
            "use environment.NAME, KIND.FIELD or a fact");
  }
  EventCondition line;
  line.kind = &load_kind(file, place, differs.name.substr(0, dot));
  differs.field = load_field(file, place, *line.kind, differs.name.substr(dot + 1));
  if (const RuleNode* where = condition.find("where"))
    line.where = load_where(file, *where, *line.kind);
  differs.line = std::move(line);
}

}  // namespace

bool is_around(Scope scope, Scope per) {
  switch (scope) {
    case Scope::Job:
      return true;
    case Scope::Host:
      return per == Scope::Host || per == Scope::Process || per == Scope::Rank ||
             per == Scope::Gpu || per == Scope::Nic;
    case Scope::Process:
      return per == Scope::Process;
    case Scope::Rank:
      return per == Scope::Rank || per == Scope::Process;
    case Scope::Communicator:
    case Scope::RankPair:
    case Scope::Gpu:
    case Scope::Nic:
      return per == scope;
  }
  return false;
}

AmongCondition load_among(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  only_keys(file, node, keys_of_condition("among"));
  AmongCondition among;
  const RuleNode& scope = required(file, node, "among");
  among.among = load_scope(file, scope);
  require_members(file, scope.place, among.among);
  among.in = load_set(file, node);
  load_hold(file, required(file, node, "hold"), among);
  ConditionNames inner{
      among.among, among.hold == Hold::None ? decltype(names.labels){} : std::move(names.labels)};
  among.what.push_back(load_condition(file, required(file, node, "what"), inner));
  if (among.hold != Hold::None) names.labels = std::move(inner.labels);
  among.label = load_label(file, node, "among");
  add_label(file, node.place, among.label, {nullptr, {}, true}, names);
  return among;
}

DiffersCondition load_differs(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  only_keys(file, node, keys_of_condition("differs"));
  DiffersCondition differs;
  const RuleNode& name = required(file, node, "differs");
  differs.name = scalar_of(file, name, "environment.NAME, KIND.FIELD or a fact");
  const RuleNode& across = required(file, node, "across");
  differs.across = load_scope(file, across);
  require_members(file, across.place, differs.across);
  differs.in = load_set(file, node);
  if (differs.name.starts_with(kEnvironment)) {
    load_setting(file, name.place, differs);
  } else if (parse_scope(differs.name.substr(0, differs.name.find('.')))) {
    differs.fact = &load_fact(file, name.place, differs.name, differs.across);
  } else {
    load_compared_field(file, node, name.place, differs);
  }
  const RuleNode* where = node.find("where");
  if (where != nullptr && (differs.fact != nullptr || !differs.variable.empty())) {
    fail_at(file, where->place, "only fields of events have a 'where'");
  }
  differs.label = load_label(file, node, "differs");
  add_label(file, node.place, differs.label, {nullptr, {}, true}, names);
  return differs;
}

}  // namespace ncclog
