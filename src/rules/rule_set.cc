#include "rules/rule_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ncclog {
namespace {

/// Calls `load`; its Error goes to `on_error`.
template <typename Load>
void attempt(const OnRuleError& on_error, Load&& load) {
  try {
    load();
  } catch (const Error& error) {
    on_error(error);
  }
}

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    for (std::string& file : find_rule_files(path)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

RuleSet read_rule_set(const std::vector<std::string>& paths, SharedNames shared,
                      const OnRuleError& on_error) {
  RuleSet set;
  std::vector<RuleFile> rules;
  for (const std::string& path : files_of(paths)) {
    ++set.files;
    attempt(on_error, [&] {
      RuleFile file = read_rule_file(path);
      if (is_shared_names(file.root)) {
        load_shared_names(file, shared);
      } else if (is_overlay_file(file.root)) {
        std::vector<Overlay> overlays = load_overlays(file);
        std::move(overlays.begin(), overlays.end(), std::back_inserter(set.overlays));
      } else {
        rules.push_back(std::move(file));
      }
    });
  }
  for (RuleFile& file : rules) {
    attempt(on_error, [&] {
      replace_shared_names(file, shared);
      set.rules.push_back(load_rule(file));
    });
  }
  return set;
}

}  // namespace ncclog
