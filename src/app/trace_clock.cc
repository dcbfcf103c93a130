#include "app/trace_clock.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "model/timeline.h"

namespace ncclog {
namespace {

constexpr int64_t kDay = int64_t{24} * 3600 * 1'000'000'000;
constexpr int64_t kMarchFirst = 60;  ///< Days before it in a leap year.

/// Whether its nanoseconds since 1970 can be counted; 0: not printed.
bool is_countable(int year) { return year == 0 || (year >= 1970 && year < 2200); }

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

/// Days from 1970 to the first day of a year of our calendar.
int64_t days_to(int year) {
  const int64_t before = int64_t{year} - 1;
  constexpr int64_t kDaysTo1970 = 719'162;
  return before * 365 + before / 4 - before / 100 + before / 400 - kDaysTo1970;
}

/// Nanoseconds since 1970. A LineTime counts 29 days of February in every year.
int64_t since_1970(int year, int64_t nanoseconds) {
  const bool behind = !is_leap(year) && nanoseconds >= kMarchFirst * kDay;
  return days_to(year) * kDay + nanoseconds - (behind ? kDay : 0);
}

/// What the job's milestones and dumps carry.
struct Times {
  size_t utc = 0;                     ///< Lines.
  size_t local = 0;                   ///< Lines.
  int year = 0;                       ///< The latest; 0: none is printed.
  std::optional<int64_t> first_dump;  ///< The earliest call that a dump dates.
};

Times times_of(const Job& job, const Timeline& timeline) {
  Times times;
  for (const Milestone& made : timeline.milestones) {
    if (made.time.empty() || !is_countable(made.year)) continue;
    ++(made.has_zone ? times.utc : times.local);
    times.year = std::max(times.year, made.year);
  }
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    for (const FlightRecorderEntry& entry : dump.entries) {
      if (entry.time_created_ns <= 0) continue;
      times.first_dump = std::min(times.first_dump.value_or(INT64_MAX), entry.time_created_ns);
    }
  }
  return times;
}

/// NCCL's own lines carry times without zone. Its WARNs do so unless somebody switches that off,
/// and are too few to be a trace.
bool is_stamped(const Timeline& timeline) {
  constexpr std::string_view kNcclsOwn[] = {"version", "network", "init start", "init end",
                                            "first call"};
  return std::any_of(timeline.milestones.begin(), timeline.milestones.end(),
                     [&](const Milestone& made) {
                       return !made.time.empty() && !made.has_zone &&
                              std::find(std::begin(kNcclsOwn), std::end(kNcclsOwn), made.what) !=
                                  std::end(kNcclsOwn);
                     });
}

}  // namespace

std::optional<TraceClock> choose_clock(const Job& job) {
  const Timeline timeline = build_timeline(job);
  const Times times = times_of(job, timeline);
  if (times.utc + times.local == 0 && !times.first_dump) return std::nullopt;
  TraceClock clock;
  clock.utc = times.utc > times.local || (times.first_dump && !is_stamped(timeline));
  if (times.year > 0) clock.year = times.year;
  int64_t first = clock.utc ? times.first_dump.value_or(INT64_MAX) : INT64_MAX;
  for (const Milestone& made : timeline.milestones) {
    const bool counts = !made.time.empty() && is_countable(made.year);
    if (!counts || made.has_zone != clock.utc) continue;
    first = std::min(first, since_1970(made.year > 0 ? made.year : clock.year, made.nanoseconds));
  }
  clock.origin_ns = first / kDay * kDay;
  return clock;
}

std::optional<int64_t> place_on(const TraceClock& clock, const LineTime& time) {
  const bool counts = time.known() && is_countable(time.year);
  if (!counts || time.has_zone != clock.utc) return std::nullopt;
  const int year = time.year > 0 ? time.year : clock.year;
  return since_1970(year, time.nanoseconds) - clock.origin_ns;
}

}  // namespace ncclog
