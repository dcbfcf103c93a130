// From a dump of PyTorch's Flight Recorder, pickle or JSON, to the model.
//
//   {"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
//    "pg_status": {"0": {"last_enqueued_collective": 29, …}}, "entries": [{"record_id": 0, …}]}
//
// The form is decided by the bytes; the file's name only supplies the rank ("nccl_trace_rank_5"),
// and only where the groups in the dump do not contradict it. Keys that a schema lacks stay
// unknown. In JSON the counters of pg_status are texts, times that are not set are 0 and there are
// no frames.

#pragma once

#include <string>
#include <string_view>

#include "model/flight_recorder.h"

namespace ncclog {

struct FlightRecorderImport {
  FlightRecorderDump dump;
  std::string problem;  ///< Why the bytes are no dump that can be read, a clause; empty: they are.
};

/// Reads a dump. `path` is the file's. Never throws for what the bytes are; memory is proportional
/// to their number.
FlightRecorderImport import_flight_recorder(std::string_view bytes, std::string_view path);

/// The rank that a dump's file name ends with, compression and form aside: "fr_3", "fr_3.json.gz",
/// "nccl_trace_rank_12" → 12. -1: it ends with no number or with one that no rank has.
int rank_in_name(std::string_view path);

}  // namespace ncclog
