// The counted calls as a table.
//
//   comm        op             calls    elements        bytes  processes
//   inferred-1  AllGather        192   201326592    402653184          8

#pragma once

#include <vector>

#include "diagnose/call_counts.h"
#include "report/table.h"

namespace ncclog {

/// One row for each combination of what it is counted by; notes say where the numbers come from,
/// what they mean and what is missing, and describe the iterations. `iterations` may be nullptr.
Table count_table(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                  const std::vector<CountBy>& by);

}  // namespace ncclog
