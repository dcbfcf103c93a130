// Which host, link or rail explains that some runs were slow? Runs over different hosts.
//
//   a b: 48   a c: 48   b d: 12   c d: 12   a d: 12      → host d: its partners are fast without it
//   a b: 48   c d: 12                                     → not yet: run a c and b d at once
//   a b c d e f g h: 12                                   → cannot tell; run a b c d and e f g h
//
// Runs are compared with their like only: the same operation, as many ranks on as many hosts, the
// same sizes. Nobody knows what is fast where all runs of a sort are alike, so such a sort says no
// more than that all of it is slow or all of it is fast. A set of suspects explains the runs if all
// slow runs pass one of them and no fast run does. It is the answer if it is the smallest such set,
// and if every set of one suspect more holds it too: then it is not an accident that nobody else was
// tried. Until then the next runs are those that divide what is left best. Runs of one proposal
// share no host, or no NIC, and may go at the same time; only halves of an odd number of hosts share
// one, and follow each other.
//
// What it takes: 36 hosts and links of 8 hosts are more than four runs can tell apart, one after
// the other. Four proposals of disjoint runs can (tests/property/node_sets_property_test.cc).

#pragma once

#include <string>
#include <vector>

#include "diagnose/perf/node_sets/next_runs.h"
#include "diagnose/perf/node_sets/node_set_runs.h"
#include "diagnose/perf/node_sets/numbered_runs.h"

namespace ncclog {

/// What may be bad.
struct Suspect {
  SuspectKind kind = SuspectKind::Host;
  std::string host;   ///< Link: one end.
  std::string other;  ///< Link: the other end.
  std::string rail;   ///< Rail: its name; `host` may be empty: the rail of all hosts.

  bool operator==(const Suspect&) const = default;
};

/// "host d", "the link between a and d", "mlx5_3 of host d", "mlx5_3 of all hosts".
std::string suspect_text(const Suspect& suspect);

/// What a set of runs shows.
struct NodeSetAnswer {
  std::vector<std::string> fast;  ///< Names of runs.
  std::vector<std::string> slow;
  std::vector<std::string> unclear;  ///< Neither, or nothing to compare them with.
  std::vector<Suspect> explained;    ///< The one smallest set that explains them; empty: none yet.
  std::vector<Suspect> left;         ///< While none is: each of these alone would, the first few.
  std::vector<NextRun>
      next;         ///< Runs to make, before anything is asked again; empty: none is needed.
  std::string why;  ///< One or two sentences, whatever the answer.
};

/// Solves them; pure, for tests too.
NodeSetAnswer solve_node_sets(const std::vector<NodeSetRun>& runs);

/// "a b c d", "a b, mlx5_3 alone".
std::string run_text(const NextRun& run);

}  // namespace ncclog
