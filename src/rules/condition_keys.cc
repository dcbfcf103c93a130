#include "rules/condition_keys.h"

#include "diagnose/instance.h"
#include "log/known_messages.h"
#include "rules/field_test.h"

namespace ncclog {

std::span<const ConditionKeys> condition_keys() {
  static const ConditionKeys kKeys[] = {
      {"event", {"where", "phase", "in", "count", "as"}},
      {"fact", {"is", "equals", "at_least", "at_most", "contains"}},
      {"line", {"phase", "in", "count", "as"}},
      {"finding", {}},
      {"sequence", {"unless", "within", "in"}},
      {"all", {}},
      {"any", {}},
      {"none", {}},
  };
  return kKeys;
}

std::vector<std::string_view> keys_of_condition(std::string_view name) {
  std::vector<std::string_view> keys = {name};
  for (const ConditionKeys& condition : condition_keys()) {
    if (condition.name != name) continue;
    keys.insert(keys.end(), condition.beside.begin(), condition.beside.end());
  }
  return keys;
}

std::vector<KindNames> kind_names() {
  std::vector<KindNames> kinds;
  for (const Kind& kind : all_kinds()) {
    KindNames& names = kinds.emplace_back(KindNames{kind.name, {}});
    for (const Field& field : kind.fields) names.fields.push_back(field.name);
    for (const std::string_view field : header_field_names()) names.fields.push_back(field);
  }
  return kinds;
}

std::span<const std::string_view> comparison_names() {
  static constexpr std::string_view kNames[] = {"not",     "contains", "starts_with", "ends_with",
                                                "matches", "at_least", "at_most",     "above",
                                                "below",   "empty",    "field"};
  return kNames;
}

std::span<const std::string_view> per_names() {
  return scope_names().first(static_cast<size_t>(Scope::RankPair) + 1);
}

std::span<const std::string_view> reach_names() {
  static constexpr std::string_view kNames[] = {"job", "host"};
  return kNames;
}

}  // namespace ncclog
