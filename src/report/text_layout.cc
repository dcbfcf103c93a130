#include "report/text_layout.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// Takes the first character off `text`, which is not empty, and gives the columns that it takes.
int take_character(std::string_view& text) {
  utf8proc_int32_t code = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  text.remove_prefix(static_cast<size_t>(std::max<utf8proc_ssize_t>(length, 1)));
  return length < 0 ? 1 : utf8proc_charwidth(code);
}

/// Length of the longest beginning of `text` that fits into `width` columns.
size_t fitting_length(std::string_view text, int width) {
  std::string_view rest = text;
  size_t length = 0;
  while (!rest.empty()) {
    width -= take_character(rest);
    if (width < 0) break;
    length = text.size() - rest.size();
  }
  return length;
}

/// Pieces of a line that stay whole: words, and what stands between backquotes.
std::vector<std::string_view> unbreakable_pieces(std::string_view line) {
  std::vector<std::string_view> pieces;
  for (size_t at = 0; at < line.size();) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    bool quoted = false;
    while (end < line.size() && (quoted || !is_blank(line[end]))) {
      if (line[end] == '`') quoted = !quoted && line.find('`', end + 1) != line.npos;
      ++end;
    }
    pieces.push_back(line.substr(at, end - at));
    at = end;
  }
  return pieces;
}

void wrap_line(std::string_view line, int width, std::vector<std::string>& lines) {
  std::string current;
  int used = 0;
  for (const std::string_view piece : unbreakable_pieces(line)) {
    const int piece_width = display_width(piece);
    if (!current.empty() && used + 1 + piece_width > width) {
      lines.push_back(std::exchange(current, {}));
      used = 0;
    }
    if (!current.empty()) {
      current += ' ';
      ++used;
    }
    current += piece;
    used += piece_width;
  }
  lines.push_back(current);
}

constexpr size_t kLongestWord = 40;

/// The beginning of `text` in at most `width` columns, up to a blank.
std::string_view first_words(std::string_view text, int width) {
  const size_t size = fitting_length(text, width);
  const size_t blank = text.substr(0, size).rfind(' ');
  const bool is_cut = size < text.size() && blank != text.npos && size - blank <= kLongestWord;
  return trim(text.substr(0, is_cut ? blank : size));
}

/// The end of `text` in at most `width` columns, from behind a blank on.
std::string_view last_words(std::string_view text, int width) {
  const int skipped = std::max(display_width(text) - width, 0);
  const size_t begin = fitting_length(text, skipped);
  const size_t blank = text.find(' ', begin);
  const bool is_cut = begin > 0 && blank != text.npos && blank - begin <= kLongestWord;
  return trim(text.substr(is_cut ? blank + 1 : begin));
}

constexpr std::array<std::string_view, 6> kCodes = {"",         "\x1b[1m",  "\x1b[1;31m",
                                                    "\x1b[33m", "\x1b[32m", "\x1b[2m"};

}  // namespace

std::string paint(std::string_view text, Tone tone, const TextStyle& style) {
  if (!style.colour || tone == Tone::Plain || text.empty()) return std::string(text);
  return std::string(kCodes[static_cast<size_t>(tone)]) + std::string(text) + "\x1b[0m";
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) width += take_character(text);
  return width;
}

std::string clip(std::string_view text, int width) {
  if (fitting_length(text, width) == text.size()) return std::string(text);
  if (width <= 0) return {};
  return std::string(text.substr(0, fitting_length(text, width - 1))) + "…";
}

std::string clip_middle(std::string_view text, int width, std::string_view keep) {
  if (display_width(text) <= width) return std::string(text);
  constexpr int kLeastBeside = 8;
  const int room = std::max(width - 3, 0);  // A blank on both sides of "…".
  const std::string_view front = first_words(text, room / 2);
  const std::string_view back = last_words(text, room - room / 2);
  const size_t at = keep.empty() ? text.npos : text.find(keep);
  const int beside = (width - display_width(keep) - 6) / 2;
  const bool is_lost = at != text.npos && at + keep.size() > front.size() &&
                       at < text.size() - back.size() && beside >= kLeastBeside;
  if (!is_lost) return fmt::format("{} … {}", front, back);
  return fmt::format("{} … {} … {}", first_words(text.substr(0, at), beside), keep,
                     last_words(text.substr(at + keep.size()), beside));
}

std::string pad(std::string_view text, int width) {
  const int missing = std::max(0, width - display_width(text));
  return std::string(text) + std::string(static_cast<size_t>(missing), ' ');
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) wrap_line(line, width, lines);
  return lines;
}

std::string hang(std::string_view lead, std::string_view text, const TextStyle& style) {
  const int indent = display_width(lead);
  const int width = std::max(style.width, TextStyle::kMinWidth) - indent;
  std::string out(lead);
  bool first = true;
  for (const std::string& line : wrap(text, std::max(width, 1))) {
    if (!std::exchange(first, false)) out += std::string(static_cast<size_t>(indent), ' ');
    out += line + "\n";
  }
  return out;
}

std::string hang(std::string_view lead, Tone tone, std::string_view text, const TextStyle& style) {
  // Painted after measuring: codes have no width.
  return hang(lead, text, style).replace(0, lead.size(), paint(lead, tone, style));
}

std::string label(std::string_view name, const TextStyle& style) {
  return paint(pad(fmt::format("  {}", name), kMargin), Tone::Quiet, style);
}

std::string labelled(std::string_view name, std::string_view text, const TextStyle& style) {
  return hang(pad(fmt::format("  {}", name), kMargin), Tone::Quiet, printable(text), style);
}

}  // namespace ncclog
