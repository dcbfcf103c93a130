// Does a report say what a sample log's case.json says it should? See sample_logs/README.md.
//
//   missed shm-container-too-small or shm-no-space
//   shm-no-space names ranks [1], not [1,3]
//   wrongly error bootstrap-loopback
//   nranks is 4, not 8

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ncclog::testing {

/// What is wrong with `report` (ncclog.report/3) in the light of `expected` (a case.json); empty if
/// nothing is. Throws nlohmann's exceptions if either lacks the keys of its format.
std::vector<std::string> check_case(const nlohmann::json& expected, const nlohmann::json& report);

}  // namespace ncclog::testing
