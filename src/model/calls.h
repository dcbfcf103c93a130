// What one process called on one communicator, in memory independent of the number of calls.
//
//   AllReduce: opCount 1a … count 1048576 datatype 7 op 0 root 0 comm 0x7f10a0 [nranks=16] …
//       → {AllReduce, 1048576, float32, sum, root 0} on 0x7f10a0: one more of that signature, more
//         volume of (AllReduce, float32), and the next call of the sequence
//
// From one call (CallSignature, ReadCall) over the order of calls, by which ranks are compared
// (CallSequence, FirstDifference), to all that is kept of them (CollectiveCalls). Parts of
// neighbouring stretches merge into what the whole gives.

#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/event.h"

namespace ncclog {

// One call: what must agree between its ranks. A log holds millions of calls, so a signature owns
// no memory.

/// Name of an operation as NCCL spells it, "AllReduce"; what is longer than kMaxBytes is cut.
class OpName {
 public:
  static constexpr size_t kMaxBytes = 15;

  constexpr OpName() = default;
  constexpr OpName(std::string_view name) {
    std::copy_n(name.data(), std::min(name.size(), kMaxBytes), bytes_.begin());
  }
  constexpr OpName(const char* name) : OpName(std::string_view(name)) {}

  constexpr std::string_view view() const {
    const auto end = std::find(bytes_.begin(), bytes_.end(), '\0');
    return {bytes_.data(), static_cast<size_t>(end - bytes_.begin())};
  }
  std::string text() const { return std::string(view()); }

  auto operator<=>(const OpName&) const = default;

 private:
  std::array<char, kMaxBytes + 1> bytes_ = {};  ///< Unused ones are 0.
};

/// A call as its line gives it.
struct CallSignature {
  OpName op;
  int64_t count = 0;  ///< Elements as printed; bytes for AllGather and Broadcast in 2.7 to 2.21.
  int datatype = -1;  ///< ncclDataType_t, see log/nccl_names.h.
  int redop = -1;     ///< ncclRedOp_t; user-made ones differ from rank to rank.
  int root = -1;      ///< The peer for Send and Recv.

  auto operator<=>(const CallSignature&) const = default;
};

/// True for Send, Recv and the one-sided operations: their ranks call different things by nature.
bool is_point_to_point(const OpName& op);

/// The call as its peers must make it too. NCCL mangles the number of a user-made reduction with
/// the communicator's pointer (ncclUserRedOpMangle), so such numbers become kUserRedop.
CallSignature comparable(const CallSignature& call);

inline constexpr int kUserRedop = 5;  ///< ncclNumOps: the first number that is no built-in one.

/// 64 well-mixed bits of a comparable call.
uint64_t hash_of(const CallSignature& call);

/// A line about a call:
///   AllReduce: opCount 1a … count 1048576 datatype 7 op 0 root 0 comm 0x7f10a0 [nranks=16] …
///   ncclAllReduce(7f21e0…,7f21e0…,1048576,7,0,0,0x7f10a0,(nil))
struct ReadCall {
  uint64_t comm = 0;      ///< The pointer.
  int nranks = -1;        ///< -1: not printed.
  bool is_trace = false;  ///< A CALL line; else a COLL line.
  CallSignature call;
};

/// nullopt if the event is about no call of an operation.
std::optional<ReadCall> read_call(const Event& event);

// The order of one rank's collectives on one communicator, in memory that does not grow.
//
//   AllReduce, AllGather, AllGather, …   → length 48213, hash of every prefix that matters,
//                                          the last 384 calls, 128 places to read again from
//
// The hash of a sequence is a polynomial over the hashes of its calls, so those of two stretches
// join to that of both (hash(ab) = hash(a) * kSequenceBase^|b| + hash(b)), and from the whole one walks
// back: the hash of every prefix that ends within the last calls is known without keeping it. Two
// ranks that made the same calls have the same hash at the same length; where they differ first is
// found by comparing prefixes, and between two checkpoints by reading that stretch of the log
// again (model/call_coverage.h).

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

// Where the calls of a communicator's ranks begin to differ, and who called what there.
//
//   index 20: ranks 0-2 AllReduce of 1048576 float32, rank 3 AllReduce of 524288 float32

/// Members of a group that made the same call at one place.
template <typename Call>
struct Camp {
  Call call;                 ///< As its first member made it.
  std::vector<int> members;  ///< Ascending; never empty.

  bool operator==(const Camp&) const = default;
};

/// Of each key, whose calls count as the same, a camp: largest first, then by first member.
template <typename Key, typename Call>
std::vector<Camp<Call>> camps_of(const std::map<Key, std::map<int, Call>>& calls_by_member) {
  std::vector<Camp<Call>> camps;
  for (const auto& [key, calls] : calls_by_member) {
    Camp<Call>& camp = camps.emplace_back(Camp<Call>{calls.begin()->second, {}});
    for (const auto& [member, call] : calls) camp.members.push_back(member);
  }
  std::ranges::stable_sort(camps, [](const Camp<Call>& a, const Camp<Call>& b) {
    if (a.members.size() != b.members.size()) return a.members.size() > b.members.size();
    return a.members < b.members;
  });
  return camps;
}

/// Of ranks of a communicator, numbered as in Communicator::ranks.
using CallCamp = Camp<PlacedCall>;

struct FirstDifference {
  uint64_t index = 0;           ///< Calls before it, alike on all ranks that made them.
  uint64_t at_most = 0;         ///< The difference lies in [index, at_most]; equal if it is exact.
  std::vector<CallCamp> camps;  ///< Empty if not exact.

