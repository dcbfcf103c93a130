// The rules that the executable brings along. On its own, because the tool that embeds them is
// linked without any.

#include <utility>

#include "rules/embedded_rules.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

std::vector<Rule> load_builtin_rules() {
  std::vector<Rule> rules;
  for (const EmbeddedFile& file : embedded_rules()) {
    rules.push_back(
        load_rule(RuleFile{"rules/" + std::string(file.path), read_compact(file.text), true}));
  }
  return rules;
}

}  // namespace

Rulebook load_rulebook() { return make_rulebook(load_builtin_rules()); }

Rulebook load_rulebook(const std::vector<std::string>& paths) {
  std::vector<Rule> rules = load_builtin_rules();
  for (const std::string& path : paths) {
    for (const std::string& file : find_rule_files(path)) rules.push_back(load_rule_file(file));
  }
  return make_rulebook(std::move(rules));
}

}  // namespace ncclog
