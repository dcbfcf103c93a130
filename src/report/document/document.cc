#include "report/document/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ncclog {

void add_items(std::string label, const std::vector<std::string>& items, size_t most,
               std::vector<Block>& blocks) {
  if (items.empty()) return;
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), most));
  blocks.push_back(Items{std::move(label), {items.begin(), end}});
}

Tone tone_of(std::string_view word, Tone otherwise) {
  static constexpr std::pair<std::string_view, Tone> kTones[] = {
#include "report/document/tones.inc"
  };
  for (const auto& [known, tone] : kTones) {
    if (known == word) return tone;
  }
  return otherwise;
}

bool is_title(const Statement& statement) {
  return statement.text.empty() && statement.hint.empty() && statement.standing.empty() &&
         statement.about.place.empty() && statement.about.text.empty();
}

bool is_command(std::string_view item) {
  return !item.empty() && !(item[0] >= 'A' && item[0] <= 'Z') && !item.ends_with('.');
}

std::variant<Table, Code> text_form(const Figure& figure) {
  const auto* graph = std::get_if<Graph>(&figure.drawing);
  if (graph == nullptr) return figure.table;
  return Code{graph_lines(*graph)};
}

Labelled text_form(const Links& links) {
  std::vector<std::string> names;
  for (const auto& [name, id] : links.links) names.push_back(name);
  return {links.label, fmt::format("{}: {}", links.lead, join(names, ", "))};
}

namespace {

/// The words of statements stand in a column: 7 for "warning" and "unknown", and two blanks. Above
/// labels it is the labels' margin.
constexpr int kWordWidth = 9;

std::string blanks(int columns) { return std::string(static_cast<size_t>(columns), ' '); }

std::string beside_label(std::string_view name, const Quote& quote, const TextStyle& style);

std::string text_of(const Statement& statement, const TextStyle& style) {
  const int column = statement.main ? kMargin : kWordWidth;
  const std::string word = printable(statement.word);
  // One blank where that keeps a long word in its column, else two.
  const int least = statement.main && display_width(word) < column ? 1 : 2;
  const std::string lead = blanks(2 * statement.depth) + pad(word, column - least) + blanks(least);
  const std::string below = blanks(display_width(lead));
  const std::string text = printable(statement.text);
  const Quote& about = statement.about;
  if (is_title(statement)) {
    return blanks(2 * statement.depth) + paint(word, tone_of(word, Tone::Strong), style) + "\n";
  }
  std::string out;
  if (about.place.empty() && about.text.empty()) {
    out = hang(lead, tone_of(statement.word), text, style);
  } else {
    const std::string_view between = about.place.empty() || about.text.empty() ? "" : "  ";
    out = fmt::format("{}{}{}{}\n", paint(lead, tone_of(statement.word), style),
                      printable(about.place), between, printable(about.text)) +
          hang(below, text, style);
  }
  const Quote& shown = statement.shown;
  if (!shown.place.empty() || !shown.text.empty()) out += beside_label("", shown, style);
  if (!statement.standing.empty()) out += labelled("", statement.standing, style);
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

/// A log line in at most two lines of the screen: of a longer one the header goes first, which its
/// place and clock stand for, then the middle, without the words to keep.
std::vector<std::string> fitted_text(std::string_view line, std::string_view keep, int width) {
  constexpr size_t kMaxLines = 2;
  std::vector<std::string> lines = wrap(line, width);
  if (lines.size() <= kMaxLines) return lines;
  const std::string message(without_header(line));
  lines = wrap(message, width);
  for (int room = width * static_cast<int>(kMaxLines); lines.size() > kMaxLines && room > 0;
       room -= 8) {
    lines = wrap(clip_middle(message, room, keep), width);
  }
  for (std::string& text : lines) text = clip(text, width);
  return lines;
}

/// Place and text on one line if both fit, with or without the header; else the text below.
std::string beside_label(std::string_view name, const Quote& quote, const TextStyle& style) {
  const int room = std::max(style.width, TextStyle::kMinWidth) - kMargin;
  std::string place = printable(quote.place);
  const std::string text = printable(trim(quote.text));
  const auto lead = [&] { return label(name, style) + paint(place, Tone::Strong, style); };
  if (text.empty()) return lead() + "\n";
  const auto fits = [&](std::string_view line) {
    return display_width(place) + 2 + display_width(line) <= room;
  };
  if (fits(text)) return lead() + "  " + text + "\n";
  const std::string_view message = without_header(text);
  const bool has_clock = !quote.clock.empty() && message.size() < text.size();
  if (has_clock) place += "  " + quote.clock;
  if (message.size() < text.size() && fits(message)) {
    return fmt::format("{}  {}\n", lead(), message);
  }
  std::string out = lead() + "\n";
  for (const std::string& line : fitted_text(text, quote.keep, room))
    out += blanks(kMargin) + line + "\n";
  return out;
}

std::string labelled_quotes(const Quotes& quotes, const TextStyle& style) {
  std::string out;
  for (const Quote& quote : quotes.quotes) {
    out += beside_label(out.empty() ? quotes.label : "", quote, style);
  }
  const uint64_t more = quotes.more + quotes.rest.size();
  if (more > 0) out += labelled("", fmt::format("… and {}", plural(more, "more line")), style);
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

std::string text_of(const Links& links, const TextStyle& style) {
  return text_of(text_form(links), style);
}

std::string text_of(const KeyValues& values, const TextStyle& style) {
  std::string out;
  for (const Labelled& row : values.rows) out += text_of(row, style);
  return out;
}

std::string text_of(const Table& table, const TextStyle& style) {
  return write_table_text(table, style, false);
}

std::string text_of(const Figure& figure, const TextStyle& style) {
  return std::visit([&](const auto& form) { return text_of(form, style); }, text_form(figure));
}

std::string heading_of(const Section& section, const TextStyle& style) {
  const std::string heading = printable(section.heading);
  if (heading.empty()) return {};
  const Tone tone = tone_of(std::string_view(heading).substr(0, heading.find(' ')), Tone::Strong);
  if (section.aside.empty()) return paint(heading, tone, style) + "\n";
  return hang(heading + "  ", tone, printable(section.aside), style);
}

void write_section(const Section& section, const TextStyle& style, std::string& out) {
  if (section.folds) return;
  if (!out.empty()) out += "\n";
  out += heading_of(section, style);
  for (const Block& block : section.blocks) {
    out += std::visit([&](const auto& each) { return text_of(each, style); }, block);
  }
  for (const Section& part : section.parts) write_section(part, style, out);
}

}  // namespace

std::string lead_line(const Document& document, const TextStyle& style) {
  constexpr int kNeverWrapped = 1'000'000;
  return render_text({.lead = document.lead}, {.width = kNeverWrapped, .colour = style.colour});
}

std::string render_text(const Document& document, const TextStyle& style) {
  std::string out = document.lead.word.empty() ? "" : text_of(document.lead, style);
  for (const Section& section : document.sections) write_section(section, style, out);
  return out;
}

}  // namespace ncclog
