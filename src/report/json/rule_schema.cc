#include <set>
#include <utility>

#include "diagnose/facts/coverage.h"
#include "diagnose/facts/fact.h"
#include "report/json/json_fields.h"
#include "report/report.h"
#include "rules/load_condition.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

Json ref(std::string_view name) { return {{"$ref", "#/$defs/" + std::string(name)}}; }

Json list_of(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }

Json one_or_list(Json item) {
  Json list = list_of(item);
  return {{"anyOf", Json::array({std::move(item), std::move(list)})}};
}

template <typename Names>
Json words(const Names& names) {
  return {{"enum", Json(names)}};
}

Json scalar() { return {{"type", {"string", "integer", "number", "boolean"}}}; }

/// Known names are offered; others that look like one are left to `ncclog rules check`.
Json offered(Json names, const char* pattern) {
  return {{"anyOf", Json::array({std::move(names), {{"type", "string"}, {"pattern", pattern}}})}};
}

Json rule_ids(const Rulebook& rulebook) {
  std::set<std::string> ids;
  for (const Rule& rule : rulebook.rules) ids.insert(rule.id);
  return offered(words(ids), "^[a-z0-9$][a-z0-9_-]*$");
}

Json comparison_value(std::string_view name) {
  if (name == "at_least" || name == "at_most" || name == "above" || name == "below") {
    return {{"type", {"string", "integer"}}, {"pattern", "^-?[0-9]+[KMGTP]?$"}};
  }
  if (name == "empty" || name == "is") return {{"type", "boolean"}};
  return one_or_list(scalar());
}

Json field_demand() {
  Json comparisons = Json::object();
  for (const std::string_view name : comparison_names()) {
    comparisons[std::string(name)] = comparison_value(name);
  }
  return {{"anyOf", Json::array({scalar(), list_of(scalar()),
                                 closed_object(std::move(comparisons), Json::array())})}};
}

/// One way to write an event condition: the kind, and what its fields must hold.
Json event_of_kind(const KindNames& kind) {
  Json fields = Json::object();
  for (const std::string_view field : kind.fields) fields[std::string(field)] = ref("demand");
  return {{"properties",
           {{"event", {{"const", kind.kind}}},
            {"where", closed_object(std::move(fields), Json::array())}}}};
}

/// The names of things that have one.
template <typename List, typename Name>
Json names_of(const List& list, Name name) {
  Json names = Json::array();
  for (const auto& item : list) names.push_back(item.*name);
  return {{"enum", std::move(names)}};
}

bool is_group(std::string_view name) { return name == "all" || name == "any" || name == "none"; }

/// What may stand under the key by which a condition is named.
Json condition_name_value(std::string_view name) {
  if (name == "event") return names_of(kind_names(), &KindNames::kind);
  if (name == "each") {
    Json names = names_of(job_tables(), &JobTable::name);
    for (const KindNames& kind : kind_names()) names["enum"].push_back(kind.kind);
    return names;
  }
  if (name == "fact") return names_of(all_facts(), &Fact::name);
  if (name == "finding") return ref("rule_id");
  if (is_group(name) || name == "sequence") return list_of(ref("condition"));
  if (name == "line") return type::text();
  return Json::object();
}

/// What may stand under another key of the condition; anything under keys without a row.
Json condition_key_value(std::string_view condition, std::string_view key) {
  if (condition == "fact") return comparison_value(key);
  if (key == "in") return words(reach_names());
  if (key == "at") return words(std::vector<std::string_view>{"place"});
  if (key == "usual") return one_or_list(scalar());
  if (key == "lines") return {{"type", {"string", "integer"}}, {"pattern", "^[0-9]+$"}};
  constexpr std::string_view kTexts[] = {"as", "by", "odd", "differ", "words", "between"};
  if (equals_one_of(key, kTexts)) return type::text();
  if (key == "where" || key == "count") return {{"type", "object"}};
  return Json::object();
}

Json condition_of(const ConditionSort& keys) {
  Json properties = Json::object();
  properties[std::string(keys.name)] = condition_name_value(keys.name);
  for (const std::string_view key : keys.beside) {
    properties[std::string(key)] = condition_key_value(keys.name, key);
  }
  Json schema = closed_object(std::move(properties), Json::array({keys.name}));
  if (keys.name != "event") return schema;
  for (const KindNames& kind : kind_names()) schema["anyOf"].push_back(event_of_kind(kind));
  return schema;
}

Json condition() {
  Json options = Json::array();
  for (const ConditionSort& keys : condition_sorts()) options.push_back(condition_of(keys));
  options.push_back(closed_object({{"use", type::text()}}, Json::array({"use"})));
  return {{"anyOf", std::move(options)}};
}

}  // namespace

std::string rule_schema(const Rulebook& rulebook) {
  Json schema = Json::parse(schema_files().front().text);
  Json& defs = schema["$defs"];
  Json& keys = defs["rule"]["properties"];
  keys["per"] = words(words_of_enum<Scope>());
  keys["needs"] = one_or_list(offered(names_of(coverage_facts(), &Fact::name), "^[$][a-z0-9_]+$"));
  std::vector<std::string_view> host_facts;
  for (const Fact& fact : all_facts()) {
    if (fact.scope == Scope::Host) host_facts.push_back(fact.name);
  }
  keys["host"]["properties"]["fact"] = words(host_facts);
  defs["condition"] = condition();
  defs["demand"] = field_demand();
  defs["rule_id"] = rule_ids(rulebook);
  return schema.dump() + "\n";
}

}  // namespace ncclog
