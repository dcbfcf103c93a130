#include "diagnose/iterations/iterations.h"

#include <algorithm>
#include <cmath>

namespace ncclog {
namespace {

/// A process while its iterations are looked for. Its calls are folded whenever they are needed,
/// at a step for each that is stored: all processes' at once would take much memory where they are
/// irregular.
struct CutCandidate {
  const ProcessCalls* process = nullptr;
  uint64_t input = 0;  ///< Number of the input in which it began to make calls.
  std::vector<Boundary> marks;
  Repeats repeats;
  std::vector<Boundary> boundaries;

  FoldedCalls folded() const { return process->folded(); }
};

/// `repeats` over `steps` if that is nearly a whole number; 0 if not.
size_t whole_ratio(double repeats, double steps) {
  const double ratio = repeats / steps;
  const double whole = std::max(1.0, std::round(ratio));
  return std::abs(ratio - whole) <= 0.25 * whole ? static_cast<size_t>(whole) : 0;
}

/// How many repeats make a step; 0 if their number is no whole one. Markers near the ends of a
/// process's calls may be far off, so the number of steps counts first.
size_t repeats_per_step(const CutCandidate& candidate, size_t steps) {
  if (candidate.marks.size() < 2 || steps == 0) return 1;
  const auto repeats = static_cast<double>(candidate.repeats.begins.size());
  const size_t ratio = whole_ratio(repeats, static_cast<double>(steps));
  const Boundary& first = candidate.marks.front();
  const Boundary& last = candidate.marks.back();
  if (ratio > 0 || last.raw <= first.raw) return ratio;
  const double calls_per_step =
      static_cast<double>(last.raw - first.raw) / static_cast<double>(last.step - first.step);
  return whole_ratio(calls_per_step, static_cast<double>(candidate.repeats.pattern.size()));
}

void find_repeats_of(CutCandidate& candidate, const std::optional<MarkerTrack>& track) {
  size_t steps = 0;
  if (track && track->place != MarkerPlace::Tick) {
    const bool has_own = candidate.marks.size() > 1;
    const int64_t first = has_own ? candidate.marks.front().step : track->steps.front();
    const int64_t last = has_own ? candidate.marks.back().step : track->steps.back();
    steps = static_cast<size_t>(last - first + usual_distance(track->steps));  // Both included.
  }
  const FoldedCalls folded = candidate.folded();
  candidate.repeats.pattern = find_period(folded, candidate.process->track->tape, steps);
  if (candidate.repeats.pattern.empty()) return;
  candidate.repeats.begins = find_repeats(folded, candidate.repeats.pattern);
  candidate.repeats.per_step = repeats_per_step(candidate, steps);
  if (candidate.repeats.per_step == 0) candidate.repeats = {};
}

/// The patterns that begin where a process's markers stand, by how often they do.
std::map<std::vector<int>, size_t> patterns_at_markers(const CutCandidate& candidate) {
  constexpr size_t kMarkersAsked = 64;
  std::map<std::vector<int>, size_t> found;
  const Repeats& repeats = candidate.repeats;
  const size_t asked = std::min(kMarkersAsked, candidate.marks.size());
  for (size_t i = 0; i < asked; ++i) {
    const size_t call = candidate.marks[i].raw;
    const size_t begun = repeats.before(call + 1);
    if (begun == 0) continue;
    const size_t into = call - repeats.begins[begun - 1];
    if (into < repeats.pattern.size()) ++found[rotated(repeats.pattern, into)];
  }
  return found;
}

/// The pattern turned so that it begins where most markers stand. The process that prints them has
/// them always at the same call, so such processes count more.
std::vector<int> pattern_at_markers(const std::vector<CutCandidate*>& group) {
  constexpr size_t kSteady = 16;
  std::map<std::vector<int>, size_t> votes;
  for (const CutCandidate* candidate : group) {
    const auto patterns = patterns_at_markers(*candidate);
    const size_t weight = patterns.size() == 1 ? kSteady : 1;
    for (const auto& [pattern, count] : patterns) votes[pattern] += weight * count;
  }
  return votes.empty() ? group.front()->repeats.pattern : most_frequent(votes)->first;
}

/// True if `a` is the better model: it has more markers, does not stop early, and its markers need
/// less moving.
bool is_better(const CutCandidate& a, const CutCandidate& b) {
  if (a.boundaries.size() != b.boundaries.size()) return a.boundaries.size() > b.boundaries.size();
  const size_t repeats = a.repeats.begins.size();
  if (repeats != b.repeats.begins.size()) return repeats > b.repeats.begins.size();
  return moved_by(a.boundaries) < moved_by(b.boundaries);
}

/// Puts the markers of each process of a group to the ends of its repeats, and all of them to where
/// they stand in the process that prints them: there they need the least moving.
void align_group(const std::vector<CutCandidate*>& group) {
  const std::vector<int> pattern = pattern_at_markers(group);
  const CutCandidate* model = nullptr;
  for (CutCandidate* candidate : group) {
    const FoldedCalls folded = candidate->folded();
    candidate->repeats.pattern = pattern;
    candidate->repeats.begins = find_repeats(folded, pattern);
    candidate->boundaries = snap(candidate->marks, candidate->repeats, folded.size());
    if (model == nullptr || is_better(*candidate, *model)) model = candidate;
  }
  if (pattern.empty() || model->boundaries.empty()) return;
  for (CutCandidate* candidate : group) candidate->repeats.per_step = model->repeats.per_step;
  const FoldedCalls model_calls = model->folded();
  for (CutCandidate* candidate : group) {
    if (candidate == model) continue;
    const FoldedCalls folded = candidate->folded();
    candidate->boundaries = aligned(candidate->boundaries, {candidate->repeats, folded},
                                    model->boundaries, {model->repeats, model_calls});
  }
}

/// True if markers stand after the calls of their steps. Where the wording does not tell, the
/// calls do: those after the last marker, or those before the first one, are no iteration.
bool stands_after(const std::vector<CutCandidate>& candidates, MarkerPlace place) {
  if (place != MarkerPlace::Unknown) return true;
  size_t before = 0;
  size_t behind = 0;
  for (const CutCandidate& candidate : candidates) {
    if (candidate.boundaries.empty()) continue;
    before += candidate.boundaries.front().repeat;
    behind += candidate.repeats.begins.size() - candidate.boundaries.back().repeat;
  }
  return before > 0 && behind == 0;
}

/// By number of an iteration, how many processes more call so from it on. Each process says what it
/// calls from one number to another, so that a million iterations cost as much as their changes.
using Changes = std::map<int64_t, std::map<IterationCalls, int64_t>>;

void add_changes(const ProcessCalls& calls, const ProcessIterations& process, Changes& changes) {
  std::vector<OpCounts> words;
  for (const CallCounts& counts : process.counts) words.push_back(by_operation(calls, counts));
  for (const IterationRun& run : process.runs) {
    const IterationCalls said{words[run.calls], run.together, run.cut_short};
    ++changes[run.first][said];
    --changes[run.last + 1][said];
  }
}

/// Fills `patterns` and `count`.
void find_patterns(const Changes& changes, JobIterations& found) {
  std::map<std::pair<IterationCalls, int64_t>, size_t> patterns;
  std::map<IterationCalls, int64_t> now;
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    for (const auto& [said, more] : change->second) now[said] += more;
    std::erase_if(now, [](const auto& entry) { return entry.second == 0; });
    const auto next = std::next(change);
    if (now.empty() || next == changes.end()) continue;
    found.count += static_cast<uint64_t>(next->first - change->first);
    const auto& [said, calling] = *most_frequent(now);
    int64_t present = 0;
    for (const auto& [other, n] : now) present += n;
    const auto [entry, is_new] = patterns.try_emplace({said, present}, found.patterns.size());
    if (is_new) {
      found.patterns.push_back(
          {said, static_cast<size_t>(calling), static_cast<size_t>(present), {}});
    }
    auto& ranges = found.patterns[entry->second].iterations;
    if (!ranges.empty() && ranges.back().second + 1 == change->first) {
      ranges.back().second = next->first - 1;
    } else {
      ranges.emplace_back(change->first, next->first - 1);
    }
  }
}

/// A process that diverges from what all others repeat has too few repeats of its own.
void share_patterns(std::vector<CutCandidate>& candidates) {
  std::map<std::vector<int>, size_t> patterns;
  for (const CutCandidate& candidate : candidates) {
    if (!candidate.repeats.pattern.empty()) ++patterns[candidate.repeats.pattern];
  }
  if (patterns.empty()) return;
  const std::vector<int>& usual = most_frequent(patterns)->first;
  for (CutCandidate& candidate : candidates) {
    if (candidate.repeats.pattern == usual) continue;
    const FoldedCalls folded = candidate.folded();
    std::vector<size_t> begins = find_repeats(folded, usual);
    const size_t covered = begins.size() * usual.size();
    if (covered * 3 < folded.size()) continue;
    candidate.repeats = {usual, std::move(begins), 1};
  }
}

/// Processes that repeat the same calls in one input are aligned to each other.
void align_all(std::vector<CutCandidate>& candidates) {
  std::map<std::pair<std::vector<int>, uint64_t>, std::vector<CutCandidate*>> groups;
  for (CutCandidate& candidate : candidates) {
    std::vector<int> kinds = candidate.repeats.pattern;
    std::ranges::sort(kinds);
    groups[{std::move(kinds), candidate.input}].push_back(&candidate);
  }
  for (auto& [key, group] : groups) align_group(group);
}

/// All processes, their markers where they belong.
std::vector<CutCandidate> find_candidates(const Job& job, const JobCalls& calls,
                                          const std::optional<MarkerTrack>& track) {
  std::vector<CutCandidate> candidates;
  for (const ProcessCalls& process : calls.processes) {
    CutCandidate& candidate = candidates.emplace_back(CutCandidate{.process = &process});
    if (track) candidate.marks = step_marks(job, *process.track, *track);
    candidate.input = process.track->marks.all().front().input;
    find_repeats_of(candidate, track);
  }
  share_patterns(candidates);
  align_all(candidates);
  return candidates;
}

/// The iterations of a process without markers.
std::vector<IterationSpan> spans_of_period(const CutCandidate& candidate, const FoldedCalls& folded,
                                           const std::optional<MarkerTrack>& track) {
  int64_t first = track ? track->steps.front() : 1;
  const bool is_after = track && track->place != MarkerPlace::Unknown;
  if (is_after) first -= usual_distance(track->steps) - 1;
  return spans_of_repeats(candidate.repeats, folded, std::max<int64_t>(0, first));
}

void note_drift(const CutCandidate& candidate, JobIterations& found) {
  for (const Boundary& boundary : candidate.boundaries) {
    if (!boundary.own) continue;
    const auto [first, last] = std::minmax(boundary.raw, boundary.call);
    size_t& most = boundary.raw > boundary.call ? found.ahead : found.behind;
    most = std::max(most, last - first);
  }
}

/// Counts the calls [begin, end) by entry of the tape.
CallCounts count_entries(const FoldedCalls& folded, size_t entries, size_t begin, size_t end) {
  std::vector<uint64_t> counts(entries);
  while (begin < end) {
    CallCursor cursor(folded, begin);
    const size_t calls = std::min(end - begin, cursor.left());
    const size_t block = cursor.stretch().length;
    for (size_t i = 0; i < std::min(calls, block); ++i) {
      counts[folded.stored_entry(cursor.next())] += (calls - i + block - 1) / block;
    }
    begin += calls;
  }
  CallCounts result;
  for (size_t entry = 0; entry < entries; ++entry) {
    if (counts[entry] > 0) result.emplace_back(static_cast<uint16_t>(entry), counts[entry]);
  }
  return result;
}

}  // namespace

