// Does a JSON value fit a JSON Schema? As much of draft 2020-12 as our own schema uses.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ncclog::testing {

/// What does not fit, each as "/job/nranks: not a integer or null"; empty if `value` is valid.
/// Throws std::runtime_error for a keyword that is not implemented: nothing is silently ignored.
std::vector<std::string> schema_errors(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace ncclog::testing
