// Which keys may a condition have? One table for the loader, which refuses others, and for the JSON
// Schema, by which editors complete them.

#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace ncclog {

/// A condition is named by one key, and may have others beside it.
struct ConditionKeys {
  std::string_view name;                 ///< "event"
  std::vector<std::string_view> beside;  ///< "where", "in", …
};

/// All conditions; valid for the whole program.
std::span<const ConditionKeys> condition_keys();

/// The keys of a condition, its own name first. `name` must be one of the table.
std::vector<std::string_view> keys_of_condition(std::string_view name);

/// A message kind and its fields, header fields among them: what an event condition may name.
struct KindNames {
  std::string_view kind;
  std::vector<std::string_view> fields;
};
std::vector<KindNames> kind_names();

/// What may stand in a map of comparisons: "not", "contains", …
std::span<const std::string_view> comparison_names();

/// Values of `per`, in the order of Scope.
std::span<const std::string_view> per_names();

/// Values of `in`, in the order of Reach.
std::span<const std::string_view> reach_names();

}  // namespace ncclog
