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

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/event_walk.h"
#include "log/event.h"
#include "report/tables/table.h"

namespace ncclog {

/// The kind under which NCCL lines stand that no wording fits.
inline constexpr std::string_view kUnrecognisedKind = "unrecognised";

/// True if the event says something: its kind is known, or it is an NCCL line of no known kind.
bool is_exported(const Event& event);

/// NCCL's word for the level, "VERSION" also for a banner without header; empty for a line that
/// has none.
std::string_view exported_level(const Event& event);

/// Appends the event as a JSON object and a line end. Integers are numbers, hexadecimal fields
/// strings such as "0x7f10a0", all else text as printed.
void append_event_json(std::string& out, const WalkedEvent& walked);

/// What the line says beyond who printed it, as a JSON object: {"network":"Socket"}.
std::string event_fields(const Event& event);

/// The message of a line that no wording fits; empty for others. Views the event's line.
std::string_view unrecognised_text(const Event& event);

/// The name of the kind, kUnrecognisedKind if no wording fits.
std::string_view kind_name(const Event& event);

/// The columns of sql_events_table() as a row of CSV, with line end.
std::string event_csv_heading();

/// The event as a row of these columns; the fields are a JSON object in one of them.
std::vector<Cell> event_cells(const WalkedEvent& walked);

}  // namespace ncclog
