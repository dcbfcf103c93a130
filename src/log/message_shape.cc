#include "log/message_shape.h"

#include <algorithm>

#include "base/text.h"
#include "log/scanner.h"

namespace ncclog {
namespace {

/// NCCL's own words that hold digits.
constexpr std::string_view kNcclWords[] = {"P2P", "LL128", "C2C", "P2C", "p2p"};

constexpr bool is_name_char(char c) { return is_word(c) || c == '-' || c == '.'; }

bool is_value(std::string_view word) {
  if (std::none_of(word.begin(), word.end(), is_digit)) return false;
  return std::find(std::begin(kNcclWords), std::end(kNcclWords), word) == std::end(kNcclWords);
}

/// "'libfoo.so'" and "\"x\"": quoted text that begins at a quote behind a blank or bracket.
bool take_quoted(Scanner& scan, std::string& shape) {
  const char quote = scan.peek();
  if (quote != '\'' && quote != '"') return false;
  if (!shape.empty() && is_word(shape.back())) return false;  // An apostrophe.
  Scanner behind = scan;
  std::string_view inside;
  behind.skip(quote);
  if (!behind.until(quote, inside)) return false;
  scan = behind;
  shape += quote;
  shape += "…";
  shape += quote;
  return true;
}

/// "/sys/class/net/eth0": two slashes at least, the first at the start of a word.
bool take_path(Scanner& scan, std::string& shape) {
  if (scan.peek() != '/' || (!shape.empty() && is_word(shape.back()))) return false;
  Scanner behind = scan;
  std::string_view path =
      behind.take_while([](char c) { return is_name_char(c) || c == '/' || c == ':'; });
  while (!is_word(path.back()) && path.size() > 1) path.remove_suffix(1);
  if (path.find('/', 1) == path.npos) return false;
  scan.skip(path);
  shape += '#';
  return true;
}

/// A word, or '#' if it is a value. A dot or dash at its end belongs to the sentence.
bool take_word(Scanner& scan, std::string& shape) {
  if (!is_word(scan.peek())) return false;
  Scanner behind = scan;
  std::string_view word = behind.take_while(is_name_char);
  while (!is_word(word.back())) word.remove_suffix(1);
  scan.skip(word);
  if (is_value(word)) {
    shape += '#';
  } else {
    shape += word;
  }
  return true;
}

}  // namespace

std::string message_shape(std::string_view message) {
  Scanner scan(trim(message.substr(0, kMaxShapeBytes)));
  std::string shape;
  while (!scan.done()) {
    if (take_quoted(scan, shape) || take_path(scan, shape) || take_word(scan, shape)) continue;
    const char c = scan.peek();
    scan.skip(c);
    if (is_blank(c) && shape.ends_with(' ')) continue;  // Padded numbers.
    shape += is_blank(c) ? ' ' : c;
  }
  return shape;
}

}  // namespace ncclog
