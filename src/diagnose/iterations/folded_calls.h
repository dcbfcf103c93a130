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
    /// Where call number `call` of the process stands among the stored ones.
    size_t place_of(size_t call) const { return stored + (call - begin) % length; }
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

/// Walks over `count` calls of `left` from number `left_begin` on, and of `right` beside them, part
/// by part. In each part both sides call a block again and again. Both must hold so many calls.
class SideBySide {
 public:
  SideBySide(const FoldedCalls& left, size_t left_begin, const FoldedCalls& right,
             size_t right_begin, size_t count);

  /// Goes to the next part; false after the last one.
  bool next();

  size_t begin() const { return begin_; }    ///< Of the part, from 0 to `count`.
  size_t length() const { return length_; }  ///< Calls of the part, at least one.

  /// After so many calls both sides say the same again; length() if they do not in this part.
  size_t period() const { return period_; }

  /// Calls the function for each of `count` calls of the part, from `from` on: with true if both
  /// sides call the same kind.
  template <typename Visit>
  void compare(size_t from, size_t count, Visit visit) const {
    size_t a = (left_.into + from) % left_.block.length;
    size_t b = (right_.into + from) % right_.block.length;
    for (size_t i = 0; i < count; ++i) {
      visit(left_.calls.stored_kind(left_.block.stored + a) ==
            right_.calls.stored_kind(right_.block.stored + b));
      if (++a == left_.block.length) a = 0;
      if (++b == right_.block.length) b = 0;
    }
  }

 private:
  struct Side {
    const FoldedCalls& calls;
    size_t begin = 0;            ///< Number of the call where the walk begins.
    size_t stretch = 0;          ///< Place of the stretch in which the part lies,
    FoldedCalls::Stretch block;  ///< the stretch,
    size_t into = 0;             ///< and where in its block the part begins.

    void move_to(size_t call);
  };

  Side left_;
  Side right_;
  size_t count_;
  size_t begin_ = 0;
  size_t length_ = 0;
  size_t period_ = 0;
};

/// True if the same kinds are called in both ranges of `count` calls.
bool same_calls(const FoldedCalls& left, size_t left_begin, const FoldedCalls& right,
                size_t right_begin, size_t count);

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

// Where does a process begin its pattern of calls anew?
//
//   AllReduce [G S R] [G S R] [G S R] Broadcast [G S R]   → at 1, three times in a row; at 11, once
//
// Most repeats follow one another without a call between, so they are kept as rows of repeats.

/// The beginnings of a pattern's repeats, in order, without overlap.
class RepeatPlaces {
 public:
  RepeatPlaces() = default;
  explicit RepeatPlaces(size_t pattern_size) : pattern_size_(pattern_size) {}

  /// One more repeat; after the end of the last one.
  void add(size_t begin);

  /// The last `count` repeats again, `times` times, each time `distance` calls later.
  void repeat_last(size_t count, size_t distance, size_t times);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Where repeat number `i` begins; `i` is below size().
  size_t operator[](size_t i) const;
  size_t front() const { return rows_.front().begin; }

  /// Repeats that begin before the call with that number, and those that begin there too.
  size_t before(size_t call) const;
  size_t up_to(size_t call) const { return before(call + 1); }

  /// One past the last of the repeats that follow repeat number `i` without a call between.
  size_t row_end(size_t i) const;

 private:
  /// Repeats without a call between.
  struct Row {
    size_t begin = 0;   ///< Of the first one.
    size_t number = 0;  ///< Of the first one, among all.
  };

  size_t row_of(size_t i) const;
  size_t end_of_row(size_t row) const {
    return row + 1 < rows_.size() ? rows_[row + 1].number : size_;
  }

  size_t pattern_size_ = 0;
  size_t size_ = 0;
  std::vector<Row> rows_;
};

// Which calls does a process repeat over and over, and where does each repeat begin?
//
//   AllReduce Broadcast [AllGather ReduceScatter AllReduce] [AllGather ReduceScatter AllReduce] …
//     → period 3, repeats at 2, 5, 8, …
//
// The period is the smallest one that explains nearly as much as the best one does. Layers repeat
// inside an iteration, and every tenth iteration may save a checkpoint: a pattern of one or two
// kinds of calls is taken for a layer where a longer one explains more; beyond that, iterations
// with something added are odd ones. A number of steps that is known from elsewhere decides first.

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
