// A job of several files that are held in memory.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/job.h"

namespace ncclog::testing {

/// The job that files of these paths and texts give, in their order.
Job job_from_files(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace ncclog::testing
