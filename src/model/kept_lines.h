// Lines whose order and repetition matter: the first ones of a family as they came, equal or not.
//
//   # nThread 1 nGpus 8 minBytes 8 …      the same line again begins another run
//
// The first N and an exact total: joining the lists of two neighbouring stretches gives the list of
// the whole, wherever it was cut.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/record.h"

namespace ncclog {

/// The first kMaxKept lines of a family, in input order.
struct KeptLines {
  uint64_t total = 0;  ///< Lines of the family, kept or not.
  std::vector<Record> kept;

  static constexpr size_t kMaxKept = 4096;

  /// Counts a line; `make` is called for its record only if there is room.
  template <typename Make>
  void add(Make&& make) {
    ++total;
    if (kept.size() < kMaxKept) kept.push_back(make());
  }

  /// Joins what a later stretch of input kept.
  void merge(KeptLines&& later) {
    total += later.total;
    for (Record& record : later.kept) {
      if (kept.size() == kMaxKept) break;
      kept.push_back(std::move(record));
    }
  }
};

}  // namespace ncclog
