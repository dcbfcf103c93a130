// Does `ncclog perf` say of a measurement what is known about it? See sample_logs/README.md.
//
//   AllReduce: answer is normal, not limited
//   AllReduce: stage is tcp, not nic or nvls
//   AllReduce: ceiling is 100 (of the machine 400), not 192
//
// A case says it in `expect`; a key.json of measured machines says it in prose, which comes down to
// the same form.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ncclog::testing {

/// What is wrong with `report` (ncclog.perf/1) in the light of `expected` (a case.json); empty if
/// nothing is. An entry of `expect` is about the measurement of its operation that reached most
/// nearly what it says. Throws nlohmann's exceptions if `expected` lacks the keys of its format.
std::vector<std::string> check_perf_case(const nlohmann::json& expected,
                                         const nlohmann::json& report);

/// The case that a key.json describes: "27 % below the 64-node value at best" → answer "below".
/// Its stage is prose, and is not held. "normal" may be answered with "cannot tell", too, by who says
/// what it would be normal of.
nlohmann::json case_of_key(const nlohmann::json& key);

}  // namespace ncclog::testing
