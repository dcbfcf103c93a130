// Which of two releases is the older one?
//
//   "2.9.8" < "2.10.3" < "2.27.3+cuda12.9" = "2.27.3"

#pragma once

#include <string_view>

namespace ncclog {

/// Below 0 if release `a` is older than `b`, 0 if they are the same, above 0 if it is newer.
/// Numbers between dots are compared; what follows the last number is ignored.
int compare_releases(std::string_view a, std::string_view b);

/// True for two or more numbers between dots, "2.27.3".
bool is_release(std::string_view text);

}  // namespace ncclog
