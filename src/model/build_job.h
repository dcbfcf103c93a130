// From the merged shard to the job.

#pragma once

#include <vector>

#include "model/job.h"
#include "model/shard.h"

namespace ncclog {

/// Builds the job from everything that was read. `inputs` and `units` are as the reader numbered
/// them; `losses` is the sum of the reader's and the shard's counts. Pure: same values, same job.
Job build_job(Shard&& shard, std::vector<JobInput> inputs, std::vector<JobUnit> units,
              const LossTable& losses);

}  // namespace ncclog
