// A document as text, so that a test compares it in one line.

#pragma once

#include <string>

#include "import/document.h"

namespace ncclog::testing {

/// {"a": [1, None, true, 3.5]}: texts quoted as they are, dict members in their order. Values
/// nested deeper than 20 are written as "…". The problem, if there is one.
std::string describe_document(const ParsedDocument& document);

}  // namespace ncclog::testing
