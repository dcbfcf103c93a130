// Sums of what a process prints too often to be kept line by line.
//
//   init.cc:512 Cuda Alloc Size 23648 pointer 0x7f3f7a200000
//   AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "log/messages.h"

namespace ncclog {

/// Allocations of one kind. NCCL prints what it takes, seldom what it gives
/// back.
struct AllocTotal {
  uint64_t count = 0;
  uint64_t bytes = 0;

  bool operator==(const AllocTotal&) const = default;
};

/// By what is allocated: "Cuda Alloc", "Cuda Host Alloc" …; the wordings name
/// all of them.
struct AllocTotals {
  std::map<std::string, AllocTotal> by_what;

  void add(const AllocTraced& traced);
  void merge(const AllocTotals& later);
  bool operator==(const AllocTotals&) const = default;
};

/// How an operation was run.
struct TuningKey {
  std::string function;   ///< "AllReduce"; empty in 2.20 to 2.22.
  std::string algorithm;  ///< "RING"; a number before 2.24; the kernel of
                          ///< symmetric operations.
  std::string protocol;   ///< "SIMPLE"; empty where there is none.

  auto operator<=>(const TuningKey&) const = default;
};

/// The operations that were run that way.
struct TuningUse {
  uint64_t count = 0;
  int64_t min_bytes = 0;
  int64_t max_bytes = 0;

  void merge(const TuningUse& later);
  bool operator==(const TuningUse&) const = default;
};

/// Ways in which operations were run: the smallest kLimit keys, and how many
/// operations had others.
struct TuningUses {
  std::map<TuningKey, TuningUse> uses;
  uint64_t other = 0;

  static constexpr size_t kLimit = 256;

  void add(const TuningChoice& choice);
  void merge(const TuningUses& later);
  bool operator==(const TuningUses&) const = default;

 private:
  void add(const TuningKey& key, const TuningUse& use);
};

}  // namespace ncclog
