// Text inside XML 1.0, whatever bytes a log holds.
//
//   n1 <b>]]>&\x1b[31m   →   n1 &lt;b&gt;]]&gt;&amp;\x1b[31m
//
// XML 1.0 has no way to write most control characters, so they are shown as printable() shows them.

#pragma once

#include <string>
#include <string_view>

namespace ncclog {

/// `bytes` for an attribute in double quotes: one line.
std::string xml_attribute(std::string_view bytes);

/// `bytes` for the content of an element; newlines stay.
std::string xml_content(std::string_view bytes);

}  // namespace ncclog
