// What one process called on one communicator, in memory independent of the number of calls.
//
//   AllReduce: opCount 1a … count 1048576 datatype 7 op 0 root 0 comm 0x7f10a0 [nranks=16] …
//       → {AllReduce, 1048576, float32, sum, root 0} on 0x7f10a0: one more of that signature, more
//         volume of (AllReduce, float32), and the next call of the sequence
//
// From one call (CallSignature, PrintedCall) over the order of calls, by which ranks are compared
// (CallSequence, FirstDifference), to all that is kept of them (CollectiveCalls), and to the order
// of calls over all communicators (CallTape). Parts of neighbouring stretches merge into what the
// whole gives.

#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/collectives.h"
#include "base/line.h"
#include "base/majority.h"
#include "log/event.h"
#include "model/bounded_map.h"
#include "model/timeline.h"

namespace ncclog {

// One call: what must agree between its ranks. A log holds millions of calls, so a signature owns
// no memory.

/// Name of an operation as NCCL spells it, "AllReduce", known or not; what is longer than kMaxBytes
/// is cut.
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
  Operation operation() const;

  auto operator<=>(const OpName&) const = default;

 private:
  template <typename Io>
  friend void carry(Io& io, OpName& op);  ///< part/carry_shard.h

  std::array<char, kMaxBytes + 1> bytes_ = {};  ///< Unused ones are 0.
};

/// A call as its line gives it.
struct CallSignature {
  OpName op;
  int64_t count = 0;  ///< Elements as printed; bytes for AllGather and Broadcast in 2.7 to 2.21.
  int datatype = -1;  ///< ncclDataType_t, see base/collectives.h.
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
struct PrintedCall {
  uint64_t comm = 0;      ///< The pointer.
  int nranks = -1;        ///< -1: not printed.
  bool is_trace = false;  ///< A CALL line; else a COLL line.
  CallSignature call;
  uint64_t op_count = 0;  ///< As printed; 0 of a CALL line.
};

/// nullopt if the event is about no call of an operation.
std::optional<PrintedCall> read_call(const Event& event);

// The order of one rank's collectives on one communicator, in memory that does not grow.
//
//   AllReduce, AllGather, AllGather, …   → length 48213, hash of every prefix that matters,
//                                          the last 384 calls, 128 places to read again from
//
// The hash of a sequence is a polynomial over the hashes of its calls, so those of two stretches
// join to that of both (hash(ab) = hash(a) * kSequenceBase^|b| + hash(b)), and from the whole one
// walks back: the hash of every prefix that ends within the last calls is known without keeping it.
// Two ranks that made the same calls have the same hash at the same length; where they differ first
// is found by comparing prefixes, and between two checkpoints by reading that stretch of the log
// again (model/ledger/call_differences.cc).

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
  template <typename Io>
  friend void carry(Io& io, CallSequence& calls);  ///< part/carry_shard.h

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

/// Of ranks of a communicator, numbered as in Communicator::ranks.
using CallCamp = Camp<PlacedCall>;

struct FirstDifference {
  uint64_t index = 0;           ///< Calls before it, alike on all ranks that made them.
  uint64_t at_most = 0;         ///< The difference lies in [index, at_most]; equal if it is exact.
  std::vector<CallCamp> camps;  ///< Empty if not exact.
  /// In every camp the line of this call, and of the next one, carries as opCount how many calls
  /// stand before it: no line is missing. False: they do not, or there was no reading them again.
  bool is_numbered = false;

  bool is_exact() const { return index == at_most; }
};

/// A place at which the log of a rank alone lacks lines about calls, or has some twice or moved:
/// before it and behind it, its calls are those of the other ranks.
struct CallGap {
  int member = -1;     ///< Into Communicator::ranks.
  uint64_t index = 0;  ///< Calls of the other ranks before it.
  int64_t lost = 0;    ///< Lines that lack; below 0: that stand there twice; 0: in another order.
};

// How much did a process move with each operation of a communicator?
//
//   AllGather: … count 1048576 datatype 9 …     → (AllGather, bfloat16): 1 call, 1048576 elements
//
// Exact however many different counts there are. The operations and datatypes are few; of names
// that a broken log invents only the smallest are kept.

struct VolumeKey {
  OpName op;
  int datatype = -1;  ///< ncclDataType_t, see base/collectives.h.

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

inline uint64_t count_of(const CallVolume& volume) { return volume.calls; }

using CallVolumes = BoundedMap<VolumeKey, CallVolume, 64>;

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

