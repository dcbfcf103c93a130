#include "log/line/scanner.h"

namespace ncclog {

// Progress bars: tqdm's default bar_format, "{l_bar}{bar}{r_bar}".

namespace {

constexpr bool is_size_char(char c) { return is_digit(c) || c == '.' || is_alpha(c); }

/// " 4/10 [00:01<00:02,  2.9it/s, loss=0.5]" behind the bar's second "|".
bool read_counts(Scanner& scan, TqdmBar& bar) {
  scan.blanks();
  bar.done = scan.take_while(is_size_char);
  if (bar.done.empty() || !scan.skip('/')) return false;
  bar.total = scan.take_while(is_size_char);
  if (bar.total.empty() || !scan.skip(" [")) return false;
  std::string_view inside;
  return scan.until(']', inside) && inside.find('<') != inside.npos;
}

}  // namespace

TqdmBar parse_progress_bar(std::string_view text) {
  const size_t mark = text.find("%|");
  if (mark == text.npos || mark == 0 || !is_digit(text[mark - 1])) return {};
  size_t begin = mark;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  TqdmBar bar;
  bar.percent = text.substr(begin, mark - begin);
  bar.title = trim(text.substr(0, begin));
  if (bar.title.ends_with(':')) bar.title.remove_suffix(1);
  Scanner scan(text.substr(mark + 2));
  std::string_view drawing;
  if (!scan.until('|', drawing) || !read_counts(scan, bar)) return {};
  bar.length = mark + 2 + scan.taken();
  return bar;
}

// Escape sequences of terminals: colours (CSI), titles and links (OSC).

namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';

/// Length of the sequence at the start of `text`, which begins with ESC.
size_t escape_length(std::string_view text) {
  Scanner scan(text.substr(1));
  if (scan.skip('[')) {
    scan.take_while([](char c) { return c >= 0x20 && c < 0x40; });
    scan.skip(scan.peek());
    return 1 + scan.taken();
  }
  if (scan.skip(']')) {
    scan.take_while([](char c) { return c != kBell && c != kEscape; });
    if (!scan.skip(kBell)) scan.skip("\x1b\\");
    return 1 + scan.taken();
  }
  return 1 + (scan.done() ? 0 : 1);
}

bool is_colour(int code) {
  return code <= 9 || (code >= 22 && code <= 49) || (code >= 90 && code <= 107);
}

/// Length of "[1;36m" at the start of `text`; 0 if it is anything else.
size_t remnant_length(std::string_view text) {
  Scanner scan(text);
  int code = 0;
  if (!scan.skip('[')) return 0;
  do {
    if (!scan.number(code) || !is_colour(code)) return 0;
  } while (scan.skip(';'));
  return scan.skip('m') ? scan.taken() : 0;
}

/// A line that lost its ESC bytes, or has them spelled out, begins with a colour or resets one.
bool has_remnants(std::string_view line) {
  if (remnant_length(line) > 0) return true;
  for (size_t at = line.find("[0"); at != line.npos; at = line.find("[0", at + 1)) {
    const std::string_view rest = line.substr(at);
    if (rest.starts_with("[0m") || rest.starts_with("[0;0m")) return true;
  }
  return false;
}

/// Takes ESC off the end of `text`, as JSON, syslog, "cat -v" and shells spell it.
void drop_spelled_escape(std::string& text) {
  constexpr std::string_view kSpellings[] = {"\\u001b", "\\u001B", "\\x1b", "\\x1B",
                                             "\\033",   "\\e",     "#033",  "^["};
  for (const std::string_view spelling : kSpellings) {
    if (!text.ends_with(spelling)) continue;
    text.resize(text.size() - spelling.size());
    // JSON inside JSON doubles the backslashes.
    if (spelling[0] == '\\') text.erase(text.find_last_not_of('\\') + 1);
    return;
  }
}

std::string_view strip(std::string_view line, char begin, size_t (*length_of)(std::string_view),
                       std::string& buffer) {
  buffer.clear();
  while (!line.empty()) {
    const size_t at = std::min(line.find(begin), line.size());
    buffer.append(line.substr(0, at));
    line.remove_prefix(at);
    if (line.empty()) break;
    const size_t length = length_of(line);
    if (length == 0) buffer.push_back(begin);
    if (length > 0 && begin == '[') drop_spelled_escape(buffer);
    line.remove_prefix(std::max<size_t>(length, 1));
  }
  return buffer;
}

}  // namespace

std::string_view strip_ansi(std::string_view line, std::string& buffer) {
  if (line.find(kEscape) != line.npos) return strip(line, kEscape, escape_length, buffer);
  if (has_remnants(line)) return strip(line, '[', remnant_length, buffer);
  return line;
}

}  // namespace ncclog
