// From rule files to a rulebook. Strict: whatever the program does not know is an error with its
// place and the nearest name that it does know.
//
//   ncclog: rules/shm/shm-no-space.yaml:7:28: unknown field 'sizes' of event shm_create_failed
//     hint: did you mean 'size'?
//
// The steps: find_rule_files and read_rule_file give trees, replace_shared_names puts lists and
// conditions in the place of names, load_rule makes a rule of a tree (its `when` is read by
// rules/load_condition.h), make_rulebook joins the rules in the order in which they are judged.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "rules/rule.h"

namespace ncclog {

/// True for words in lower case, joined by '-'.
bool is_rule_id(std::string_view id);

/// The keys that a rule may have.
std::span<const std::string_view> rule_keys();

/// The rule in a file. Throws Error. Ids of other rules are checked by make_rulebook.
Rule load_rule(RuleFile file);

/// Rule::hash of the rule that this tree holds.
uint64_t rule_hash(const RuleNode& root);

/// The rule in a YAML text. `path` is used in messages; its last part must be the rule's id.
Rule load_rule(std::string_view yaml, const std::string& path);

/// The files below a folder whose names have one of `endings`, sorted, or the one file that is
/// named; `what` they are for: "rule". Throws Error if there is none.
std::vector<std::string> find_files(const std::string& path, std::string_view what,
                                    const std::vector<std::string_view>& endings);

/// All "*.yaml" files below a folder, sorted, or the one file that is named. Throws Error if there
/// is none.
std::vector<std::string> find_rule_files(const std::string& path);

/// Reads a file from disk, without looking at what it says. Throws Error.
RuleFile read_rule_file(const std::string& path);

/// A rule file that the executable brings along; "lists.yaml" is one of shared names.
struct EmbeddedRule {
  std::string_view path;  ///< Below rules/: "shm/shm-no-space.yaml".
  std::string_view text;  ///< The rule's hash, then what read_compact reads, shared names replaced.
  std::string_view examples;  ///< What read_compact reads, left out of `text`.
};

/// All of them, sorted by path. Generated at build time by rules/embed/embed_rules.cc, which refuses
/// a broken rule.
std::span<const EmbeddedRule> embedded_rules();

/// Joins rules; a later one replaces an earlier one of the same id unless both come from files or
/// both are built in. Overlays that ended before `today`, "2027-01-31", are set apart. Throws Error
/// for ids that stand twice, that nothing has, or that form a cycle.
Rulebook make_rulebook(std::vector<Rule> rules, std::vector<Overlay> overlays = {},
                       std::string_view today = {});

/// The built-in rules, extended, replaced or overlaid by the files that `paths` name: files and
/// folders. Without a day no overlay has ended. Throws Error. Built-in rules are without examples,
/// half of their bytes, which judging does not need.
Rulebook load_rulebook(const std::vector<std::string>& paths = {}, std::string_view today = {});

/// The same with all examples.
Rulebook load_rulebook_with_examples(const std::vector<std::string>& paths = {});

/// error, warning or info.
Severity severity_of(const RuleNode& node);

// Lists and conditions that several rule files share by name.
//
//   lists:
//     container_interfaces: [docker0, podman0, cni0]
//   conditions:
//     rdma_present: {fact: job.rdma_evidence, is: true}
//
// A rule writes `{name: $container_interfaces}` or `[eth0, $container_interfaces]`, and
// `{use: rdma_present}` where a condition may stand. Names are replaced before a rule is loaded, so
// the rest of the program knows rules without any; what replaced a name has the name's place.

/// Invariant: no name stands inside the nodes any more.
struct SharedNames {
  std::map<std::string, RuleNode, std::less<>> lists;       ///< Sequences of scalars.
  std::map<std::string, RuleNode, std::less<>> conditions;  ///< As under `when`.
};

/// True if the tree is a file of shared names, and no rule.
bool is_shared_names(const RuleNode& root);

/// Adds the names of a file; what has the name already is replaced. A list or condition may use
/// what stands above it or is in `names`. Throws Error, also for conditions that name nothing, and
/// for names of names that stand for too much.
void load_shared_names(const RuleFile& file, SharedNames& names);

/// Replaces the names in a rule, outside of its message and examples. Throws Error for a name that
/// is not there, and for names that stand for too much.
void replace_shared_names(RuleFile& file, const SharedNames& names);

/// Whether `text` is a day of the calendar, "2027-01-31": such texts are ordered as their days.
bool is_day(std::string_view text);

/// The day, UTC, that `seconds` after 1970 is in.
std::string day_of(int64_t seconds);

/// True if the tree is a file of overlays, and no rule.
bool is_overlay_file(const RuleNode& root);

/// The entries of an overlay file. Throws Error; ids of rules are checked by make_rulebook.
std::vector<Overlay> load_overlays(const RuleFile& file);

// What a group of YAML files says together: rules, the names that they share, and overlays.
//
//   site-rules/lists.yaml          names for the rules of this group
//   site-rules/net/our-rail.yaml   a rule
//   site-rules/known.yaml          an overlay

struct RuleSet {
  std::vector<Rule> rules;
  std::vector<Overlay> overlays;
  size_t files = 0;             ///< That were read, right or wrong.
  std::vector<Error> problems;  ///< At most one per file, which is left out; empty: all is well.
};

/// Reads all files that `paths` name. Their rules may use the names that some of them define, and
/// those in `shared`.
RuleSet read_rule_set(const std::vector<std::string>& paths, SharedNames shared);

/// Names for all rules: those of rules/lists.yaml.
SharedNames builtin_shared_names();

}  // namespace ncclog
