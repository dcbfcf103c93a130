// From the instances in which a rule holds to its one finding: whom it names, what it says, and
// what shows it.
//
//   rank 3 on a07, rank 5 on a08, each with a peer_closed line
//     → "Rank 3 on a07 (pid 812; also rank 5) lost 10.4.4.1<40123>.", both lines as evidence

#pragma once

#include <string>
#include <vector>

#include "rules/judge.h"

namespace ncclog {

/// Turns the names of tools and variables in each text into AMD's, because advice is written for
/// NVIDIA's tools: "nvidia-smi topo -m" → "rocm-smi --showtopo".
void use_amd_words(std::vector<std::string>& texts);

/// An instance that answered yes, and by what.
struct Firing {
  const Instance* instance = nullptr;
  std::vector<Hit> hits;
};

/// The finding of a rule that fired at least once. Its `explains` still lists every id of the rule.
Finding build_finding(const Rule& rule, JobView& view, const std::vector<Firing>& firings);

}  // namespace ncclog
