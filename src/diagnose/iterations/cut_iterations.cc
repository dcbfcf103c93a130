#include <algorithm>
#include <map>
#include <utility>

#include "diagnose/iterations/iterations.h"

namespace ncclog {
namespace {

bool is_wanted(const Marker& marker, const IterationChoice& choice) {
  if (choice.by == IterationChoice::By::Expression) return marker.wording == kOwnWording;
  if (marker.wording == kOwnWording) return false;
  const IterationWording& wording = iteration_wordings()[marker.wording];
  if (choice.by == IterationChoice::By::Preset) return wording.preset == choice.preset;
  return wording.place != MarkerPlace::Tick && !wording.by_name_only;
}

bool belongs_to(const Marker& marker, const MarkerTrack& track) {
  return marker.wording == track.wording && marker.total == track.total;
}

/// Those of the markers that announce something new. Ticks are numbered from 1.
std::vector<int64_t> new_steps(const std::vector<Marker>& markers, const MarkerTrack& track) {
  std::vector<int64_t> steps;
  for (const Marker& marker : markers) {
    if (!belongs_to(marker, track)) continue;
    const int64_t step = marker.step >= 0 ? marker.step : static_cast<int64_t>(steps.size()) + 1;
    if (steps.empty() || step > steps.back()) steps.push_back(step);
  }
  return steps;
}

/// The markers of the input in which the process noted most; nullptr if none of its inputs has any.
const InputClock* markers_of(const Job& job, const std::vector<CallMark>& marks) {
  std::map<uint64_t, size_t> noted;
  for (const CallMark& mark : marks) ++noted[mark.input];
  const InputClock* found = nullptr;
  size_t most = 0;
  for (const InputClock& markers : job.clocks) {
    const auto count = noted.find(markers.number);
    if (markers.total == 0 || count == noted.end() || count->second <= most) continue;
    most = count->second;
    found = &markers;
  }
  return found;
}

/// By marker of the input: calls that the process had made before it.
std::vector<uint64_t> calls_before(const InputClock& markers, const std::vector<CallMark>& marks,
                                   uint64_t total) {
  std::vector<uint64_t> calls;
  auto mark = marks.begin();
  while (mark != marks.end() && mark->input < markers.number) ++mark;
  for (size_t m = 0; m < markers.markers.size(); ++m) {
    while (mark != marks.end() && mark->input == markers.number && mark->markers <= m) ++mark;
    calls.push_back(mark == marks.end() ? total : mark->call);
  }
  return calls;
}

/// Leaves out steps that are not higher than one before them. One that was printed before the
/// process's first call may be the last one of an earlier attempt.
void keep_increasing(std::vector<Boundary>& steps, uint64_t first_call) {
  if (steps.size() > 1 && steps[0].raw <= first_call && steps[0].step >= steps[1].step) {
    steps.erase(steps.begin());
  }
  std::vector<Boundary> kept;
  for (const Boundary& step : steps) {
    if (kept.empty() || step.step > kept.back().step) kept.push_back(step);
  }
  steps = std::move(kept);
}

/// How many repeats lie wholly inside [begin, end). The first of them is number
/// repeats.before(begin).
size_t repeats_inside(const Repeats& repeats, size_t begin, size_t end) {
  const size_t first = repeats.before(begin);
  const size_t length = repeats.pattern.size();
  const size_t last = end < length ? first : repeats.before(end - length + 1);
  return std::max(first, last) - first;
}

/// Begin and end of the calls between the repeats number `repeat` - 1 and `repeat`.
std::pair<size_t, size_t> gap_before(const Repeats& repeats, size_t repeat, size_t total) {
  return {repeat == 0 ? 0 : repeats.end_of(repeat - 1),
          repeat < repeats.begins.size() ? repeats.begins[repeat] : total};
}

/// Collects the iterations of one process.
class Spans {
 public:
  Spans(const Repeats& repeats, const FoldedCalls& calls) : repeats_(repeats), calls_(calls) {}

  /// Iterations `first` to `last` are [begin, end): split at the repeats if their number fits.
  void add(int64_t first, int64_t last, size_t begin, size_t end) {
    const auto steps = static_cast<uint64_t>(last - first) + 1;
    if (steps == 1 || steps * repeats_.per_step != repeats_inside(repeats_, begin, end)) {
      const bool ends = steps == 1 && end == calls_.size() && is_beginning(begin);
      all.push_back({first, last, begin, end, ends});
      return;
    }
    const size_t repeat = repeats_.before(begin);
    for (uint64_t i = 0; i < steps; ++i) {
      const int64_t number = first + static_cast<int64_t>(i);
      const size_t from = i == 0 ? begin : begin_of(repeat, i);
      const size_t to = i + 1 == steps ? end : begin_of(repeat, i + 1);
      add_one(number, from, to);
    }
  }

