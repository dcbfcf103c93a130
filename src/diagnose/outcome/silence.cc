#include "diagnose/outcome/silence.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diagnose/cuda_graphs.h"
#include "diagnose/outcome/end_marks.h"
#include "log/line_time.h"

namespace ncclog {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// Launchers, schedulers and the processes themselves report an end within so many seconds of each
/// other, and clocks of hosts differ by some.
constexpr int64_t kSameMoment = 5 * kSecond;

/// A shorter silence says nothing: garbage collection, a checkpoint, a slow file system.
constexpr int64_t kShortest = 10 * kSecond;

/// How many times the usual pause a silence has to last. Steps of training are even; what takes
/// longer now and then, a checkpoint or an evaluation, is usually seen once before.
constexpr int64_t kTimesUsual = 5;

/// What ended the job, at a time that is known.
struct End {
  Evidence line;
  std::string what;
  int64_t nanoseconds = 0;
  bool has_zone = false;
};

/// The first line that says that somebody ended the job from outside, by its time. Where only a
/// process is said to have been ended, its launcher ends the others.
std::optional<End> find_end(const Job& job) {
  std::optional<End> first;
  std::vector<EndMark> marks = end_marks(job);
  std::erase_if(marks, [](const EndMark& mark) { return mark.state != EndState::Stopped; });
  const auto is_of_job = [](const EndMark& mark) { return mark.process < 0; };
  if (std::any_of(marks.begin(), marks.end(), is_of_job)) {
    std::erase_if(marks, [&](const EndMark& mark) { return !is_of_job(mark); });
  }
  for (EndMark& mark : marks) {
    const LineTime time = find_line_time(mark.line.text);
    if (!time.known() || (first && first->nanoseconds <= time.nanoseconds)) continue;
    const int64_t nanoseconds = time.nanoseconds;
    const bool has_zone = time.has_zone;
    first = {std::move(mark.line), std::move(mark.what), nanoseconds, has_zone};
  }
  return first;
}

/// What an input shows of the time before the end.
struct Before {
  bool is_known = true;  ///< Else work may have gone on unseen.
  Beat last;             ///< Line 0: nothing before the end.
};

/// Whoever goes on working calls NCCL, and the lines of all calls have times. A captured graph
/// calls without a line: then there are more steps than calls.
bool calls_show_work(const Job& job) {
  if (cuda_graph_evidence(job)) return false;
  uint64_t steps = 0;
  for (const JobMarkers& markers : job.markers) steps += markers.total;
  bool has_calls = false;
  for (const Process& process : job.processes) {
    if (!process.has_nccl || process.pid < 0) continue;
    uint64_t calls = 0;
    for (const size_t log : process.logs) {
      for (const CommSegment& segment : job.logs[log].comms.all) {
        const CollectiveCalls& of = calls_of(segment);
        calls += of.total;
        if (of.total > 0 && !find_line_time(of.last_stamp).known()) return false;
      }
    }
    if (calls == 0) continue;  // Not logged, perhaps.
    if (calls < 2 * steps) return false;
    has_calls = true;
  }
  return has_calls;
}

/// The last beat that is older than the moment of the end.
Before last_before(const Pulse& pulse, const End& end, bool calls_are_dated) {
  const Beats& beats = pulse.clock(end.has_zone).all;
  const int64_t moment = end.nanoseconds - kSameMoment;
  Before before;
  if (beats.count > 0 && beats.last.nanoseconds < moment) {
    before.last = beats.last;
  } else if (beats.count > 0 && beats.first.nanoseconds < moment) {
    // Of the pauses only the longest are kept; where none of them reaches up to the end, it was not
    // silent for long.
    before.is_known = false;
    for (const Pause& pause : beats.pauses) {
      if (pause.before.nanoseconds >= moment || pause.after.nanoseconds < moment) continue;
      before = {true, pause.before};
    }
  }
  // Work within the last moment is work: only what reports the end is left out.
  const Beats& work = pulse.clock(end.has_zone).work;
  // Schedulers print whole seconds, so the end may have come up to one later.
  const bool worked = work.count > 0 && work.last.nanoseconds >= moment &&
                      work.last.nanoseconds < end.nanoseconds + kSecond;
  if (worked) before = {true, work.last};
  const bool is_behind = before.last.where < pulse.undated_work();
  if (pulse.undated_work().line != 0 && is_behind && !calls_are_dated) before.is_known = false;
  return before;
}

/// How far apart signs of work were, and how long they were apart at most, before `last`.
struct Rhythm {
  int64_t usual = 0;  ///< 0: too few signs.
  int64_t longest = 0;
};

Rhythm rhythm_of(const PulseClock& clock, const Beat& last) {
  constexpr uint64_t kFewest = 3;
  Rhythm rhythm;
  if (clock.work.count < 2 || clock.work.count + clock.steps.steps < kFewest) return rhythm;
  std::vector<int64_t> lengths;  // Longest first.
  for (const Pause& pause : clock.work.pauses) {
    if (pause.after.nanoseconds <= last.nanoseconds) lengths.push_back(pause.length());
  }
  if (lengths.empty()) return rhythm;
  rhythm.longest = lengths.front();
  // One pause may be longer than all others: the first step, an evaluation.
  rhythm.usual = lengths[lengths.size() > 1 ? 1 : 0];
  return rhythm;
}

/// Collectors and hosts keep different zones, and print none: the difference of their clocks then
/// looks like a silence of half hours.
bool may_be_zones(const Job& job, const Silence& silence, const Beat& last) {
  constexpr int64_t kHalfHour = 1800 * kSecond;
  constexpr int64_t kNear = 60 * kSecond;
  const JobUnit* end = unit_of(job, silence.end.where);
  const JobUnit* begin = unit_of(job, last.where);
  const bool is_scheduler = silence.end.text.find(" CANCELLED AT ") != std::string::npos;
  const bool one_clock =
      !is_scheduler && end != nullptr && begin != nullptr && end->input == begin->input;
  if (one_clock || silence.nanoseconds < kHalfHour / 2) return false;
  const int64_t rest = silence.nanoseconds % kHalfHour;
  return std::min(rest, kHalfHour - rest) < std::max(kNear, 2 * silence.usual);
}

std::optional<Silence> derive_silence(const Job& job) {
  auto end = find_end(job);
  if (!end) return std::nullopt;
  Beat last;
  Rhythm rhythm;
  const bool calls_are_dated = calls_show_work(job);
  for (const JobPulse& input : job.pulses) {
    const Before before = last_before(input.pulse, *end, calls_are_dated);
    if (!before.is_known) return std::nullopt;
    if (before.last.where.line == 0) continue;
    const bool later = last.where.line == 0 || before.last.nanoseconds > last.nanoseconds;
    if (later) last = before.last;
  }
  if (last.where.line == 0) return std::nullopt;
  for (const JobPulse& input : job.pulses) {
    const Rhythm one = rhythm_of(input.pulse.clock(end->has_zone), last);
    const bool is_faster = one.usual > 0 && (rhythm.usual == 0 || one.usual < rhythm.usual);
    if (is_faster) rhythm = one;
  }
  Silence silence{{last.where, {}},
                  std::move(end->line),
                  std::move(end->what),
                  std::max<int64_t>(end->nanoseconds - last.nanoseconds, 0),
                  rhythm.usual,
                  false,
                  false};
  if (may_be_zones(job, silence, last)) return std::nullopt;
  silence.is_standstill = rhythm.usual > 0 && silence.nanoseconds >= kShortest &&
                          silence.nanoseconds >= kTimesUsual * rhythm.usual &&
                          2 * silence.nanoseconds >= 3 * rhythm.longest;
  // Who ends a job that hangs has waited for longer than that.
  silence.is_usual = silence.nanoseconds < kShortest ||
                     (rhythm.usual > 0 && silence.nanoseconds <= rhythm.longest + kSecond);
  return silence;
}

}  // namespace

const std::optional<Silence>& silence_before_end(const Job& job) {
  return job.answers.of<&derive_silence>(job);
}

std::string duration_words(int64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) / static_cast<double>(kSecond);
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 3 * kMinute) return fmt::format("{:.3g} s", seconds);
  if (seconds < 3 * kHour) return fmt::format("{:.0f} minutes", seconds / kMinute);
  return fmt::format("{:.0f} hours", seconds / kHour);
}

}  // namespace ncclog
