#include "log/line/line_time.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/text.h"

namespace ncclog {
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

constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// One of names of three letters that stand side by side, and the blank behind it.
bool skip_name(Scanner& scan, std::string_view names) {
  const std::string_view name = scan.rest().substr(0, 3);
  const size_t at = names.find(name);
  return name.size() == 3 && at != names.npos && at % 3 == 0 && scan.skip(name) && scan.skip(' ');
}

bool skip_month_stamp(Scanner& scan) {
  const bool weekday = skip_name(scan, "MonTueWedThuFriSatSun");
  if (!skip_name(scan, kMonths)) return false;
  scan.skip(' ');
  if (scan.take_while(is_digit, 2).empty() || !scan.skip(' ') || !skip_clock(scan)) return false;
  return !weekday || (scan.skip(' ') && scan.digits(4));
}

std::string_view take(Scanner& scan, bool (*skip)(Scanner&)) {
  const Scanner before = scan;
  if (skip(scan)) return before.rest().substr(0, scan.taken() - before.taken());
  scan = before;
  return {};
}

constexpr size_t kLongestHead = 256;
constexpr int64_t kSecond = 1'000'000'000;

int two_digits(std::string_view text) { return (text[0] - '0') * 10 + (text[1] - '0'); }

/// Nanoseconds of a fraction's digits.
int64_t fraction(std::string_view digits) {
  int64_t value = 0;
  for (size_t i = 0; i < 9; ++i) value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return value;
}

/// "12:00:00.25+02:00", as take_clock takes it.
void read_clock(std::string_view clock, LineTime& time) {
  time.nanoseconds += ((two_digits(clock) * 60 + two_digits(clock.substr(3))) * int64_t{60} +
                       two_digits(clock.substr(6))) *
                      kSecond;
  Scanner rest(clock.substr(8));
  if (rest.skip('.') || rest.skip(',')) time.nanoseconds += fraction(rest.take_while(is_digit));
  if (rest.done()) return;
  time.has_zone = true;
  if (rest.skip('Z')) return;
  const int64_t sign = rest.peek() == '-' ? -1 : 1;
  rest.skip(rest.peek());
  const int hours = two_digits(rest.rest());
  const std::string_view minutes = rest.rest().substr(rest.rest().size() - 2);
  time.nanoseconds -= sign * (hours * 60 + two_digits(minutes)) * 60 * kSecond;
}

/// A time of which all parts are known; unknown if they can be none. Counted in a leap year.
LineTime time_at(std::string_view text, int year, int64_t month, int64_t day,
                 std::string_view clock) {
  using namespace std::chrono;
  if (month < 1 || month > 12 || day < 1 || day > 31) return {};
  LineTime time{.text = text, .year = year};
  const sys_days first_of_month = 2000y / static_cast<int>(month) / 1;
  time.nanoseconds = nanoseconds(first_of_month - sys_days(2000y / 1 / 1) + days(day - 1)).count();
  read_clock(clock, time);
  return time;
}

/// "2026-02-03 04:05:06".
LineTime read_iso(std::string_view text) {
  Scanner scan(text);
  const std::string_view stamp = take_iso_stamp(scan);
  if (stamp.empty()) return {};
  const int year = two_digits(stamp) * 100 + two_digits(stamp.substr(2));
  return time_at(stamp, year, two_digits(stamp.substr(5)), two_digits(stamp.substr(8)),
                 stamp.substr(11));
}

/// "Jan  5 12:00:00", as syslog and the kernel's log write it.
LineTime read_month(std::string_view text) {
  Scanner scan(text);
  const std::string_view stamp = take_month_stamp(scan);
  if (stamp.empty()) return {};
  const size_t clock_at = stamp.find(':') - 2;
  std::string_view date = stamp.substr(0, clock_at);
  if (kMonths.find(date.substr(0, 3)) == kMonths.npos) date.remove_prefix(4);  // Day of the week.
  const size_t month = kMonths.find(date.substr(0, 3));
  const auto day = parse_int(trim(date.substr(3)));
  if (month == kMonths.npos || !day) return {};
  Scanner clock(stamp.substr(clock_at));
  return time_at(stamp, 0, static_cast<int64_t>(month / 3) + 1, *day, take_clock(clock));
}

/// "11-22 08:26:08" behind a level, as vLLM's logger prints it: "INFO 11-22 08:26:08 [core.py:58]
/// …".
LineTime read_month_and_day(std::string_view before, std::string_view text) {
  constexpr std::string_view kLevels[] = {"INFO ", "WARNING ", "ERROR ", "DEBUG ", "CRITICAL "};
  Scanner scan(text);
  if (!scan.digits(2) || !scan.skip('-') || !scan.digits(2) || !scan.skip(' ')) return {};
  const std::string_view clock = take_clock(scan);
  const bool has_level =
      std::ranges::any_of(kLevels, [&](auto level) { return before.ends_with(level); });
  if (clock.empty() || !has_level) return {};
  return time_at(text.substr(0, scan.taken()), 0, two_digits(text), two_digits(text.substr(3)),
                 clock);
}

/// "E717 13:20:49.4", "I20260105 12:00:00.5": a severity, month and day, then the clock.
LineTime read_glog(std::string_view text) {
  constexpr std::string_view kSeverities = "EWIFV";
  if (kSeverities.find(text.front()) == kSeverities.npos) return {};
  Scanner scan(text.substr(1));
  std::string_view date = scan.take_while(is_digit, 9);
  if ((date.size() != 3 && date.size() != 4 && date.size() != 8) || !scan.skip(' ')) return {};
  const std::string_view clock = take_clock(scan);
  if (clock.empty()) return {};
  const std::string_view stamp = text.substr(1, scan.taken());
  int year = 0;
  if (date.size() == 8) {
    year = two_digits(date) * 100 + two_digits(date.substr(2));
    date.remove_prefix(4);
  }
  const auto month = parse_int(date.substr(0, date.size() - 2));
  return time_at(stamp, year, *month, two_digits(date.substr(date.size() - 2)), clock);
}

/// A glance for "12:00:00": most lines hold none.
bool may_hold_time(std::string_view line) {
  const auto is_pair = [&](size_t at) { return is_digit(line[at]) && is_digit(line[at + 1]); };
  for (size_t colon = line.find(':', 2); colon != line.npos && colon + 5 < line.size();
       colon = line.find(':', colon + 1)) {
    if (line[colon + 3] == ':' && is_pair(colon - 2) && is_pair(colon + 1) && is_pair(colon + 4)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view take_clock(Scanner& scan) { return take(scan, skip_clock); }
std::string_view take_iso_stamp(Scanner& scan) { return take(scan, skip_iso_stamp); }
std::string_view take_month_stamp(Scanner& scan) { return take(scan, skip_month_stamp); }

LineTime find_line_time(std::string_view head) {
  head = head.substr(0, kLongestHead);
  if (!may_hold_time(head)) return {};
  for (size_t i = 0; i + 8 < head.size(); ++i) {
    // A stamp begins with a digit, a name or a level, and no word's middle.
    const bool may_begin = is_digit(head[i]) || (head[i] >= 'A' && head[i] <= 'Z');
    if (!may_begin || (i > 0 && is_word(head[i - 1]))) continue;
    const std::string_view text = head.substr(i);
    LineTime time = read_iso(text);
    if (!time.known()) time = read_month(text);
    if (!time.known()) time = read_glog(text);
    if (!time.known()) time = read_month_and_day(head.substr(0, i), text);
    if (time.known()) return time;
  }
  return {};
}

LineTime time_before(std::string_view line, std::string_view message) {
  message = trim(message);
  const std::less_equal<const char*> not_behind;
  const bool inside = !message.empty() && not_behind(line.data(), message.data()) &&
                      not_behind(message.data(), line.data() + line.size());
  if (!inside) return {};
  return find_line_time(line.substr(0, static_cast<size_t>(message.data() - line.data())));
}

}  // namespace ncclog
