// Everything that one process said, summed up: who it is, its communicators, its connections, what
// it allocated and how it ran its operations, and the lines that are kept of it.
//
//   node-a:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 … - Init START   → a CommSegment
//   node-a:41:41 [0] NCCL INFO AllReduce: opCount 0 … comm 0x5a [nranks=2] …      → a call of it
//   node-a:41:41 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM          → a connection
//   node-a:41:41 [0] NCCL INFO init.cc:512 Cuda Alloc Size 23648 …                → an allocation
//   node-a:41:41 [0] NCCL INFO Using network IB                                   → a record
//
// A large log is read in stretches, so each part can be joined with what a later stretch holds:
// merging them, in any grouping, gives what reading the whole gives. Memory is bounded by
// communicators and kinds, not by lines.

#pragma once

#include <bitset>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/compact.h"
#include "base/line.h"
#include "log/event.h"
#include "model/bounded_map.h"
#include "model/calls.h"
#include "model/init_section.h"
#include "model/record_lists.h"

namespace ncclog {

struct CallInit;  // These are of log/messages.h, which readers of a log do without.
struct ChannelConnected;
struct CommAnnounced;
struct CommEnd;
struct CommInit;
struct CommLayout;
struct TuningChoice;

/// Says which of a rulebook's line patterns match a line. May be empty: no patterns.
struct LineMatcher {
  using Match = std::function<void(std::string_view line, std::vector<int>& matched)>;

  Match match;
  size_t patterns = 0;  ///< How many there are.
  /// One of them stands in every line that a pattern matches; an empty one: a pattern may match any
  /// line. nullopt: nothing is known of the patterns.
  std::optional<std::vector<std::string>> literals;
  uint64_t patterns_hash = 0;  ///< The same for the same patterns only; 0: there are none.

  explicit operator bool() const { return match != nullptr; }
  void operator()(std::string_view line, std::vector<int>& matched) const { match(line, matched); }
};

// NCCL lines that no wording fits, and lines of others that report an error in unknown words
// (log/event.h), by shape, so that a user can report them.
//
//   NET/IB: Frobnicated #:#   ×812, INFO, first: node07:41:42 [3] NCCL INFO NET/IB: Frobnicated …
//
/// Lines of one shape.
struct UnknownLines {
  uint64_t count = 0;
  uint32_t levels = 0;  ///< Bit 1 << Level for each level that a line had.
  SourceRef first;
  std::string example;  ///< The first one, at most Record::kMaxTextBytes of it.
  SourceRef last;       ///< Line 0: the first one is the only one.
  std::string latest;   ///< The last one, likewise.

  UnknownLines& operator+=(const UnknownLines& later);
  bool operator==(const UnknownLines&) const = default;
};

inline uint64_t count_of(const UnknownLines& lines) { return lines.count; }

/// By message_shape.
using UnknownShapes = BoundedMap<std::string, UnknownLines, 2048>;

/// Counts a line whose fate is Unrecognised, or another program's that looks like an error.
void count_unknown(UnknownShapes& shapes, SourceRef where, std::string_view line,
                   const Event& event);

// Who printed a line, as far as the line itself says.
//
//   node07:4121:4188 [3] NCCL INFO …        → host node07, pid 4121
//   [rank6]:[E717 … ProcessGroupNCCL.cpp…   → rank 6
//   (TrainWorker pid=4242) plain text       → pid 4242
//   NCCL INFO NET/Socket : Using …          → input 0: nobody named, but it is one file

/// The name under which lines are collected. Fields the line does not give stay at their defaults;
/// `input` is set only where neither host and pid nor a global rank name the speaker.
struct Speaker {
  std::string host;
  int64_t pid = -1;
  int rank = -1;        ///< Global rank, from the framework's or the launcher's prefix.
  int local_rank = -1;  ///< torchrun's; only where no global rank is known.
  int64_t input = -1;   ///< Number of the input; in a job, index into Job::inputs.

  auto operator<=>(const Speaker&) const = default;
};

/// Whom the NCCL lines of a file, or of a stretch of it, name, or its own name.
struct FileWriter {
  std::string host;  ///< Of the first one.
  int64_t pid = -1;
  bool several = false;  ///< They name others as well.

