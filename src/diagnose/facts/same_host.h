// Do two names stand for one host?
//
//   "n1", "n1.cluster.example"   → yes, one of them may lack its domain
//   "n1.a", "n1.b", "n1", ""     → no

#pragma once

#include <string_view>

namespace ncclog {

/// False where one of them is empty.
bool is_same_host(std::string_view a, std::string_view b);

}  // namespace ncclog
