// Which host, link or rail explains that some runs were slow? Runs over different hosts.
//
//   a b: 48   a c: 48   b d: 12   c d: 12   a d: 12      → host d, or each of its links
//   a b: 48   c d: 12                                     → not yet: run a c, then a d
//
// Each run is slow or not beside its like (as many hosts, the same operation). A suspect explains
// the runs if all slow ones pass it and no fast one does. Where several smallest explanations are
// left, the next run is the one that divides them best.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// One run, or one curve of a run.
struct NodeSetRun {
  std::string name;                 ///< File or folder it came from.
  std::vector<std::string> hosts;   ///< Sorted, distinct.
  std::string rail;                 ///< NIC or rail that was used alone: "mlx5_3"; empty: all.
  double busbw = 0;                 ///< GB/s
};

enum class SuspectKind { Host, Link, Rail };

/// One thing that may be bad.
struct Suspect {
  SuspectKind kind = SuspectKind::Host;
  std::string host;   ///< Link: one end.
  std::string other;  ///< Link: the other end.
  std::string rail;   ///< Rail: its name; `host` may be empty: the rail of all hosts.

  bool operator==(const Suspect&) const = default;
};

/// What a set of runs shows.
struct NodeSetAnswer {
  std::vector<std::string> fast;   ///< Names of runs.
  std::vector<std::string> slow;
  std::vector<Suspect> explained;  ///< The one smallest set that explains them; empty: none yet.
  std::vector<std::vector<std::string>> next;  ///< Hosts of the runs to make, the best first.
  std::string next_rail;           ///< Of the first of them; empty: all rails.
  std::string why;                 ///< One sentence, whatever the answer.
};

/// Solves them; pure, for tests too.
NodeSetAnswer solve_node_sets(const std::vector<NodeSetRun>& runs);

}  // namespace ncclog
