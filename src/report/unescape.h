// Undoes the ways in which a text may be written inside of another one.
//
//   gpu%2Dn41 → gpu-n41      gpu\u002dn41, a\/b → gpu-n41, a/b      gpu&#45;n41, &lt; → gpu-n41, <
//
// For searching only: what is no valid escape stays as it is.

#pragma once

#include <string>
#include <string_view>

namespace ncclog {

std::string without_percent_escapes(std::string_view text);

/// JSON's and YAML's; also those of Markdown, which put '\' before punctuation.
std::string without_backslashes(std::string_view text);

/// Of HTML and XML: numbers, and the five names that all writers use.
std::string without_entities(std::string_view text);

}  // namespace ncclog