  PeerTotals& operator+=(const PeerTotals& later) {
    sent.merge(later.sent);
    received.merge(later.received);
    return *this;
  }
  bool operator==(const PeerTotals&) const = default;
};

inline uint64_t count_of(const PeerTotals& peer) { return peer.sent.count + peer.received.count; }

/// Calls of one process on one communicator.
struct CollectiveCalls {
  uint64_t total = 0;
  SourceRef first;  ///< line 0: no call.
  SourceRef last;
  uint64_t first_op_count = 0;  ///< Of the first line; above 0: it is not the communicator's first.
  std::string first_stamp;  ///< What stands before the host in the first call's line, cut short:
                            ///< times and launchers' prefixes. Empty: nothing.
  std::string last_stamp;   ///< The same of the last call.
  CallSignature last_call;
  BoundedMap<CallSignature, uint64_t, 192> by_signature;
  CallVolumes volumes;
  CallSequence collectives;                ///< Without point-to-point operations.
  BoundedMap<int, PeerTotals, 256> peers;  ///< By rank of the peer in the communicator.

  static constexpr size_t kMaxStampBytes = 96;

  void add(SourceRef where, std::string_view stamp, const CallSignature& call);
  /// Adds a message to what its peer must have sent or received.
  void add_message(const CallSignature& call);
  /// Adds `count` > 0 calls, the last of them at `where`, to all but `collectives` and `peers`,
  /// which know them already. One with that signature was added before.
  void add_uncounted(uint64_t count, SourceRef where, std::string_view stamp,
                     const CallSignature& call);
  void merge(const CollectiveCalls& later);
  bool operator==(const CollectiveCalls&) const = default;
};

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

  /// The kept calls, as indices into entries().
  std::vector<uint16_t> calls() const;

  /// At which distances kept calls repeat earlier ones, and how many of them do.
  std::map<size_t, uint64_t> repeats() const;

  /// A call, then `copied` calls, each the same as the one `distance` before it.
  struct Run {
    uint16_t id = 0;
    uint16_t distance = 0;  ///< Below kWindow; 0: nothing is copied.
    uint32_t copied = 0;

    bool operator==(const Run&) const = default;
  };

  /// The kept calls, folded.
  const std::vector<Run>& runs() const { return runs_; }

  friend bool operator==(const CallTape& a, const CallTape& b) {
    return a.total_ == b.total_ && a.kept_ == b.kept_ && a.entries_ == b.entries_ &&
           a.runs_ == b.runs_;
  }

 private:
  template <typename Io>
  friend void carry(Io& io, CallTape& tape);  ///< part/carry_shard.h

  struct EntryHash {
    size_t operator()(const Entry& entry) const {
      const auto segment = static_cast<uint64_t>(static_cast<int64_t>(entry.segment));
      return hash_of(entry.call) + segment * 0x9e3779b97f4a7c15U;
    }
  };

  bool is_full() const { return kept_ < total_; }
  /// True if the last run goes on with `id`.
  bool goes_on(int id) const {
    return !runs_.empty() && runs_.back().distance > 0 && recent(runs_.back().distance) == id &&
           runs_.back().copied < UINT32_MAX;
  }
  /// The same where the window has room for it.
  bool is_next(int id) const {
    const bool is_window_full = kept_ == recent_.size() && kept_ < kWindow;
    return !is_full() && !is_window_full && goes_on(id);
  }
  void add_unforeseen(int id);
  int find_or_add(const Entry& entry);
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
  std::unordered_map<Entry, uint16_t, EntryHash> index_;  ///< Places in entries_.
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

struct CallTrack {
  CallTape tape;
  CallMarks marks;

  /// `markers` is how many steps were printed into the input before, in this stretch.
  void add(uint64_t input, uint64_t markers, int segment, const CallSignature& call) {
    marks.note({input, markers, tape.total()});
    tape.add(segment, call);
  }

  /// Adds a call that the tape knows by that number.
  void add_again(uint64_t input, uint64_t markers, int tape_id) {
    marks.note({input, markers, tape.total()});
    tape.add_again(tape_id);
  }

  /// Appends what a later stretch holds, with marks that are shifted already; `segments` as
  /// CommSegments::merge gives it.
  void merge(const CallTrack& later, const std::vector<int>& segments) {
    marks.merge(later.marks, tape.total());
    tape.merge(later.tape, segments);
  }
};

}  // namespace ncclog