  bool is_exact() const { return index == at_most; }
  bool operator==(const FirstDifference&) const = default;
};

// Counts per key in bounded memory, exactly mergeable.
//
// Only the smallest kLimit keys are kept; calls with other keys are added up in `other`. A key
// among the smallest of the whole is among the smallest of every part that has it, so its count is
// never lost: merging parts in any grouping gives the same result as counting the whole.

constexpr uint64_t calls_in(uint64_t calls) { return calls; }

template <typename Key, size_t kLimit, typename Sum = uint64_t>
struct BoundedCounts {
  std::map<Key, Sum> counts;
  uint64_t other = 0;  ///< Calls under keys that are not kept.

  void add(const Key& key, const Sum& sum = 1) {
    if (counts.size() == kLimit && std::prev(counts.end())->first < key) {
      other += calls_in(sum);
      return;
    }
    counts[key] += sum;
    if (counts.size() > kLimit) {
      const auto last = std::prev(counts.end());
      other += calls_in(last->second);
      counts.erase(last);
    }
  }

  void merge(const BoundedCounts& later) {
    for (const auto& [key, sum] : later.counts) add(key, sum);
    other += later.other;
  }

  bool operator==(const BoundedCounts&) const = default;
};

// How much did a process move with each operation of a communicator?
//
//   AllGather: … count 1048576 datatype 9 …     → (AllGather, bfloat16): 1 call, 1048576 elements
//
// Exact however many different counts there are. The operations and datatypes are few; of names
// that a broken log invents only the smallest kLimit are kept, which is associative
// (see BoundedCounts).

struct VolumeKey {
  OpName op;
  int datatype = -1;  ///< ncclDataType_t, see log/nccl_names.h.

  auto operator<=>(const VolumeKey&) const = default;
};

/// Calls and the sum of their counts, as printed. Counts below 0 add nothing; a sum that does not
/// fit stays at the largest number.
struct CallVolume {
  uint64_t calls = 0;
  uint64_t elements = 0;

  CallVolume& operator+=(const CallVolume& more);
  bool operator==(const CallVolume&) const = default;
};

inline uint64_t calls_in(const CallVolume& volume) { return volume.calls; }

struct CallVolumes : BoundedCounts<VolumeKey, 64, CallVolume> {
  using BoundedCounts::add;
  void add(const CallSignature& call, uint64_t calls = 1);
};

// All that is kept of them. A line means that the host entered the call, not that it finished;
// opCount is no sequence number.

/// Messages to one peer, or from it. Those that meet have equal counts and equal hashes.
struct PeerMessages {
  uint64_t count = 0;
  uint64_t hash = 0;  ///< Of their sizes in bytes, in order.

  void add(int64_t elements, int datatype);
  void merge(const PeerMessages& later);
  bool operator==(const PeerMessages&) const = default;
};

/// Send and Recv by peer.
struct PeerTotals {
  PeerMessages sent;
  PeerMessages received;

  bool operator==(const PeerTotals&) const = default;
};

/// Calls of one process on one communicator.
struct CollectiveCalls {
  uint64_t total = 0;
  SourceRef first;  ///< line 0: no call.
  SourceRef last;
  std::string first_stamp;  ///< What stands before the host in the first call's line, cut short:
                            ///< times and launchers' prefixes. Empty: nothing.
  std::string last_stamp;   ///< The same of the last call.
  CallSignature last_call;
  BoundedCounts<CallSignature, 192> by_signature;
  CallVolumes volumes;
  CallSequence collectives;  ///< Without point-to-point operations.
  /// By rank of the peer in the communicator: the lowest kMaxPeers of them.
  std::map<int, PeerTotals> peers;
  uint64_t other_peers = 0;  ///< Messages with peers that are not kept.

  static constexpr size_t kMaxStampBytes = 96;
  static constexpr size_t kMaxPeers = 256;

  void add(SourceRef where, std::string_view stamp, const CallSignature& call);
  /// Adds a message to what its peer must have sent or received.
  void add_message(const CallSignature& call);
  /// Adds `count` > 0 calls, the last of them at `where`, to all but `collectives` and `peers`,
  /// which know them already. One with that signature was added before.
  void add_uncounted(uint64_t count, SourceRef where, std::string_view stamp,
                     const CallSignature& call);
  void merge(const CollectiveCalls& later);
  bool operator==(const CollectiveCalls&) const = default;

 private:
  void limit_peers();
};

}  // namespace ncclog