  /// Iterations from `first` on, as many as the calls from `begin` on hold. `announced` says that
  /// the first one has begun.
  void add_rest(int64_t first, size_t begin, bool announced) {
    const size_t repeat = repeats_.before(begin);
    const size_t steps = repeats_inside(repeats_, begin, calls_.size()) / repeats_.per_step;
    int64_t number = first;
    size_t from = begin;
    for (size_t i = 0; i < steps; ++i) {
      const size_t end = repeats_.end_of(repeat + (i + 1) * repeats_.per_step - 1);
      const size_t next = i + 1 < steps ? begin_of(repeat, i + 1) : end;
      const bool odd = is_iteration(end, next);
      add_one(number++, from, odd ? end : next);
      if (odd) add_one(number++, end, next);
      from = next;
    }
    add_tail(number, from, announced && steps == 0);
  }

  std::vector<IterationSpan> all;

 private:
  /// Iterations of equal length in a row share a span.
  void add_one(int64_t number, size_t begin, size_t end) {
    IterationSpan* last = all.empty() ? nullptr : &all.back();
    const auto before = last == nullptr ? 0 : static_cast<size_t>(number - last->first);
    const bool goes_on = last != nullptr && (before == 1 || last->in_a_row) && !last->cut_short &&
                         last->last + 1 == number && last->end == begin &&
                         last->end - last->begin == before * (end - begin);
    if (goes_on) {
      *last = {last->first, number, last->begin, end, false, true};
    } else {
      all.push_back({number, number, begin, end, false});
    }
  }

  /// Where a step begins, of those from a repeat on.
  size_t begin_of(size_t repeat, size_t step) const {
    return repeats_.begins[repeat + step * repeats_.per_step];
  }

  size_t length() const { return repeats_.pattern.size() * repeats_.per_step; }

  /// Calls that are no repeat, but so many that they are an iteration of another kind.
  bool is_iteration(size_t begin, size_t end) const {
    return end - begin > 1 && length() > 0 && 2 * (end - begin) >= length();
  }

  bool is_beginning(size_t begin) const {
    const size_t rest = calls_.size() - begin;
    if (rest == 0 || rest >= length()) return false;
    size_t i = 0;
    return std::ranges::all_of(calls_.kinds(begin, rest), [&](int kind) {
      return kind == repeats_.pattern[i++ % repeats_.pattern.size()];
    });
  }

  void add_tail(int64_t number, size_t begin, bool announced) {
    const size_t end = calls_.size();
    if (begin == end) return;
    const bool beginning = is_beginning(begin);
    if (!announced && !beginning && !is_iteration(begin, end)) return;
    all.push_back({number, number, begin, end, beginning});
  }

