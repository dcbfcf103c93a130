// From paths to a job: inputs are cut into units, read in parallel and merged in input order.
//
//   logs/a.log      0..32 MiB, 32..51 MiB   two units, cut where a line begins
//   logs/b.log.gz   one stream              stretches of it go to whoever is free
//   logs/dump_0     a document              read whole, by its importer
//   n7.part         a part of a scan        stands for the inputs that were scanned into it
//   → a Shard each, merged in this order → Job
//
// The number of threads and where large files are cut change nothing in the job. What the first
// reading does not keep is looked up by a second look at single units (app/read/second_look.h).

#pragma once

#include <span>
#include <string>

#include "app/read/read_units.h"
#include "app/read/second_look.h"
#include "model/job.h"

namespace ncclog {

/// Reads `inputs`, paths as find_inputs gives them. What cannot be read is noted in the job.
/// The number of threads changes nothing in the result. Memory is bounded by what the logs'
/// processes and communicators need: units are merged as soon as all before them are.
Job read_job(std::span<const std::string> inputs, const ReadSettings& settings);

/// The same; `read` is filled.
Job read_job(std::span<const std::string> inputs, const ReadSettings& settings, ReadUnits& read);

}  // namespace ncclog
