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

Candidate measure(std::span<const int> sequence, size_t period) {
  Candidate candidate{.period = period};
  size_t run = 0;
  size_t free_from = 0;  // Calls before it belong to an earlier stretch.
  for (size_t i = period; i <= sequence.size(); ++i) {
    if (i < sequence.size() && sequence[i] == sequence[i - period]) {
      ++run;
      continue;
    }
    if (run >= period) {
      const size_t begin = std::max(free_from, i - run - period);
      if (candidate.stretches++ == 0) candidate.first = begin;
      candidate.covered += i - begin;
      free_from = i;
    }
    run = 0;
  }
  return candidate;
}

/// By distance: how often one and the same call stands so far behind its last like. What is called
/// once in an iteration shows the iteration's length even where there are but two.
std::map<size_t, uint64_t> distances_in(std::span<const int> sequence) {
  std::map<int, size_t> last;
  std::map<std::pair<int, size_t>, uint64_t> by_kind;
  for (size_t i = 0; i < sequence.size(); ++i) {
    const auto [place, is_new] = last.try_emplace(sequence[i], i);
    if (is_new) continue;
    ++by_kind[{sequence[i], i - place->second}];
    place->second = i;
  }
  std::map<size_t, uint64_t> distances;
  for (const auto& [kind, count] : by_kind) distances[kind.second] += count * kind.second;
  return distances;
}

std::vector<Candidate> candidates_of(std::span<const int> sequence, const CallTape& tape) {
  constexpr size_t kMost = 8;
  std::set<size_t> periods;
  for (const auto& counts : {tape.repeats(), distances_in(sequence)}) {
    std::vector<std::pair<uint64_t, size_t>> distances;
    for (const auto& [distance, count] : counts) distances.emplace_back(count, distance);
    std::sort(distances.rbegin(), distances.rend());
    if (distances.size() > kMost) distances.resize(kMost);
    for (const auto& [count, distance] : distances) periods.insert(distance);
  }
  std::vector<Candidate> candidates;
  for (const size_t period : periods) {
    if (period * 2 > sequence.size()) continue;
    const Candidate candidate = measure(sequence, period);
    if (candidate.score() > 0) candidates.push_back(candidate);
  }
  return candidates;
}

size_t kinds_in(std::span<const int> pattern) {
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

const Candidate* choose(std::span<const int> sequence, const std::vector<Candidate>& candidates,
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
        kinds_in(sequence.subspan(candidate.first, candidate.period)) <= kLayerKinds &&
        kinds_in(sequence.subspan(best->first, best->period)) > kLayerKinds;
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

CallPeriod find_period(std::span<const int> sequence, const CallTape& tape, size_t steps) {
  const std::vector<Candidate> candidates = candidates_of(sequence, tape);
  const Candidate* chosen = choose(sequence, candidates, steps);
  if (chosen == nullptr) return {};
  const auto pattern = sequence.subspan(chosen->first, chosen->period);
  return {{pattern.begin(), pattern.end()}, chosen->first};
}

std::vector<size_t> find_repeats(std::span<const int> sequence, std::span<const int> pattern) {
  std::vector<size_t> repeats;
  if (pattern.empty()) return repeats;
  const std::vector<size_t> borders = borders_of(pattern);
  for (size_t i = 0, matched = 0; i < sequence.size(); ++i) {
    while (matched > 0 && sequence[i] != pattern[matched]) matched = borders[matched - 1];
    if (sequence[i] == pattern[matched]) ++matched;
    if (matched < pattern.size()) continue;
    repeats.push_back(i + 1 - matched);
    matched = 0;
  }
  return repeats;
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
