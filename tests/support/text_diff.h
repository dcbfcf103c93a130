// How do two texts differ, line by line? For failures that a person has to read.
//
//     verdict: rank 3 was killed
//   - ranks: 3
//   + ranks: 3, 4

#pragma once

#include <string>
#include <string_view>

namespace ncclog::testing {

/// Lines only in `expected` with "- ", only in `actual` with "+ ", and up to two common lines
/// around each change with "  ". Empty if the texts are equal; a missing final newline is shown.
std::string text_diff(std::string_view expected, std::string_view actual);

}  // namespace ncclog::testing
