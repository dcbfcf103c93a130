#include "rules/builtin_rules.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rules/load_rules.h"

namespace ncclog {
// The rules that the executable brings along. On its own, because the tool that embeds them is
// linked without any.

namespace {

constexpr std::string_view kLists = "lists.yaml";

RuleFile rule_file(const EmbeddedFile& file) {
  return {"rules/" + std::string(file.path), read_compact(file.text), true};
}

std::vector<Rule> load_builtin_rules() {
  std::vector<Rule> rules;
  for (const EmbeddedFile& file : embedded_rules()) {
    if (file.path != kLists) rules.push_back(load_rule(rule_file(file)));
  }
  return rules;
}

}  // namespace

SharedNames builtin_shared_names() {
  SharedNames names;
  for (const EmbeddedFile& file : embedded_rules()) {
    if (file.path == kLists) load_shared_names(rule_file(file), names);
  }
  return names;
}

Rulebook load_rulebook() { return make_rulebook(load_builtin_rules()); }

Rulebook load_rulebook(const std::vector<std::string>& paths, Date today) {
  if (paths.empty()) return load_rulebook();
  RuleSet set =
      read_rule_set(paths, builtin_shared_names(), [](const Error& error) { throw error; });
  std::vector<Rule> rules = load_builtin_rules();
  std::move(set.rules.begin(), set.rules.end(), std::back_inserter(rules));
  return make_rulebook(std::move(rules), std::move(set.overlays), today);
}

}  // namespace ncclog
