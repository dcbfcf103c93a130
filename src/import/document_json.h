// A document as JSON: a Flight Recorder's pickle for readers who have no Python.
//
//   Dict{"version": "2.10", "entries": List{}}   → {"version": "2.10", "entries": []}

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "import/document.h"

namespace ncclog {

/// The whole tree on one line with a newline behind it. Texts become valid UTF-8, keys that are no
/// texts become ones. nullopt if it could not be read, or the JSON would be longer than `most`:
/// a pickle may refer to one value many times.
std::optional<std::string> document_json(const Document& document, size_t most);

}  // namespace ncclog
