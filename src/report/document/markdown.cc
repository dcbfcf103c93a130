// Documents and pieces of text as Markdown: what document.h says of it, and how.

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/document/document.h"

namespace ncclog {
namespace {

constexpr std::string_view kOpening = "([\"'";
constexpr std::string_view kClosing = ",.;:!?)]\"'";

size_t longest_run_of_backquotes(std::string_view text) {
  size_t longest = 0;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// Texts grow by pieces that are escaped; `in_cell`: of a table.

/// Plain words: what would be markup is escaped.
void add_plain(std::string_view text, bool in_cell, std::string& out) {
  static constexpr std::pair<char, std::string_view> kEntities[] = {
      {'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'|', "&#124;"}};
  for (const char c : text) {
    const auto* entity = std::ranges::find(kEntities, c, &std::pair<char, std::string_view>::first);
    if (entity != std::end(kEntities) && (c != '|' || in_cell)) {
      out += entity->second;
      continue;
    }
    // At the start of a line "-" and "12." begin lists, "===" makes a heading of the line above.
    const bool begins_block = out.empty()
                                  ? c == '-' || c == '+' || c == '='
                                  : (c == '.' || c == ')') && std::ranges::all_of(out, is_digit);
    const bool is_mark = std::string_view("*[]~|").find(c) != std::string_view::npos;
    if (is_mark || (begins_block && !in_cell)) out += '\\';
    out += c;
  }
}

void add_span(std::string_view text, std::string& out) {
  if (trim(text).empty()) {
    out += text;
    return;
  }
  if (out.ends_with('`')) out += ' ';  // Two spans side by side would be read as one.
  const std::string fence(longest_run_of_backquotes(text) + 1, '`');
  // One blank at each end is taken off again, if both are there.
  const bool padded =
      text.front() == '`' || text.back() == '`' || (text.front() == ' ' && text.back() == ' ');
  const std::string_view blank = padded ? " " : "";
  out += fmt::format("{0}{1}{2}{1}{0}", fence, blank, text);
}

/// A code span; in a cell, several with an escaped "|" between them.
void add_code(std::string_view text, bool in_cell, std::string& out) {
  if (!in_cell) return add_span(text, out);
  std::string_view between;
  for (const std::string_view part : split(text, '|')) {
    out += std::exchange(between, "&#124;");
    add_span(part, out);
  }
}

/// Seven digits and more, with a letter among them, may be the name of a commit: "deadbee1", but
/// not "0xdeadbee1".
bool holds_commit(std::string_view word) {
  static const RE2 kHexadecimal(R"(\b([0-9a-fA-F]{7,})\b)");
  re2::StringPiece rest(word.data(), word.size());
  re2::StringPiece digits;
  while (RE2::FindAndConsume(&rest, kHexadecimal, &digits)) {
    if (!std::ranges::all_of(digits, is_digit)) return true;
  }
  return false;
}

/// True if no escape would keep GitHub from reading more into the word than it says. ":tada:" is an
/// emoji, and so is ":100:", but nothing in "10:04:30"; "GH-12" is an issue.
bool needs_code(std::string_view word) {
  static const RE2 kMeaning(
      R"([`@#$\\_]|://|www\.|WWW\.|(?i:gh)-\d|:(?:\d{3,}|[\w+-]*[A-Za-z_+-][\w+-]*):)");
  return RE2::PartialMatch(re2::StringPiece(word.data(), word.size()), kMeaning) ||
         holds_commit(word);
}

/// Where a word ends without the stops and brackets behind it; "f()" keeps its own.
size_t end_of_core(std::string_view word, size_t begin) {
  size_t end = word.size();
  while (end > begin && kClosing.find(word[end - 1]) != kClosing.npos) {
    const bool own = word[end - 1] == ')' && word.substr(begin).find('(') != word.npos;
    if (own) break;
    --end;
  }
  return end;
}

/// A word without blanks; brackets and stops around it stay outside of a code span.
void add_word(std::string_view word, bool in_cell, std::string& out) {
  if (!needs_code(word)) return add_plain(word, in_cell, out);
  const size_t begin = std::min(word.find_first_not_of(kOpening), word.size());
  const size_t end = end_of_core(word, begin);
  add_plain(word.substr(0, begin), in_cell, out);
  add_code(word.substr(begin, end - begin), in_cell, out);
  add_plain(word.substr(end), in_cell, out);
}

/// Words up to the next pair of backquotes, or all of them.
void add_words(std::string_view text, bool in_cell, std::string& out) {
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    add_word(text.substr(0, blank), in_cell, out);
    text.remove_prefix(blank);
    if (text.empty()) return;
    out += ' ';
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
}

std::string escaped(std::string_view text, bool in_cell) {
  const std::string shown = printable(text);
  std::string_view rest = trim(shown);
  std::string out;
  while (!rest.empty()) {
    const size_t begin = rest.find('`');
    const size_t end = begin == rest.npos ? rest.npos : rest.find('`', begin + 1);
    if (end == rest.npos || end == begin + 1) {
      add_words(rest, in_cell, out);
      break;
    }
    add_words(rest.substr(0, begin), in_cell, out);
    add_code(rest.substr(begin + 1, end - begin - 1), in_cell, out);
    rest.remove_prefix(end + 1);
  }
  return out;
}

/// A line of the columns that are shown.
template <typename TextOf>
std::string row_text(const std::vector<ShownColumn>& columns, TextOf text_of) {
  std::string line = "|";
  for (const ShownColumn& column : columns) line += " " + text_of(column.index) + " |";
  return line + "\n";
}

// A document as GitHub renders it.
//
//   <!-- ncclog report -->
//   ## PROBLEM
//
//   **Rank 1 on node-a could not extend a segment: `/dev/shm` is full.**
//
//   ### Finding
//   …
//   <details>
//   <summary>Settings that NCCL reports</summary>
//
// It has at most kMaxMarkdown bytes, whatever the document: where not all fits, sections get equal
// shares of the room, those that fold a smaller one, and what a section does not need goes to the
// others. What is left out is counted. Text from logs is inert: it becomes no HTML, link, mention
// or reference (markdown_text).

/// Bytes of a text before it is escaped.
constexpr size_t kMaxText = 1'200;
constexpr size_t kMaxLine = 500;
constexpr size_t kMaxPath = 200;

/// More room than any section needs.
constexpr size_t kNoLimit = SIZE_MAX / 2;

std::string prose(std::string_view text, size_t most = kMaxText) {
  return markdown_text(shortened(text, most));
}

/// "**Do not**" for "do not".
std::string bold_label(const std::string& label) {
  return label.empty() ? "" : "**" + capitalised(label) + "**";
}

/// True for an address that can stand in Markdown as it is.
bool is_plain_link(std::string_view address) {
  constexpr std::string_view kPunctuation = "-._/#?=%:+,~";
  return address.starts_with("https://") && address.size() < kMaxPath &&
         std::ranges::all_of(address, [&](char c) {
           return is_word(c) || kPunctuation.find(c) != kPunctuation.npos;
         });
}

std::string item_text(std::string_view item) {
  if (is_plain_link(item)) return fmt::format("<{}>", item);
  const std::string_view typed = item.substr(0, item.find("    # "));
  const bool is_prose =
      !is_command(item) || item.find('`') != item.npos || typed.find(", ") != typed.npos;
  return is_prose ? prose(item, kMaxLine) : markdown_code(shortened(item, kMaxLine));
}

// Each block within `room` bytes and what it takes to say what is left out. All but points end with
// an empty line.

/// "error, cause (certain), shm-no-space; rank 1 on node-a" and its message; else a point of a list.
std::string text_of(const Statement& statement, size_t) {
  if (is_title(statement)) return "#### " + prose(statement.word, kMaxLine) + "\n\n";
  if (!statement.main) {
    const Quote& about = statement.about;
    std::string out = "-";
    if (!statement.word.empty()) out += " " + bold_label(statement.word);
    for (const std::string& text : {about.place, about.text}) {
      if (!text.empty()) out += " " + markdown_code(shortened(text, kMaxLine));
    }
    out += " " + prose(statement.text, kMaxLine);
    if (!statement.hint.empty()) out += " → " + prose(statement.hint, kMaxLine);
    return out + "\n";
  }
  std::string out = prose(statement.word + ", " + statement.standing) + "\n\n";
  if (!statement.text.empty()) out += prose(statement.text) + "\n\n";
  return out;
}

std::string text_of(const Paragraph& paragraph, size_t) { return prose(paragraph.text) + "\n\n"; }

std::string text_of(const Labelled& block, size_t) {
  const std::string label = bold_label(block.label);
  return label + (label.empty() ? "" : " ") + prose(block.text) + "\n\n";
}

std::string text_of(const Items& list, size_t room) {
  std::vector<std::string> points;
  for (const std::string& item : list.items) points.push_back("- " + item_text(item) + "\n");
  const std::string label = bold_label(list.label);
  return label + (label.empty() ? "" : "\n\n") + fitted(points, room) + "\n";
}

std::string text_of(const Code& code, size_t) {
  return code.lines.empty() ? "" : markdown_fence(code.lines, "sh") + "\n";
}

/// "logs/a.txt:12", and the line below.
std::string text_of(const Quotes& quotes, size_t) {
  std::vector<std::string> lines;
  for (const Quote& quote : quotes.quotes) {
    lines.push_back(shortened(quote.place, kMaxPath));
    const std::string_view text = trim(quote.text);
    if (!text.empty()) lines.push_back("  " + shortened(text, kMaxLine));
  }
  const uint64_t more = quotes.more + quotes.rest.size();
  const std::string others = more == 0 ? "" : fmt::format(", and {}", plural(more, "more line"));
  const std::string label = bold_label(quotes.label);
  return fmt::format("{}{}{}{}\n", label, label.empty() ? "" : others, label.empty() ? "" : "\n\n",
                     markdown_fence(lines, "text"));
}

std::string text_of(const Links& links, size_t room) { return text_of(text_form(links), room); }

std::string text_of(const Table& table, size_t room) {
  std::string out = markdown_table(table, room);
  if (!out.empty()) out += "\n";
  for (const std::string& note : table.notes) out += prose(note) + "\n\n";
  return out;
}

std::string text_of(const KeyValues& values, size_t room) {
  if (values.tally) {
    std::vector<std::string> counts;
    for (const Labelled& row : values.rows) counts.push_back(row.label + " " + row.text);
    return prose(join(counts, ", ")) + "\n\n";
  }
  Table table{.columns = {"what", "as the logs show it"}};
  for (const auto& [label, text] : values.rows) {
    table.rows.push_back({text_cell(label), text_cell(text)});
  }
  return text_of(table, room);
}

std::string text_of(const Figure& figure, size_t room) {
  const auto form = text_form(figure);
  if (const auto* table = std::get_if<Table>(&form)) return text_of(*table, room);
  return markdown_fence(std::get<Code>(form).lines, "text") + "\n";
}

std::string blocks_text(const std::vector<Block>& blocks, size_t room) {
  std::string out;
  size_t left_out = 0;  // Blocks.
  for (const Block& block : blocks) {
    const size_t left = room - std::min(room, out.size());
    const std::string text =
        std::visit([&](const auto& each) { return text_of(each, left); }, block);
    // What counts its own rest may end a little above its room.
    constexpr size_t kCount = 100;
    if (text.size() > left + kCount) {
      ++left_out;
      continue;
    }
    const bool ends_list = out.ends_with('\n') && !out.ends_with("\n\n") && text[0] != '-';
    out += (ends_list ? "\n" : "") + text;
  }
  if (left_out > 0) out += fmt::format("\n{} more left out here.\n", left_out);
  if (!out.empty() && !out.ends_with("\n\n")) out += "\n";
  return out;
}

std::string part_text(const Section& part, size_t room) {
  constexpr size_t kCounts = 200;  // Blocks say what they leave out.
  const std::string heading = "#### " + prose(part.heading, kMaxLine) + "\n\n";
  return heading + blocks_text(part.blocks, room - std::min(room, heading.size() + kCounts));
}

std::string section_text(const Section& section, size_t room) {
  std::string body = blocks_text(section.blocks, room);
  const size_t left = room - std::min(room, body.size());
  std::vector<std::string> parts;
  for (const Section& part : section.parts) {
    parts.push_back(part_text(part, left / std::min<size_t>(section.parts.size(), 4)));
  }
  body += fitted(parts, left);
  if (!body.empty() && !body.ends_with("\n\n")) body += "\n";
  std::string heading = prose(section.heading, kMaxLine);
  if (!section.aside.empty()) heading += ": " + prose(section.aside, kMaxLine);
  if (section.folds) {
    return fmt::format("<details>\n<summary>{}</summary>\n\n{}</details>\n\n", heading, body);
  }
  return (heading.empty() ? "" : "### " + heading + "\n\n") + body;
}

/// All sections whole, or cut so that they fit.
std::string sections_text(const std::vector<Section>& sections, size_t room) {
  std::vector<std::string> texts;
  for (const Section& section : sections) texts.push_back(section_text(section, kNoLimit));
  const auto share_of = [&](size_t s, size_t share) {
    return sections[s].folds ? share / 3 : share;
  };
  const auto total = [&](size_t share) {
    size_t bytes = 0;
    for (size_t s = 0; s < texts.size(); ++s) {
      bytes += std::min(texts[s].size(), share_of(s, share));
    }
    return bytes;
  };
  size_t share = room;
  while (total(share) > room) share -= share / 16 + 1;
  std::string out;
  for (size_t s = 0; s < sections.size(); ++s) {
    const size_t most = share_of(s, share);
    out += texts[s].size() <= most ? texts[s] : section_text(sections[s], most);
  }
  return out;
}

}  // namespace

std::string markdown_text(std::string_view text) { return escaped(text, false); }

std::string markdown_cell(std::string_view text) { return escaped(text, true); }

std::string markdown_code(std::string_view text) {
  std::string out;
  add_span(trim(printable(text)), out);
  return out;
}

std::string markdown_fence(std::span<const std::string> lines, std::string_view language) {
  size_t longest = 2;
  std::string body;
  for (const std::string& line : lines) {
    body += printable(line) + "\n";
    longest = std::max(longest, longest_run_of_backquotes(line));
  }
  const std::string fence(longest + 1, '`');
  return fence + std::string(language) + "\n" + body + fence + "\n";
}

std::string shortened(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return to_valid_utf8(text);
  const auto is_inside = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  constexpr size_t kLongestCharacter = 4;
  size_t head = bytes / 2;
  size_t tail = text.size() - bytes / 2;
  for (size_t n = 0; n < kLongestCharacter && head > 0 && is_inside(head); ++n) --head;
  for (size_t n = 0; n < kLongestCharacter && is_inside(tail); ++n) ++tail;
  return to_valid_utf8(text.substr(0, head)) + " … " + to_valid_utf8(text.substr(tail));
}

std::string fitted(std::span<const std::string> pieces, size_t bytes) {
  std::string out;
  size_t left_out = 0;
  for (const std::string& piece : pieces) {
    if (out.size() + piece.size() <= bytes) {
      out += piece;
    } else {
      ++left_out;
    }
  }
  if (left_out == 0) return out;
  return out + fmt::format("\n{} more {} left out here.\n", left_out, left_out == 1 ? "is" : "are");
}

std::string markdown_table(const Table& table, size_t bytes) {
  constexpr size_t kMaxCellBytes = 160;
  if (table.rows.empty()) return {};
  const std::vector<ShownColumn> columns = shown_columns(table);
  std::string head = row_text(columns, [&](size_t c) { return column_heading(table.columns[c]); });
  head += row_text(columns, [](size_t) { return std::string("---"); });
  std::vector<std::string> rows;
  for (const auto& row : table.rows) {
    rows.push_back(row_text(columns, [&](size_t c) {
      return markdown_cell(shortened(cell_text(row[c]), kMaxCellBytes));
    }));
  }
  return head + fitted(rows, bytes - std::min(bytes, head.size()));
}

std::string render_markdown(const Document& document) {
  // Besides its room, a section that is cut has its heading and says what it leaves out.
  constexpr size_t kRoom = kMaxMarkdown - 8'000;
  std::string out = "<!-- ncclog report -->\n";
  if (!document.lead.word.empty()) {
    out += fmt::format("## {}\n\n**{}**\n\n", markdown_text(document.lead.word),
                       prose(document.lead.text));
  }
  out += sections_text(document.sections, kRoom);
  if (!document.signature.empty()) out += "*" + markdown_text(document.signature) + "*\n";
  return out;
}

}  // namespace ncclog
