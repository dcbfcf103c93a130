// Which sources list operations of NCCL, which base/collectives.table alone may?
//
//   constexpr std::string_view kRooted[] = {"Broadcast", "Reduce"};   → "diagnose/x.cc: Broadcast, Reduce"

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

/// The operations that a source names in quotes, by whatever name the tables have, in the tables'
/// order. A text of several names, "AllGather|Reduce", counts; a sentence does not.
std::vector<std::string> quoted_operations(std::string_view source);

/// Sources under `source_root` with two or more, as above; empty for a sound tree.
std::vector<std::string> operation_lists(const std::filesystem::path& source_root);

}  // namespace ncclog::testing
