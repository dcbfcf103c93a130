// Runs over hosts as the search for what is bad sees them: hosts and rails by number, repetitions
// joined, each run slow or fast beside its like.
//
//   a b: 48   b d: 12   b d: 13        → two runs of one group: {a b} is fast, {b d} is slow
//
// Where no run of a group is clearly slower than another, nobody knows whether all are slow or all
// are fast; such a group is not told, and excludes only what would make some of it slow.

#pragma once

#include <bitset>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/perf/node_sets/node_sets.h"

namespace ncclog {

inline constexpr size_t kMostRunHosts = 1024;  ///< Runs with more are left out.

using HostSet = std::bitset<kMostRunHosts>;

enum class Pace { Unclear, Fast, Slow };

/// One set of hosts that ran, or may run.
struct NumberedRun {
  HostSet hosts;
  int nhosts = 0;
  int rail = -1;              ///< Into NumberedRuns::rails: the one used alone; -1: all.
  std::map<int, int> parts;   ///< By host, the rail used alone there, where hosts differ.
  bool inside = false;        ///< One host, and no NIC in use.
  int group = -1;             ///< Into NumberedRuns::groups; below 0: none yet.
  Pace pace = Pace::Unclear;  ///< Of a group that is not told, Fast: as good as its best.
  double busbw = 0;  ///< Median of its repetitions, the slowest and the fastest of which are
  double least = 0;  ///< this,
  double most = 0;   ///< and this.
  std::vector<std::string> names;
};

/// Runs that are held against each other.
struct RunGroup {
  std::string like;
  int nhosts = 0;
  bool alone = false;  ///< Of each host one rail, or one GPU.
  bool inside = false;
  bool told = false;    ///< It is known which of them are slow.
  bool differ = false;  ///< Some are slow beside others: that is how it is known.
  double ceiling = -1;
  std::vector<size_t> runs;

  /// What is wrong with a host as a whole (its switch, its CPUs) need not show in such runs.
  bool may_spare_host() const { return alone || inside; }
};

/// What may be bad, by numbers. Rail of all hosts: `host` is -1.
struct NumberedSuspect {
  SuspectKind kind = SuspectKind::Host;
  int host = -1;
  int other = -1;
  int rail = -1;

  auto operator<=>(const NumberedSuspect&) const = default;
};

using Suspects = std::vector<NumberedSuspect>;

struct NumberedRuns {
  std::vector<std::string> hosts;          ///< Sorted.
  std::vector<std::string> rails;          ///< Sorted.
  std::vector<std::vector<int>> rails_of;  ///< By host, ascending.
  std::vector<NumberedRun> runs;
  std::vector<RunGroup> groups;
  std::vector<std::string> flaky;  ///< Runs that contradict their own repetitions.
};

NumberedRuns number_runs(const std::vector<NodeSetRun>& runs);

/// True if the run is slow where only that is bad.
bool slows(const NumberedSuspect& suspect, const NumberedRun& run);
bool slow_any(std::span<const NumberedSuspect> suspects, const NumberedRun& run,
              bool hosts_count = true);

/// A run that a set of suspects fails to make slow though it must be; nullptr: there is none.
const NumberedRun* unexplained_by(const NumberedRuns& all,
                                  std::span<const NumberedSuspect> suspects);

/// True if that set explains all runs.
bool explain(const NumberedRuns& all, std::span<const NumberedSuspect> suspects);

/// Everything that may be bad, and makes no run slow that is known to be fast. nullopt: that is more
/// than `most`.
std::optional<Suspects> possible_suspects(const NumberedRuns& all, size_t most);

// next_runs.cc

/// The runs that divide these explanations best, to be made at once. One explanation may be empty:
/// nothing is bad. Of runs that divide them alike those are taken that leave the fewest of `doubts`,
/// larger explanations. Empty: no run would divide them.
std::vector<NodeSetRun> next_runs(const NumberedRuns& all,
                                  const std::vector<Suspects>& explanations,
                                  const std::vector<Suspects>& doubts = {});

/// The same where there are too many to be listed: halves of `hosts`.
std::vector<NodeSetRun> halves_of(const NumberedRuns& all, const HostSet& hosts);

}  // namespace ncclog
