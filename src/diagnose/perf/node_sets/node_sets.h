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

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/perf/verdict/perf_verdict.h"
#include "model/job.h"

namespace ncclog {

/// One run, or one curve of a run, that was made; or a run to make, of which there is no more than
/// `hosts` and `rail`.
struct NodeSetRun {
  std::string name;  ///< File or folder it came from.
  /// Sorted, distinct. To make a run on one host: over its NICs (NCCL_HOSTID differs on each rank).
  std::vector<std::string> hosts;
  std::string rail;  ///< NIC or rail to use alone (NCCL_IB_HCA): "mlx5_3"; empty: all.
  double busbw = 0;  ///< GB/s
  /// Runs are compared where this is the same: "AllReduce, 16 ranks, up to 8 GiB".
  std::string like = {};
  /// By host, what was used alone on it where hosts differ in that: "GPU d1:00". Empty: `rail`.
  std::vector<std::string> parts = {};
  /// All NICs of a host, as far as the logs of the run name them; empty: unknown.
  std::vector<std::string> rails = {};
  double ceiling = -1;  ///< What such a run can reach, GB/s; -1: unknown.
  /// Of a run on one host: its ranks talk over the NICs (each has an NCCL_HOSTID of its own).
  bool over_network = false;

  bool operator==(const NodeSetRun&) const = default;
};

/// The measurements of a job that name their hosts, as runs; `verdicts` may know what they can
/// reach. Runs of a sort are held against each other at the largest size that most of them have.
std::vector<NodeSetRun> node_set_runs(const Job& job, std::span<const PerfVerdict> verdicts = {});

enum class SuspectKind { Host, Link, Rail, Uplink };

/// As JSON spells it: "host", "link", "rail", "uplink".
constexpr std::string_view enum_words(SuspectKind) { return "host|link|rail|uplink"; }

/// What may be bad.
struct Suspect {
  SuspectKind kind = SuspectKind::Host;
  std::string host;   ///< Link: one end; uplink: the hosts of one group, with blanks between.
  std::string other;  ///< Link: the other end; uplink: the other group.
  std::string rail;   ///< Rail: its name; `host` may be empty: the rail of all hosts.

  bool operator==(const Suspect&) const = default;
};

/// "host d", "the link between a and d", "mlx5_3 of host d", "mlx5_3 of all hosts", "what joins a b
/// and c d".
std::string suspect_text(const Suspect& suspect);

/// All of them, `between` each two.
std::string suspects_text(const std::vector<Suspect>& suspects, std::string_view between);

/// What a set of runs shows.
struct NodeSetAnswer {
  std::vector<std::string> fast;  ///< Names of runs.
  std::vector<std::string> slow;
  std::vector<std::string> unclear;  ///< Neither, or nothing to compare them with.
  /// GB/s of the run that is farthest below its best like one, and of that one; negative: none is
  /// less than kNormalBeside of it.
  double lowest = -1;
  double beside = -1;
  std::vector<Suspect> explained;  ///< The one smallest set that explains them; empty: none yet.
  std::vector<Suspect> left;       ///< While none is: each of these alone would, the first few.
  std::vector<NodeSetRun>
      next;         ///< Runs to make, before anything is asked again; empty: none is needed.
  std::string why;  ///< One or two sentences, whatever the answer.
};

/// Of the fastest like run. Two runs of a sound cluster differ by up to 10 % each way, 0.82 of each
/// other: what lies between the two bounds may be either, and says nothing.
inline constexpr double kFastFrom = 0.87;
inline constexpr double kSlowTo = 0.77;

/// Beside a like run that is faster by more, none is called normal.
inline constexpr double kNormalBeside = 0.8;

/// What the search can find, and from which difference on: two sentences for those who read them.
std::string_view node_set_limits();

/// Solves them; pure, for tests too.
NodeSetAnswer solve_node_sets(const std::vector<NodeSetRun>& runs);

/// "a b c d", "a b, mlx5_3 alone".
std::string run_text(const NodeSetRun& run);

}  // namespace ncclog
