// Lines about calls that were read before, but for their opCount and their buffers.
//
//   node-a:4001:4001 [0] NCCL INFO AllGather: opCount 1a sendbuff 0x7f3e recvbuff 0x7f9e count 1024
//   └ head ────────┘└ NCCL INFO ─┘└ operation ─────┘                                └ tail ────── …
//
// A training repeats its calls, and a log of calls is little else. A line whose head, operation and
// tail were all read before, together, says what the line said from which they are known; what
// differs is what nobody reads. So it is recognised by comparing bytes, and its line end with them:
// such a line is never searched, parsed or copied. A process repeats the order of its calls, too,
// so nearly every line is foreseen, and compared with the last one of its kind in one go.
//
// Where counts and buffers change from call to call, there are more tails than are worth learning.
// Then a line differs from a known one in its count, datatype, operator and root alone, and these
// are read from where they stand.
//
// The lines that are learnt from go the long way. Anything unusual is not learnt.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/event.h"
#include "model/calls.h"

namespace ncclog {

/// Hashes and what has them, found without touching a T whose hash is another. The things belong to
/// the caller, must not move, and are compared by the caller.
template <typename T>
class PlaceTable {
 public:
  /// The T with that hash for which `is_wanted(T&)` holds; nullptr if there is none.
  template <typename IsWanted>
  T* find(uint64_t hash, IsWanted is_wanted) const {
    if (slots_.empty()) return nullptr;
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at].thing != nullptr; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash && is_wanted(*slot.thing)) return slot.thing;
    }
    return nullptr;
  }

  /// Adds a thing that is not in the table.
  void add(uint64_t hash, T& thing) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    enter({hash, &thing});
    ++size_;
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t hash = 0;
    T* thing = nullptr;
  };

  void enter(const Slot& slot) {
    size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].thing != nullptr) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(std::max<size_t>(8, 2 * slots_.size()));
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.thing != nullptr) enter(slot);
    }
  }

  std::vector<Slot> slots_;  ///< A power of two of them, at least half of them free.
  size_t size_ = 0;
};

struct CachedCall;
struct SpeakerLog;

/// Whom lines with one head name.
struct CachedHead {
  std::string text;  ///< Up to and with the "]" behind the device; without times.
  std::string host;
  int64_t pid = -1;
  size_t prefix = 0;  ///< Bytes of `text` before the host: what a launcher puts there.
  PlaceTable<CachedCall> calls = {};  ///< By operation and tail.
  /// For each operation and what its tails have from "comm" on, the first call.
  std::vector<CachedCall*> shapes = {};
  CachedCall* last = nullptr;  ///< The one found last; nullptr: none was.
};

/// Where the calls of a known line are counted, in the shard that reads it.
struct CallTally {
  SpeakerLog* log = nullptr;         ///< nullptr: none of them was added yet.
  uint64_t lives = 0;                ///< CommSegments::lives() when this was filled in.
  int segment = -1;                  ///< Into CommSegments::all.
  CollectiveCalls* calls = nullptr;  ///< Of that segment.
  CallTrack* track = nullptr;        ///< Of the process.
  int tape_id = -1;                  ///< Into CallTape::entries; -1: the tape has no room for it.
  uint64_t hash = 0;                 ///< hash_of the comparable call.
  bool is_message = false;           ///< is_point_to_point: it is in no sequence.
  uint64_t uncounted = 0;            ///< Calls that are not in the sums yet.
  uint64_t last_line = 0;            ///< Of the last of them.
  std::string last_stamp;            ///< The time before its head.
  std::string_view last_view;        ///< That line, while its bytes stay (ShardWriter::settle).
};

