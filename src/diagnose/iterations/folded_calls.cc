#include "diagnose/iterations/folded_calls.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace ncclog {
namespace {

/// Calls that folding must save: below that, many short stretches cost more than single calls.
constexpr size_t kWorthFolding = 64;

/// A distance at which calls repeat earlier ones.
struct Distance {
  size_t calls = 0;
  size_t next = 0;  ///< Before this call no loop of this distance begins.
};

/// Of counted distances the `most` that most calls have, with their counts.
std::vector<std::pair<uint64_t, size_t>> most_repeated(const std::map<size_t, uint64_t>& counts,
                                                       size_t most) {
  std::vector<std::pair<uint64_t, size_t>> counted;
  for (const auto& [distance, count] : counts) counted.emplace_back(count, distance);
  std::ranges::sort(counted, std::greater{});
  counted.resize(std::min(counted.size(), most));
  return counted;
}

/// Those at which most calls do.
std::vector<Distance> distances_of(const CallTape& tape) {
  std::vector<Distance> distances;
  for (const auto& [count, distance] : most_repeated(tape.repeats(), 4)) {
    if (count >= kWorthFolding) distances.push_back({distance, distance});
  }
  return distances;
}

/// How many calls from number `begin` on are the same as those `distance` before them.
size_t repeated_from(const std::vector<uint16_t>& calls, size_t begin, size_t distance) {
  constexpr size_t kAtOnce = 512;
  const uint16_t* const data = calls.data();
  size_t at = begin;
  while (at + kAtOnce <= calls.size() &&
         std::equal(data + at, data + at + kAtOnce, data + at - distance)) {
    at += kAtOnce;
  }
  while (at < calls.size() && data[at] == data[at - distance]) ++at;
  return at - begin;
}

}  // namespace

