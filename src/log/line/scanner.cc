#include "log/line/scanner.h"

namespace ncclog {

// Time stamps.

namespace {

bool skip_clock(Scanner& scan) {
  if (!scan.digits(2) || !scan.skip(':') || !scan.digits(2) || !scan.skip(':') || !scan.digits(2))
    return false;
  if (scan.peek() == '.' || scan.peek() == ',') {
    scan.skip(scan.peek());
    if (scan.take_while(is_digit).empty()) return false;
  }
  if (scan.skip('Z')) return true;
  if (scan.peek() == '+' || (scan.peek() == '-' && scan.rest().size() > 2)) {
    Scanner zone = scan;
    zone.skip(zone.peek());
    const bool hours = zone.digits(2);
    zone.skip(':');
    if (hours && zone.digits(2)) scan = zone;
  }
  return true;
}

bool is_one_of(std::string_view word, std::string_view words) {
  const size_t at = words.find(word);
  return word.size() == 3 && at != words.npos && at % 3 == 0;
}

bool skip_name(Scanner& scan, std::string_view names) {
  if (!is_one_of(scan.rest().substr(0, 3), names)) return false;
  scan.skip(scan.rest().substr(0, 3));
  return scan.skip(' ');
}

}  // namespace

size_t clock_length(std::string_view text) {
  Scanner scan(text);
  return skip_clock(scan) ? scan.taken() : 0;
}

size_t iso_stamp_length(std::string_view text) {
  Scanner scan(text);
  if (!scan.digits(4) || !scan.skip('-') || !scan.digits(2) || !scan.skip('-') || !scan.digits(2))
    return 0;
  if (!scan.skip('T') && !scan.skip(' ')) return 0;
  return skip_clock(scan) ? scan.taken() : 0;
}

size_t month_stamp_length(std::string_view text) {
  Scanner scan(text);
  const bool weekday = skip_name(scan, "MonTueWedThuFriSatSun");
  if (!skip_name(scan, "JanFebMarAprMayJunJulAugSepOctNovDec")) return 0;
  scan.skip(' ');
  const size_t day = scan.take_while(is_digit, 2).size();
  if (day == 0 || !scan.skip(' ') || !skip_clock(scan)) return 0;
  if (!weekday) return scan.taken();
  return scan.skip(' ') && scan.digits(4) ? scan.taken() : 0;
}

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

}  // namespace ncclog
