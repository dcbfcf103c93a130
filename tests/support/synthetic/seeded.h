// Numbers that a seed decides, the same on every machine.
//
// The distributions of the standard library differ between its implementations; the generator
// std::mt19937_64 does not. So it is used alone, with a mapping of our own.

#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace ncclog::testing {

class Seeded {
 public:
  explicit Seeded(uint64_t seed) : numbers_(seed * 0x9e3779b97f4a7c15 + 1) {}

  /// 0 to `limit` - 1; `limit` is at least 1. The bias of the remainder is of no consequence here.
  uint64_t below(uint64_t limit) { return numbers_() % limit; }

  /// `least` to `most`, both included.
  int between(int least, int most) {
    return least + static_cast<int>(below(static_cast<uint64_t>(most - least + 1)));
  }

  /// True in `percent` of 100 calls.
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }

  /// One of `choices`, which is not empty.
  template <typename T>
  const T& pick(std::span<const T> choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 numbers_;
};

}  // namespace ncclog::testing
