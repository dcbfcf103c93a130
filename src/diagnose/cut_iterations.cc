#include "diagnose/cut_iterations.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ncclog {
namespace {

/// The repeats that lie wholly inside [begin, end), as a range of their numbers.
struct RepeatRange {
  size_t first = 0;
  size_t last = 0;  ///< One past the last.

  size_t count() const { return last - first; }
};

RepeatRange inside(const Repeats& repeats, size_t begin, size_t end) {
  const auto& begins = repeats.begins;
  const auto first = std::lower_bound(begins.begin(), begins.end(), begin);
  const size_t length = repeats.pattern.size();
  const auto last = end < length ? first : std::upper_bound(first, begins.end(), end - length);
  return {static_cast<size_t>(first - begins.begin()), static_cast<size_t>(last - begins.begin())};
}

/// Calls between the repeats number `repeat` - 1 and `repeat`.
struct Gap {
  size_t begin = 0;
  size_t end = 0;
};

Gap gap_before(const Repeats& repeats, size_t repeat, size_t total) {
  return {repeat == 0 ? 0 : repeats.end_of(repeat - 1),
          repeat < repeats.begins.size() ? repeats.begins[repeat] : total};
}

size_t repeats_before(const Repeats& repeats, size_t call) {
  return inside(repeats, 0, call).count();
}

/// Collects the iterations of one process.
class Spans {
 public:
  Spans(const Repeats& repeats, std::span<const int> sequence)
      : repeats_(repeats), sequence_(sequence) {}

  /// Iterations `first` to `last` are [begin, end): split at the repeats if their number fits.
  void add(int64_t first, int64_t last, size_t begin, size_t end) {
    const RepeatRange range = inside(repeats_, begin, end);
    const auto steps = static_cast<uint64_t>(last - first) + 1;
    if (steps == 1 || steps * repeats_.per_step != range.count()) {
      const bool ends = steps == 1 && end == sequence_.size() && is_beginning(begin);
      all.push_back({first, last, begin, end, ends});
      return;
    }
    for (uint64_t i = 0; i < steps; ++i) {
      const size_t from = i == 0 ? begin : begin_of(range, i);
      const size_t to = i + 1 == steps ? end : begin_of(range, i + 1);
      const int64_t number = first + static_cast<int64_t>(i);
      all.push_back({number, number, from, to, false});
    }
  }

  /// Iterations from `first` on, as many as the calls from `begin` on hold. `announced` says that
  /// the first one has begun.
  void add_rest(int64_t first, size_t begin, bool announced) {
    const RepeatRange range = inside(repeats_, begin, sequence_.size());
    const size_t steps = range.count() / repeats_.per_step;
    int64_t number = first;
    size_t from = begin;
    for (size_t i = 0; i < steps; ++i) {
      const size_t end = repeats_.end_of(range.first + (i + 1) * repeats_.per_step - 1);
      const size_t next = i + 1 < steps ? begin_of(range, i + 1) : end;
      const bool odd = is_iteration(end, next);
      all.push_back({number, number, from, odd ? end : next, false});
      ++number;
      if (odd) {
        all.push_back({number, number, end, next, false});
        ++number;
      }
      from = next;
    }
    add_tail(number, from, announced && steps == 0);
  }

  std::vector<IterationSpan> all;

 private:
  size_t begin_of(const RepeatRange& range, size_t step) const {
    return repeats_.begins[range.first + step * repeats_.per_step];
  }

  size_t length() const { return repeats_.pattern.size() * repeats_.per_step; }

  /// Calls that are no repeat, but so many that they are an iteration of another kind.
  bool is_iteration(size_t begin, size_t end) const {
    return end - begin > 1 && length() > 0 && 2 * (end - begin) >= length();
  }

  bool is_beginning(size_t begin) const {
    const auto rest = sequence_.subspan(begin);
    if (rest.empty() || rest.size() >= length()) return false;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (rest[i] != repeats_.pattern[i % repeats_.pattern.size()]) return false;
    }
    return true;
  }

