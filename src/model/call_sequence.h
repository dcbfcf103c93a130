// The order of one rank's collectives on one communicator, in memory that does not grow.
//
//   AllReduce, AllGather, AllGather, …   → length 48213, hash of every prefix that matters,
//                                          the last 384 calls, 128 places to read again from
//
// The hash of a sequence is a polynomial over the hashes of its calls, so those of two stretches
// join to that of both (hash(ab) = hash(a) * kBase^|b| + hash(b)), and from the whole one walks
// back: the hash of every prefix that ends within the last calls is known without keeping it. Two
// ranks that made the same calls have the same hash at the same length; where they differ first is
// found by comparing prefixes, and between two checkpoints by reading that stretch of the log
// again (model/first_difference.h).

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/source_ref.h"
#include "model/call_signature.h"

namespace ncclog {

/// A call and its line.
struct PlacedCall {
  SourceRef where;
  CallSignature call;

  bool operator==(const PlacedCall&) const = default;
};

/// The state before the call that stands at `where`.
struct CallCheckpoint {
  uint64_t index = 0;  ///< Calls before it.
  uint64_t hash = 0;   ///< Of those.
  SourceRef where;

  bool operator==(const CallCheckpoint&) const = default;
};

/// The polynomial's base. Odd, so it has an inverse modulo 2^64.
inline constexpr uint64_t kSequenceBase = 0x9fb21c651e98df25U;

/// Hash of the sequence that begins with what `hash` stands for and goes on with `call`.
uint64_t extended_hash(uint64_t hash, const CallSignature& call);

/// Hash of two sequences, one behind the other; the second one has `length` calls.
uint64_t joined_hash(uint64_t first, uint64_t second, uint64_t length);

/// Calls in the order of their lines. Appending and merge(later) agree but for the checkpoints'
/// places: those depend on how the input was cut, and nothing that is derived from them does.
class CallSequence {
 public:
  void add(SourceRef where, const CallSignature& call) {
    add(where, call, hash_of(comparable(call)));
  }
  /// The same where the hash of the comparable call is known.
  void add(SourceRef where, const CallSignature& call, uint64_t hash) {
    if (size_ >= next_checkpoint_) add_checkpoint(where);
    hash_ = hash_ * kSequenceBase + hash;
    append({where, call});
  }
  void merge(const CallSequence& later);

  uint64_t size() const { return size_; }
  uint64_t hash() const { return hash_; }

  /// Number of the first call that is kept; the last kKept are.
  uint64_t kept_from() const { return size_ - kept_.size(); }

  /// Call number `index`, counted from 0; nullptr if it is not kept. Valid until the next change.
  const PlacedCall* call(uint64_t index) const;

  /// Hash of the first `length` calls; nullopt if it can only be had by reading again.
  std::optional<uint64_t> prefix_hash(uint64_t length) const;

  /// In order; the first one is before call 0. Empty for no calls.
  const std::vector<CallCheckpoint>& checkpoints() const { return checkpoints_; }

  static constexpr size_t kKept = 384;
  static constexpr size_t kMaxCheckpoints = 128;

  /// The same calls at the same lines, as far as they are kept.
  friend bool operator==(const CallSequence& a, const CallSequence& b);

 private:
  void append(const PlacedCall& call) {
    ++size_;
    if (kept_.size() < kKept) {
      kept_.push_back(call);
    } else {
      kept_[oldest_] = call;
      oldest_ = oldest_ + 1 == kKept ? 0 : oldest_ + 1;
    }
  }
  void add_checkpoint(SourceRef where);
  void thin_out();

  uint64_t size_ = 0;
  uint64_t hash_ = 0;
  uint64_t next_checkpoint_ = 0;  ///< Length at which one is added.
  uint64_t stride_ = 64;          ///< Calls between checkpoints that are added from now on.
  std::vector<PlacedCall> kept_;  ///< A ring once it is full.
  size_t oldest_ = 0;             ///< Place of the first kept call in it.
  std::vector<CallCheckpoint> checkpoints_;
};

}  // namespace ncclog