  /// Adds whom a line names, or those of lines behind it.
  void add(std::string_view name, int64_t number, bool are_several = false) {
    if (pid < 0) {
      host = name;
      pid = number;
    }
    several = several || are_several || pid != number || host != name;
  }
  bool operator==(const FileWriter&) const = default;
};

// One life of a communicator pointer inside one process.
//
// A pointer means something inside its process only and comes back after destroy. A segment begins
// with the first line that names the pointer and ends with its destroy or abort, or with a new
// start. Joining the segments of neighbouring stretches is associative: the last open segment of
// the earlier stretch and the first of the later one are the same life unless the later one begins
// anew.

/// How a communicator's life ended in this process.
enum class CommFate { None, Destroyed, Aborted };

/// What one process said about one communicator.
struct CommSegment {
  uint64_t comm = 0;  ///< The pointer.
  int rank = -1;      ///< -1: no line of its initialisation was seen.
  int nranks = -1;
  int cuda_dev = -1;
  std::string bus_id;
  uint64_t comm_id = 0;  ///< 0: not printed (children since 2.23.4, everything before 2.16).
  uint64_t parent = 0;   ///< Pointer of the parent in this process; 0: not a child.
  int child_count = -1;
  int color = -1;
  int key = -1;
  int nnodes = -1;  ///< From the layout line of 2.20.3 and later.
  int local_ranks = -1;
  SourceRef started;    ///< Init START; line 0: not seen.
  SourceRef completed;  ///< Init COMPLETE; line 0: not seen.
  /// CALL line of the function that made it, behind its initialisation; line 0: not seen.
  SourceRef announced;
  SourceRef ended;  ///< Destroy or Abort COMPLETE; line 0: not seen.
  CommFate end = CommFate::None;
  Rare<CollectiveCalls> calls;  ///< By COLL lines.
  /// By CALL lines: the same calls once more where both are printed.
  Rare<CollectiveCalls> traces;

  bool operator==(const CommSegment&) const = default;
};

/// CALL lines tell more of a segment's calls.
inline bool is_told_by_traces(const CommSegment& segment) {
  return segment.traces->total > segment.calls->total;
}

/// The calls of a segment, from the one kind of line that tells more of them.
inline const CollectiveCalls& calls_of(const CommSegment& segment) {
  return is_told_by_traces(segment) ? *segment.traces : *segment.calls;
}

/// The communicators of one process in the order in which their lives began.
struct CommSegments {
  std::vector<CommSegment> all;

  void add(SourceRef where, const CommInit& init);
  void add(SourceRef where, const CommAnnounced& announced);  ///< 2.4.2's Init START.
  void add(SourceRef where, const CommEnd& ended);
  void add(SourceRef where, const CallInit& call);
  void add(const CommLayout& layout);
  /// `stamp` is what stands before the line's host. Gives the segment's place in `all`.
  int add_call(SourceRef where, std::string_view stamp, const PrintedCall& call);
  /// The segment to which a call on `comm` belongs now; -1: it begins one.
  int living_segment(uint64_t comm) const;
  /// Gives back what only adding needs; only merge() may add more.
  void fit() {
    all.shrink_to_fit();
    latest_ = {};
  }
  /// Another number whenever what living_segment says may have changed.
  uint64_t lives() const { return lives_; }
  /// Gives for each segment of `later` its place in `all`.
  std::vector<int> merge(CommSegments&& later);
  bool operator==(const CommSegments& other) const { return all == other.all; }

 private:
  template <typename Io>
  friend void carry(Io& io, CommSegments& comms);  ///< part/carry_shard.h

  size_t append(CommSegment&& segment);
  size_t add(CommSegment&& news);

  std::unordered_map<uint64_t, size_t> latest_;  ///< By pointer: its last life in `all`.
  uint64_t lives_ = 0;
};

// Which ranks a process is connected to, over which path, on how many channels.
//
//   Channel 00/0 : 1[1] -> 2[2] [send] via NET/Socket/0
//
// Both ends announce network paths, only the sender P2P and SHM; the same connection is announced
// once per channel. Here a connection is (src, dst, path) with the channels that use it.

/// Path classes as NCCL's transports name themselves.
enum class Transport { P2P, SHM, NET, COLLNET, Other };

/// "P2P/CUMEM" → P2P, "direct shared memory" → SHM, "NET/IB/0/GDRDMA" → NET.
Transport transport_of(std::string_view path);
constexpr std::string_view enum_words(Transport) { return "P2P|SHM|NET|COLLNET|other"; }

struct ConnectionKey {
  int src_rank = 0;
  int dst_rank = 0;
  std::string path;  ///< As printed after "via".

  auto operator<=>(const ConnectionKey&) const = default;
};

/// The channels on which a connection was announced.
struct ConnectionUse {
  uint64_t channels = 0;  ///< Bit c: channel c; NCCL has at most 64.
  SourceRef first;

  ConnectionUse& operator+=(const ConnectionUse& later);
  bool operator==(const ConnectionUse&) const = default;
};

/// Number of channels in the mask.
int channel_count(const ConnectionUse& use);

inline uint64_t count_of(const ConnectionUse& use) {
  return static_cast<uint64_t>(channel_count(use));
}

/// Connections of one process.
using Connections = BoundedMap<ConnectionKey, ConnectionUse, 8192>;

void add_channel(Connections& connections, SourceRef where, const ChannelConnected& connected);

// Sums of what a process prints too often to be kept line by line.
//
//   init.cc:512 Cuda Alloc Size 23648 pointer 0x7f3f7a200000
//   AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}

/// Allocations of one kind. NCCL prints what it takes, seldom what it gives
/// back.
struct AllocTotal {
  uint64_t count = 0;
  uint64_t bytes = 0;