  void add_tail(int64_t number, size_t begin, bool announced) {
    const size_t end = sequence_.size();
    if (begin == end) return;
    const bool beginning = is_beginning(begin);
    if (!announced && !beginning && !is_iteration(begin, end)) return;
    all.push_back({number, number, begin, end, beginning});
  }

  const Repeats& repeats_;
  std::span<const int> sequence_;
};

/// By step, what `own` has in repeats more than `model`, most often; nullopt without common steps.
std::optional<int64_t> usual_shift(const std::vector<Boundary>& own,
                                   const std::vector<Boundary>& model) {
  std::map<int64_t, size_t> shifts;
  auto other = model.begin();
  for (const Boundary& boundary : own) {
    while (other != model.end() && other->step < boundary.step) ++other;
    if (other == model.end() || other->step != boundary.step) continue;
    ++shifts[static_cast<int64_t>(boundary.repeat) - static_cast<int64_t>(other->repeat)];
  }
  if (shifts.empty()) return std::nullopt;
  return std::max_element(shifts.begin(), shifts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// Both make as many repeats from the same step on, or the process's own markers say nothing: then
/// repeats of equal number are the same iteration.
bool matches_by_number(const std::vector<Boundary>& own, const Repeats& repeats,
                       const std::vector<Boundary>& model, const Repeats& model_repeats) {
  if (own.empty()) return true;
  if (repeats.begins.size() != model_repeats.begins.size()) return false;
  const bool credible = 4 * moved_by(own) <= own.size() * repeats.pattern.size();
  return own.front().step == model.front().step || !credible;
}

/// Where in `calls` the model's boundary stands; nullopt if that is not among its repeats.
std::optional<Boundary> placed(const Boundary& boundary, int64_t shift, const RepeatedCalls& calls,
                               const RepeatedCalls& model_calls) {
  const int64_t wanted = static_cast<int64_t>(boundary.repeat) + shift;
  if (wanted < 0 || wanted > static_cast<int64_t>(calls.repeats.begins.size())) {
    return std::nullopt;
  }
  const auto repeat = static_cast<size_t>(wanted);
  const Gap gap = gap_before(calls.repeats, repeat, calls.sequence.size());
  const Gap other = gap_before(model_calls.repeats, boundary.repeat, model_calls.sequence.size());
  const auto between = calls.sequence.subspan(gap.begin, gap.end - gap.begin);
  const auto others = model_calls.sequence.subspan(other.begin, other.end - other.begin);
  const bool same = std::equal(between.begin(), between.end(), others.begin(), others.end());
  // Behind the last repeat that both have, a process that stopped early has other calls.
  const size_t into = boundary.call - other.begin;
  const size_t call = same ? gap.begin + into : std::min(gap.begin + into, gap.end);
  return Boundary{boundary.step, call, call, repeat, false};
}

}  // namespace

std::vector<Boundary> snap(const std::vector<StepMark>& marks, const Repeats& repeats,
                           size_t total) {
  std::vector<Boundary> boundaries;
  for (const StepMark& mark : marks) {
    const auto raw = static_cast<size_t>(std::min<uint64_t>(mark.call, total));
    Boundary boundary{mark.step, raw, raw, 0, true};
    const auto next = std::upper_bound(repeats.begins.begin(), repeats.begins.end(), raw);
    if (next != repeats.begins.begin()) {
      const size_t begin = *std::prev(next);
      const size_t end = begin + repeats.pattern.size();
      if (raw < end) boundary.call = raw - begin <= end - raw ? begin : end;
    }
    if (!boundaries.empty()) boundary.call = std::max(boundary.call, boundaries.back().call);
    boundary.repeat = repeats_before(repeats, boundary.call);
    boundaries.push_back(boundary);
  }
  return boundaries;
}

size_t moved_by(const std::vector<Boundary>& boundaries) {
  size_t moved = 0;
  for (const Boundary& boundary : boundaries) {
    moved +=
        boundary.raw > boundary.call ? boundary.raw - boundary.call : boundary.call - boundary.raw;
  }
  return moved;
}

std::vector<Boundary> aligned(const std::vector<Boundary>& own, const RepeatedCalls& calls,
                              const std::vector<Boundary>& model,
                              const RepeatedCalls& model_calls) {
  const bool by_number = matches_by_number(own, calls.repeats, model, model_calls.repeats);
  const std::optional<int64_t> shift = by_number ? 0 : usual_shift(own, model);
  if (!shift) return own;
  // Farther than that no marker drifts: there the process lacks a repeat that the model has.
  const size_t most = 3 * calls.repeats.pattern.size() * calls.repeats.per_step / 4;
  std::map<int64_t, Boundary> by_step;
  for (const Boundary& boundary : own) by_step[boundary.step] = boundary;
  for (const Boundary& boundary : model) {
    const auto found = placed(boundary, *shift, calls, model_calls);
    if (!found) continue;
    const auto [known, is_new] = by_step.try_emplace(boundary.step, *found);
    Boundary& moved = known->second;
    const size_t distance =
        moved.raw > found->call ? moved.raw - found->call : found->call - moved.raw;
    if (is_new || (!by_number && distance > most)) continue;
    moved.call = found->call;
    moved.repeat = found->repeat;
  }
  std::vector<Boundary> boundaries;
  for (const auto& [step, boundary] : by_step) {
    boundaries.push_back(boundary);
    if (boundaries.size() < 2) continue;
    Boundary& last = boundaries.back();
    last.call = std::max(last.call, boundaries[boundaries.size() - 2].call);
  }
  return boundaries;
}

std::vector<IterationSpan> spans_between(const std::vector<Boundary>& boundaries,
                                         const Repeats& repeats, std::span<const int> sequence,
                                         bool after) {
  Spans spans(repeats, sequence);
  if (boundaries.empty()) return {};
  if (after) {
    // The steps before the first one that is printed.
    const Boundary& first = boundaries.front();
    const RepeatRange range = inside(repeats, 0, first.call);
    const auto steps = static_cast<int64_t>(range.count() / repeats.per_step);
    const int64_t known = std::min(steps, first.step + 1);
    if (known > 0) {
      const size_t skipped = range.count() - static_cast<size_t>(known) * repeats.per_step;
      spans.add(first.step - known + 1, first.step, repeats.begins[range.first + skipped],
                first.call);
    }
  }
  for (size_t i = 1; i < boundaries.size(); ++i) {
    const int64_t offset = after ? 1 : 0;
    spans.add(boundaries[i - 1].step + offset, boundaries[i].step - 1 + offset,
              boundaries[i - 1].call, boundaries[i].call);
  }
  const Boundary& last = boundaries.back();
  spans.add_rest(after ? last.step + 1 : last.step, last.call, !after);
  return spans.all;
}

std::vector<IterationSpan> exact_spans(std::vector<Boundary> boundaries, size_t total, bool after) {
  std::erase_if(boundaries, [](const Boundary& boundary) { return !boundary.own; });
  std::vector<IterationSpan> spans;
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const int64_t step = boundaries[i].step;
    if (after) {
      const int64_t before = i == 0 ? step - 1 : boundaries[i - 1].step;
      const size_t begin = i == 0 ? 0 : boundaries[i - 1].raw;
      spans.push_back({before + 1, step, begin, boundaries[i].raw, false});
    } else {
      const bool is_last = i + 1 == boundaries.size();
      const int64_t last = is_last ? step : boundaries[i + 1].step - 1;
      spans.push_back(
          {step, last, boundaries[i].raw, is_last ? total : boundaries[i + 1].raw, false});
    }
  }
  return spans;
}

std::vector<IterationSpan> spans_of_repeats(const Repeats& repeats, std::span<const int> sequence,
                                            int64_t first) {
  Spans spans(repeats, sequence);
  if (!repeats.begins.empty()) spans.add_rest(first, repeats.begins.front(), false);
  return spans.all;
}

}  // namespace ncclog
