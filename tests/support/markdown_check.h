// Is a Markdown report what it should be on GitHub, and nothing else?
//
//   line 12: a "<" that is none of ours
//   line 30: a table row of 3 cells under a head of 4
//   line 41: "@" outside of code
//
// No parser of Markdown: it knows what our reports may contain, and complains about all else.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

/// What is wrong with the report; empty if nothing is.
std::vector<std::string> check_markdown(std::string_view markdown);

/// The first control code, bidirectional mark, invisible character or byte that is no UTF-8, in
/// words; empty if there is none. Newlines are fine.
std::string find_hidden_character(std::string_view text);

}  // namespace ncclog::testing
