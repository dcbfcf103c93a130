// How long do whole programs take beside each other?
//
//   A B C A B C A B C        in turns, so that a machine that is slow for a while is so for all
//
// A ratio of medians of one such run means something on any machine; a time does not.

#pragma once

#include <string>
#include <vector>

namespace ncclog::testing {

struct Contender {
  std::string name;
  std::string command;  ///< For sh.
};

/// Medians over all rounds, and the largest peak.
struct Timed {
  std::string name;
  double seconds = 0;      ///< Wall clock.
  double cpu_seconds = 0;  ///< User and system, of all threads.
  double peak_mb = 0;      ///< Largest resident set, in 1,000,000 bytes. Never below our own.
};

/// The middle one; of an even number the upper one. `values` is not empty.
double median(std::vector<double> values);

/// Runs each contender `rounds` times, in turns. Throws std::runtime_error with what a contender
/// printed if it could not do what was asked (exit code above 1).
std::vector<Timed> run_in_turns(const std::vector<Contender>& contenders, int rounds);

/// The one of that name. Throws std::out_of_range if there is none.
const Timed& timed(const std::vector<Timed>& runs, const std::string& name);

}  // namespace ncclog::testing
