// How far apart are two lines of one process: in collectives that it entered, in seconds?
//
//   … NCCL WARN Call to recv … failed           ┐ 2 collectives between them
//   … NCCL INFO AllReduce: … (two of them)      │
//   … NCCL WARN … Connection closed …           ┘
//
// Only the last calls and some places between are kept, so the number of calls has two bounds.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/job.h"

namespace ncclog {

/// As many at least, and as many at most.
struct CallBounds {
  uint64_t at_least = 0;
  uint64_t at_most = 0;

  bool operator==(const CallBounds&) const = default;
};

/// Both lines stand in one input, so their order is that in which they were printed.
bool are_ordered(const Job& job, SourceRef a, SourceRef b);

/// Collectives that the process entered between two of its lines; nullopt: its calls are not
/// logged, or lines around them are lost. Needs are_ordered(from, to) and from <= to.
std::optional<CallBounds> calls_between(const Job& job, int process, SourceRef from, SourceRef to);

/// Nanoseconds from one line to another; nullopt: one carries no time, their clocks do not compare,
/// or time runs backwards.
std::optional<int64_t> nanoseconds_between(std::string_view from, std::string_view to);

}  // namespace ncclog
