#include "diagnose/iterations/folded_calls.h"

#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace ncclog {
namespace {

/// Calls that folding must save: below that, many short stretches cost more than single calls.
constexpr size_t kWorthFolding = 64;

/// The kinds of a tape's entries, in their order.
std::vector<CallKind> kinds_of(const SpeakerLog& log, const CallTape& tape) {
  std::map<int, int> ordinal_of_segment;
  std::map<int, int> used;
  std::vector<CallKind> kinds;
  for (const CallTape::Entry& entry : tape.entries()) {
    CallKind kind{-1, -1, comparable(entry.call)};
    if (is_point_to_point(entry.call.op)) kind.call.root = -1;
    if (entry.segment >= 0) {
      kind.nranks = log.comms.all[entry.segment].nranks;
      const auto [known, is_new] = ordinal_of_segment.try_emplace(entry.segment, 0);
      if (is_new) known->second = used[kind.nranks]++;
      kind.ordinal = known->second;
    }
    kinds.push_back(kind);
  }
  return kinds;
}

/// What repeats at one distance.
struct PeriodCandidate {
  size_t period = 0;
  size_t covered = 0;  ///< Calls in stretches that repeat themselves at least once in whole.
  size_t stretches = 0;
  size_t first = 0;  ///< Where the first stretch begins.

  /// A stretch that ends is something unexplained.
  size_t score() const { return covered - std::min(covered, stretches); }
};

/// Finds the stretches of calls that are the same as those one period before them.
class Measuring {
 public:
  explicit Measuring(size_t period) : found_{.period = period}, at_(period) {}

  /// The next call: is it the one that stands a period before it?
  void add(bool repeats) {
    if (repeats) {
      ++run_;
    } else {
      end_stretch();
      run_ = 0;
    }
    ++at_;
  }

  /// The next `length` calls, and those one period before them: all of one stretch on either side.
  void add_part(const FoldedCalls& calls, CallCursor& now, CallCursor& then, size_t length) {
    const size_t block = std::lcm(now.stretch().length, then.stretch().length);
    for (size_t done = 0; done < length;) {
      const Measuring before = *this;
      const size_t some = std::min(block, length - done);
      for (size_t i = 0; i < some; ++i) {
        add(calls.stored_kind(now.next()) == calls.stored_kind(then.next()));
      }
      done += some;
      const size_t more = (length - done) / block;
      if (more == 0 || !skip(before, more, block)) continue;
      done += more * block;
      now.skip(more * block);
      then.skip(more * block);
    }
  }

  PeriodCandidate take() {
    end_stretch();
    return found_;
  }

 private:
  /// What decides about later calls, whatever their numbers: what repeats so far, and the calls
  /// before the next one that a stretch may hold.
  std::pair<size_t, size_t> state() const {
    return {run_, std::min(at_ - free_from_, run_ + found_.period)};
  }

  void end_stretch() {
    if (run_ < found_.period) return;
    const size_t begin = std::max(free_from_, at_ - run_ - found_.period);
    if (found_.stretches++ == 0) found_.first = begin;
    found_.covered += at_ - begin;
    free_from_ = at_;
  }

  /// Adds `more` blocks like the last one, before which the state was `before`. False if they may
  /// do something else: in the same state the same calls do the same.
  bool skip(const Measuring& before, size_t more, size_t block) {
    if (run_ == before.run_ + block) {
      run_ += more * block;
    } else if (state() == before.state()) {
      found_.covered += more * (found_.covered - before.found_.covered);
      found_.stretches += more * (found_.stretches - before.found_.stretches);
      free_from_ += more * block;
    } else {
      return false;
    }
    at_ += more * block;
    return true;
  }

