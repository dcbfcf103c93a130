// Which of two runs is slower, by how much, and which of their differences explains that?
//
//   good: AllReduce of 16 ranks at 8 GiB 93 GB/s, NET/IB/GDRDMA, 16 channels
//   bad:  AllReduce of 16 ranks at 8 GiB 33 GB/s, NET/IB, 16 channels
//     → bad is 2.8 times slower; likely: without GPU Direct RDMA all data pass through host memory
//
// Runs are held against each other where both measured: one operation, one number of ranks if they
// have one in common, one size. What may slow down, and by how much at most, stands in
// speed_causes.table; a difference that explains less than was seen is named as such. Nothing is
// proven by this: the runs differ in more than their logs show.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

struct DifferenceRow;

/// What one run measured.
struct SpeedSide {
  double busbw = -1;    ///< GB/s
  double time_us = -1;  ///< Negative: not printed.
  int nranks = -1;
  int nhosts = -1;
  Evidence line;
};

enum class SpeedLikelihood {
  Likely,    ///< It slows down what was measured, and by as much as was seen.
  Possible,  ///< It may.
  Partly,    ///< It may, but not by as much.
};

/// As JSON spells it: "likely", "possible", "partly".
constexpr std::string_view enum_words(SpeedLikelihood) { return "likely|possible|partly"; }

/// A difference that may explain it.
struct SpeedCause {
  size_t row = 0;  ///< Into RunDifference::rows.
  SpeedLikelihood likelihood = SpeedLikelihood::Possible;
  std::string_view why;  ///< A clause: what the slower run does.
};

struct SpeedDifference {
  std::string op;      ///< "AllReduce"
  int64_t bytes = -1;  ///< Of the buffer.
  SpeedSide good;
  SpeedSide bad;
  double ratio = 1;  ///< Of the faster to the slower one; from 1.
  bool bad_is_slower = false;
  std::vector<SpeedCause> causes;  ///< The likeliest first.
};

/// Where both jobs measured the same and one is slower by more than the noise between runs. Of
/// several operations the one with the largest ratio. Without causes. nullopt: nothing to compare,
/// or no difference.
std::optional<SpeedDifference> speed_difference(const Job& good, const Job& bad);

/// Those of `rows` that may explain it, the likeliest first. `nhosts`: of the jobs, as far as their
/// lines tell.
std::vector<SpeedCause> speed_causes(const SpeedDifference& speed,
                                     const std::vector<DifferenceRow>& rows, int nhosts);

// How long does a step of the training take in each of two runs?
//
//   iteration  120/ 500 | … | elapsed time per iteration (ms): 812.3 |        printed
//   40%|####  | 200/500 [02:42<04:03,  1.23it/s]                              printed, the other way
//   2026-01-05 12:00:08,100 INFO step 30 …   …:16,300 INFO step 40 …          0.82 s, by the clock
//
// A step is more than communication, and times of steps vary: the first ones are slow, evaluation and
// checkpoints come between. So the middle is compared, after a tenth was left out, and runs differ
// only where most steps of one are slower than most steps of the other.

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
