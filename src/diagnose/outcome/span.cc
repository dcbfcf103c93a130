#include "diagnose/outcome/span.h"

#include <array>
#include <string_view>

#include "log/line_time.h"

namespace ncclog {
namespace {

/// The earliest and the latest of the times of one sort, which compare with each other.
struct Clock {
  size_t lines = 0;
  LineTime first;
  LineTime last;

  void add(const LineTime& time) {
    const auto key = [](const LineTime& t) { return std::pair(t.year, t.nanoseconds); };
    if (lines == 0 || key(time) < key(first)) first = time;
    if (lines == 0 || key(last) < key(time)) last = time;
    ++lines;
  }
};

class Clocks {
 public:
  void add(std::string_view line) {
    const LineTime time = time_of_line(line);
    if (time.known()) clocks_[(time.has_zone ? 2 : 0) + (time.year > 0 ? 1 : 0)].add(time);
  }

  /// The one that most lines carry; nullptr: none carries any.
  const Clock* most_used() const {
    const Clock* most = nullptr;
    for (const Clock& clock : clocks_) {
      if (clock.lines > (most == nullptr ? 0 : most->lines)) most = &clock;
    }
    return most;
  }

 private:
  std::array<Clock, 4> clocks_;  ///< With a zone or without, with a year or without.
};

}  // namespace

std::optional<JobSpan> span_of(const Job& job) {
  Clocks clocks;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (list.kept.empty()) continue;
      // The first of a kind is kept, and of what comes later, as much as there is room for.
      clocks.add(list.kept.front().text);
      clocks.add(list.kept.back().text);
    }
    clocks.add(log.last_text);
  }
  const Clock* clock = clocks.most_used();
  if (clock == nullptr) return std::nullopt;
  return JobSpan{std::string(clock->first.text), std::string(clock->last.text)};
}

}  // namespace ncclog
