// The calls of one process by one kind of line (COLL or CALL), in order and against the clock that
// prints steps.

#pragma once

#include <utility>
#include <vector>

#include "model/call_marks.h"
#include "model/call_tape.h"

namespace ncclog {

/// Where a stretch stands when a call comes.
struct MarkerClock {
  uint64_t input = 0;    ///< Number of the input.
  uint64_t markers = 0;  ///< Steps that were printed into it so far, in this stretch.
};

struct CallTrack {
  CallTape tape;
  CallMarks marks;

  void add(const MarkerClock& clock, int segment, const CallSignature& call) {
    marks.note({clock.input, clock.markers, tape.total()});
    tape.add(segment, call);
  }

  /// Adds a call that the tape knows by that number.
  void add_again(const MarkerClock& clock, int tape_id) {
    marks.note({clock.input, clock.markers, tape.total()});
    tape.add_again(tape_id);
  }

  /// Appends what a later stretch holds, with marks that are shifted already; `segments` as
  /// CommSegments::merge gives it.
  void merge(const CallTrack& later, const std::vector<int>& segments) {
    marks.merge(later.marks, tape.total());
    tape.merge(later.tape, segments);
  }

  bool operator==(const CallTrack&) const = default;
};

}  // namespace ncclog
