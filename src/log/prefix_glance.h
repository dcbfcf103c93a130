// Can a line have a prefix (log/prefix.h) at all? Most have none, and tell by a byte or a word.

#pragma once

#include <string_view>

namespace ncclog {

/// False if parse_prefix finds nothing in front of `line` for certain, but for a progress bar:
/// those hold "%|".
bool may_have_prefix(std::string_view line);

}  // namespace ncclog
