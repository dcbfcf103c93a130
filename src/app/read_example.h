// An example of a rule as a job: a log, dumps of the Flight Recorder among its lines, what was
// seen.
//
//   n3:51:51 [0] NCCL INFO …            a line of the log
//   {"version":"2.4","pg_config":{…     a whole dump, as PyTorch writes it to JSON
//   --outcome hung                      the flag with which the log is analysed
//
// In a real folder every dump is a file of its own; in an example it is one line.

#pragma once

#include <string_view>

#include "model/job.h"
#include "model/shard.h"

namespace ncclog {

/// The job of an example. Dumps that do not name their rank are of ranks 0, 1, … in their order;
/// lines that begin like a dump and are none are read as lines of the log.
Job read_example(std::string_view log, const LineMatcher& matcher);

}  // namespace ncclog