FoldedCalls::FoldedCalls(const CallTape& tape, std::span<const int> kinds) : kinds_(kinds) {
  const std::vector<uint16_t> calls = tape.calls(kMaxCalls);
  std::vector<Distance> distances = distances_of(tape);
  for (size_t at = 0; at < calls.size();) {
    const size_t before = at;
    for (Distance& distance : distances) {
      if (at < distance.next) continue;
      const size_t repeated = repeated_from(calls, at, distance.calls);
      const size_t times = repeated / distance.calls;
      distance.next = at + repeated + 1;
      if (times < 2 || (times - 1) * distance.calls < kWorthFolding) continue;
      add_loop({calls.data() + at, distance.calls}, times);
      at += times * distance.calls;
      break;
    }
    if (at == before) add_single(calls[at++]);
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
  kinds.reserve(count);
  const size_t end = begin + count;
  for (size_t s = count == 0 ? stretches_.size() : stretch_of(begin); begin < end; ++s) {
    const size_t stop = std::min(end, stretches_[s].end());
    size_t place = stretches_[s].place_of(begin);
    const size_t block_end = stretches_[s].stored + stretches_[s].length;
    for (; begin < stop; ++begin) {
      kinds.push_back(stored_kind(place));
      if (++place == block_end) place = stretches_[s].stored;
    }
  }
  return kinds;
}

SideBySide::SideBySide(const FoldedCalls& left, size_t left_begin, const FoldedCalls& right,
                       size_t right_begin, size_t count)
    : left_{left, left_begin}, right_{right, right_begin}, count_(count) {
  if (count == 0) return;
  left_.stretch = left.stretch_of(left_begin);
  right_.stretch = right.stretch_of(right_begin);
}

void SideBySide::Side::move_to(size_t call) {
  while (calls.stretches()[stretch].end() <= call) ++stretch;
  block = calls.stretches()[stretch];
  into = (call - block.begin) % block.length;
}

bool SideBySide::next() {
  begin_ += length_;
  if (begin_ == count_) return false;
  left_.move_to(left_.begin + begin_);
  right_.move_to(right_.begin + begin_);
  length_ = std::min({left_.block.end() - left_.begin, right_.block.end() - right_.begin, count_}) -
            begin_;
  period_ = std::min(length_, std::lcm(left_.block.length, right_.block.length));
  return true;
}

bool same_calls(const FoldedCalls& left, size_t left_begin, const FoldedCalls& right,
                size_t right_begin, size_t count) {
  bool same = true;
  SideBySide walk(left, left_begin, right, right_begin, count);
  while (same && walk.next()) {
    walk.compare(0, walk.period(), [&](bool equal) { same = same && equal; });
  }
  return same;
}

namespace {

/// The kinds of a tape's entries, in their order.
std::vector<CallKind> kinds_of(const SpeakerLog& log, const CallTape& tape) {
  std::map<int, int> ordinal_of_segment;
  std::map<int, int> used;
  std::vector<CallKind> kinds;
  for (const CallTape::Entry& entry : tape.entries()) {
    CallKind kind{-1, -1, comparable(entry.call)};
    if (is_point_to_point(entry.call.op)) kind.call.root = -1;
    if (entry.segment >= 0) {
      kind.nranks = log.comms.all[static_cast<size_t>(entry.segment)].nranks;
      const auto [known, is_new] = ordinal_of_segment.try_emplace(entry.segment, 0);
      if (is_new) known->second = used[kind.nranks]++;
      kind.ordinal = known->second;
    }
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace

JobCalls job_calls(const Job& job) {
  JobCalls calls;
  std::map<CallKind, int> numbers;
  std::vector<std::vector<CallKind>> kinds;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t l : job.processes[p].logs) {
      const SpeakerLog& log = job.logs[l];
      const bool traces = log.traces.tape.total() > log.calls.tape.total();
      const CallTrack& track = traces ? log.traces : log.calls;
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

void RepeatPlaces::add(size_t begin) {
  const bool follows =
      !rows_.empty() && rows_.back().begin + (size_ - rows_.back().number) * pattern_size_ == begin;
  if (!follows) rows_.push_back({begin, size_});
  ++size_;
}

void RepeatPlaces::repeat_last(size_t count, size_t distance, size_t times) {
  if (count == 0) return;
  const bool in_a_row = rows_.back().number + count <= size_ && count * pattern_size_ == distance;
  if (in_a_row) {
    size_ += count * times;
    return;
  }
  const size_t first = size_ - count;
  for (size_t i = 0; i < count * times; ++i) add((*this)[first + i] + distance);
}

size_t RepeatPlaces::row_of(size_t i) const {
  const auto next = std::ranges::upper_bound(rows_, i, {}, &Row::number);
  return static_cast<size_t>(next - rows_.begin()) - 1;
}

size_t RepeatPlaces::operator[](size_t i) const {
  const Row& row = rows_[row_of(i)];
  return row.begin + (i - row.number) * pattern_size_;
}

size_t RepeatPlaces::before(size_t call) const {
  const auto next = std::ranges::lower_bound(rows_, call, {}, &Row::begin);
  if (next == rows_.begin()) return 0;
  const auto row = static_cast<size_t>(next - rows_.begin()) - 1;
  const size_t begun = (call - rows_[row].begin + pattern_size_ - 1) / pattern_size_;
  return std::min(rows_[row].number + begun, end_of_row(row));
}

size_t RepeatPlaces::row_end(size_t i) const { return end_of_row(row_of(i)); }

namespace {

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

  /// The part of a walk over all calls and those one period before them.
  void add_part(const SideBySide& walk) {
    const size_t block = walk.period();
    for (size_t done = 0; done < walk.length();) {
      const Measuring before = *this;
      const size_t now = std::min(block, walk.length() - done);
      walk.compare(done, now, [this](bool repeats) { add(repeats); });
      done += now;
      const size_t more = (walk.length() - done) / block;
      if (more > 0 && skip(before, more, block)) done += more * block;
    }
  }

  PeriodCandidate take() {
    end_stretch();
    return found_;
  }

 private:
  /// What decides about later calls, whatever their numbers.
  struct State {
    size_t run = 0;
    size_t free = 0;  ///< Calls before the next one that a stretch may hold.

    bool operator==(const State&) const = default;
  };

  State state() const { return {run_, std::min(at_ - free_from_, run_ + found_.period)}; }

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
  SideBySide walk(calls, period, calls, 0, calls.size() - period);
  while (walk.next()) measuring.add_part(walk);
  return measuring.take();
}

/// How far behind its last like one and the same call stands.
class Distances {
 public:
  void add(const FoldedCalls& calls, const FoldedCalls::Stretch& stretch) {
    add_block(calls, stretch, stretch.begin, 1);
    if (stretch.times == 1) return;
    // From the second block on, all say the same.
    add_block(calls, stretch, stretch.begin + stretch.length, stretch.times - 1);
    const size_t last_block = stretch.end() - stretch.length;
    for (size_t i = 0; i < stretch.length; ++i) {
      last_[calls.stored_kind(stretch.stored + i)] = last_block + i;
    }
  }

  std::map<size_t, uint64_t> take() const {
    std::map<size_t, uint64_t> distances;
    for (const auto& [kind, count] : by_kind_) distances[kind.second] += count * kind.second;
    return distances;
  }

 private:
  void add_block(const FoldedCalls& calls, const FoldedCalls::Stretch& stretch, size_t begin,
                 uint64_t times) {
    for (size_t i = 0; i < stretch.length; ++i) {
      const int kind = calls.stored_kind(stretch.stored + i);
      const auto [place, is_new] = last_.try_emplace(kind, begin + i);
      if (is_new) continue;
      by_kind_[{kind, begin + i - place->second}] += times;
      place->second = begin + i;
    }
  }

  std::map<int, size_t> last_;  ///< Number of the last call of each kind.
  std::map<std::pair<int, size_t>, uint64_t> by_kind_;
};

/// By distance: how often one and the same call stands so far behind its last like, in calls. What
/// is called once in an iteration shows the iteration's length even where there are but two.
std::map<size_t, uint64_t> distances_in(const FoldedCalls& calls) {
  Distances distances;
  for (const FoldedCalls::Stretch& stretch : calls.stretches()) distances.add(calls, stretch);
  return distances.take();
}

std::vector<PeriodCandidate> candidates_of(const FoldedCalls& calls, const CallTape& tape) {
  constexpr size_t kMost = 8;
  std::set<size_t> periods;
  for (const auto& counts : {tape.repeats(), distances_in(calls)}) {
    for (const auto& [count, distance] : most_repeated(counts, kMost)) periods.insert(distance);
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
  const PeriodCandidate* nearest = nullptr;
  double least = 1.5;
  for (const PeriodCandidate& candidate : candidates) {
    if (2 * candidate.score() < best) continue;
    const double repeats =
        static_cast<double>(candidate.covered) / static_cast<double>(candidate.period);
    const double wanted = static_cast<double>(steps);
    const double ratio = std::max(repeats / wanted, wanted / repeats);
    if (ratio >= least) continue;
    least = ratio;
    nearest = &candidate;
  }
  return nearest;
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

/// Looks for a pattern in calls that come one after the other (Knuth, Morris, Pratt).
class PatternSearch {
 public:
  explicit PatternSearch(std::span<const int> pattern)
      : pattern_(pattern), borders_(borders_of(pattern)), found_(pattern.size()) {}

  void add(const FoldedCalls& calls, const FoldedCalls::Stretch& stretch) {
    // Once a block begins in a state in which an earlier one began, the blocks between come again.
    size_t known = 0;
    size_t known_state = matched_;
    size_t known_found = found_.size();
    for (size_t done = 0; done < stretch.times;) {
      add_block(calls, stretch, stretch.begin + done * stretch.length);
      ++done;
      if (matched_ == known_state) {
        const size_t cycle = done - known;
        const size_t more = (stretch.times - done) / cycle;
        found_.repeat_last(found_.size() - known_found, cycle * stretch.length, more);
        done += more * cycle;
      }
      if (matched_ != known_state && done < 2 * known + 1) continue;
      known = done;
      known_state = matched_;
      known_found = found_.size();
    }
  }

  RepeatPlaces take() { return std::move(found_); }

 private:
  void add_block(const FoldedCalls& calls, const FoldedCalls::Stretch& stretch, size_t begin) {
    for (size_t i = 0; i < stretch.length; ++i) {
      const int kind = calls.stored_kind(stretch.stored + i);
      while (matched_ > 0 && kind != pattern_[matched_]) matched_ = borders_[matched_ - 1];
      if (kind == pattern_[matched_]) ++matched_;
      if (matched_ < pattern_.size()) continue;
      found_.add(begin + i + 1 - matched_);
      matched_ = 0;
    }
  }

  std::span<const int> pattern_;
  std::vector<size_t> borders_;
  size_t matched_ = 0;  ///< So many of the last calls are the pattern's first ones.
  RepeatPlaces found_;
};

}  // namespace

CallPeriod find_period(const FoldedCalls& calls, const CallTape& tape, size_t steps) {
  const std::vector<PeriodCandidate> candidates = candidates_of(calls, tape);
  const PeriodCandidate* chosen = choose(calls, candidates, steps);
  if (chosen == nullptr) return {};
  return {calls.kinds(chosen->first, chosen->period), chosen->first};
}

RepeatPlaces find_repeats(const FoldedCalls& calls, std::span<const int> pattern) {
  PatternSearch search(pattern);
  if (pattern.empty()) return search.take();
  for (const FoldedCalls::Stretch& stretch : calls.stretches()) search.add(calls, stretch);
  return search.take();
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
