// How does the time of a function grow with its input?
//
//   least_cpu_time(eight times the text) / least_cpu_time(text)    linear: 8, quadratic: 64

#pragma once

#include <algorithm>
#include <ctime>

namespace ncclog {

/// The least CPU time of three calls, in clock ticks; never below one.
template <typename Call>
double least_cpu_time(Call&& call) {
  std::clock_t least = 0;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t begin = std::clock();
    call();
    const std::clock_t spent = std::max<std::clock_t>(std::clock() - begin, 1);
    least = round == 0 ? spent : std::min(least, spent);
  }
  return static_cast<double>(least);
}

/// Eight times the input may take this many times the time: far from linear's 8, below
/// quadratic's 64.
constexpr double kMostGrowthForEightfold = 40;

}  // namespace ncclog