std::optional<JobIterations> find_iterations(const Job& job, const JobCalls& calls,
                                             const IterationChoice& choice) {
  const std::optional<MarkerTrack> track = choose_track(job, choice);
  const std::vector<CutCandidate> candidates = find_candidates(job, calls, track);
  const bool after = track && stands_after(candidates, track->place);
  JobIterations found;
  found.exact = choice.exact;
  Changes changes;
  for (const CutCandidate& candidate : candidates) {
    const FoldedCalls folded = candidate.folded();
    const std::vector<Boundary>& boundaries = candidate.boundaries;
    ProcessIterations iterations = count_iterations(
        *candidate.process, folded,
        boundaries.empty() ? spans_of_period(candidate, folded, track)
        : choice.exact     ? exact_spans(boundaries, folded.size(), after)
                           : spans_between(boundaries, candidate.repeats, folded, after));
    iterations.calls = found.processes.size();
    iterations.period = candidate.repeats.pattern.size();
    iterations.repeats = candidate.repeats.begins.size();
    iterations.by_marker = !boundaries.empty();
    if (iterations.runs.empty()) ++found.unsplit;
    add_changes(*candidate.process, iterations, changes);
    note_drift(candidate, found);
    found.processes.push_back(std::move(iterations));
    if (boundaries.empty()) continue;
    const bool own = track->wording == kOwnWording;
    found.source = own ? "marker" : "preset";
    if (!own) found.preset = iteration_wordings()[track->wording].preset;
  }
  find_patterns(changes, found);
  if (found.patterns.empty()) return std::nullopt;
  return found;
}

