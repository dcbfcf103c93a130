// Words for reading a rule file's tree strictly: what is not expected is an error with its place.

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "rules/load_rules.h"
#include "rules/rule_node.h"

namespace ncclog {

using Names = std::vector<std::string_view>;

/// Throws Error at a place of the file.
[[noreturn]] void fail_at(const RuleFile& file, Place place, const std::string& what,
                          const std::string& hint = {});

/// Throws Error: `name` is none of the `known` ones. The hint names the nearest, or all if few.
[[noreturn]] void fail_unknown(const RuleFile& file, Place place, std::string_view what,
                               std::string_view name, const Names& known);

/// The scalar's text; `what` says in messages what is expected: "an id".
const std::string& scalar_of(const RuleFile& file, const RuleNode& node, std::string_view what);

/// A sequence of scalars; a single scalar stands for a sequence of one.
std::vector<std::string> scalars_of(const RuleFile& file, const RuleNode& node,
                                    std::string_view what);

int64_t number_of(const RuleFile& file, const RuleNode& node);
bool bool_of(const RuleFile& file, const RuleNode& node);

/// Throws Error unless the node is a sequence, or a map, with something in it.
const std::vector<RuleNode>& items_of(const RuleFile& file, const RuleNode& node,
                                      std::string_view what);
const std::vector<RuleNode::Entry>& entries_of(const RuleFile& file, const RuleNode& node,
                                               std::string_view what);

/// Throws Error for a key of the map that is not among `known`.
void only_keys(const RuleFile& file, const RuleNode& map, const Names& known);

/// The value of a key that must be there.
const RuleNode& required(const RuleFile& file, const RuleNode& map, std::string_view key);

/// A word out of a closed list, as the position of its name: severity: error.
size_t word_of(const RuleFile& file, const RuleNode& node, std::string_view what,
               const Names& names);

}  // namespace ncclog
