// Which calls did a process make, in order, with its loops folded?
//
//   Broadcast AllGather ReduceScatter AllReduce AllGather ReduceScatter AllReduce AllGather …
//     → [Broadcast AllGather ReduceScatter AllReduce], [AllGather ReduceScatter AllReduce] 9998
//       times, [AllGather ReduceScatter]
//
// A training repeats itself, so what is asked of its calls must not cost a step for each of them:
// whoever knows one block of a stretch knows all of its blocks.
//
// Invariants: stretches follow one another without gap or overlap, and none is empty. Calls are
// numbered from 0 as in the process.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/call_tape.h"

namespace ncclog {

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
  std::vector<uint16_t> entries_;  ///< The blocks, one behind the other.
  std::vector<Stretch> stretches_;
  size_t size_ = 0;
};

/// Walks over `count` calls of `left` from number `left_begin` on, and of `right` beside them, part
/// by part. In each part both sides call a block again and again. Both must hold so many calls.
class SideBySide {
 public:
  SideBySide(const FoldedCalls& left, size_t left_begin, const FoldedCalls& right,
             size_t right_begin, size_t count);

  /// Goes to the next part; false behind the last one.
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

}  // namespace ncclog