bool is_loop(const JobIterations& found) {
  constexpr uint64_t kFewest = 3;
  return found.source != "period" || found.count >= kFewest;
}

OpCounts by_operation(const ProcessCalls& calls, const CallCounts& counts) {
  OpCounts by_op;
  for (const auto& [entry, n] : counts) {
    by_op[calls.track->tape.entries()[entry].call.op.text()] += n;
  }
  return by_op;
}

size_t usual_pattern(const std::vector<IterationPattern>& patterns) {
  const auto size = [](const IterationPattern& pattern) {
    int64_t iterations = 0;
    for (const auto& [first, last] : pattern.iterations) iterations += last - first + 1;
    return iterations;
  };
  return static_cast<size_t>(std::ranges::max_element(patterns, {}, size) - patterns.begin());
}

ProcessIterations count_iterations(const ProcessCalls& process, const FoldedCalls& folded,
                                   const std::vector<IterationSpan>& spans) {
  ProcessIterations found;
  const auto count = [&](size_t begin, size_t end) {
    return count_entries(folded, process.track->tape.entries().size(), begin, end);
  };
  std::map<CallCounts, size_t> known;
  FoldedCalls::Stretch loop;  // That the iteration before begins in,
  size_t before = 0;          // where that one begins,
  size_t length_before = 0;   // and its calls.
  for (const IterationSpan& span : spans) {
    const int64_t together = span.in_a_row ? 1 : span.last - span.first + 1;
    const size_t length = (span.end - span.begin) * static_cast<size_t>(together) /
                          static_cast<size_t>(span.last - span.first + 1);
    size_t begin = span.begin;
    for (int64_t first = span.first; first <= span.last; first += together, begin += length) {
      IterationRun run{first, first + together - 1, together, 0, span.cut_short};
      IterationRun* last = found.runs.empty() ? nullptr : &found.runs.back();
      // Whole blocks of a loop behind the one before, it calls the same.
      const bool is_same = last != nullptr && length == length_before && loop.begin <= before &&
                           begin + length <= loop.end() && (begin - before) % loop.length == 0;
      if (is_same) {
        run.calls = last->calls;
      } else {
        const auto [entry, is_new] =
            known.try_emplace(count(begin, begin + length), found.counts.size());
        if (is_new) found.counts.push_back(entry->first);
        run.calls = entry->second;
        if (begin < folded.size()) loop = folded.stretches()[folded.stretch_of(begin)];
      }
      before = begin;
      length_before = length;
      const bool goes_on = last != nullptr && last->calls == run.calls && together == 1 &&
                           last->together == 1 && last->last + 1 == first &&
                           last->cut_short == run.cut_short;
      if (goes_on) {
        last->last = first;
      } else {
        found.runs.push_back(run);
      }
    }
  }
  const size_t begin = spans.empty() ? folded.size() : spans.front().begin;
  found.before = count(0, begin);
  found.after = count(spans.empty() ? begin : spans.back().end, folded.size());
  return found;
}

}  // namespace ncclog
