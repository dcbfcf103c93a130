// Who is the odd one out? Only a clear majority can say so: two against two blames nobody.
//
//   three of four ranks called AllReduce of 8, rank 3 of 4     → rank 3
//   three of four that speak, of a group of eight              → nobody: the others may be alike
//
// What outvotes whom depends on those who are not heard, so there are three questions, and no other
// place of the sources counts votes:
//
//   is_majority        all who have to agree are known: whoever is not heard counts against it
//   is_clear           nobody knows how many are not heard: three alike are no chance, and three of
//                      four are not outvoted by the few whose files are missing
//   is_two_thirds      only those who suffer speak, such as ranks whose watchdogs fired: of three,
//                      two alike are enough, because the third one had the same reason to speak

#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace ncclog {

/// More than half of `all` agree.
constexpr bool is_majority(size_t agree, size_t all) { return 2 * agree > all; }

/// At least three agree, and at most one in four of those who are heard does not.
constexpr bool is_clear(size_t agree, size_t heard) { return agree >= 3 && 4 * agree >= 3 * heard; }

/// At least two agree, and at most one in three of those who are heard does not.
constexpr bool is_two_thirds(size_t agree, size_t heard) {
  return agree >= 2 && 3 * agree >= 2 * heard;
}

/// Only the few can be blamed for being unlike the others; one of two is few enough.
constexpr bool are_few(size_t few, size_t others) {
  return few < others || (few == 1 && others == 1);
}

/// Members of a group that made the same call, or show the same value, at one place.
template <typename Call>
struct Camp {
  Call call;                 ///< As its first member made it.
  std::vector<int> members;  ///< Ascending; never empty.

  bool operator==(const Camp&) const = default;
};

/// Of each key, whose calls count as the same, a camp: largest first, then by first member.
template <typename Key, typename Call>
std::vector<Camp<Call>> camps_of(const std::map<Key, std::map<int, Call>>& calls_by_member) {
  std::vector<Camp<Call>> camps;
  for (const auto& [key, calls] : calls_by_member) {
    Camp<Call>& camp = camps.emplace_back(Camp<Call>{calls.begin()->second, {}});
    for (const auto& [member, call] : calls) camp.members.push_back(member);
  }
  std::ranges::stable_sort(camps, [](const Camp<Call>& a, const Camp<Call>& b) {
    if (a.members.size() != b.members.size()) return a.members.size() > b.members.size();
    return a.members < b.members;
  });
  return camps;
}

/// Members of the smaller groups if one group holds more than half of all; else nobody. `groups`
/// maps whatever they are told apart by to members. Ascending.
template <typename Groups>
std::vector<int> minority(const Groups& groups) {
  size_t all = 0;
  size_t largest = 0;
  for (const auto& [key, members] : groups) {
    all += members.size();
    largest = std::max(largest, members.size());
  }
  std::vector<int> result;
  for (const auto& [key, members] : groups) {
    if (is_majority(largest, all) && members.size() < largest) {
      result.insert(result.end(), members.begin(), members.end());
    }
  }
  std::ranges::sort(result);
  return result;
}

/// The members of all camps but the first if `outvotes(agree, heard)` says that this one outvotes
/// them; else nobody. `camps` as camps_of gives them, at least one.
template <typename Call, typename Outvotes>
std::vector<int> outvoted(const std::vector<Camp<Call>>& camps, Outvotes&& outvotes) {
  std::vector<int> others;
  for (size_t c = 1; c < camps.size(); ++c) {
    others.insert(others.end(), camps[c].members.begin(), camps[c].members.end());
  }
  const size_t agree = camps.front().members.size();
  return outvotes(agree, agree + others.size()) ? others : std::vector<int>{};
}

}  // namespace ncclog
