// The counted calls as a table.
//
//   comm        op             calls    elements        bytes  processes
//   inferred-1  AllGather        192   201326592    402653184          8

#pragma once

#include <vector>

#include "diagnose/call_counts.h"
#include "report/table.h"
#include "report/table_stream.h"

namespace ncclog {

/// One row for each combination of what it is counted by; notes say where the numbers come from,
/// what they mean and what is missing, and describe the iterations. `iterations` may be nullptr.
/// Where iterations make many rows, neighbouring ones that say the same share one, and a note says
/// so.
Table count_table(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                  const std::vector<CountBy>& by);

/// The same with a row for each iteration, however many there are. `job` and `by` must outlive it.
TableStream count_stream(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                         const std::vector<CountBy>& by);

}  // namespace ncclog
