// In which order did a process make its calls, over all its communicators?
//
//   Broadcast AllGather ReduceScatter AllGather ReduceScatter AllReduce AllGather ReduceScatter …
//     → Broadcast, AllGather, ReduceScatter+2 from 2 back, AllReduce+49995 from 5 back
//
// Training repeats itself, so the calls are kept as runs: a call in full, then how many calls
// repeat what stood a fixed distance before them. A loop costs a few runs whatever its length.
//
// Invariants: what is kept is a prefix of the calls. It depends on their sequence only: merging the
// tapes of neighbouring stretches replays the later one onto the earlier one. Only where the calls
// are too irregular to be kept whole, the end of the prefix may depend on where the input was cut.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/calls.h"
#include "model/timeline.h"

namespace ncclog {

/// The calls of one process in the order of its lines. Not the order of the GPU's work, and between
/// threads of the process not the order of the calls either.
class CallTape {
 public:
  /// One kind of call. Sends and receives of all sizes are one kind (count -1): their sizes follow
  /// the data, and would make every iteration another one.
  struct Entry {
    int segment = -1;  ///< Into CommSegments::all of the process; -1: the segment was dropped.
    CallSignature call;

    bool operator==(const Entry&) const = default;
  };

  static constexpr size_t kWindow = 4096;  ///< Calls that a repeated one may lie back, at most.
  static constexpr size_t kMaxKinds = 1024;
  static constexpr size_t kMaxRuns = 8192;    ///< Kept of a whole process.
  static constexpr size_t kSpareRuns = 4096;  ///< More that a stretch keeps: alone it repeats less.

  void add(int segment, const CallSignature& call);

  /// The number under which this call was added before; -1: it was not, or there was no room.
  int id_of(int segment, const CallSignature& call) const;

  /// Adds the call that has the number `id`.
  void add_again(int id) {
    if (is_next(id)) {
      ++runs_.back().copied;
      recent_[kept_ & (recent_.size() - 1)] = static_cast<uint16_t>(id);
      ++kept_;
      ++total_;
    } else {
      add_unforeseen(id);
    }
  }

  /// Appends what a later stretch holds. `segments` gives for each of its segments the number that
  /// it has in the earlier one.
  void merge(const CallTape& later, const std::vector<int>& segments);

  /// Gives every segment its new number; -1: it is gone.
  void renumber(const std::vector<int>& segments);

  /// Cuts what is kept to kMaxRuns; for the tape of a whole process. Nothing is added afterwards.
  void finish();

  uint64_t total() const { return total_; }  ///< Calls that were made.
  uint64_t kept() const { return kept_; }    ///< The first so many of them are kept.

  /// The kinds in the order in which they first came.
  const std::vector<Entry>& entries() const { return entries_; }

  /// The kept calls, at most `most` of them, as indices into entries().
  std::vector<uint16_t> calls(size_t most = SIZE_MAX) const;

  /// At which distances kept calls repeat earlier ones, and how many of them do.
  std::map<size_t, uint64_t> repeats() const;

  size_t run_count() const { return runs_.size(); }

  friend bool operator==(const CallTape& a, const CallTape& b) {
    return a.total_ == b.total_ && a.kept_ == b.kept_ && a.entries_ == b.entries_ &&
           a.runs_ == b.runs_;
  }

 private:
  /// A call, then `copied` calls, each the same as the one `distance` before it.
  struct Run {
    uint16_t id = 0;
    uint16_t distance = 0;  ///< Below kWindow; 0: nothing is copied.
    uint32_t copied = 0;

    bool operator==(const Run&) const = default;
  };

  bool is_full() const { return kept_ < total_; }
  /// True if the last run goes on with `id`, and the window has room for it.
  bool is_next(int id) const {
    if (is_full() || runs_.empty() || runs_.back().distance == 0) return false;
    const bool is_window_full = kept_ == recent_.size() && kept_ < kWindow;
    return !is_window_full && recent(runs_.back().distance) == id &&
           runs_.back().copied < UINT32_MAX;
  }
  void add_unforeseen(int id);
  int find_or_add(const Entry& entry);
  void grow_index();
  size_t slot_of(const Entry& entry) const;
  bool append(uint16_t id);
  bool repeat(uint16_t distance, uint32_t count);
  void remember(uint16_t id);
  void remember_repeats(uint16_t distance, uint64_t count);
  void link();
  /// The call that stands `distance` before the next one.
  uint16_t recent(uint64_t distance) const {
    return recent_[(kept_ - distance) & (recent_.size() - 1)];
  }
  uint16_t matching_distance() const;

  uint64_t total_ = 0;
  uint64_t kept_ = 0;
  std::vector<Entry> entries_;
  std::vector<uint16_t> index_;  ///< Open hash table of entry + 1; 0: free. A power of two.
  std::vector<Run> runs_;
  /// The last kWindow kept calls, by number modulo the size, and for each how far back its like
  /// stands; 0: none in the window. Both grow with the calls.
  std::vector<uint16_t> recent_;
  std::vector<uint16_t> back_;
  std::vector<uint64_t> last_;  ///< By entry: 1 + number of its last linked call; 0: none.
  uint64_t linked_ = 0;  ///< Calls whose places in back_ are filled in, or out of the window.
};

// The calls of one process by one kind of line (COLL or CALL), in order and against the clock that
// prints steps.

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
