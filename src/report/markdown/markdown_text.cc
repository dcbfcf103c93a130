#include "report/markdown/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr std::string_view kOpening = "([\"'";
constexpr std::string_view kClosing = ",.;:!?)]\"'";

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

  static size_t longest_run_of_backquotes(std::string_view text) {
    size_t longest = 0;
    size_t run = 0;
    for (const char c : text) {
      run = c == '`' ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
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

/// ":tada:" is an emoji; so is ":100:", but nothing in "10:04:30".
bool holds_emoji(std::string_view word) {
  constexpr size_t kLongestTime = 2;
  for (size_t begin = word.find(':'); begin != word.npos; begin = word.find(':', begin + 1)) {
    size_t end = begin + 1;
    bool digits = true;
    for (; end < word.size() && (is_word(word[end]) || word[end] == '+' || word[end] == '-');
         ++end) {
      digits = digits && is_digit(word[end]);
    }
    const size_t length = end - begin - 1;
    const bool named = digits ? length > kLongestTime : length > 0;
    if (named && end < word.size() && word[end] == ':') return true;
  }
  return false;
}

/// "GH-12" is an issue.
bool holds_issue(std::string_view word) {
  for (size_t at = 0; at + 3 < word.size(); ++at) {
    if ((word[at] | 0x20) == 'g' && (word[at + 1] | 0x20) == 'h' && word[at + 2] == '-' &&
        is_digit(word[at + 3])) {
      return true;
    }
  }
  return false;
}

/// Seven digits and more, with a letter among them, may be the name of a commit: "deadbee1", but
/// not "0xdeadbee1".
bool holds_commit(std::string_view word) {
  constexpr size_t kShortest = 7;
  for (size_t begin = 0; begin < word.size();) {
    size_t end = begin;
    bool hex = true;
    bool letter = false;
    for (; end < word.size() && is_word(word[end]); ++end) {
      hex = hex && is_hex_digit(word[end]);
      letter = letter || !is_digit(word[end]);
    }
    if (hex && letter && end - begin >= kShortest) return true;
    begin = end + 1;
  }
  return false;
}

bool holds_link(std::string_view word) {
  return word.find("://") != word.npos || word.find("www.") != word.npos ||
         word.find("WWW.") != word.npos;
}

/// True if no escape would keep GitHub from reading more into the word than it says.
bool needs_code(std::string_view word) {
  return word.find_first_of("`@#$\\_") != word.npos || holds_link(word) || holds_emoji(word) ||
         holds_issue(word) || holds_commit(word);
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

std::string markdown_code(std::string_view text, MarkdownPlace place) {
  Escaped out(place);
  out.add_code(trim(printable(text)));
  return out.take();
}

std::string markdown_fence(std::span<const std::string> lines, std::string_view language) {
  size_t longest = 2;
  std::string body;
  for (const std::string& line : lines) {
    body += printable(line) + "\n";
    size_t run = 0;
    for (const char c : line) {
      run = c == '`' ? run + 1 : 0;
      longest = std::max(longest, run);
    }
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

constexpr size_t kMaxCellBytes = 160;

std::string shown(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return {};
  return markdown_text(shortened(*text, kMaxCellBytes), MarkdownPlace::TableCell);
}

/// "not seen" for "not_seen".
std::string heading(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

bool is_blank(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

std::vector<size_t> filled_columns(const Table& table) {
  std::vector<size_t> filled;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const bool any = std::any_of(table.rows.begin(), table.rows.end(),
                                 [c](const auto& row) { return !is_blank(row[c]); });
    if (any) filled.push_back(c);
  }
  return filled;
}

template <typename TextOf>
std::string row_text(const std::vector<size_t>& columns, TextOf text_of) {
  std::string line = "|";
  for (const size_t column : columns) line += " " + text_of(column) + " |";
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
  if (table.rows.empty()) return {};
  const std::vector<size_t> columns = filled_columns(table);
  std::string head = row_text(columns, [&](size_t c) { return heading(table.columns[c]); });
  head += row_text(columns, [](size_t) { return std::string("---"); });
  std::vector<std::string> rows;
  for (const auto& row : table.rows) {
    rows.push_back(row_text(columns, [&](size_t c) { return shown(row[c]); }));
  }
  return head + fitted(rows, bytes - std::min(bytes, head.size()));
}

}  // namespace ncclog
