// An example of a rule as a job: a log, dumps of the Flight Recorder among its lines, what was
// seen.
//
//   n3:51:51 [0] NCCL INFO …            a line of the log
//   {"version":"2.4","pg_config":{…     a whole dump, as PyTorch writes it to JSON
//   {"header":{"id":"0x5a","rank":0,…   what NCCL's Inspector measured of a rank
//   --outcome hung                      the flag with which the log is analysed
//   ncclog host record 1                what follows is of a host, up to the next record or the end
//   17:00.0 3D controller: NVIDIA …     what lspci -vv lists, over several lines
//   …/ports/1/counters/link_downed:3    counters, in whatever form they were listed
//
// In a real folder every dump and listing is a file of its own; in an example a dump is one line.

#pragma once

#include <string_view>

#include "model/job.h"
#include "model/process_log.h"

namespace ncclog {

/// The job of an example. Dumps that do not name their rank are of ranks 0, 1, … in their order;
/// lines that begin like a dump and are none are read as lines of the log.
Job read_example(std::string_view example, const LineMatcher& matcher);

}  // namespace ncclog
