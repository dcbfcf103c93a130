// A rule file as a tree of texts, before anything is made of it.
//
//   severity: error            a map from the key "severity" to the scalar "error",
//   check: [ip -br a, df -h]   and from "check" to a sequence of two scalars
//
// Two forms hold such a tree: YAML, which people write, and a compact one, which the build makes of
// the built-in rules so that they load in a millisecond. One loader reads both
// (rules/load_rules.h) with the words at the end of this file. Every node knows its place in the
// file that a person edits, whichever form it came from.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

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

// Words for reading a tree strictly: what is not expected is an error with its place. They know the
// tree alone; in_file() says which file it is of.

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

/// Throws Error whose `where` is the place alone, "7:28".
[[noreturn]] void fail_at(Place place, const std::string& what, const std::string& hint = {});

/// So many known names are few enough to be listed: a rule's keys are.
inline constexpr size_t kMostNamesListed = 27;

/// Throws Error: `name` is none of the `known` ones. The hint names the nearest, else all if there
/// are at most kMostNamesListed.
[[noreturn]] void fail_unknown(Place place, std::string_view what, std::string_view name,
                               const Names& known);

/// Calls `read`, whose errors name places of that file; they get its path: "x.yaml:7:28".
template <typename Read>
auto in_file(const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.what(), path + ":" + error.where(), error.hint());
  }
}

/// The scalar's text; `what` says in messages what is expected: "an id".
const std::string& scalar_of(const RuleNode& node, std::string_view what);

/// A sequence of scalars; a single scalar stands for a sequence of one.
std::vector<std::string> scalars_of(const RuleNode& node, std::string_view what);

int64_t number_of(const RuleNode& node);
bool bool_of(const RuleNode& node);

/// Throws Error unless the node is a sequence, or a map, with something in it.
const std::vector<RuleNode>& items_of(const RuleNode& node, std::string_view what);
const std::vector<RuleNode::Entry>& entries_of(const RuleNode& node, std::string_view what);

/// Throws Error for a key of the map that is not among `known`.
void only_keys(const RuleNode& map, const Names& known);

/// The value of a key that must be there.
const RuleNode& required(const RuleNode& map, std::string_view key);

/// A word out of a closed list, as the position of its name: severity: error.
size_t word_of(const RuleNode& node, std::string_view what, const Names& names);

/// The same where the names are those of an enum, in its order.
template <typename Enum>
Enum enum_of(const RuleNode& node, std::string_view what,
             const Names& names = words_of_enum<Enum>()) {
  return static_cast<Enum>(word_of(node, what, names));
}

/// A key that a map may have, and where its value goes.
template <typename To>
struct MapKey {
  std::string_view name;
  bool is_required;
  void (*read)(const RuleNode& value, To& to);
};

/// Reads a map that may have these keys and no others, in the order of the rows. `what` it is: "a
/// rule".
template <typename To, size_t N>
void read_map(const RuleNode& map, std::string_view what, const MapKey<To> (&keys)[N], To& to) {
  entries_of(map, what);
  only_keys(map, names_of(keys));
  for (const MapKey<To>& key : keys) {
    const RuleNode* value = key.is_required ? &required(map, key.name) : map.find(key.name);
    if (value != nullptr) key.read(*value, to);
  }
}

}  // namespace ncclog
