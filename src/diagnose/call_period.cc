#include "diagnose/call_period.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ncclog {
namespace {

/// What repeats at one distance.
struct Candidate {
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

  Candidate take() {
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

  Candidate found_;
  size_t at_;             ///< Number of the next call.
  size_t run_ = 0;        ///< So many calls up to it repeat.
  size_t free_from_ = 0;  ///< Calls before it belong to an earlier stretch.
};

Candidate measure(const FoldedCalls& calls, size_t period) {
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

std::vector<Candidate> candidates_of(const FoldedCalls& calls, const CallTape& tape) {
  constexpr size_t kMost = 8;
  std::set<size_t> periods;
  for (const auto& counts : {tape.repeats(), distances_in(calls)}) {
    std::vector<std::pair<uint64_t, size_t>> distances;
    for (const auto& [distance, count] : counts) distances.emplace_back(count, distance);
    std::sort(distances.rbegin(), distances.rend());
    if (distances.size() > kMost) distances.resize(kMost);
    for (const auto& [count, distance] : distances) periods.insert(distance);
  }
  std::vector<Candidate> candidates;
  for (const size_t period : periods) {
    if (period * 2 > calls.size()) continue;
    const Candidate candidate = measure(calls, period);
    if (candidate.score() > 0) candidates.push_back(candidate);
  }
  return candidates;
}

size_t kinds_in(const FoldedCalls& calls, const Candidate& candidate) {
  const std::vector<int> pattern = calls.kinds(candidate.first, candidate.period);
  return std::set<int>(pattern.begin(), pattern.end()).size();
}

/// The period that comes nearest to as many repeats as there are steps; nullptr if none is near.
const Candidate* nearest_to(const std::vector<Candidate>& candidates, size_t steps, size_t best) {
  const Candidate* nearest = nullptr;
  double least = 1.5;
  for (const Candidate& candidate : candidates) {
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

const Candidate* choose(const FoldedCalls& calls, const std::vector<Candidate>& candidates,
                        size_t steps) {
  const auto best = std::max_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.score() < b.score(); });
  if (best == candidates.end()) return nullptr;
  if (steps > 1) {
    const Candidate* nearest = nearest_to(candidates, steps, best->score());
    if (nearest != nullptr) return nearest;
  }
  constexpr size_t kLayerKinds = 2;
  for (const Candidate& candidate : candidates) {
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
class Search {
 public:
  explicit Search(std::span<const int> pattern)
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
  const std::vector<Candidate> candidates = candidates_of(calls, tape);
  const Candidate* chosen = choose(calls, candidates, steps);
  if (chosen == nullptr) return {};
  return {calls.kinds(chosen->first, chosen->period), chosen->first};
}

RepeatPlaces find_repeats(const FoldedCalls& calls, std::span<const int> pattern) {
  Search search(pattern);
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
