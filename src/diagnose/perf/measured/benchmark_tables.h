// What benchmarks of PyTorch programs measured: those of ml-engineering, DeepSpeed and PARAM.
//
//   The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):
//   |   64MiB | 341.20GBps | 194.97GBps |       → a Measurement of AllReduce with a point at 64 MiB
//
//   0 data size: 4.0 GB
//    duration: 1.2750 sec
//    busbw: 49.4118  Gbps                       → the same with 6.18 GB/s: these are gigabits
//
// Units are brought to those of nccl-tests: GB/s, and the size that its algorithm bandwidth is
// about. DeepSpeed's throughput is twice that bandwidth for all_reduce, and its all_gather counts
// what one rank sends, so the algorithm bandwidth is computed here from size and time.

#pragma once

#include <vector>

#include "base/collectives.h"
#include "diagnose/perf/measured/measurement.h"
#include "model/job.h"

namespace ncclog {

/// All that the logs hold, in input order for each speaker. Hosts and communicators are left to
/// measurements().
std::vector<Measurement> benchmark_measurements(const Job& job);

/// What benchmarks that use torch.distributed call `op`: "all_gather_into_tensor" → AllGather.
Operation operation_of_torch(std::string_view op);

}  // namespace ncclog
