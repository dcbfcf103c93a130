// What does a process call in each of its iterations?
//
//   iterations 1-9998 are calls 2 to 89983, nine each   → 4 AllGather, 4 ReduceScatter, 1 AllReduce
//
// Iterations in a row are counted once where their calls lie in a loop.

#pragma once

#include <vector>

#include "diagnose/cut_iterations.h"
#include "diagnose/iterations.h"

namespace ncclog {

/// Counts the calls of a process's iterations, and those before and behind them. Fills `counts`,
/// `runs`, `before` and `after`. `folded` holds the calls of `process`; without spans all calls are
/// before.
ProcessIterations count_iterations(const ProcessCalls& process, const FoldedCalls& folded,
                                   const std::vector<IterationSpan>& spans);

}  // namespace ncclog
