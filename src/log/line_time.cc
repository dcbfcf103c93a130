#include "log/line_time.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.h"
#include "log/header.h"
#include "log/scanner.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

constexpr size_t kLongestHead = 256;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 24 * 3600 * kSecond;

/// Days before the first of `month`, which is 1 to 12, in a leap year.
int64_t days_before(int month) {
  constexpr std::array<int, 12> kBefore = {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335};
  return kBefore[static_cast<size_t>(month - 1)];
}

int two_digits(std::string_view text) { return (text[0] - '0') * 10 + (text[1] - '0'); }

/// Nanoseconds of a fraction's digits.
int64_t fraction(std::string_view digits) {
  int64_t value = 0;
  for (size_t i = 0; i < 9; ++i) value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return value;
}

/// "12:00:00.25+02:00", checked by clock_length.
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

/// Month and day, if they can be ones.
bool set_date(int year, int month, int day, LineTime& time) {
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  time.year = year;
  time.nanoseconds = (days_before(month) + day - 1) * kDay;
  return true;
}

/// "2026-02-03 04:05:06".
bool read_iso(std::string_view text, LineTime& time) {
  const size_t length = iso_stamp_length(text);
  if (length == 0) return false;
  const int year = two_digits(text) * 100 + two_digits(text.substr(2));
  if (!set_date(year, two_digits(text.substr(5)), two_digits(text.substr(8)), time)) return false;
  read_clock(text.substr(11, length - 11), time);
  time.text = text.substr(0, length);
  return true;
}

/// "Jan  5 12:00:00", as syslog and the kernel's log write it.
bool read_month(std::string_view text, LineTime& time) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t length = month_stamp_length(text);
  if (length == 0) return false;
  const size_t clock = text.substr(0, length).find(':') - 2;
  std::string_view date = text.substr(0, clock);
  if (kMonths.find(date.substr(0, 3)) == kMonths.npos) date.remove_prefix(4);  // Day of the week.
  const size_t month = kMonths.find(date.substr(0, 3));
  const auto day = parse_int(trim(date.substr(3)));
  if (month == kMonths.npos || !day) return false;
  if (!set_date(0, static_cast<int>(month / 3) + 1, static_cast<int>(*day), time)) return false;
  read_clock(text.substr(clock, clock_length(text.substr(clock))), time);
  time.text = text.substr(0, length);
  return true;
}

/// "11-22 08:26:08" behind a level, as vLLM's logger prints it: "INFO 11-22 08:26:08 [core.py:58]
/// …".
bool read_month_and_day(std::string_view before, std::string_view text, LineTime& time) {
  constexpr std::string_view kLevels[] = {"INFO ", "WARNING ", "ERROR ", "DEBUG ", "CRITICAL "};
  Scanner scan(text);
  if (!scan.digits(2) || !scan.skip('-') || !scan.digits(2) || !scan.skip(' ')) return false;
  const size_t length = clock_length(scan.rest());
  const bool has_level = std::any_of(std::begin(kLevels), std::end(kLevels),
                                     [&](auto level) { return before.ends_with(level); });
  if (length == 0 || !has_level) return false;
  if (!set_date(0, two_digits(text), two_digits(text.substr(3)), time)) return false;
  read_clock(scan.rest().substr(0, length), time);
  time.text = text.substr(0, scan.taken() + length);
  return true;
}

/// "E717 13:20:49.4", "I20260105 12:00:00.5": a severity, month and day, then the clock.
bool read_glog(std::string_view text, LineTime& time) {
  constexpr std::string_view kSeverities = "EWIFV";
  if (kSeverities.find(text.front()) == kSeverities.npos) return false;
  Scanner scan(text.substr(1));
  std::string_view date = scan.take_while(is_digit, 9);
  if ((date.size() != 3 && date.size() != 4 && date.size() != 8) || !scan.skip(' ')) return false;
  const size_t length = clock_length(scan.rest());
  if (length == 0) return false;
  int year = 0;
  if (date.size() == 8) {
    year = two_digits(date) * 100 + two_digits(date.substr(2));
    date.remove_prefix(4);
  }
  const std::string_view day = date.substr(date.size() - 2);
  const auto month = parse_int(date.substr(0, date.size() - 2));
  if (!set_date(year, static_cast<int>(*month), two_digits(day), time)) return false;
  read_clock(scan.rest().substr(0, length), time);
  time.text = text.substr(1, scan.taken() + length);
  return true;
}

}  // namespace

LineTime find_line_time(std::string_view head) {
  head = head.substr(0, kLongestHead);
  for (size_t i = 0; i + 8 < head.size(); ++i) {
    if (i > 0 && is_word(head[i - 1])) continue;
    LineTime time;
    const std::string_view text = head.substr(i);
    if (read_iso(text, time) || read_month(text, time) || read_glog(text, time) ||
        read_month_and_day(head.substr(0, i), text, time)) {
      return time;
    }
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

LineTime time_of_line(std::string_view line) {
  return time_before(line, parse_header(line).message);
}

}  // namespace ncclog
