#include "support/markdown_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ncclog::testing {
namespace {

size_t backquotes_at(std::string_view line, size_t at) {
  const size_t end = line.find_first_not_of('`', at);
  return (end == line.npos ? line.size() : end) - at;
}

/// The line with each code span replaced by "C". False if one is left open.
bool without_code(std::string_view line, std::string& out) {
  for (size_t at = 0; at < line.size();) {
    const size_t length = line[at] == '`' ? backquotes_at(line, at) : 0;
    if (length == 0) {
      out += line[at++];
      continue;
    }
    size_t close = at + length;
    while (close < line.size() && (line[close] != '`' || backquotes_at(line, close) != length)) {
      close += std::max<size_t>(1, line[close] == '`' ? backquotes_at(line, close) : 0);
    }
    if (close >= line.size()) return false;
    out += 'C';
    at = close + length;
  }
  return true;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view beginning) { return text.starts_with(beginning); });
}

/// "| a | b |" has 2 cells.
size_t cells_of(std::string_view row) {
  return static_cast<size_t>(std::count(row.begin(), row.end(), '|')) - 1;
}

/// Reads a report line by line.
class Checker {
 public:
  void read(std::string_view line) {
    ++number_;
    if (!fence_.empty()) return read_code(line);
    if (backquotes_at(line, 0) >= 3) {
      fence_ = line.substr(0, backquotes_at(line, 0));
      return;
    }
    std::string text;
    if (!without_code(line, text)) return complain("a code span that is not closed");
    read_table_row(line);
    read_text(text);
  }

  std::vector<std::string> finish() {
    if (!fence_.empty()) complain("a block of code that is not closed");
    if (open_details_ != 0) complain("<details> that is not closed");
    return std::move(complaints_);
  }

 private:
  void complain(const std::string& what) {
    complaints_.push_back(fmt::format("line {}: {}", number_, what));
  }

  void read_code(std::string_view line) {
    if (line == fence_) {
      fence_ = {};
    } else if (line.starts_with(fence_)) {
      complain("a line of code that ends its block");
    }
  }

  void read_table_row(std::string_view line) {
    if (!line.starts_with('|')) {
      columns_ = 0;
    } else if (columns_ == 0) {
      columns_ = cells_of(line);
    } else if (cells_of(line) != columns_) {
      complain(fmt::format("a table row of {} cells under a head of {}", cells_of(line), columns_));
    }
  }

  void read_text(std::string_view text) {
    const bool is_heading = starts_with_any(text, {"## ", "### ", "#### "});
    if (is_heading) text.remove_prefix(text.find(' '));
    if (text.starts_with("<details>")) ++open_details_;
    if (text.starts_with("</details>")) --open_details_;
    for (const std::string_view mark : {"@", "#", "$", "_", "www.", "GH-"}) {
      const size_t at = text.find(mark);
      if (at == text.npos) continue;
      if (mark == "#" && at > 0 && text.substr(at - 1).starts_with("&#124;")) continue;
      // Without a number it names no issue.
      if (mark == "GH-" && (at + 3 == text.size() || !is_digit(text[at + 3]))) continue;
      complain(fmt::format("\"{}\" outside of code", mark));
    }
    for (size_t at = 0; at < text.size(); ++at) read_character(text, at);
  }

  void read_character(std::string_view text, size_t at) {
    const std::string_view rest = text.substr(at);
    const bool escaped = at > 0 && text[at - 1] == '\\';
    if (rest[0] == '<' &&
        !starts_with_any(rest, {"<details>", "</details>", "<summary>", "</summary>", "<https://",
                                "<!-- ncclog report -->"})) {
      complain("a \"<\" that is none of ours");
    }
    if (rest[0] == '&' && !starts_with_any(rest, {"&lt;", "&gt;", "&amp;", "&#124;"})) {
      complain("a \"&\" that is none of ours");
    }
    if ((rest[0] == '[' || rest[0] == ']' || rest[0] == '~') && !escaped) {
      complain(fmt::format("\"{}\" without escape", rest[0]));
    }
    const bool strong = at == 0 || at + 2 >= text.size() || rest.starts_with("**");
    if (rest[0] == '*' && !escaped && !strong && text[at - 1] != '*') complain("a stray \"*\"");
    if (rest.starts_with("://") && !text.substr(0, at).ends_with("<https")) complain("a link");
  }

  int number_ = 0;
  std::string_view fence_;
  size_t columns_ = 0;
  int open_details_ = 0;
  std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> check_markdown(std::string_view markdown) {
  Checker checker;
  for (const std::string_view line : split(markdown, '\n')) checker.read(line);
  std::vector<std::string> complaints = checker.finish();
  const std::string hidden = find_hidden_character(markdown);
  if (!hidden.empty()) complaints.push_back(hidden);
  return complaints;
}

std::string find_hidden_character(std::string_view text) {
  if (!is_valid_utf8(text)) return "bytes that are not UTF-8";
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F) {
      return fmt::format("control code {:#x} at {}", byte, at);
    }
  }
  constexpr std::string_view kHidden[] = {"\u0085", "\u009b", "\u00ad", "\u061c", "\u200b",
                                          "\u200d", "\u200e", "\u200f", "\u2028", "\u202a",
                                          "\u202e", "\u2060", "\u2066", "\u2069", "\ufeff"};
  for (const std::string_view hidden : kHidden) {
    const size_t at = text.find(hidden);
    if (at != text.npos) return fmt::format("a hidden character at {}", at);
  }
  return {};
}

}  // namespace ncclog::testing