  PeriodCandidate found_;
  size_t at_;             ///< Number of the next call.
  size_t run_ = 0;        ///< So many calls up to it repeat.
  size_t free_from_ = 0;  ///< Calls before it belong to an earlier stretch.
};

PeriodCandidate measure(const FoldedCalls& calls, size_t period) {
  Measuring measuring(period);
  CallCursor now(calls, period);
  CallCursor then(calls, 0);
  while (const size_t length = std::min(now.left(), then.left())) {
    measuring.add_part(calls, now, then, length);
  }
  return measuring.take();
}

/// By distance: how often one and the same call stands so far behind its last like, in calls. What
/// is called once in an iteration shows the iteration's length even where there are but two.
std::map<size_t, uint64_t> distances_in(const FoldedCalls& calls) {
  std::map<int, size_t> last;  // Number of the last call of each kind.
  std::map<size_t, uint64_t> distances;
  const auto add_block = [&](const FoldedCalls::Stretch& stretch, size_t begin, uint64_t times) {
    for (size_t i = 0; i < stretch.length; ++i) {
      const auto [place, is_new] =
          last.try_emplace(calls.stored_kind(stretch.stored + i), begin + i);
      const size_t distance = begin + i - std::exchange(place->second, begin + i);
      if (!is_new) distances[distance] += times * distance;
    }
  };
  for (const FoldedCalls::Stretch& stretch : calls.stretches()) {
    add_block(stretch, stretch.begin, 1);
    if (stretch.times == 1) continue;
    // From the second block on, all say the same.
    add_block(stretch, stretch.begin + stretch.length, stretch.times - 1);
    const size_t last_block = stretch.end() - stretch.length;
    for (size_t i = 0; i < stretch.length; ++i) {
      last[calls.stored_kind(stretch.stored + i)] = last_block + i;
    }
  }
  return distances;
}

std::vector<PeriodCandidate> candidates_of(const FoldedCalls& calls, const CallTape& tape) {
  constexpr size_t kMost = 8;
  std::set<size_t> periods;
  for (const auto& counts : {tape.repeats(), distances_in(calls)}) {
    std::vector<std::pair<uint64_t, size_t>> counted;
    for (const auto& [distance, count] : counts) counted.emplace_back(count, distance);
    std::ranges::sort(counted, std::greater{});
    counted.resize(std::min(counted.size(), kMost));
    for (const auto& [count, distance] : counted) periods.insert(distance);
  }
  std::vector<PeriodCandidate> candidates;
  for (const size_t period : periods) {
    if (period * 2 > calls.size()) continue;
    const PeriodCandidate candidate = measure(calls, period);
    if (candidate.score() > 0) candidates.push_back(candidate);
  }
  return candidates;
}

size_t kinds_in(const FoldedCalls& calls, const PeriodCandidate& candidate) {
  const std::vector<int> pattern = calls.kinds(candidate.first, candidate.period);
  return std::set<int>(pattern.begin(), pattern.end()).size();
}

/// The period that comes nearest to as many repeats as there are steps; nullptr if none is near.
const PeriodCandidate* nearest_to(const std::vector<PeriodCandidate>& candidates, size_t steps,
                                  size_t best) {
  constexpr double kFarthest = 1.5;
  const auto distance = [&](const PeriodCandidate& candidate) {
    if (2 * candidate.score() < best) return kFarthest;
    const double repeats =
        static_cast<double>(candidate.covered) / static_cast<double>(candidate.period);
    const double wanted = static_cast<double>(steps);
    return std::max(repeats / wanted, wanted / repeats);
  };
  const auto nearest = std::ranges::min_element(candidates, {}, distance);
  return distance(*nearest) < kFarthest ? &*nearest : nullptr;
}

const PeriodCandidate* choose(const FoldedCalls& calls,
                              const std::vector<PeriodCandidate>& candidates, size_t steps) {
  const auto best = std::ranges::max_element(candidates, {}, &PeriodCandidate::score);
  if (best == candidates.end()) return nullptr;
  if (steps > 1) {
    const PeriodCandidate* nearest = nearest_to(candidates, steps, best->score());
    if (nearest != nullptr) return nearest;
  }
  constexpr size_t kLayerKinds = 2;
  for (const PeriodCandidate& candidate : candidates) {
    const bool explains = 10 * candidate.score() >= 9 * best->score();
    const bool is_layer =
        kinds_in(calls, candidate) <= kLayerKinds && kinds_in(calls, *best) > kLayerKinds;
    if (explains && !is_layer) return &candidate;
  }
  return &*best;
}

/// By position: length of the longest proper end that is also a beginning (Knuth, Morris, Pratt).
std::vector<size_t> borders_of(std::span<const int> pattern) {
  std::vector<size_t> borders(pattern.size(), 0);
  for (size_t i = 1, matched = 0; i < pattern.size(); ++i) {
    while (matched > 0 && pattern[i] != pattern[matched]) matched = borders[matched - 1];
    if (pattern[i] == pattern[matched]) ++matched;
    borders[i] = matched;
  }
  return borders;
}

}  // namespace

FoldedCalls::FoldedCalls(const CallTape& tape, std::span<const int> kinds) : kinds_(kinds) {
  for (const CallTape::Run& run : tape.runs()) {
    if (size_ == kMaxCalls) break;
    add_single(run.id);
    const size_t copied = std::min<size_t>(run.copied, kMaxCalls - size_);
    if (copied == 0) continue;
    std::vector<uint16_t> block;
    CallCursor source(*this, size_ - run.distance);
    while (block.size() < std::min<size_t>(run.distance, copied)) {
      block.push_back(entries_[source.next()]);
    }
    const size_t times = copied / run.distance;
    const bool is_loop = times >= 2 && (times - 1) * run.distance >= kWorthFolding;
    if (is_loop) add_loop(block, times);
    const size_t looped = is_loop ? times * run.distance : 0;
    for (size_t i = looped; i < copied; ++i) add_single(block[i % run.distance]);
  }
}

