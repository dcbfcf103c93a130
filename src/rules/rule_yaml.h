// A rule file as a tree of texts, before anything is made of it.
//
//   severity: error            a map from the key "severity" to the scalar "error",
//   check: [ip -br a, df -h]   and from "check" to a sequence of two scalars
//
// Two forms hold such a tree: YAML, which people write, and a compact one, which the build makes of
// the built-in rules so that they load in a millisecond. One loader reads both
// (rules/load_rules.h). Every node knows its place in the file that a person edits, whichever form
// it came from.

#pragma once

#include <cstdint>
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

}  // namespace ncclog
