// How are counts by iteration shown, when a training has a million iterations?
//
//   iteration  op         calls            iteration  op         calls
//   1          AllGather     32            1-155370   AllGather     32   each iteration 32
//   1          AllReduce      8            1-155370   AllReduce      8
//   2          AllGather     32
//   …          one row for each, for programs and where they are few; folded for people

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "diagnose/call_counts.h"

namespace ncclog {

/// How many rows there are with one for each iteration.
uint64_t single_row_count(const std::vector<CountRow>& rows);

/// Calls the function for each of these rows in order, with the iteration's number; false from it
/// ends that. `rows` are of a CallCountTable counted by `by`. The number is of a meaning only where
/// CountRow::iterations is above 1.
void each_single_row(const std::vector<CountRow>& rows, const std::vector<CountBy>& by,
                     const std::function<bool(const CountRow& row, int64_t iteration)>& visit);

/// One row for neighbouring iterations that say the same, with "1-155370" as their key; its sums
/// stay those of one iteration.
std::vector<CountRow> folded_rows(const std::vector<CountRow>& rows,
                                  const std::vector<CountBy>& by);

}  // namespace ncclog