/// Lines that are alike but for opCount and buffers.
struct CachedCall {
  CachedHead* head = nullptr;
  size_t operation = 0;  ///< Into the operations of its CallCache.
  std::string tail;      ///< From behind recvbuff's number to the line end, which is its last byte.
  PrintedCall call;
  size_t comm = 0;  ///< Where the tail's " comm" stands; its end if there is none.
  CallTally tally;
  /// Its line as it was found last, with which others like it are compared: from the head on, with
  /// the line end; empty: there is none.
  std::string sample;
  size_t numbers = 0;  ///< Place of opCount's digits in it.
  std::string digits;  ///< For each byte from `numbers` on, and some more: all bits where a digit
                       ///< of opCount or a buffer stands, else 0.
  /// The one from whose line this one's differs in numbers alone, where it is not learnt itself: then
  /// it has no tally and no sample, and is there until CallCache::forget_others().
  CachedCall* shape = nullptr;
  /// What came behind it last, of the same head, and what did before that; nullptr: nothing.
  std::array<CachedCall*, 2> next = {};
};

/// One of them as it stands in a block of bytes.
struct CachedCallLine {
  CachedCall* call = nullptr;
  std::string_view text;  ///< Without its line end.
  size_t stamp = 0;       ///< Bytes before the head: a time.
};

/// True if the event is that of a call's line as all releases print it, behind prefixes that are
/// known.
bool is_usual_call(const Event& event);

/// Learns lines of calls and finds them again. Memory is bounded; one reader owns one.
class CallCache {
 public:
  static constexpr size_t kMaxHeads = 16384;
  static constexpr size_t kMaxCalls = 65536;
  static constexpr size_t kMaxCallsOfHead = 128;
  static constexpr size_t kMaxSamples = 8192;
  static constexpr size_t kMaxShapesOfHead = 32;
  static constexpr size_t kMaxLineBytes = 640;

  CallCache() = default;
  CallCache(const CallCache&) = delete;  // Calls point at heads.
  CallCache& operator=(const CallCache&) = delete;

  /// Finds the line with which `bytes` begin; its length with its end. 0 if it is not known, or if
  /// less than kMaxLineBytes follow: a block's last lines go the long way.
  size_t find(std::string_view bytes, CachedCallLine& line);

  /// Learns `text`, which says `event`, if it is a usual line about a call. `text` is the whole
  /// line.
  void learn(std::string_view text, const Event& event);

  /// Drops the calls that were found and not learnt.
  void forget_others() {
    if (!others_.empty()) others_.clear();  // A deque takes its time even when empty.
  }

  std::deque<CachedCall>& all() { return calls_; }

 private:
  struct Operation {
    std::string text;   ///< "AllGather: opCount ".
    uint64_t word = 0;  ///< Its first bytes.
  };

  CachedCall* foresee(std::string_view head);
  size_t find_unforeseen(std::string_view head, std::string_view bytes, CachedCallLine& line);
  void note(CachedHead& head, CachedCall& call, std::string_view line, size_t numbers, size_t tail);
  CachedHead* head_at(std::string_view text);
  CachedHead* find_or_add_head(std::string_view text, size_t prefix, const Header& header);
  const Operation* operation_at(const char* text) const;
  size_t find_or_add_operation(std::string_view text);
  CachedCall* call_at(const CachedHead& head, size_t operation, const char* tail) const;
  size_t find_shape(CachedHead& head, size_t operation, const char* tail, CachedCall*& call);
  void add(CachedHead& head, std::string_view operation, std::string_view tail, const Event& event);
  CachedCall& add_call(CachedHead& head, size_t operation, std::string_view tail,
                       const PrintedCall& call);

  PlaceTable<CachedHead> head_places_;
  std::deque<CachedHead> heads_;
  std::vector<Operation> operations_;
  std::deque<CachedCall> calls_;
  std::deque<CachedCall> others_;
  size_t samples_ = 0;
  size_t head_size_ = 0;  ///< Of the last head that was found, without its "]".
  std::string stamp_;     ///< The time before the head of the line learnt last; empty: none.
};

}  // namespace ncclog
