// Which runs next? Those whose outcomes leave the fewest further runs to make, whatever they are.
//
//   left: hosts a b c d, 6 links      → a b, c d at once: "a b slow" leaves a, b and their link;
//                                       "both alike" leaves the 4 links between the two pairs
//
// Of up to 8 hosts all ways to take disjoint sets of one size are tried, first with all rails, the
// best of them also with some sets once per rail. Links decide the order: of links that meet in one
// host a set of runs tests one side only, while links that meet nowhere are all tested at once. So a
// set is judged by what its worst outcome leaves: the further sets that this takes, by the shape of
// the links that are left, then how much it is, then the number of runs.

#pragma once

#include <string>
#include <vector>

#include "diagnose/perf/node_sets/numbered_runs.h"

namespace ncclog {

/// A run to make.
struct NextRun {
  std::vector<std::string> hosts;  ///< One host: over its NICs (NCCL_HOSTID differs on each rank).
  std::string rail;                ///< NIC to use alone (NCCL_IB_HCA); empty: all.

  bool operator==(const NextRun&) const = default;
};

/// The runs that divide these explanations best, to be made at once. One explanation may be empty:
/// nothing is bad. Of runs that divide them alike those are taken that leave the fewest of `doubts`,
/// larger explanations. Empty: no run would divide them.
std::vector<NextRun> next_runs(const NumberedRuns& all, const std::vector<Suspects>& explanations,
                               const std::vector<Suspects>& doubts = {});

/// The same where there are too many to be listed: halves of `hosts`.
std::vector<NextRun> halves_of(const NumberedRuns& all, const HostSet& hosts);

}  // namespace ncclog
