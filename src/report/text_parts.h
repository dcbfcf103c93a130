// What the blocks of the text report are made of: text behind labels in one left margin.
//
//   "  fix     Run the container with --shm-size=1g."

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/text_layout.h"

namespace ncclog {

/// Columns of the labels on the left.
inline constexpr int kMargin = 10;

/// A label, filled up to the margin. `name` may be empty.
std::string label(std::string_view name, const TextStyle& style);

/// Text of any bytes that wraps behind a label. Ends with a newline.
std::string labelled(std::string_view name, std::string_view text, const TextStyle& style);

/// "1 line", "2 lines", "2 processes".
std::string plural(uint64_t n, std::string_view one);

/// "0-3,7" for a set of channels, bit c for channel c.
std::string channels_text(uint64_t channels);

}  // namespace ncclog
