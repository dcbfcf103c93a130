// tqdm's default bar_format, "{l_bar}{bar}{r_bar}".

#include "log/prefix.h"
#include "log/scanner.h"

namespace ncclog {
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
