// Many synthetic jobs, judged: how often the guilty are named, and what is wrong, by kind.
//
//   5000 jobs, 2642 with a fault that hangs the job, 1611 (61.0 %) whose lines suffice
//   guilty named exactly  1599 of 1611 (99.26 %)
//   innocent named             0
//   …

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/synthetic/judge.h"

namespace ncclog::testing {

/// The whole way from files to the JSON report, as `ncclog analyze --format json` goes it.
class Analyst {
 public:
  std::string report_on(const SyntheticJob& job) const;

 private:
  Rulebook rulebook_ = load_rulebook();
  LineMatcher matcher_ = make_line_matcher(rulebook_);
};

/// Something that is wrong about a seed.
struct WrongSeed {
  uint64_t seed = 0;
  Fault fault = Fault::None;
  std::string text;  ///< What the job is, and what is said about it.
};

/// What came of some jobs.
struct Tally {
  uint64_t jobs = 0;
  uint64_t faulty = 0;    ///< In which the job hung by what somebody did.
  uint64_t must = 0;      ///< Of those, in which the guilty have to be named.
  uint64_t named = 0;     ///< Of those, in how many they are, and nobody else.
  uint64_t finished = 0;  ///< Healthy jobs whose end is in the log.
  uint64_t stopped = 0;   ///< Healthy jobs that were stopped in mid-step.
  uint64_t started_again = 0;
  std::map<std::string, uint64_t> ends;  ///< By how the first run ends.
  /// Of the faulty, by what was done and how it ended: how many, and in how many the lines suffice.
  std::map<std::string, std::pair<uint64_t, uint64_t>> by_fault;
  /// By kind, and within it by what is alike: "innocent named: mismatched-collectives (skip,
  /// watchdog)".
  std::map<std::string, std::vector<WrongSeed>> wrong;

  void add(const SyntheticJob& job, uint64_t seed, std::string_view report);
  void add(Tally&& other);
  /// Jobs in which something of that kind is wrong.
  uint64_t count(std::string_view kind) const;
};

/// The class of `Tally::wrong` that lists the jobs whose guilty have to be named and are not.
inline constexpr std::string_view kNotNamed = "guilty not named";

/// What came of jobs that ran once, and of those that were started again.
struct Tallies {
  Tally run_once;
  Tally run_again;

  Tally all() &&;
};

/// Judges the seeds from `first` on, with fault_of() each, side by side in `threads` threads.
Tallies judge_seeds(uint64_t first, uint64_t count, int threads);

/// The totals, and the wrong seeds of each class; `texts`: how many of a class are told in full.
std::string summary(const Tally& tally, size_t texts);

}  // namespace ncclog::testing
