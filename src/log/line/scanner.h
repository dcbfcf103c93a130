// Reading a line from left to right, for shapes that a wording cannot express; progress bars and what
// terminals are told.
//
//   [1,3]<stdout>:                   Scanner s(text); s.skip('[') && s.number(job) && s.skip(',') …
//    40%|####      | 4/10 [00:01<00:02,  2.9it/s]
//   \x1b[36mnode07:41:42 [3] …       node07:41:42 [3] …
//
// Every step of a scanner either takes what it names and says true, or takes nothing and says
// false.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace ncclog {

/// May stand in the name of a host.
constexpr bool is_host_char(char c) { return is_word(c) || c == '-' || c == '.'; }

/// A position in a text. The text must outlive it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Bytes taken so far.
  size_t taken() const { return at_; }
  bool done() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  /// The next byte; NUL at the end.
  char peek() const { return done() ? '\0' : text_[at_]; }

  bool skip(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// Takes the next byte if `accept` holds for it.
  template <typename Accept>
  bool skip_if(Accept accept) {
    if (done() || !accept(text_[at_])) return false;
    ++at_;
    return true;
  }

  bool skip(std::string_view literal) {
    if (!rest().starts_with(literal)) return false;
    at_ += literal.size();
    return true;
  }

  /// Takes blanks; how many.
  size_t blanks() { return take_while(is_blank).size(); }

  /// The bytes for which `accept` holds, `most` at most; may be empty.
  template <typename Accept>
  std::string_view take_while(Accept accept, size_t most = std::string_view::npos) {
    const std::string_view rest = text_.substr(at_, most);
    const auto end = std::ranges::find_if_not(rest, accept);
    at_ += static_cast<size_t>(end - rest.begin());
    return rest.substr(0, static_cast<size_t>(end - rest.begin()));
  }

  /// Exactly `count` digits.
  bool digits(size_t count) {
    const size_t begin = at_;
    if (take_while(is_digit, count).size() == count) return true;
    at_ = begin;
    return false;
  }

  /// A decimal number of at most 18 digits, without sign.
  template <typename Number>
  bool number(Number& value) {
    int64_t read = 0;
    size_t at = at_;
    for (; at < text_.size() && at < at_ + 18 && is_digit(text_[at]); ++at) {
      read = read * 10 + (text_[at] - '0');
    }
    const bool is_longer = at < text_.size() && is_digit(text_[at]);
    if (at == at_ || is_longer || static_cast<Number>(read) != read) return false;
    at_ = at;
    value = static_cast<Number>(read);
    return true;
  }

  /// Text up to the next `end`, which is taken too; false if there is none within `most` bytes.
  bool until(char end, std::string_view& taken, size_t most = std::string_view::npos) {
    const size_t length = rest().substr(0, most).find(end);
    if (length == std::string_view::npos) return false;
    taken = text_.substr(at_, length);
    at_ += length + 1;
    return true;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;  ///< At most text_.size().
};

/// A tqdm bar: " 40%|####      | 4/10 [00:01<00:02,  2.9it/s]".
struct TqdmBar {
  size_t length = 0;       ///< Bytes up to and with the closing bracket; 0: no bar.
  std::string_view title;  ///< Before the percentage, without ": "; may be empty.
  std::string_view percent;
  std::string_view done;
  std::string_view total;  ///< Empty where tqdm does not know it.
};

/// The bar with which `text` begins; length 0 if it does not.
TqdmBar parse_progress_bar(std::string_view text);

/// Removes ANSI escape sequences and, where they are certain, their remnants without ESC ("[36m").
/// `buffer` holds the result. Returns `line` itself if it has none.
std::string_view strip_ansi(std::string_view line, std::string& buffer);

}  // namespace ncclog
