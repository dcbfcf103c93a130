#include "report/document/render_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace ncclog {
namespace {

/// The words of statements stand in a column: 7 for "warning" and "unknown", and two blanks.
constexpr int kWordWidth = 9;

std::string blanks(int columns) { return std::string(static_cast<size_t>(columns), ' '); }

std::string text_of(const Statement& statement, const TextStyle& style) {
  const std::string lead =
      blanks(2 * statement.depth) + pad(printable(statement.word), kWordWidth - 2) + "  ";
  const std::string below = blanks(display_width(lead));
  const std::string text = printable(statement.text);
  const Quote& about = statement.about;
  std::string out;
  if (about.place.empty() && about.text.empty()) {
    out = hang(lead, statement.tone, text, style);
  } else {
    const std::string_view between = about.place.empty() || about.text.empty() ? "" : "  ";
    out = fmt::format("{}{}{}{}\n", paint(lead, statement.tone, style), printable(about.place),
                      between, printable(about.text)) +
          hang(below, text, style);
  }
  if (!statement.hint.empty()) out += hang(below + "→ ", printable(statement.hint), style);
  return out;
}

std::string text_of(const Paragraph& paragraph, const TextStyle& style) {
  return hang(blanks(2 * paragraph.depth), printable(paragraph.text), style);
}

std::string text_of(const Labelled& block, const TextStyle& style) {
  return hang(printable(block.label) + ": ", printable(block.text), style);
}

std::string text_of(const Items& list, const TextStyle& style) {
  std::string out;
  for (const std::string& item : list.items) out += hang("  - ", printable(item), style);
  return out;
}

std::string text_of(const Quotes& quotes, const TextStyle& style) {
  const std::string indent = blanks(2 * quotes.depth + kWordWidth);
  std::string place = indent + printable(quotes.first.place);
  if (quotes.more > 0) place += fmt::format(" and {} more", plural(quotes.more, "line"));
  const int width = std::max(style.width, TextStyle::kMinWidth);
  return place + "\n" + clip(indent + printable(quotes.first.text), width) + "\n";
}

std::string text_of(const Table& table, const TextStyle& style) {
  return write_table_text(table, style, false);
}

std::string heading_of(const Section& section, const TextStyle& style) {
  const std::string heading = printable(section.heading);
  if (heading.empty()) return {};
  if (section.aside.empty()) return paint(heading, section.tone, style) + "\n";
  return hang(heading + "  ", section.tone, printable(section.aside), style);
}

}  // namespace

std::string render_text(const Document& document, const TextStyle& style) {
  std::string out;
  for (const Section& section : document.sections) {
    if (!out.empty()) out += "\n";
    out += heading_of(section, style);
    for (const Block& block : section.blocks) {
      out += std::visit([&](const auto& each) { return text_of(each, style); }, block);
    }
  }
  return out;
}

}  // namespace ncclog
