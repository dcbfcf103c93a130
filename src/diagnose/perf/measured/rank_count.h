// How many ranks measured, where no line says so? The rows tell.
//
//   size 17179869184, 92173 us, busbw 369.86   AllReduce: 2(n-1)/n = 1.98436 ± 0.00004   → 128
//   size 33554432, 2097152 doubles             AlltoAll: the count is that of each rank  → 2
//
// nccl-tests derives busbw from the time that it prints, so one row tells n as exactly as its
// digits let it, and all rows together more exactly. What is left is a range; within it whole hosts
// of eight, four or two GPUs are likelier than other numbers.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/collectives.h"

namespace ncclog {

/// A number of ranks between two others.
struct RankRange {
  static constexpr int kMost = 1 << 20;

  int least = 1;
  int most = kMost;  ///< kMost: unbounded.

  bool is_bounded() const { return most < kMost; }
  bool holds(int n) const { return least <= n && n <= most; }
  bool is_empty() const { return least > most; }

  RankRange& operator&=(const RankRange& other);
  bool operator==(const RankRange&) const = default;
};

/// The number in `range` that is likeliest: the multiple of 8, 4 or 2 next to its middle. -1: the
/// range is empty or has no end.
int likeliest_in(const RankRange& range);

/// How far a printed number may be from the one it stands for: 0.005 of "369.86", 500000 of
/// "1.1e+07".
double rounding_of(std::string_view printed);

/// The ranks that one row allows: `bytes` as nccl-tests counts them, time in microseconds and
/// bandwidth in GB/s as printed. Unbounded where the operation's factor does not depend on ranks,
/// and where the row says nothing.
RankRange ranks_by_row(Operation op, int64_t bytes, std::string_view time, std::string_view busbw);

/// The same of two bandwidths, each of which may be off by `rounding`, in GB/s. Unbounded where one
/// of them is not known.
RankRange ranks_by_ratio(Operation op, double algbw, double busbw, double rounding);

/// Bytes of an element, by the names of nccl-tests, rccl-tests and PyTorch; 0: unknown.
int64_t element_bytes(std::string_view datatype);

}  // namespace ncclog
