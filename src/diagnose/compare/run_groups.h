// Of several runs some failed: which setting, version or transport goes with that, and are there
// enough runs to say so?
//
//   good: 3 runs, one of them with NCCL_P2P_DISABLE=1; bad: 2 runs, both with it
//       → setting NCCL_P2P_DISABLE "1": 2 of 3 failed with it, 0 of 2 without it; by chance 3 in
//         10: not enough; 8 more runs that go on like these would be
//
// What counts is what people choose and what follows from it before a job fails, so findings, WARNs,
// calls and times are left out. A run whose logs do not tell of a fact says nothing about it. Going
// together is no cause: of twenty facts that have nothing to do with a failure one goes along with it
// by chance.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "diagnose/compare/run_difference.h"

namespace ncclog {

/// How many of some runs failed.
struct FailedOf {
  int failed = 0;
  int runs = 0;
};

/// The shares of failures, 0 to 1, that so many of so many allow, by Clopper and Pearson at 95 %, to six
/// decimals; 0 to 1 of no runs.
struct ShareBounds {
  double least = 0;
  double most = 1;
};
ShareBounds share_bounds(const FailedOf& of);

/// One value of a fact that goes with failure more than the others.
struct FactOfFailures {
  Topic topic = Topic::Setting;
  std::string name;
  std::string value;  ///< In words; empty: runs without anything of the sort.
  FailedOf with;
  FailedOf without;  ///< Of the runs that tell of the fact.
  /// How likely the failures fall on runs with the value as often as they do, or more often, if they
  /// have nothing to do with it: Fisher's exact test, one-sided, to six decimals.
  double chance = 1;
  /// Runs, half of them with the value, that would suffice if all go on failing at these shares; 0: it
  /// suffices already; -1: more than a hundred.
  int more_runs = 0;
  std::vector<std::string> alike;  ///< "transport within a host SHM": the same runs have that, too.

  static constexpr double kMostChance = 0.05;
  bool is_enough() const { return chance <= kMostChance; }
};

struct FactsOfFailures {
  std::vector<FactOfFailures> rows;  ///< Enough ones first; what people choose before what follows.
  int varied = 0;                    ///< Facts that are not the same in all runs that tell of them.
  int compared = 0;
};

/// Neither side is empty.
FactsOfFailures facts_of_failures(std::span<const ComparedRun> good,
                                  std::span<const ComparedRun> bad);

}  // namespace ncclog
