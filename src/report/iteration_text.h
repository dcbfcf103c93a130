// The iterations of a job in sentences.
//
//   iterations 1-5 are identical: 4 AllGather, 4 ReduceScatter, 1 AllReduce in each of 8 processes
//   iteration 0 differs: + 1 Broadcast
//   before the first iteration: 1 AllReduce; behind the last one: 1 AllReduce

#pragma once

#include <string>
#include <vector>

#include "diagnose/iterations.h"

namespace ncclog {

/// Each sentence about the iterations: how they were cut and how sure that is, the usual ones, the
/// odd ones, the processes that depart from the others, the calls outside of them.
std::vector<std::string> iteration_text(const Job& job, const JobCalls& calls,
                                        const JobIterations& found);

/// "4 AllGather, 1 AllReduce", most frequent first; "no calls" for none.
std::string calls_text(const OpCounts& calls);

}  // namespace ncclog
