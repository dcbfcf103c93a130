// What do the numbers of a version say, and which of two releases is the older one?
//
//   "2.9.8" < "2.10.3" < "2.27.3+cuda12.9" = "2.27.3"

#pragma once

#include <string_view>
#include <vector>

namespace ncclog {

/// The leading numbers of a version, of six digits at most each: {2, 9, 0} for "2.9.0a0+git1234".
/// Empty: it begins with none.
std::vector<int> version_parts(std::string_view version);

/// Below 0 if release `a` is older than `b`, 0 if they are the same, above 0 if it is newer.
/// Only version_parts are compared; those that one of the two lacks count as 0.
int compare_releases(std::string_view a, std::string_view b);

/// True for two or more numbers between dots, "2.27.3".
bool is_release(std::string_view text);

}  // namespace ncclog
