// Where a command's output goes, and what that place can show.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "report/text_layout.h"

namespace ncclog {

/// --color
enum class ColorChoice { Auto, Always, Never };

/// Standard output as a command sees it: text is collected, and written when the command is done. A
/// command with much to say passes it on while it runs.
struct Console {
  std::string out;
  std::string err;  ///< What belongs on standard error.
  /// Writes to standard output; false once nobody reads it. Empty: all of it is kept in `out`.
  std::function<bool(std::string_view text)> write;
  bool is_terminal = false;
  int columns = 100;            ///< Of the terminal; 100 where there is none.
  bool no_color = false;        ///< NO_COLOR is set and not empty.
  bool draws_progress = false;  ///< Standard error is a terminal that can show a progress line.
  bool quiet = false;           ///< --quiet: of text for people only the verdict's line.

  /// Hands `out` on to `write` once it is large. False if nobody wants to read more.
  bool pass_on();

  /// Colour if chosen, else on a terminal unless NO_COLOR forbids it.
  TextStyle style(ColorChoice color) const;
};

/// The process's own standard output: COLUMNS, else what the terminal says, else 100.
Console make_console();

/// A mistake as people see it: "ncclog: where: what", and the hint below. Parts may be empty.
std::string error_text(std::string_view where, std::string_view what, std::string_view hint);

/// Writes all of `text` to a file descriptor. False if the reader went away (`| head`), which is no
/// failure. Throws Error if the output cannot be written for another reason.
bool write_all(int descriptor, std::string_view text, std::string_view name = "standard output");

}  // namespace ncclog
