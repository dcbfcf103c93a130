// What did each rank call, in what order, and is that what it and ranks like it always called?
//
//   rank 2:  … AllReduce of the world (#4), Recv from 1 (#4), Send to 3 (#4), AllReduce (#5)
//       → behind the same calls always came a Send to 3; rank 6, its twin, made one here as well
//
// The idea: who waits, who diverged and which message is missing are questions about one thing, the
// program of a rank: its calls over all communicators and with all peers, in the order of the lines
// of its process, each numbered among the calls that it has to meet (CallLine). Numbers are counted
// back from the totals, so that they are right although only the last calls are kept. Two things
// say what ought to stand at a place: the rank's own past, and its twins, ranks that run the same
// program on communicators of their own.
//
// The cost: at most kProgramCalls calls of each process. Past and twins compare places of programs
// with one another, so jobs of very many ranks are not compared (kMostCompared).

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/call_tape.h"
#include "model/job.h"

namespace ncclog {

/// Who makes calls, and so can wait in one: a process on one of its GPUs. It is one rank of the
/// world and perhaps another one of each smaller group.
struct Waiter {
  int process = -1;   ///< Into Job::processes.
  int cuda_dev = -1;  ///< -1: no line names one.

  auto operator<=>(const Waiter&) const = default;
};

/// A member of a communicator; both are indices.
inline const CommRank& rank_at(const Job& job, int communicator, int rank) {
  return nth_communicator(job, communicator).ranks[static_cast<size_t>(rank)];
}

/// Only the few can be blamed for being unlike the others; one of two is few enough.
inline bool are_few(size_t few, size_t others) { return few < others || (few == 1 && others == 1); }

inline Waiter waiter_of(const CommRank& rank) { return {rank.process, rank.cuda_dev}; }

// Calls and the ranks that made them, in words.
//
//   "AllReduce of 1048576 float32 (sum)"
//   "rank 5 (gpu-node-02, pid 14224, GPU 1)"
//   "its last call was ReduceScatter of 1048576 bfloat16 (sum) on communicator 0x9c1b…, 12:04:11"

/// "Broadcast of 64 float32 from root 3", "Send of 4096 bfloat16 to rank 5".
std::string call_words(const CallSignature& call);

/// "function, count" of AllReduce of 8 and AllGather of 4: what differs, in NCCL's words.
std::string differing_fields(const CallSignature& a, const CallSignature& b);

/// "communicator 0x9c1b… (8 ranks)".
std::string communicator_words(const Job& job, int communicator);

/// "ranks 0-4,6,7", members of a communicator by the numbers of the job where these are known.
std::string members_words(const Job& job, int communicator, const std::vector<int>& members);

/// One process with all that names it.
std::string waiter_words(const Job& job, const Waiter& waiter);

/// What it called last, on whatever communicator, and when if the line says so; empty if it made no
/// call. `line`, if not nullptr, becomes that call's.
std::string last_call_words(const Job& job, const Waiter& waiter, Evidence* line);

/// Adds a process to those that an answer names.
void blame(const Job& job, const Waiter& waiter, FactValue& value);

// How many messages did a rank exchange with a peer?
//
//   rank 3 of 600 exchanged messages with all others; counted are those with ranks 0 to 256
//       → with rank 7: as counted; with rank 590: what its tape of calls tells, else not known
//
// A rank's messages are counted for its lowest peers only (CollectiveCalls::kMaxPeers). So nothing
// is known of the others, unless the calls of its process are kept whole.

/// Messages between a rank and a peer in one direction, as one of both shows them.
struct MessageCount {
  uint64_t count = 0;
  std::optional<uint64_t> sizes;  ///< PeerMessages::hash; nullopt: not known.
};

/// What `rank` sent to `peer`, a rank of its communicator, or received from it; nullopt: not known.
std::optional<MessageCount> message_count(const Job& job, const CommRank& rank, int peer,
                                          bool receives);

/// With whom `rank` exchanged messages, as far as that is known; ascending.
std::vector<int> message_peers(const Job& job, const CommRank& rank);

/// `rank` exchanged messages with peers that are not known.
bool has_unknown_peers(const Job& job, const CommRank& rank);

/// The calls of all segments in their order; nullptr: they are counted by different kinds of lines,
/// or not all are kept. Owned by the log.
const CallTape* whole_tape(const SpeakerLog& log);

// The programs of ranks. Those that a job's lines tell of are on one stream and without groups: which
// calls were one group, and which stood on which stream, is not known of them.

/// Calls that meet in their order: the collectives of a communicator, or the messages from one of
/// its ranks to another.
struct CallLine {
  int communicator = -1;  ///< Into Job::communicators.
  int sender = -1;        ///< Rank in the communicator; -1: collectives.
  int receiver = -1;      ///< Likewise.

