// From the merged shard to the job.
//
//   node-a:41:41 [0] NCCL INFO … Init START      in a shard: what node-a:41 says
//   node-b:52:52 [1] NCCL INFO … Init START      → a job of two processes on two hosts
//
// The steps on the way are in model/derive/steps.h.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"

namespace ncclog {

struct Shard;

/// Builds the job from everything that was read. `inputs` and `units` are as the reader numbered
/// them; `losses` is the sum of the reader's and the shard's counts. Pure: same values, same job.
Job build_job(Shard&& shard, std::vector<JobInput> inputs, std::vector<JobUnit> units,
              const LossTable& losses);

// A log held in memory, read like a file: for rule examples, quoted lines and tests.

/// The shard of a text held in memory, read as unit 0 of input 0. Lines end with '\n', "\r\n" or
/// '\r'.
Shard read_text(std::string_view text, const LineMatcher& matcher = {});

/// The job of a text held in memory, as if it were a whole file called `path`.
Job job_from_text(std::string_view text, const LineMatcher& matcher = {},
                  std::string path = "log.txt");

}  // namespace ncclog
