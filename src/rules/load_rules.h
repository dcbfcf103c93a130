// From rule files to a rulebook. Strict: whatever the program does not know is an error with its
// place and the nearest name that it does know.
//
//   ncclog: rules/shm/shm-no-space.yaml:7:28: unknown field 'sizes' of event shm_create_failed
//     hint: did you mean 'size'?

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"
#include "rules/rule_node.h"

namespace ncclog {

/// A rule file's tree with the path that messages name.
struct RuleFile {
  std::string path;
  RuleNode root;
  bool builtin = false;  ///< Checked when ncclog was built: expressions are not compiled again.
};

/// True for words in lower case, joined by '-'.
bool is_rule_id(std::string_view id);

/// The keys that a rule may have.
std::span<const std::string_view> rule_keys();

/// The rule in a file. Throws Error. Ids of other rules are checked by make_rulebook.
Rule load_rule(const RuleFile& file);

/// The rule in a YAML text. `path` is used in messages; its last part must be the rule's id.
Rule load_rule(std::string_view yaml, const std::string& path);

/// All "*.yaml" files below a folder, sorted, or the one file that is named. Throws Error if there
/// is none.
std::vector<std::string> find_rule_files(const std::string& path);

/// Reads a file from disk, without looking at what it says. Throws Error.
RuleFile read_rule_file(const std::string& path);

/// Joins rules; a later one replaces an earlier one of the same id unless both come from files or
/// both are built in. Throws Error for ids that stand twice, that nothing has, or that form a
/// cycle.
Rulebook make_rulebook(std::vector<Rule> rules);

/// The same with overlays for them; those that ended before `today` are set apart.
Rulebook make_rulebook(std::vector<Rule> rules, std::vector<Overlay> overlays, Date today);

/// The built-in rules.
Rulebook load_rulebook();

/// The built-in rules, extended, replaced or overlaid by the files that `paths` name: files and
/// folders. Without a day no overlay has ended. Throws Error.
Rulebook load_rulebook(const std::vector<std::string>& paths, Date today = {});

}  // namespace ncclog
