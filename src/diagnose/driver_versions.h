// Which driver's CUDA did the processes run on?
//
//   n1:7:7 [0] NCCL INFO cudaDriverVersion 12040     → "12.4" (NCCL 2.13.4 and later, init.cc)

#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// Distinct versions that processes print, sorted as numbers; empty: none does.
std::vector<std::string> driver_versions(const Job& job);

}  // namespace ncclog
