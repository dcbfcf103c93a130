// Text as a JSON string, for output too large to be built as one JSON value.
//
//   say "hi"<TAB>\xff   →   "say \"hi\"\t\uFFFD"

#pragma once

#include <string>
#include <string_view>

namespace ncclog {

/// Appends `bytes` as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD, as in
/// to_valid_utf8; control characters are escaped.
void append_json_string(std::string& out, std::string_view bytes);

}  // namespace ncclog
