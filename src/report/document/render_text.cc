#include "report/document/render_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "report/verdict_and_evidence.h"

namespace ncclog {
namespace {

/// The words of statements stand in a column: 7 for "warning" and "unknown", and two blanks. Above
/// labels it is the labels' margin.
constexpr int kWordWidth = 9;

std::string blanks(int columns) { return std::string(static_cast<size_t>(columns), ' '); }

std::string text_of(const Statement& statement, const TextStyle& style) {
  const int column = statement.main ? kMargin : kWordWidth;
  const std::string lead =
      blanks(2 * statement.depth) + pad(printable(statement.word), column - 2) + "  ";
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

/// A label that the margin cannot hold stands in front of the text.
std::string text_of(const Labelled& block, const TextStyle& style) {
  if (display_width(block.label) < kMargin - 2) return labelled(block.label, block.text, style);
  return hang(block.label + ": ", printable(block.text), style);
}

std::string text_of(const Items& list, const TextStyle& style) {
  std::string out;
  for (const std::string& item : list.items) {
    const std::string_view name = out.empty() ? list.label : std::string_view();
    if (list.label.empty()) {
      out += hang("  - ", printable(item), style);
    } else if (is_command(item)) {
      out += label(name, style) + printable(item) + "\n";
    } else {
      out += labelled(name, item, style);
    }
  }
  return out;
}

std::string text_of(const Code& code, const TextStyle&) {
  std::string out;
  for (const std::string& line : code.lines) out += "    " + printable(line) + "\n";
  return out;
}

/// The line from where its message begins, as NCCL and PyTorch print it; all of it elsewhere.
std::string_view without_header(std::string_view line) {
  for (const std::string_view level : {" NCCL WARN ", " NCCL INFO "}) {
    const size_t at = line.find(level);
    if (at != line.npos) return line.substr(at + 1);
  }
  const size_t source = line.find(".cpp:");
  const size_t end = source == line.npos ? line.npos : line.find("] ", source);
  return end == line.npos ? line : line.substr(end + 2);
}

/// A log line in at most two lines of the screen. Its end is where the error stands, so of a longer
/// one the header goes first.
std::vector<std::string> fitted_text(std::string_view line, int width) {
  constexpr size_t kMaxLines = 2;
  std::vector<std::string> lines = wrap(line, width);
  const std::string_view message = without_header(line);
  if (lines.size() > kMaxLines && message.size() < line.size()) {
    lines = wrap("… " + std::string(message), width);
  }
  if (lines.size() > kMaxLines) {
    lines[kMaxLines - 1] += " " + lines[kMaxLines];
    lines.resize(kMaxLines);
  }
  for (std::string& text : lines) text = clip(text, width);
  return lines;
}

/// Place and text on one line if both fit, else the text below.
std::string beside_label(std::string_view name, const Quote& quote, const TextStyle& style) {
  const int room = std::max(style.width, TextStyle::kMinWidth) - kMargin;
  const std::string place = printable(quote.place);
  const std::string text = printable(trim(quote.text));
  const std::string lead = label(name, style) + paint(place, Tone::Strong, style);
  if (text.empty()) return lead + "\n";
  if (display_width(place) + 2 + display_width(text) <= room) return lead + "  " + text + "\n";
  std::string out = lead + "\n";
  for (const std::string& line : fitted_text(text, room)) out += blanks(kMargin) + line + "\n";
  return out;
}

std::string labelled_quotes(const Quotes& quotes, const TextStyle& style) {
  std::string out;
  for (const Quote& quote : quotes.quotes) {
    out += beside_label(out.empty() ? quotes.label : "", quote, style);
  }
  if (quotes.more > 0) {
    out += labelled("", fmt::format("… and {}", plural(quotes.more, "more line")), style);
  }
  return out;
}

std::string text_of(const Quotes& quotes, const TextStyle& style) {
  if (!quotes.label.empty()) return labelled_quotes(quotes, style);
  const std::string indent = blanks(2 * quotes.depth + kWordWidth);
  const int width = std::max(style.width, TextStyle::kMinWidth);
  std::string out;
  for (const Quote& quote : quotes.quotes) {
    out += indent + printable(quote.place);
    if (quotes.more > 0 && &quote == &quotes.quotes.back()) {
      out += fmt::format(" and {} more", plural(quotes.more, "line"));
    }
    out += "\n" + clip(indent + printable(quote.text), width) + "\n";
  }
  return out;
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
