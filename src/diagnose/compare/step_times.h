// How long does a step of the training take in each of two runs?
//
//   iteration  120/ 500 | … | elapsed time per iteration (ms): 812.3 |        printed
//   40%|####  | 200/500 [02:42<04:03,  1.23it/s]                              printed, the other way
//   2026-01-05 12:00:08,100 INFO step 30 …   …:16,300 INFO step 40 …          0.82 s, by the clock
//
// A step is more than communication, and times of steps vary: the first ones are slow, evaluation and
// checkpoints come between. So the middle is compared, after a tenth was left out, and runs differ
// only where most steps of one are slower than most steps of the other.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnose/compare/speed_difference.h"
#include "diagnose/facts/fact.h"

namespace ncclog {

/// A line that announces a step.
struct StepLine {
  int64_t step = -1;
  Evidence line;
};

/// Times of steps in seconds.
struct StepTimes {
  size_t steps = 0;  ///< That have a time, without those left out.
  double median = 0;
  double low = 0;   ///< A tenth of them are shorter.
  double high = 0;  ///< A tenth of them are longer.
  Evidence line;    ///< One that took about the median.
};

/// The time of a step that a line prints, in seconds; -1: it prints none.
double printed_step_time(std::string_view line);

/// Of the lines of one input, in their order; of a step that several ranks print, the first counts.
/// nullopt: fewer than ten have a time.
std::optional<StepTimes> step_times(std::span<const StepLine> lines);

/// As a difference in speed, without causes; nullopt: they differ by no more than their steps do.
std::optional<SpeedDifference> step_difference(const StepTimes& good, const StepTimes& bad);

}  // namespace ncclog
