// Which row does a call count in?
//
//   AllGather of rank 3 in iteration 7, by iteration and operation → row "7 AllGather"
//
// A training makes the same calls in a million iterations. So iterations in which no process
// changes what it calls share a row, which says how many they are.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/call_counts.h"

namespace ncclog {

/// CountKey::order of what has no place of its own.
inline constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max();

/// Calls that are alike in everything that may be asked for.
struct CallFact {
  int process = -1;  ///< Into Job::processes; -1: a dump of its own.
  int rank = -1;
  std::string host;
  CountKey comm;
  CountKey comm_size;
  CountKey iteration;
  int64_t iterations = 1;  ///< As CountRow::iterations.
  CountKey pattern;
  OpName op;
  std::optional<uint64_t> size;  ///< Bytes of one call.
};

/// Adds facts up to rows.
class CountRows {
 public:
  /// `by` must outlive the rows.
  explicit CountRows(const std::vector<CountBy>& by) : by_(by) {}

  bool wants(CountBy dimension) const;
  void add(const CallFact& fact, const CallSum& sum);

  /// Sorted by their keys.
  std::vector<CountRow> take() const;

 private:
  struct Row {
    CallSum sum;
    int64_t iterations = 1;
    std::set<std::pair<int, int>> processes;  ///< Process and rank.
  };

  const std::vector<CountBy>& by_;
  std::map<std::vector<CountKey>, Row> rows_;
};

/// The iterations at which some process begins to call something else.
class IterationChanges {
 public:
  IterationChanges() = default;
  explicit IterationChanges(const JobIterations& iterations);

  /// Calls the function with first and last iteration of each stretch of [first, last] in which
  /// nothing changes.
  template <typename Visit>
  void each_stretch(int64_t first, int64_t last, Visit visit) const {
    auto next = changes_.upper_bound(first);
    while (first <= last) {
      const int64_t end = next == changes_.end() ? last : std::min(last, *next - 1);
      visit(first, end);
      if (end == last) break;
      first = *next++;
    }
  }

 private:
  std::set<int64_t> changes_;
};

}  // namespace ncclog
