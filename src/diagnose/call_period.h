// Which calls does a process repeat over and over, and where does each repeat begin?
//
//   AllReduce Broadcast [AllGather ReduceScatter AllReduce] [AllGather ReduceScatter AllReduce] …
//     → period 3, repeats at 2, 5, 8, …
//
// The period is the smallest one that explains nearly as much as the best one does. Layers repeat
// inside an iteration, and every tenth iteration may save a checkpoint: a pattern of one or two
// kinds of calls is taken for a layer where a longer one explains more; beyond that, iterations
// with something added are odd ones. A number of steps that is known from elsewhere decides first.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "diagnose/folded_calls.h"
#include "diagnose/repeat_places.h"
#include "model/call_tape.h"

namespace ncclog {

/// A pattern of calls that is repeated.
struct CallPeriod {
  std::vector<int> pattern;  ///< Empty: nothing repeats itself.
  size_t first = 0;          ///< Where its first repeat begins.
};

/// The period of a process's calls. `calls` are those of the tape; `steps` is how many iterations
/// there should be, 0 if that is not known.
CallPeriod find_period(const FoldedCalls& calls, const CallTape& tape, size_t steps);

/// Where `pattern` stands in `calls`, from left to right without overlap.
RepeatPlaces find_repeats(const FoldedCalls& calls, std::span<const int> pattern);

/// `pattern` turned so that it begins with its call number `by`.
std::vector<int> rotated(std::span<const int> pattern, size_t by);

}  // namespace ncclog
