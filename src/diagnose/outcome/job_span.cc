#include "diagnose/outcome/job_span.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace ncclog {

std::optional<std::pair<LineTime, LineTime>> span_of(const std::vector<LineTime>& times) {
  std::array<std::vector<LineTime>, 4> sorts;
  for (const LineTime& time : times) {
    if (time.known()) sorts[(time.has_zone ? 2 : 0) + (time.year > 0 ? 1 : 0)].push_back(time);
  }
  const auto most_used = std::ranges::max_element(sorts, {}, std::ranges::size);
  if (most_used->empty()) return std::nullopt;
  const auto key = [](const LineTime& time) { return std::pair(time.year, time.nanoseconds); };
  return std::pair(*std::ranges::min_element(*most_used, {}, key),
                   *std::ranges::max_element(*most_used, {}, key));
}

std::optional<JobSpan> span_of(const Job& job) {
  std::vector<LineTime> times;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (list.kept.empty()) continue;
      // The first of a kind is kept, and of what comes later, as much as there is room for.
      times.push_back(time_of(list.kept.front()));
      times.push_back(time_of(list.kept.back()));
    }
    times.push_back(time_of_line(log.last_text));
  }
  const auto span = span_of(times);
  if (!span) return std::nullopt;
  return JobSpan{std::string(span->first.text), std::string(span->second.text)};
}

std::string utc_of(const LineTime& time) {
  using namespace std::chrono;
  if (!time.has_zone || time.year == 0) return {};
  // Days are counted in a leap year.
  const sys_time<nanoseconds> at = sys_days(2000y / 1 / 1) + nanoseconds(time.nanoseconds);
  const sys_days day = floor<days>(at);
  const year_month_day in_leap_year(day);
  year_month_day date(year(time.year) + (in_leap_year.year() - 2000y), in_leap_year.month(),
                      in_leap_year.day());
  // No such 29 February: the zone leads to it from the day before or after, which is printed.
  if (!date.ok()) {
    const size_t colon = time.text.find(':');
    if (colon == time.text.npos || colon < 5) return {};
    const std::string_view printed = time.text.substr(colon - 5, 2);
    if (printed == "29") return {};
    date = printed == "28" ? date.year() / March / 1 : date.year() / February / 28;
  }
  const hh_mm_ss clock(at - day);
  const int64_t fraction = clock.subseconds().count();
  const int width = fraction == 0               ? 0
                    : fraction % 1'000'000 == 0 ? 3
                    : fraction % 1000 == 0      ? 6
                                                : 9;
  const std::string digits = fmt::format("{:09}", fraction);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     width > 0 ? "." : "", digits.substr(0, static_cast<size_t>(width)));
}

std::string duration_words(int64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) / 1e9;
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 3 * kMinute) return fmt::format("{:.3g} s", seconds);
  if (seconds < 3 * kHour) return fmt::format("{:.0f} minutes", seconds / kMinute);
  return fmt::format("{:.0f} hours", seconds / kHour);
}

}  // namespace ncclog
