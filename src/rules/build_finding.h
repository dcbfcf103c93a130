// From instances that answered yes to one finding: whom it names, what it says, what shows it.

#pragma once

#include <string>
#include <vector>

#include "rules/judge.h"

namespace ncclog {

// Advice is written for NVIDIA's tools; over an RCCL job it names AMD's.
//
//   nvidia-smi topo -m    →   rocm-smi --showtopo

/// Turns the names of tools and variables in each text into AMD's.
void use_amd_words(std::vector<std::string>& texts);

// From the instances in which a rule holds to its one finding: whom it names, what shows it.

/// An instance that answered yes, and by what.
struct Firing {
  const Instance* instance = nullptr;
  std::vector<Hit> hits;
};

/// The finding of a rule that fired at least once. Its `explains` still lists every id of the rule.
Finding build_finding(const Rule& rule, JobView& view, const std::vector<Firing>& firings);

/// Somebody whom a finding names. Unknown parts stay empty or -1.
struct Party {
  int rank = -1;
  std::string host;
  int64_t pid = -1;

  bool operator==(const Party&) const = default;
};

/// Those whom the rule's `blame` points at: sorted, known ranks first, without duplicates.
std::vector<Party> blamed_parties(const Rule& rule, const Job& job,
                                  const std::vector<Firing>& firings);

/// The message, filled from the firings, the finding's ranks, hosts and subject, and `parties`, of
/// whom the subject is the first. Any bytes that the log holds may be in it.
std::string fill_message(const Rule& rule, JobView& view, const std::vector<Firing>& firings,
                         const Finding& finding, const std::vector<Party>& parties);

}  // namespace ncclog