  AllocTotal& operator+=(const AllocTotal& later) {
    count += later.count;
    bytes += later.bytes;
    return *this;
  }
  bool operator==(const AllocTotal&) const = default;
};

inline uint64_t count_of(const AllocTotal& total) { return total.count; }

/// By what is allocated: "Cuda Alloc", "Cuda Host Alloc" …; the wordings name
/// all of them.
using AllocTotals = BoundedMap<std::string, AllocTotal, 64>;

/// How an operation was run.
struct TuningKey {
  std::string function;   ///< "AllReduce"; empty in 2.20 to 2.22.
  std::string algorithm;  ///< "RING"; a number before 2.24; the kernel of symmetric operations.
  std::string protocol;   ///< "SIMPLE"; empty where there is none.

  auto operator<=>(const TuningKey&) const = default;
};

/// The operations that were run that way.
struct TuningUse {
  uint64_t count = 0;
  int64_t min_bytes = 0;
  int64_t max_bytes = 0;

  TuningUse& operator+=(const TuningUse& later);
  bool operator==(const TuningUse&) const = default;
};

inline uint64_t count_of(const TuningUse& use) { return use.count; }

/// Ways in which operations were run.
using TuningUses = BoundedMap<TuningKey, TuningUse, 256>;

void add_tuning(TuningUses& uses, const TuningChoice& choice);

/// Everything one speaker said: in a stretch while that is read, in the whole input in a job.
struct SpeakerLog {
  Speaker speaker;     ///< Set when the job is built; the shard holds it as its key until then.
  uint64_t lines = 0;  ///< Lines attributed to this speaker, recognised or not.
  SourceRef first;
  SourceRef last;
  std::string last_text;  ///< The last line itself, at most Record::kMaxTextBytes.
  bool torn = false;      ///< Some of its lines were cut off by another process's, and are lost.
  bool cut = false;  ///< A stretch that it spoke in ends inside a record: it may have said more.
  /// Rank that launchers' prefixes give to an NCCL speaker. Several: they are no ranks but the line
  /// numbers of a paste, or the stream is torn.
  int task_rank = kNoTask;
  int task_local_rank = kNoTask;
  std::bitset<32> subsystems;  ///< By Subsystem: which ones spoke.
  RecordLists records;         ///< By kind index.
  RecordLists unrecognised;    ///< NCCL lines that no wording fits, as Record::kNoKind.
  RecordLists line_matches;    ///< By pattern of the LineMatcher.
  /// Lines that NCCL prints once when it is first used, the first kMaxStarts of them: more than one
  /// are several lives of a pid, copies of NCCL, or copies of a log.
  std::vector<SourceRef> starts;
  static constexpr size_t kMaxStarts = 16;
  CommSegments comms;
  Rare<CallTrack> calls;   ///< By COLL lines.
  Rare<CallTrack> traces;  ///< By CALL lines.
  /// Segments whose communicator cannot be told; set when the job is built.
  std::vector<CommSegment> unplaced;
  Connections connections;
  InitSections inits;
  Rare<AllocTotals> allocations;
  Rare<TuningUses> tuning;
  /// What nccl-tests and other benchmarks of communication printed.
  Rare<OrderedLines> benchmarks;
  /// Lines of the stacks that its threads had (log/stack_lines.h), the last ones: as many as `limit`
  /// of its lists allows, kStackLines for each. What they say together is read from the job.
  Rare<std::deque<OwnedRecord>> stack_lines;
  static constexpr size_t kStackLines = 16;
  /// What NCCL printed of its network proxy (diagnose/calls/proxy_dumps.cc): equal dumps tell most.
  Rare<OrderedLines> proxy_dumps;
  /// The last line in which an exception or a failed call of CUDA is named. `records` keeps equal
  /// lines by the first of them, which the job may have survived.
  std::optional<OwnedRecord> last_failure;

  /// Appends what a later stretch holds, and settles; lists of records keep what `limit` allows.
  void merge(SharedTrie& trie, SpeakerLog&& later, const RecordLimit& limit = {});

  /// Keeps a line of a stack, and forgets the first one where there are more than `limit` allows.
  void add_stack_line(OwnedRecord&& line, const RecordLimit& limit);

  /// Keeps the first records of each kind only, as many as `limit` allows. Settles what it
  /// cuts.
  void cut_to(SharedTrie& trie, const RecordLimit& limit);

  /// To be called before the lists of records are asked, when lines were added.
  void settle() {
    records.settle();
    unrecognised.settle();
    line_matches.settle();
  }

  /// Gives back what only adding needs, when nothing more will be added but other logs.
  void fit() {
    last_text.shrink_to_fit();
    comms.fit();
  }

  static constexpr int kNoTask = -1;
  static constexpr int kSeveralTasks = -2;

  /// Adds what one more prefix says to what is known of a task.
  static void note_task(int& known, int said) {
    if (known == kNoTask) {
      known = said;
    } else if (said != kNoTask && said != known) {
      known = kSeveralTasks;
    }
  }
};

}  // namespace ncclog