  const Repeats& repeats_;
  const FoldedCalls& calls_;
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
  return most_frequent(shifts)->first;
}

size_t distance_of(size_t a, size_t b) { return a > b ? a - b : b - a; }

}  // namespace

std::optional<MarkerTrack> choose_track(const Job& job, const IterationChoice& choice) {
  if (choice.by == IterationChoice::By::Period) return std::nullopt;
  std::map<std::pair<uint16_t, int64_t>, MarkerTrack> tracks;
  for (const InputClock& input : job.clocks) {
    for (const Marker& marker : input.markers) {
      if (!is_wanted(marker, choice)) continue;
      const bool is_own = marker.wording == kOwnWording;
      const auto place = is_own ? MarkerPlace::Unknown : iteration_wordings()[marker.wording].place;
      tracks.try_emplace({marker.wording, marker.total},
                         MarkerTrack{marker.wording, marker.total, place, {}});
    }
    for (auto& [key, track] : tracks) {
      std::vector<int64_t> steps = new_steps(input.markers, track);
      if (steps.size() > track.steps.size()) track.steps = std::move(steps);
    }
  }
  std::optional<MarkerTrack> chosen;
  for (auto& [key, track] : tracks) {
    const bool more = !chosen || track.steps.size() > chosen->steps.size();
    if (more && track.steps.size() > 1) chosen = std::move(track);
  }
  return chosen;
}

std::vector<Boundary> step_marks(const Job& job, const CallTrack& calls, const MarkerTrack& track) {
  const std::vector<CallMark> marks = calls.marks.all();
  const InputClock* markers = markers_of(job, marks);
  if (markers == nullptr) return {};
  const uint64_t end = calls.tape.total();
  const uint64_t begin = marks.front().call;
  const std::vector<uint64_t> before = calls_before(*markers, marks, end);
  std::vector<Boundary> steps;
  for (size_t m = 0; m < markers->markers.size(); ++m) {
    const Marker& marker = markers->markers[m];
    if (!belongs_to(marker, track)) continue;
    if (!steps.empty() && steps.back().raw >= end) break;
    if (before[m] <= begin) steps.clear();
    const int64_t number =
        steps.empty() ? 1 : steps.back().step + 1;  // Of a tick, which has no number of its own.
    steps.push_back({marker.step >= 0 ? marker.step : number, before[m]});
  }
  keep_increasing(steps, begin);
  return steps;
}

int64_t usual_distance(const std::vector<int64_t>& steps) {
  std::map<int64_t, size_t> distances;
  for (size_t i = 1; i < steps.size(); ++i) ++distances[steps[i] - steps[i - 1]];
  return distances.empty() ? 1 : most_frequent(distances)->first;
}

std::vector<Boundary> snap(std::vector<Boundary> marks, const Repeats& repeats, size_t total) {
  size_t least = 0;
  for (Boundary& mark : marks) {
    mark.raw = mark.call = std::min(mark.raw, total);
    const size_t begun = repeats.before(mark.raw + 1);
    if (begun > 0) {
      const size_t begin = repeats.begins[begun - 1];
      const size_t end = begin + repeats.pattern.size();
      if (mark.raw < end) mark.call = mark.raw - begin <= end - mark.raw ? begin : end;
    }
    mark.call = least = std::max(mark.call, least);
    mark.repeat = repeats_inside(repeats, 0, mark.call);
  }
  return marks;
}

size_t moved_by(const std::vector<Boundary>& boundaries) {
  size_t moved = 0;
  for (const Boundary& boundary : boundaries) moved += distance_of(boundary.raw, boundary.call);
  return moved;
}

std::vector<Boundary> aligned(const std::vector<Boundary>& own, const RepeatedCalls& calls,
                              const std::vector<Boundary>& model,
                              const RepeatedCalls& model_calls) {
  // Both make as many repeats from the same step on, or the process's own markers say nothing: then
  // repeats of equal number are the same iteration.
  const bool are_as_many = calls.repeats.begins.size() == model_calls.repeats.begins.size();
  const bool is_credible = 4 * moved_by(own) <= own.size() * calls.repeats.pattern.size();
  const bool by_number =
      own.empty() || (are_as_many && (own.front().step == model.front().step || !is_credible));
  const std::optional<int64_t> shift = by_number ? 0 : usual_shift(own, model);
  if (!shift) return own;
  // Farther than that no marker drifts: there the process lacks a repeat that the model has.
  const size_t most = 3 * calls.repeats.pattern.size() * calls.repeats.per_step / 4;
  // Many boundaries may stand in one gap, and a gap may be long, so the last answer is kept.
  std::optional<size_t> compared;
  bool same = false;
  const auto place = [&](const Boundary& boundary) -> std::optional<Boundary> {
    const int64_t wanted = static_cast<int64_t>(boundary.repeat) + *shift;
    if (wanted < 0 || wanted > static_cast<int64_t>(calls.repeats.begins.size())) {
      return std::nullopt;
    }
    const auto repeat = static_cast<size_t>(wanted);
    const auto [begin, end] = gap_before(calls.repeats, repeat, calls.folded.size());
    const auto [other, other_end] =
        gap_before(model_calls.repeats, boundary.repeat, model_calls.folded.size());
    if (std::exchange(compared, repeat) != repeat) {
      same = end - begin == other_end - other &&
             calls.folded.kinds(begin, end - begin) == model_calls.folded.kinds(other, end - begin);
    }
    // Behind the last repeat that both have, a process that stopped early has other calls.
    const size_t wanted_call = begin + boundary.call - other;
    const size_t call = same ? wanted_call : std::min(wanted_call, end);
    return Boundary{boundary.step, call, call, repeat, false};
  };
  std::map<int64_t, Boundary> by_step;
  for (const Boundary& boundary : own) by_step[boundary.step] = boundary;
  for (const Boundary& boundary : model) {
    const auto found = place(boundary);
    if (!found) continue;
    const auto [known, is_new] = by_step.try_emplace(boundary.step, *found);
    Boundary& moved = known->second;
    if (is_new || (!by_number && distance_of(moved.raw, found->call) > most)) continue;
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
                                         const Repeats& repeats, const FoldedCalls& calls,
                                         bool after) {
  Spans spans(repeats, calls);
  if (boundaries.empty()) return {};
  if (after) {
    // The steps before the first one that is printed.
    const Boundary& first = boundaries.front();
    const size_t before = repeats_inside(repeats, 0, first.call);
    const auto steps = static_cast<int64_t>(before / repeats.per_step);
    const int64_t known = std::min(steps, first.step + 1);
    if (known > 0) {
      const size_t skipped = before - static_cast<size_t>(known) * repeats.per_step;
      spans.add(first.step - known + 1, first.step, repeats.begins[skipped], first.call);
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

std::vector<IterationSpan> spans_of_repeats(const Repeats& repeats, const FoldedCalls& calls,
                                            int64_t first) {
  Spans spans(repeats, calls);
  if (!repeats.begins.empty()) spans.add_rest(first, repeats.begins.front(), false);
  return spans.all;
}

}  // namespace ncclog
