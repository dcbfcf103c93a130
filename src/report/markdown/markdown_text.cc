#include "report/markdown/markdown_text.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/text_layout.h"

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

/// A text that grows by escaped pieces.
class Escaped {
 public:
  explicit Escaped(MarkdownPlace place) : place_(place) {}

  /// Plain words: what would be markup is escaped.
  void add_plain(std::string_view text) {
    for (const char c : text) add_plain(c);
  }

  /// A code span; in a cell, several with an escaped "|" between them.
  void add_code(std::string_view text) {
    if (place_ == MarkdownPlace::Line) return add_span(text);
    bool first = true;
    for (const std::string_view part : split(text, '|')) {
      if (!first) out_ += "&#124;";
      first = false;
      add_span(part);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void add_plain(char c) {
    switch (c) {
      case '<':
        out_ += "&lt;";
        return;
      case '>':
        out_ += "&gt;";
        return;
      case '&':
        out_ += "&amp;";
        return;
      case '|':
        out_ += place_ == MarkdownPlace::TableCell ? "&#124;" : "\\|";
        return;
      case '*':
      case '[':
      case ']':
      case '~':
        out_ += '\\';
        break;
      default:
        if (place_ == MarkdownPlace::Line && begins_block(c)) out_ += '\\';
    }
    out_ += c;
  }

  /// At the start of a line "-" and "12." begin lists, "===" makes a heading of the line above.
  bool begins_block(char c) const {
    if (out_.empty()) return c == '-' || c == '+' || c == '=';
    return (c == '.' || c == ')') && std::all_of(out_.begin(), out_.end(), is_digit);
  }

  void add_span(std::string_view text) {
    if (trim(text).empty()) {
      out_ += text;
      return;
    }
    if (out_.ends_with('`')) out_ += ' ';  // Two spans side by side would be read as one.
    const std::string fence(longest_run_of_backquotes(text) + 1, '`');
    // One blank at each end is taken off again, if both are there.
    const bool padded =
        text.front() == '`' || text.back() == '`' || (text.front() == ' ' && text.back() == ' ');
    const std::string_view blank = padded ? " " : "";
    out_ += fence;
    out_ += blank;
    out_ += text;
    out_ += blank;
    out_ += fence;
  }

  MarkdownPlace place_;
  std::string out_;
};

/// Seven digits and more, with a letter among them, may be the name of a commit: "deadbee1", but
/// not "0xdeadbee1".
bool holds_commit(std::string_view word) {
  static const RE2 kHexadecimal(R"(\b([0-9a-fA-F]{7,})\b)");
  re2::StringPiece rest(word.data(), word.size());
  re2::StringPiece digits;
  while (RE2::FindAndConsume(&rest, kHexadecimal, &digits)) {
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return true;
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
void add_word(std::string_view word, Escaped& out) {
  if (!needs_code(word)) return out.add_plain(word);
  const size_t begin = std::min(word.find_first_not_of(kOpening), word.size());
  const size_t end = end_of_core(word, begin);
  out.add_plain(word.substr(0, begin));
  out.add_code(word.substr(begin, end - begin));
  out.add_plain(word.substr(end));
}

/// Words up to the next pair of backquotes, or all of them.
void add_words(std::string_view text, Escaped& out) {
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    add_word(text.substr(0, blank), out);
    text.remove_prefix(blank);
    if (text.empty()) return;
    out.add_plain(" ");
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
}

}  // namespace

std::string markdown_text(std::string_view text, MarkdownPlace place) {
  const std::string shown = printable(text);
  std::string_view rest = trim(shown);
  Escaped out(place);
  while (!rest.empty()) {
    const size_t begin = rest.find('`');
    const size_t end = begin == rest.npos ? rest.npos : rest.find('`', begin + 1);
    if (end == rest.npos || end == begin + 1) {
      add_words(rest, out);
      break;
    }
    add_words(rest.substr(0, begin), out);
    out.add_code(rest.substr(begin + 1, end - begin - 1));
    rest.remove_prefix(end + 1);
  }
  return out.take();
}

std::string markdown_code(std::string_view text) {
  Escaped out(MarkdownPlace::Line);
  out.add_code(trim(printable(text)));
  return out.take();
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

namespace {

/// A line of the columns that are shown.
template <typename TextOf>
std::string row_text(const std::vector<ShownColumn>& columns, TextOf text_of) {
  std::string line = "|";
  for (const ShownColumn& column : columns) line += " " + text_of(column.index) + " |";
  return line + "\n";
}

}  // namespace

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
      return markdown_text(shortened(cell_text(row[c]), kMaxCellBytes), MarkdownPlace::TableCell);
    }));
  }
  return head + fitted(rows, bytes - std::min(bytes, head.size()));
}

}  // namespace ncclog
