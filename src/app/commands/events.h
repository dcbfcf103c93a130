// Every event of the logs and every entry of the dumps, in input order, as lines of JSON, rows of
// CSV and cells of a database.
//
// Each is handed on while it is read, so memory does not depend on how long the logs are.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/output.h"
#include "log/event_reader.h"
#include "model/flight_recorder.h"
#include "report/tables/table.h"

namespace ncclog {

/// A line that is understood, and where it stands. All views live during the call only.
struct WalkedEvent {
  std::string_view file;
  uint64_t line = 0;      ///< As its file numbers it.
  std::string_view text;  ///< The line without terminal codes; `event` views it.
  const Event& event;
};

/// The time in front of the line's message; unknown if it carries none.
LineTime time_of(const WalkedEvent& walked);

/// Who gets what is walked over; false from either ends the walk.
struct EventTaker {
  std::function<bool(const WalkedEvent& walked)> take_event;
  std::function<bool(std::string_view file, const FlightRecorderDump& dump, size_t index)>
      take_entry;
};

/// Reads `inputs`, as wanted_inputs gives them, and hands on what is_exported() holds of. What is
/// odd about an input is said on `console.err`.
ExitStatus walk_events(std::span<const std::string> inputs, const EventTaker& taker,
                       Console& console);

/// The same as rows of events_table().
ExitStatus walk_event_rows(std::span<const std::string> inputs, const RowTaker& take,
                           Console& console);

// One event as one line of output, for scripts that want what was understood rather than a verdict.
//
//   {"file":"logs/a.txt","line":7,"time":"2026-02-03 04:05:06","host":"node07","pid":41,"tid":42,
//    "cuda_dev":3,"level":"INFO","kind":"network_selected","fields":{"network":"Socket"}}
//
// A WARN also has what is known about it: "severity" (fatal, degraded, info), "origin" (system,
// user, internal, symptom) and "meaning", a sentence or two.
//
// Keys that a line has nothing for are left out, but for file, line, level, kind and fields. An
// NCCL line that no wording fits has the kind "unrecognised", no fields, and its message as "text".

/// True if the event says something: its kind is known, or it is an NCCL line of no known kind.
bool is_exported(const Event& event);

/// NCCL's word for the level, "VERSION" also for a banner without header; empty for a line that
/// has none.
std::string_view exported_level(const Event& event);

/// What the line says beyond who printed it, as a JSON object: {"network":"Socket"}.
std::string event_fields(const Event& event);

/// The message of a line that no wording fits; empty for others. Views the event's line.
std::string_view unrecognised_text(const Event& event);

/// The name of the kind, "unrecognised" if no wording fits.
std::string_view kind_name(const Event& event);

/// The event as a row of events_table(); the fields are a JSON object in one of them.
std::vector<Cell> event_cells(const WalkedEvent& walked);

/// Such a row as a JSON object and a line end. Integers are numbers, hexadecimal fields strings
/// such as "0x7f10a0", all else text as printed.
std::string event_json(std::span<const Cell> cells);

// One entry of a Flight Recorder dump as one line of output, among the events of the logs.
//
//   {"file":"logs/fr_3","line":null,"level":"","kind":"flight_recorder_entry","fields":{"entry":0,
//    "rank":3,"group":"0","collective_seq_id":1,"profiling_name":"nccl:all_reduce_barrier",
//    "function":"AllReduce","state":"completed","input_sizes":[[1]],…}}
//
// Fields that the dump does not say are left out. A dump has no lines, so "line" is null.

/// Entry `index` of the dump that `file` holds as a row of events_table().
std::vector<Cell> recorded_cells(std::string_view file, const FlightRecorderDump& dump,
                                 size_t index);

/// What the entry says, as a JSON object: {"entry":0,"rank":3,…}.
std::string recorded_fields(const FlightRecorderDump& dump, size_t index);

}  // namespace ncclog
