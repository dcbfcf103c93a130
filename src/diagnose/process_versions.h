// Which versions do some of the processes run, as their own lines say?
//
//   NCCL version 2.22.3+cuda12.6     printed by one rank of each communicator only
//
// A process that prints none may run any of the job's versions.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

enum class Product { Nccl, Cuda, PyTorch };

/// Versions that lines of the processes (into Job::processes) name: distinct, sorted. Empty: none
/// of them names one.
std::vector<std::string> versions_of(const Job& job, std::span<const int> processes,
                                     Product product);

/// Versions that any line of the job names.
const std::vector<std::string>& versions_of(const Job& job, Product product);

}  // namespace ncclog
