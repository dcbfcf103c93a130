// From paths to a job: inputs are cut into units, read in parallel and merged in input order.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "input/units.h"
#include "model/job.h"
#include "model/shard.h"
#include "model/shared_filter.h"

namespace ncclog {

struct ReadSettings {
  int threads = 0;                                ///< Workers; 0: one per processor.
  uint64_t unit_bytes = CutOptions{}.unit_bytes;  ///< Larger plain files are cut; at least 1.
  LineMatcher matcher;                   ///< Called from several threads at once; may be empty.
  MarkerFinder finder;                   ///< What lines announce steps.
  const SharedFilter* filter = nullptr;  ///< Made of both by read_job; nothing to be set.
};

/// Reads `inputs`, paths as find_inputs gives them. What cannot be read is noted in the job.
/// The number of threads changes nothing in the result. Memory is bounded by what the logs'
/// processes and communicators need: units are merged as soon as all before them are.
Job read_job(std::span<const std::string> inputs, const ReadSettings& settings);

/// A job, and the units in which it was read, so that single ones can be read again.
struct ReadJob {
  Job job;
  std::vector<Unit> units;
};

/// The same with its units.
ReadJob read_job_with_units(std::span<const std::string> inputs, const ReadSettings& settings);

}  // namespace ncclog
