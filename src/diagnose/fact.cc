#include "diagnose/fact.h"

#include <algorithm>

#include "diagnose/fact_tables.h"

namespace ncclog {
namespace {

std::vector<Fact> collect_facts() {
  std::vector<Fact> facts;
  for (const std::span<const Fact> table : fact_tables()) {
    facts.insert(facts.end(), table.begin(), table.end());
  }
  std::sort(facts.begin(), facts.end(),
            [](const Fact& a, const Fact& b) { return a.name < b.name; });
  return facts;
}

}  // namespace

std::span<const Fact> all_facts() {
  static const std::vector<Fact> facts = collect_facts();
  return facts;
}

const Fact* find_fact(std::string_view name) {
  for (const Fact& fact : all_facts()) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

std::string fact_text(const FactValue& value) {
  if (const bool* yes = std::get_if<bool>(&value.value)) return *yes ? "yes" : "no";
  if (const int64_t* number = std::get_if<int64_t>(&value.value)) return std::to_string(*number);
  if (const std::string* text = std::get_if<std::string>(&value.value)) return *text;
  return "unknown";
}

}  // namespace ncclog
