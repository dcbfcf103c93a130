#include "log/line/scanner.h"

namespace ncclog {

// Time stamps.

namespace {

bool skip_clock(Scanner& scan) {
  if (!scan.digits(2) || !scan.skip(':') || !scan.digits(2) || !scan.skip(':') || !scan.digits(2))
    return false;
  if ((scan.skip('.') || scan.skip(',')) && scan.take_while(is_digit).empty()) return false;
  if (scan.skip('Z')) return true;
  Scanner zone = scan;
  if (!zone.skip('+') && !zone.skip('-')) return true;
  const bool hours = zone.digits(2);
  zone.skip(':');
  if (hours && zone.digits(2)) scan = zone;
  return true;
}

bool skip_iso_stamp(Scanner& scan) {
  return scan.digits(4) && scan.skip('-') && scan.digits(2) && scan.skip('-') && scan.digits(2) &&
         (scan.skip('T') || scan.skip(' ')) && skip_clock(scan);
}

/// One of names of three letters that stand side by side, and the blank behind it.
bool skip_name(Scanner& scan, std::string_view names) {
  const std::string_view name = scan.rest().substr(0, 3);
  const size_t at = names.find(name);
  return name.size() == 3 && at != names.npos && at % 3 == 0 && scan.skip(name) && scan.skip(' ');
}

bool skip_month_stamp(Scanner& scan) {
  const bool weekday = skip_name(scan, "MonTueWedThuFriSatSun");
  if (!skip_name(scan, "JanFebMarAprMayJunJulAugSepOctNovDec")) return false;
  scan.skip(' ');
  if (scan.take_while(is_digit, 2).empty() || !scan.skip(' ') || !skip_clock(scan)) return false;
  return !weekday || (scan.skip(' ') && scan.digits(4));
}

std::string_view take(Scanner& scan, bool (*skip)(Scanner&)) {
  Scanner ahead = scan;
  return skip(ahead) ? scan.catch_up(ahead) : std::string_view{};
}

}  // namespace

std::string_view take_clock(Scanner& scan) { return take(scan, skip_clock); }
std::string_view take_iso_stamp(Scanner& scan) { return take(scan, skip_iso_stamp); }
std::string_view take_month_stamp(Scanner& scan) { return take(scan, skip_month_stamp); }

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