  bool is_message() const { return sender >= 0; }
  auto operator<=>(const CallLine&) const = default;
};

/// A call in a rank's program.
struct RankCall {
  CallLine line;
  OpName op;
  bool receives = false;  ///< Of a message: it is the Recv.
  uint64_t index = 0;     ///< Among the rank's calls of that line and end, from 0.
  int kind = -1;          ///< Equal for calls of this program that are the same but for size.
  int stream = 0;         ///< A call waits for those before it on its stream.
  int group = -1;         ///< Calls of one group do not wait for each other; -1: alone.
  /// A Send that ends for those behind it before it is met, as small messages do while NCCL's
  /// buffers have room.
  bool is_buffered = false;
};

/// The last calls of one rank.
struct RankProgram {
  Waiter waiter;
  std::vector<RankCall> calls;
};

inline constexpr size_t kProgramCalls = 2048;  ///< Of each process, at most.

/// The programs of all ranks whose calls are counted and in one order. Valid as long as the job.
const std::vector<RankProgram>& rank_programs(const Job& job);

/// The program of a rank; nullptr: it has none. Valid as long as the job.
const RankProgram* program_of(const Job& job, const Waiter& waiter);

/// RankCall::kind of each call, in order.
std::vector<int> kinds_of(const RankProgram& program);

/// How often that rank, which has a program, called in that line, at that end.
uint64_t calls_made(const Job& job, const CommRank& rank, const CallLine& line, bool receives);

// Did this step ever stand where it stands now?
//
//   a b c d | a b c d | a b c a
//       → behind a b c came d, twice, and now a: another step than before, usually that of `d`

/// What stood behind the same steps before.
enum class Past {
  Unknown,  ///< They were not seen often enough, or different steps followed.
  Same,     ///< This step, at least once.
  Other,    ///< Another one, each time.
};

struct StepPast {
  Past past = Past::Unknown;
  size_t usual = 0;  ///< Of Other: a place where that other step stands.
};

/// How many steps have to be the same.
inline constexpr size_t kStepContext = 8;

/// How little of a past is enough.
struct PastWanted {
  size_t context = kStepContext;  ///< Steps that have to be the same.
  size_t times = 2;               ///< How often another step has to have followed.
};

/// Compares step `at` of a program, which is at least `wanted.context`, with those before `end`,
/// which is at most `at`. Equal steps have equal numbers.
StepPast past_of_step(std::span<const int> steps, size_t at, size_t end, PastWanted wanted = {});

/// Compares step `at` with all that stood before it; Unknown where too few steps stand before it.
Past past_at(std::span<const int> steps, size_t at);

/// True if one of the last steps of a program is another one than always stood there, false if all
/// of them follow from the past; nullopt if there is too little of a past to tell.
std::optional<bool> leaves_past(std::span<const int> steps);

// Which rank left the order of calls that ranks like it keep?
//
//   rank 5:  Recv←3 Send→7 Recv←3 Recv←7 Send→7 …        of the same stage in the next group
//   rank 4:  Recv←2 Recv←2 Send→6 Recv←2 Recv←6 …        left out its first Send
//       → rank 4
//
// Ranks of one stage run one program over their own communicators. Whoever waits has made a part
// of it, from its beginning; who left a call out, or made one too many, has made something else.
// Where a stage has two ranks, each of them differs from the other: then who did not do as it
// always had, if one of them did.

/// A rank that departed from a twin.
struct TwinDeparture {
  Waiter twin;
  RankCall made;   ///< The first call that differs.
  RankCall usual;  ///< What the twin called there.
};

/// Where the rank made something else than all ranks like it; nullopt: it has none, or it is only
/// behind or ahead of one of them, or of the two that differ the other one left its own past. Pure.
std::optional<TwinDeparture> departure_from_twins(const Job& job, const Waiter& waiter);

/// What `a` called is a beginning of what `b` called, each on its own communicators, or the same.
/// False where either's calls are not known, and in jobs of very many ranks. Pure.
bool made_no_more(const Job& job, const Waiter& a, const Waiter& b);

/// All ranks that departed from ranks like them. Empty for jobs of very many ranks, where nobody
/// compares them all. Valid as long as the job.
const std::vector<Waiter>& departed_from_twins(const Job& job);

}  // namespace ncclog
