// What did a comparison on the GPU find?
//
//   4096 elements of call 28 are wrong, the first is element 1024: 0x3f800000 instead of 0x40400000
//
// Kernels write it, the host reads it. C++17, because nvcc reads this file too.

#pragma once

namespace ncclog {

/// Of one call. Lies in the GPU's memory while it runs; starts as it is made here.
struct ComparedElements {
  static constexpr unsigned long long kNone = ~0ULL;

  unsigned long long wrong = 0;      ///< How many elements are not what they have to be.
  unsigned long long first = kNone;  ///< The lowest of them.
  unsigned long long expected = 0;   ///< Its bits.
  unsigned long long found = 0;
};

}  // namespace ncclog
