// The calls that a job counted as a table, and its iterations in sentences.
//
//   comm        op             calls    elements        bytes  processes
//   inferred-1  AllGather        192   201326592    402653184          8
//
//   iterations 1-5 are identical: 4 AllGather, 4 ReduceScatter, 1 AllReduce in each of 8 processes
//   iteration 0 differs: + 1 Broadcast
//   before the first iteration: 1 AllReduce; behind the last one: 1 AllReduce

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diagnose/iterations/call_counts.h"
#include "diagnose/iterations/iterations.h"
#include "report/tables/table.h"

namespace ncclog {

/// Each sentence about the iterations: how they were cut and how sure that is, the usual ones, the
/// odd ones, the processes that depart from the others, the calls outside of them.
std::vector<std::string> iteration_text(const Job& job, const JobCalls& calls,
                                        const JobIterations& found);

/// "4 AllGather, 1 AllReduce", most frequent first; "no calls" for none.
std::string calls_text(const OpCounts& calls);

// How are counts by iteration shown, when a training has a million iterations?
//
//   iteration  op         calls            iteration  op         calls
//   1          AllGather     32            1-155370   AllGather     32   each iteration 32
//   1          AllReduce      8            1-155370   AllReduce      8
//   2          AllGather     32
//   …          one row for each, for programs and where they are few; folded for people

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

/// Few: where iterations make many rows, neighbouring ones that say the same share one, and a note
/// says so. Each: every iteration has its rows, however many there are.
enum class RowsOf { Few, Each };

/// One row for each combination of what it is counted by; notes say where the numbers come from,
/// what they mean and what is missing, and describe the iterations. `iterations` may be nullptr.
/// `job` and `by` must outlive the table, which makes most rows when they are asked for.
Table count_table(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                  const std::vector<CountBy>& by, RowsOf rows);

}  // namespace ncclog
