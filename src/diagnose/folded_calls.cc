#include "diagnose/folded_calls.h"

#include <algorithm>
#include <map>
#include <numeric>
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

/// Those at which most calls do.
std::vector<Distance> distances_of(const CallTape& tape) {
  constexpr size_t kMost = 4;
  std::vector<std::pair<uint64_t, size_t>> counted;
  for (const auto& [distance, count] : tape.repeats()) counted.emplace_back(count, distance);
  std::sort(counted.rbegin(), counted.rend());
  std::vector<Distance> distances;
  for (const auto& [count, distance] : counted) {
    if (distances.size() == kMost || count < kWorthFolding) break;
    distances.push_back({distance, distance});
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
  const auto next = std::upper_bound(
      stretches_.begin(), stretches_.end(), call,
      [](size_t number, const Stretch& stretch) { return number < stretch.begin; });
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

}  // namespace ncclog
