#include "diagnose/outcome/silence.h"

#include <set>
#include <tuple>

#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/end_marks.h"

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

/// The first line that says that somebody ended the job from outside, of those with a time. Where
/// only a process is said to have been ended, its launcher ends the others.
std::optional<EndOf> find_end(const Job& job) {
  std::vector<EndOf> marks;
  std::ranges::copy_if(end_marks(job), std::back_inserter(marks),
                       [](const EndOf& mark) { return mark.state == EndState::Stopped; });
  const auto is_of_job = [](const EndOf& mark) { return mark.process < 0; };
  if (std::ranges::any_of(marks, is_of_job)) std::erase_if(marks, std::not_fn(is_of_job));
  const auto time_of = [](const EndOf& mark) { return find_line_time(mark.line().text); };
  std::erase_if(marks, [&](const EndOf& mark) { return !time_of(mark).known(); });
  const auto first = std::ranges::min_element(
      marks, {}, [&](const EndOf& mark) { return time_of(mark).nanoseconds; });
  return first == marks.end() ? std::nullopt : std::optional(std::move(*first));
}

/// Whoever goes on working calls NCCL, and the lines of all calls have times. A captured graph
/// calls without a line: then there are more steps than calls.
bool calls_show_work(const Job& job) {
  if (cuda_graph_evidence(job)) return false;
  uint64_t steps = 0;
  for (const InputClock& clock : job.clocks) steps += clock.total;
  bool has_calls = false;
  for (const Process& process : job.processes) {
    if (!process.has_nccl || process.pid < 0) continue;
    uint64_t calls = 0;
    for (const CommSegment* segment : segments_of(job, process)) {
      const CollectiveCalls& of = calls_of(*segment);
      calls += of.total;
      if (of.total > 0 && !find_line_time(of.last_stamp).known()) return false;
    }
    if (calls == 0) continue;  // Not logged, perhaps.
    if (calls < 2 * steps) return false;
    has_calls = true;
  }
  return has_calls;
}

/// The beats of an input up to its last line; of a run in a file of several, those after it are
/// another run's. nullopt: which one is the last is not known.
std::optional<Beats> own_beats(const Job& job, uint32_t input, Beats beats) {
  const auto is_own = [&](const TimedLine& beat) {
    return file_line(job, beat.where).line <= job.inputs[input].lines;
  };
  if (beats.count == 0 || is_own(beats.last)) return beats;
  if (!is_own(beats.first)) return Beats{};
  TimedLine last;
  for (const Pause& pause : beats.pauses) {
    if (is_own(pause.before) && !is_own(pause.after)) last = pause.before;
  }
  if (last.where.line == 0) return std::nullopt;
  beats.last = last;
  std::erase_if(beats.pauses, [&](const Pause& pause) { return !is_own(pause.after); });
  // How many are left is known only as far as their pauses are kept.
  beats.count = beats.pauses.size() + 1;
  return beats;
}

/// The last beat of an input that is older than the moment of the end; line 0: nothing is. nullopt:
/// work may have gone on unseen.
std::optional<TimedLine> last_before(const Job& job, const InputClock& input, const LineTime& end,
                                     bool calls_are_dated) {
  const Pulse& pulse = input.pulse;
  const auto own = own_beats(job, input.input, pulse.clock(end.has_zone).all);
  const auto own_work = own_beats(job, input.input, pulse.clock(end.has_zone).work);
  if (!own || !own_work) return std::nullopt;
  const Beats& beats = *own;
  const int64_t moment = end.nanoseconds - kSameMoment;
  std::optional<TimedLine> before = TimedLine{};
  if (beats.count > 0 && beats.last.nanoseconds < moment) {
    before = beats.last;
  } else if (beats.count > 0 && beats.first.nanoseconds < moment) {
    // Of the pauses only the longest are kept; where none of them reaches up to the end, it was not
    // silent for long.
    before.reset();
    for (const Pause& pause : beats.pauses) {
      const bool reaches = pause.before.nanoseconds < moment && pause.after.nanoseconds >= moment;
      if (reaches) before = pause.before;
    }
  }
  // Work within the last moment is work: only what reports the end is left out.
  const Beats& work = *own_work;
  // Schedulers print whole seconds, so the end may have come up to one later.
  const bool worked = work.count > 0 && work.last.nanoseconds >= moment &&
                      work.last.nanoseconds < end.nanoseconds + kSecond;
  if (worked) before = work.last;
  const SourceRef undated = pulse.undated_work();
  const bool is_older = before && undated.line != 0 && before->where < undated;
  return is_older && !calls_are_dated ? std::nullopt : before;
}

