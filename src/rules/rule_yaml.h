// A rule file as a tree of texts, before anything is made of it.
//
//   severity: error            a map from the key "severity" to the scalar "error",
//   check: [ip -br a, df -h]   and from "check" to a sequence of two scalars
//
// Two forms hold such a tree: YAML, which people write, and a compact one, which the build makes of
// the built-in rules so that they load in a millisecond. One loader reads both
// (rules/load_rules.h) with the words at the end of this file. Every node knows its place in the file that a person edits, whichever form
// it came from.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// A place in a rule file; both count from 1. 0: unknown.
struct Place {
  uint32_t line = 0;
  uint32_t column = 0;

  bool operator==(const Place&) const = default;
};

/// A node and everything below it.
struct RuleNode {
  enum class Type : uint8_t { Null, Scalar, Sequence, Map };
  struct Entry;

  Type type = Type::Null;
  Place place;
  std::string text;             ///< Of a scalar.
  std::vector<RuleNode> items;  ///< Of a sequence.
  std::vector<Entry> entries;   ///< Of a map, in file order; keys are unique.

  /// The value under `key`; nullptr if this is no map or has no such key.
  const RuleNode* find(std::string_view key) const;

  bool operator==(const RuleNode& other) const;
};

struct RuleNode::Entry {
  std::string key;
  Place place;  ///< Of the key.
  RuleNode value;

  bool operator==(const Entry&) const = default;
};

/// Reads YAML. `path` is used in messages only. Throws Error with path:line:column for broken YAML,
/// duplicate keys, anchors and aliases, a second document, keys that are not text.
RuleNode read_yaml(std::string_view yaml, const std::string& path);

/// The compact form of a tree, places included.
std::string write_compact(const RuleNode& node);

/// Reads the compact form. Throws Error if the bytes are none; never reads outside of them.
RuleNode read_compact(std::string_view bytes);

/// The tree as one line of YAML flow style, for people: {event: shm_attach_failed, as: attach}.
std::string flow_text(const RuleNode& node);

/// A rule file's tree with the path that messages name.
struct RuleFile {
  std::string path;
  RuleNode root;
  bool builtin = false;  ///< Checked when ncclog was built: expressions are not compiled again.
  std::optional<uint64_t> hash = std::nullopt;  ///< Its Rule::hash, where that is known.
};

// Words for reading a rule file's tree strictly: what is not expected is an error with its place.

using Names = std::vector<std::string_view>;

/// The names of things that have one.
template <typename List>
Names names_of(const List& list) {
  Names names;
  for (const auto& item : list) names.push_back(item.name);
  return names;
}

template <typename Map>
Names keys_of(const Map& map) {
  Names keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

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
