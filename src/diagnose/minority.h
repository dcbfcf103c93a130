// Who is the odd one out? Only a clear majority can say so: two against two blames nobody.

#pragma once

#include <algorithm>
#include <map>
#include <vector>

namespace ncclog {

/// Processes of the smaller groups if one group holds more than half of all; else nobody.
template <typename Key>
std::vector<int> minority(const std::map<Key, std::vector<int>>& groups) {
  size_t all = 0;
  size_t largest = 0;
  for (const auto& [key, members] : groups) {
    all += members.size();
    largest = std::max(largest, members.size());
  }
  std::vector<int> result;
  for (const auto& [key, members] : groups) {
    if (2 * largest > all && members.size() < largest) {
      result.insert(result.end(), members.begin(), members.end());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace ncclog
