// Which calls did a process make, in order, and which of them does it repeat over and over?
//
//   Broadcast AllGather ReduceScatter AllReduce AllGather ReduceScatter AllReduce AllGather …
//     → [Broadcast AllGather ReduceScatter AllReduce], [AllGather ReduceScatter AllReduce] 9998
//       times, [AllGather ReduceScatter]; period 3, repeats at 1, 4, 7, …
//
// A training repeats itself, so what is asked of its calls must not cost a step for each of them:
// whoever knows one block of a stretch knows all of its blocks.

#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/calls.h"
#include "model/job.h"

namespace ncclog {

/// The entry of a map with the largest number, the first of equals; the end of an empty one.
template <typename Map>
auto most_frequent(const Map& counts) {
  return std::ranges::max_element(counts,
                                  [](const auto& a, const auto& b) { return a.second < b.second; });
}

// Invariants: stretches follow one another without gap or overlap, and none is empty. Calls are
// numbered from 0 as in the process.

/// The calls that a tape keeps.
class FoldedCalls {
 public:
  /// A block of calls, and how often it is called in a row.
  struct Stretch {
    size_t begin = 0;   ///< Number of its first call.
    size_t stored = 0;  ///< Where the block stands among the stored calls.
    size_t length = 0;  ///< Calls of the block.
    size_t times = 1;

    size_t end() const { return begin + length * times; }
  };

  static constexpr size_t kMaxCalls = size_t{1} << 24;  ///< What follows is left out.

  /// `kinds` has a number for each entry of the tape, and must outlive the calls.
  FoldedCalls(const CallTape& tape, std::span<const int> kinds);

  size_t size() const { return size_; }

  const std::vector<Stretch>& stretches() const { return stretches_; }

  /// Place in stretches() of the one that holds the call; `call` is below size().
  size_t stretch_of(size_t call) const;

  size_t stored() const { return entries_.size(); }

  /// The entry of the tape, and the kind, of a stored call.
  uint16_t stored_entry(size_t stored) const { return entries_[stored]; }
  int stored_kind(size_t stored) const { return kinds_[entries_[stored]]; }

  /// The kinds of `count` calls from number `begin` on.
  std::vector<int> kinds(size_t begin, size_t count) const;

 private:
  void add_single(uint16_t entry);
  void add_loop(std::span<const uint16_t> block, size_t times);

  std::span<const int> kinds_;
  std::vector<uint16_t> entries_;  ///< The blocks, one after the other.
  std::vector<Stretch> stretches_;
  size_t size_ = 0;
};

/// A place in the calls, on a walk from one to the next.
class CallCursor {
 public:
  /// `call` is below calls.size().
  CallCursor(const FoldedCalls& calls, size_t call);

  const FoldedCalls::Stretch& stretch() const { return *stretch_; }
  size_t left() const { return stretch_->end() - call_; }  ///< Calls up to the stretch's end.

  /// Which stored call this one is. Goes to the next one.
  size_t next() {
    const size_t stored = stored_;
    if (++stored_ == stretch_->stored + stretch_->length) stored_ = stretch_->stored;
    skip(1);
    return stored;
  }

  /// Goes over whole blocks; at most left() calls.
  void skip(size_t calls);

 private:
  const FoldedCalls& calls_;
  const FoldedCalls::Stretch* stretch_;
  size_t call_;
  size_t stored_;
};

// What did each process call, in an order and under names that can be compared between processes?
//
//   pid 41: comm 0xa (8 ranks, its 1st) AllReduce 1024 float32   ┐ one kind, although the pointers
//   pid 42: comm 0xb (8 ranks, its 1st) AllReduce 1024 float32   ┘ differ
//
// A rank's tensor group is another communicator than its neighbour's, but has the same role: ranks
// make their communicators in the same order. So a kind names the communicator's size and which of
// that size it is in the process. Peers of sends and receives differ from rank to rank by nature.

/// A call as it may be repeated by the same process, or by another one.
struct CallKind {
  int nranks = -1;   ///< Of the communicator; -1: not printed.
  int ordinal = -1;  ///< Which of that size it is in the process, by first call; -1: not known.
  CallSignature call;

  auto operator<=>(const CallKind&) const = default;
};

/// The calls of one process, from the one kind of line that tells more of them.
struct ProcessCalls {
  int process = -1;                  ///< Into Job::processes.
  int log = -1;                      ///< Into Job::logs.
  bool traces = false;               ///< By CALL lines, else by COLL lines.
  const CallTrack* track = nullptr;  ///< In the job.
  std::vector<int> kinds;            ///< Into JobCalls::kinds, by entry of the tape.

  /// The kept calls. Valid as long as these are.
  FoldedCalls folded() const { return {track->tape, kinds}; }
};

struct JobCalls {
  std::vector<CallKind> kinds;          ///< Distinct, sorted.
  std::vector<ProcessCalls> processes;  ///< Those that made calls, in the job's order.
};

/// Valid as long as the job is.
JobCalls job_calls(const Job& job);

// Which calls does a process repeat over and over, and where does each repeat begin?
//
//   AllReduce Broadcast [AllGather ReduceScatter AllReduce] [AllGather ReduceScatter AllReduce] …
//     → period 3, repeats at 2, 5, 8, …
//
// The period is the smallest one that explains nearly as much as the best one does. Layers repeat
// inside an iteration, and every tenth iteration may save a checkpoint: a pattern of one or two
// kinds of calls is taken for a layer where a longer one explains more; beyond that, iterations
// with something added are odd ones. A number of steps that is known from elsewhere decides first.

/// The kinds of calls that a process repeats; empty: nothing repeats itself. `calls` are those of the
/// tape; `steps` is how many iterations there should be, 0 if that is not known.
std::vector<int> find_period(const FoldedCalls& calls, const CallTape& tape, size_t steps);

/// The numbers of the calls with which `pattern` begins, from left to right without overlap.
std::vector<size_t> find_repeats(const FoldedCalls& calls, std::span<const int> pattern);

/// `pattern` turned so that it begins with its call number `by`.
std::vector<int> rotated(std::span<const int> pattern, size_t by);

}  // namespace ncclog
