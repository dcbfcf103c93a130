// The report for scripts: JSON, schema ncclog.report/2 (report/report.schema.json).
//
//   {"schema": "ncclog.report/2", "verdict": {"status": "problem", "headline": "…", …}, …}
//
// What the log does not say is null, never a made-up value. Bytes that are not UTF-8 become U+FFFD.

#pragma once

#include <string>

#include "report/report.h"

namespace ncclog {

/// An evidence line is shown up to this many bytes.
inline constexpr size_t kMaxEvidenceBytes = 1024;

/// The whole report, indented, with a newline at the end.
std::string write_json(const Report& report);

}  // namespace ncclog
