// All that a job measured, whoever printed it: nccl-tests here, benchmarks of PyTorch programs from
// benchmark_tables.h.

#pragma once

#include <vector>

#include "diagnose/perf/measured/measurement.h"
#include "model/job.h"

namespace ncclog {

/// In input order. Owned by the job.
const std::vector<Measurement>& measurements(const Job& job);

}  // namespace ncclog
