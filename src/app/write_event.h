// One event as one line of output, for scripts that want what was understood rather than a verdict.
//
//   {"file":"logs/a.txt","line":7,"host":"node07","pid":41,"tid":42,"cuda_dev":3,"level":"INFO",
//    "kind":"network_selected","fields":{"network":"Socket"}}
//
// A WARN also has what is known about it: "severity" (fatal, degraded, info), "origin" (system,
// user, internal, symptom) and "meaning", a sentence or two.
//
// Keys that a line has nothing for are left out, but for file, line, level, kind and fields. An
// NCCL line that no wording fits has the kind "unrecognised", no fields, and its message as "text".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "log/event.h"

namespace ncclog {

/// The kind under which NCCL lines stand that no wording fits.
inline constexpr std::string_view kUnrecognisedKind = "unrecognised";

/// True if the event says something: its kind is known, or it is an NCCL line of no known kind.
bool is_exported(const Event& event);

/// NCCL's word for the level, "VERSION" also for a banner without header; empty for a line that
/// has none.
std::string_view exported_level(const Event& event);

/// Appends the event of line `line` of `file` as a JSON object and a line end. Integers are
/// numbers, hexadecimal fields strings such as "0x7f10a0", all else text as printed.
void append_event_json(std::string& out, std::string_view file, uint64_t line, const Event& event);

/// The columns of append_event_csv, with line end.
std::string event_csv_heading();

/// Appends the event as a row of CSV; the fields are a JSON object in one column.
void append_event_csv(std::string& out, std::string_view file, uint64_t line, const Event& event);

}  // namespace ncclog
