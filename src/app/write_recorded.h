// One entry of a Flight Recorder dump as one line of output, among the events of the logs.
//
//   {"file":"logs/fr_3","line":null,"level":"","kind":"flight_recorder_entry","fields":{"entry":0,
//    "rank":3,"group":"0","collective_seq_id":1,"profiling_name":"nccl:all_reduce_barrier",
//    "function":"AllReduce","state":"completed","input_sizes":[[1]],…}}
//
// Fields that the dump does not say are left out. A dump has no lines, so "line" is null.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/flight_recorder.h"
#include "report/tables/table.h"

namespace ncclog {

/// The kind under which entries stand.
inline constexpr std::string_view kRecordedKind = "flight_recorder_entry";

/// Appends entry `index` of the dump that `file` holds as a JSON object and a line end.
void append_recorded_json(std::string& out, std::string_view file, const FlightRecorderDump& dump,
                          size_t index);

/// It as a row under event_csv_heading(); the fields are a JSON object in one column.
std::vector<Cell> recorded_cells(std::string_view file, const FlightRecorderDump& dump,
                                 size_t index);

/// What the entry says, as a JSON object: {"entry":0,"rank":3,…}.
std::string recorded_fields(const FlightRecorderDump& dump, size_t index);

}  // namespace ncclog
