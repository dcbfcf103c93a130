// A document as text, so that a test compares it in one line.

#pragma once

#include <string>

#include "import/document.h"

namespace ncclog::testing {

/// {"a":[1,null,true,3.5]}; the problem, if there is one.
std::string describe_document(const ParsedDocument& document);

}  // namespace ncclog::testing
