// How is text fitted to a terminal: columns, wrapping, cutting, colour, labels in one left margin?
//
//   hang("  fix     ", "Run the container with --shm-size=1g.", 40)
//   →   fix     Run the container with
//               --shm-size=1g.
//
// Widths are counted in columns of a terminal: one per character, two for the wide ones of East
// Asia, none for combining marks. All input is printable() text; nothing here removes controls.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// What the reader's screen can do.
struct TextStyle {
  int width = 100;       ///< Columns to fit into; at least kMinWidth is used.
  bool colour = false;   ///< Whether escape codes for colour may be written.
  bool verbose = false;  ///< Also what is harmless, and all that is known of the next capture.

  static constexpr int kMinWidth = 40;
};

/// Colours by what they mean.
enum class Tone { Plain, Strong, Error, Warning, Good, Quiet };

/// `text` in the tone's colour; unchanged if the style has none.
std::string paint(std::string_view text, Tone tone, const TextStyle& style);

/// Columns that valid UTF-8 takes on a terminal.
int display_width(std::string_view text);

/// `text` cut to `width` columns, with "…" as the last one if something is missing.
std::string clip(std::string_view text, int width);

/// `text` cut to `width` columns, with "…" in the place of its middle if something is missing: a
/// line begins with what failed and ends with why. Whole words stay, but of long ones, and what is
/// to be kept where there is room beside it.
std::string clip_middle(std::string_view text, int width, std::string_view keep = {});

/// `text` filled up with blanks to `width` columns.
std::string pad(std::string_view text, int width);

/// `text` in lines of at most `width` columns, broken at blanks. What stands between backquotes and
/// words that are too long are never broken: they stand on a line of their own. Newlines stay.
std::vector<std::string> wrap(std::string_view text, int width);

/// Wraps `text` behind `lead`: further lines start under the text's first column. Ends with a
/// newline. `style.width` counts with the lead.
std::string hang(std::string_view lead, std::string_view text, const TextStyle& style);

/// The same with the lead in the tone's colour.
std::string hang(std::string_view lead, Tone tone, std::string_view text, const TextStyle& style);

/// Columns of the labels on the left.
inline constexpr int kMargin = 10;

/// A label, filled up to the margin. `name` may be empty.
std::string label(std::string_view name, const TextStyle& style);

/// Text of any bytes that wraps behind a label. Ends with a newline.
std::string labelled(std::string_view name, std::string_view text, const TextStyle& style);

}  // namespace ncclog
