// One line of input as the reader hands it over.

#pragma once

#include <cstdint>
#include <string_view>

namespace ncclog {

/// A line without its line end.
struct Line {
  std::string_view text;  ///< Owned by the reader, valid until its next line is asked for.
  uint64_t number = 0;    ///< 1-based within the unit that is read.
  uint64_t offset = 0;    ///< Byte at which the line starts in the (decompressed) input.
  bool cut = false;       ///< The line was longer than the reader keeps; `text` is its beginning.
  /// False: `text` surely holds no byte below 0x20 but tabs, so no terminal code and no NUL. True
  /// wherever nobody has looked, as in a text made of several lines.
  bool has_control = true;
  bool has_high = true;  ///< False: `text` is surely ASCII.
};

}  // namespace ncclog