/// How far apart the clock's signs of work were before `last`, the longest first; empty: too few.
std::vector<int64_t> pauses_of_work(const PulseClock& clock, const TimedLine& last) {
  constexpr uint64_t kFewest = 3;
  std::vector<int64_t> lengths;
  if (clock.work.count < 2 || clock.work.count + clock.steps.steps < kFewest) return lengths;
  for (const Pause& pause : clock.work.pauses) {
    if (pause.after.nanoseconds <= last.nanoseconds) lengths.push_back(pause.length());
  }
  return lengths;
}

/// Collectors and hosts keep different zones, and print none: the difference of their clocks then
/// looks like a silence of half hours.
bool may_be_zones(const Job& job, const Silence& silence, const TimedLine& last) {
  constexpr int64_t kHalfHour = 1800 * kSecond;
  constexpr int64_t kNear = 60 * kSecond;
  const bool is_scheduler = silence.end.text.find(" CANCELLED AT ") != std::string::npos;
  const bool one_clock = !is_scheduler && are_ordered(job, silence.end.where, last.where);
  if (one_clock || silence.nanoseconds < kHalfHour / 2) return false;
  const int64_t rest = silence.nanoseconds % kHalfHour;
  return std::min(rest, kHalfHour - rest) < std::max(kNear, 2 * silence.usual);
}

/// Inputs in which `ncclog run` writes down what it sees of the job: no signs of the job's life.
std::set<uint32_t> inputs_of_watchers(const Job& job) {
  std::set<uint32_t> inputs;
  for_each_said<RunEnded, RunStalled>(job, [&](const auto& said) {
    if (const JobUnit* unit = unit_of(job, said.where())) inputs.insert(unit->input);
  });
  return inputs;
}

std::optional<Silence> derive_silence(const Job& job) {
  auto mark = find_end(job);
  if (!mark) return std::nullopt;
  const LineTime end = find_line_time(mark->line().text);
  TimedLine last;
  const bool calls_are_dated = calls_show_work(job);
  const std::set<uint32_t> watchers = inputs_of_watchers(job);
  for (const InputClock& input : job.clocks) {
    if (watchers.contains(input.input)) continue;
    const std::optional<TimedLine> before = last_before(job, input, end, calls_are_dated);
    if (!before) return std::nullopt;
    if (before->where.line == 0) continue;
    if (last.where.line == 0 || before->nanoseconds > last.nanoseconds) last = *before;
  }
  if (last.where.line == 0) return std::nullopt;
  // Of the fastest clock. One pause may be longer than all others: the first step, an evaluation.
  int64_t usual = 0;
  int64_t longest = 0;
  for (const InputClock& input : job.clocks) {
    const std::vector<int64_t> pauses = pauses_of_work(input.pulse.clock(end.has_zone), last);
    if (pauses.empty()) continue;
    const int64_t own = pauses[pauses.size() > 1 ? 1 : 0];
    if (own > 0 && (usual == 0 || own < usual))
      std::tie(usual, longest) = std::tuple(own, pauses.front());
  }
  Silence silence{.last = {last.where, {}},
                  .nanoseconds = std::max<int64_t>(end.nanoseconds - last.nanoseconds, 0),
                  .usual = usual};
  silence.end = std::move(mark->evidence.front());
  silence.ended = std::move(mark->what);
  if (may_be_zones(job, silence, last)) return std::nullopt;
  silence.is_standstill = usual > 0 && silence.nanoseconds >= kShortest &&
                          silence.nanoseconds >= kTimesUsual * usual &&
                          2 * silence.nanoseconds >= 3 * longest;
  // Who ends a job that hangs has waited for longer than that.
  silence.is_usual =
      silence.nanoseconds < kShortest || (usual > 0 && silence.nanoseconds <= longest + kSecond);
  return silence;
}

}  // namespace

const std::optional<Silence>& silence_before_end(const Job& job) {
  return job.answers.of<&derive_silence>(job);
}

}  // namespace ncclog