void FoldedCalls::add_single(uint16_t entry) {
  if (stretches_.empty() || stretches_.back().times > 1) {
    stretches_.push_back({size_, entries_.size(), 0, 1});
  }
  entries_.push_back(entry);
  ++stretches_.back().length;
  ++size_;
}

void FoldedCalls::add_loop(std::span<const uint16_t> block, size_t times) {
  stretches_.push_back({size_, entries_.size(), block.size(), times});
  entries_.insert(entries_.end(), block.begin(), block.end());
  size_ += block.size() * times;
}

size_t FoldedCalls::stretch_of(size_t call) const {
  const auto next = std::ranges::upper_bound(stretches_, call, {}, &Stretch::begin);
  return static_cast<size_t>(next - stretches_.begin()) - 1;
}

std::vector<int> FoldedCalls::kinds(size_t begin, size_t count) const {
  std::vector<int> kinds;
  if (count == 0) return kinds;
  CallCursor cursor(*this, begin);
  while (kinds.size() < count) kinds.push_back(stored_kind(cursor.next()));
  return kinds;
}

CallCursor::CallCursor(const FoldedCalls& calls, size_t call)
    : calls_(calls), stretch_(&calls.stretches()[calls.stretch_of(call)]), call_(call) {
  stored_ = stretch_->stored + (call - stretch_->begin) % stretch_->length;
}

void CallCursor::skip(size_t calls) {
  call_ += calls;
  if (left() == 0 && stretch_ != &calls_.stretches().back()) stored_ = (++stretch_)->stored;
}

JobCalls job_calls(const Job& job) {
  JobCalls calls;
  std::map<CallKind, int> numbers;
  std::vector<std::vector<CallKind>> kinds;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t l : job.processes[p].logs) {
      const SpeakerLog& log = job.logs[l];
      const bool traces = log.traces->tape.total() > log.calls->tape.total();
      const CallTrack& track = traces ? *log.traces : *log.calls;
      if (track.tape.total() == 0) continue;
      calls.processes.push_back({static_cast<int>(p), static_cast<int>(l), traces, &track, {}});
      kinds.push_back(kinds_of(log, track.tape));
      for (const CallKind& kind : kinds.back()) numbers.emplace(kind, 0);
    }
  }
  for (auto& [kind, number] : numbers) {
    number = static_cast<int>(calls.kinds.size());
    calls.kinds.push_back(kind);
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    for (const CallKind& kind : kinds[i]) calls.processes[i].kinds.push_back(numbers.at(kind));
  }
  return calls;
}

std::vector<int> find_period(const FoldedCalls& calls, const CallTape& tape, size_t steps) {
  const std::vector<PeriodCandidate> candidates = candidates_of(calls, tape);
  const PeriodCandidate* chosen = choose(calls, candidates, steps);
  return chosen == nullptr ? std::vector<int>() : calls.kinds(chosen->first, chosen->period);
}

std::vector<size_t> find_repeats(const FoldedCalls& calls, std::span<const int> pattern) {
  std::vector<size_t> found;
  if (pattern.empty()) return found;
  const std::vector<size_t> borders = borders_of(pattern);
  size_t matched = 0;  // So many of the last calls are the pattern's first ones.
  const auto add_block = [&](const FoldedCalls::Stretch& stretch, size_t begin) {
    for (size_t i = 0; i < stretch.length; ++i) {
      const int kind = calls.stored_kind(stretch.stored + i);
      while (matched > 0 && kind != pattern[matched]) matched = borders[matched - 1];
      if (kind == pattern[matched]) ++matched;
      if (matched < pattern.size()) continue;
      found.push_back(begin + i + 1 - matched);
      matched = 0;
    }
  };
  for (const FoldedCalls::Stretch& stretch : calls.stretches()) {
    // Once a block begins in a state in which an earlier one began, the blocks between come again.
    size_t known = 0;
    size_t known_state = matched;
    size_t known_found = found.size();
    for (size_t done = 0; done < stretch.times;) {
      add_block(stretch, stretch.begin + done * stretch.length);
      ++done;
      if (matched == known_state) {
        const size_t cycle = done - known;
        const size_t more = (stretch.times - done) / cycle;
        const size_t repeats = found.size() - known_found;
        for (size_t i = 0; i < repeats * more; ++i) {
          found.push_back(found[found.size() - repeats] + cycle * stretch.length);
        }
        done += more * cycle;
      }
      if (matched != known_state && done < 2 * known + 1) continue;
      known = done;
      known_state = matched;
      known_found = found.size();
    }
  }
  return found;
}

std::vector<int> rotated(std::span<const int> pattern, size_t by) {
  std::vector<int> turned(pattern.begin(), pattern.end());
  if (!turned.empty()) {
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(by % turned.size()),
                turned.end());
  }
  return turned;
}

}  // namespace ncclog
