// A JSON text as plain data.
//
//   {"version": "2.4", "entries": []}  → Dict{"version": "2.4", "entries": List{}}
//   {"version": "2.4", "entri          → problem: "the JSON text is malformed or cut at byte 26"

#pragma once

#include <string_view>

#include "import/document.h"

namespace ncclog {

/// Reads one JSON value. Never throws for what the bytes are: Document::problem says where and why
/// they were refused. Nothing but blanks may follow the value.
Document read_json(std::string_view bytes);

}  // namespace ncclog
