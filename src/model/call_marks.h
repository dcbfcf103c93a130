// How many calls had a process made when a step was printed into its file?
//
//   iteration: 7 | …                      the 8th marker of this input
//   node-a:41:41 [0] NCCL INFO AllReduce: …   call 1200 of node-a:41 stands behind 8 markers
//
// A marker is the clock of whoever prints it, so a process notes it with its next call: one number
// pair for each marker between two of its calls, whoever printed it.
//
// Both lists are kept as differences, about three bytes an element.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "log/iteration_marker.h"

namespace ncclog {

/// The markers of one input, in its order: the first kMaxKept.
class InputMarkers {
 public:
  static constexpr uint64_t kMaxKept = 8192;

  void add(const Marker& marker);
  void merge(const InputMarkers& later);

  std::vector<Marker> all() const;           ///< Those that are kept.
  uint64_t total() const { return total_; }  ///< Kept or not.

  bool operator==(const InputMarkers&) const = default;

 private:
  std::string bytes_;
  uint64_t total_ = 0;
  Marker last_;
};

/// One call, and how many of its input's markers stand before it.
struct CallMark {
  uint64_t input = 0;    ///< Number of the input, as the reader counts them.
  uint64_t markers = 0;  ///< Markers of that input before the call.
  uint64_t call = 0;     ///< Number of the call in its process, from 0.

  bool operator==(const CallMark&) const = default;
};

/// The marks of one process: its first call in each input, and each call before which more markers
/// stand than before the call that it follows.
class CallMarks {
 public:
  /// Notes that call number `call` stands behind so many markers. Calls come in order.
  void note(const CallMark& mark) {
    if (says_more(mark)) append(mark);
  }

  /// Appends what a later stretch noted; the process made `calls` calls before it.
  void merge(const CallMarks& later, uint64_t calls);

  /// Adds to every mark the markers that its input has before this stretch.
  template <typename MarkersOf>
  void shift(MarkersOf markers_of) {
    CallMarks shifted;
    for (CallMark mark : all()) {
      mark.markers += markers_of(mark.input);
      shifted.note(mark);
    }
    *this = std::move(shifted);
  }

  std::vector<CallMark> all() const;

  bool operator==(const CallMarks&) const = default;

 private:
  // Joined pieces of a torn process come out of order.
  bool is_same_input(const CallMark& mark) const {
    return !bytes_.empty() && mark.input <= last_.input;
  }
  bool says_more(const CallMark& mark) const {
    // Behind the last marker that is kept nothing can be told apart.
    return !is_same_input(mark) ||
           (mark.markers > last_.markers && last_.markers <= InputMarkers::kMaxKept);
  }
  void append(const CallMark& mark);

  std::string bytes_;  ///< For each mark: inputs, markers and calls more than before.
  CallMark last_;
};

}  // namespace ncclog
