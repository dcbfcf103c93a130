// What `replay run --time` measured, in the terms of benchmarks: curves of bandwidth over size.
//
//   {"op": "AllReduce", "bytes": 67108864, "median_us": 412.0, "busbw": 285.1, …}
//     → a Measurement of AllReduce with a point at 64 MiB, of the GPUs that the replay ran on
//
// It is the machine of the replay that was measured, whatever machine the logs are of. The series
// of calls back to back counts where one was timed: nccl-tests measures so, too.

#pragma once

#include <vector>

#include "diagnose/perf/measured/measurement.h"
#include "replay/judge/verdict.h"

namespace ncclog {

/// One for each operation, number of ranks and varied setting, in the order of the timings. Points
/// have no place in a log, and `hosts` are not named.
std::vector<Measurement> replay_measurements(const ReplayResult& result);

}  // namespace ncclog
