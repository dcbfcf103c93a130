// What did each rank call, in what order, is that what it always called, and which calls end?
//
//   rank 2:  … AllReduce of the world (#4), Recv from 1 (#4), Send to 3 (#4), AllReduce (#5)
//       → behind the same calls always came a Send to 3; rank 6, its twin, made one here as well
//
// The idea: who waits, who diverged and which message is missing are questions about one thing, the
// program of a rank: its calls over all communicators and with all peers, in the order of the lines
// of its process, each numbered among the calls that it has to meet (CallLine). Numbers are counted
// back from the totals, so that they are right although only the last calls are kept. Two things
// say what ought to stand at a place: the rank's own past, and its twins, ranks that run the same
// program on communicators of their own (diagnose/calls/diverged.h). Programs can be played through
// (Simulation): it says which calls end, and who waits for whom.
//
// The cost: at most kProgramCalls calls of each process.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/calls.h"
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

inline Waiter waiter_of(const CommRank& rank) { return {rank.process, rank.cuda_dev}; }

/// The member of that rank, into Communicator::ranks; -1: there is none.
int member_of(const Job& job, int communicator, int rank);

/// The waiter that a member of a communicator is; both are indices.
inline Waiter waiter_at(const Job& job, int communicator, int rank) {
  return waiter_of(rank_at(job, communicator, rank));
}

/// The member of a communicator that a waiter is, with the calls that it made there.
struct MemberCalls {
  int communicator = -1;  ///< Into Job::communicators.
  const CommRank* rank = nullptr;
  const CollectiveCalls* calls = nullptr;  ///< nullptr: none of its lines were seen.
};

/// All of them, by communicator. They point into the job.
std::vector<MemberCalls> memberships(const Job& job, const Waiter& waiter);

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

/// "rank 3 (node-b, pid 4242, GPU 1)", "a process (node-b, pid 77)". -1: unknown; a rank that is
/// not known is that of the process.
std::string name_and_place(const Job& job, int process, int rank, int cuda_dev,
                           std::string_view unnamed = "a process");

/// One process with all that names it.
std::string waiter_words(const Job& job, const Waiter& waiter);

/// What it called last, on whatever communicator, and when if the line says so; empty if it made no
/// call. `line`, if not nullptr, becomes that call's.
std::string last_call_words(const Job& job, const Waiter& waiter, Evidence* line);

/// Adds a process to those that an answer names.
void blame(const Job& job, const Waiter& waiter, FactValue& value);

/// The last line of a process.
Evidence last_line(const Job& job, int process);

/// The line with which a rank began to initialise its communicator, else the last one of its
/// process. `rank` has to have a process and a segment.
Evidence start_line(const Job& job, const CommRank& rank);

/// A line without header and prefixes, cut after `most` bytes, safe to print.
std::string line_words(std::string_view line, size_t most);

/// ", at 12:00:03"; empty if the line carries no time.
std::string when_words(std::string_view line);

// How many messages did a rank exchange with a peer?
//
//   rank 3 of 600 exchanged messages with all others; counted are those with ranks 0 to 256
//       → with rank 7: as counted; with rank 590: what its tape of calls tells, else not known
//
// A rank's messages are counted for its lowest peers only (CollectiveCalls::peers). So nothing
// is known of the others, unless the calls of its process are kept whole.

/// How many `rank` sent to `peer`, a rank of its communicator, or received from it; nullopt: not
/// known.
std::optional<uint64_t> message_count(const Job& job, const CommRank& rank, int peer,
                                      bool receives);

/// Their sizes, as PeerMessages::hash; nullopt: not known.
std::optional<uint64_t> message_sizes(const Job& job, const CommRank& rank, int peer,
                                      bool receives);

/// With whom `rank` exchanged messages, as far as that is known; ascending.
std::vector<int> message_peers(const Job& job, const CommRank& rank);

/// `rank` exchanged messages with peers that are not known.
bool has_unknown_peers(const Job& job, const CommRank& rank);

// The programs of ranks. Those that a job's lines tell of are on one stream and without groups:
// which calls were one group, and which stood on which stream, is not known of them.

/// Calls that meet in their order: the collectives of a communicator, or the messages from one of
/// its ranks to another.
struct CallLine {
  int communicator = -1;  ///< Into Job::communicators.
  int sender = -1;        ///< Rank in the communicator; -1: collectives.
  int receiver = -1;      ///< Likewise.

  bool is_message() const { return sender >= 0; }
  auto operator<=>(const CallLine&) const = default;
};

/// One end of such calls.
struct CallEnd {
  CallLine line;
  bool receives = false;  ///< Of messages: it is the Recv.

  auto operator<=>(const CallEnd&) const = default;
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

  CallEnd end() const { return {line, receives}; }
};

/// The last calls of one rank.
struct RankProgram {
  Waiter waiter;
  std::vector<RankCall> calls;
};

/// Of more ranks than these none is held against each other.
inline constexpr size_t kMostCompared = 256;
inline constexpr size_t kProgramCalls = 2048;  ///< Of each process, at most.

/// The programs of all ranks whose calls are counted and in one order. Valid as long as the job.
const std::vector<RankProgram>& rank_programs(const Job& job);

/// The program of a rank; nullptr: it has none. Valid as long as the job.
const RankProgram* program_of(const Job& job, const Waiter& waiter);

/// RankCall::kind of each call, in order.
std::vector<int> kinds_of(const RankProgram& program);

/// How often that rank, which has a program, called at that end.
uint64_t calls_made(const Job& job, const CommRank& rank, const CallEnd& end);

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

/// Compares step `at` of a program, which is at least `context`, with those before `end`, which is
/// at most `at`. Equal steps have equal numbers. `context`: how many steps before it have to be the
/// same; `times`: how often another one has to have followed.
StepPast past_of_step(std::span<const int> steps, size_t at, size_t end,
                      size_t context = kStepContext, size_t times = 2);

/// Compares step `at` with all that stood before it; Unknown where too few steps stand before it.
Past past_at(std::span<const int> steps, size_t at);

/// True if one of the last steps of a program is another one than always stood there, false if all
/// of them follow from the past; nullopt if there is too little of a past to tell.
std::optional<bool> leaves_past(std::span<const int> steps);

// Which calls of ranks' programs end, which wait for whom, and do some wait in a circle?
//
//   rank 0, one stream: Send to 1, Recv from 1      Both wait in Send for a Recv that stands behind
//   rank 1, one stream: Send to 0, Recv from 0      the other's Send: a circle.
//   rank 2:  Recv from 4, Send to 0                 Rank 4 left out its Send: rank 2 waits in its
//   rank 0:  Recv from 2                            Recv, and so rank 0 waits for rank 2.
//
// The idea: the calls are played through in thought. A call begins when those before it on its own
// stream have ended; calls of one group begin together. It ends when all who have to come to it
// have begun it, which is what is called a meeting: a collective, or a message's Send and Recv.
// NCCL has no tags, so that what meets follows from the order of calls alone. A buffered Send is
// one that its stream does not wait for. Hosts never wait, and nothing waits for connections, so
// only what cannot end is said to wait. Whether all who have to come to a meeting ever make the
// call is for the caller to say: logs may no longer hold the calls of some.
//
// A stream is where a queue of batches stands: those before the head have ended, the head has
// begun, those behind it have not. Where streams and groups are known, all heads begin at the front
// and move on while something ends; who is in a circle stays. Where they are not, a circle may have
// been a group: all calls end but those that somebody lacks; from these doubt spreads to what is
// behind them, and to those who have to meet that. Heads move back until nothing changes.
//
// The cost: linear in the calls, but for finding their meetings; each batch begins, and each
// meeting is doubted, once.

/// A call of the programs that are simulated.
struct SimulatedCall {
  uint32_t program = 0;
  uint32_t call = 0;  ///< Into RankProgram::calls.

  bool operator==(const SimulatedCall&) const = default;
};

/// What calls have in common that meet.
struct MeetingKey {
  CallLine line;
  uint64_t index = 0;

  auto operator<=>(const MeetingKey&) const = default;
};

struct Meeting {
  std::vector<SimulatedCall>
      calls;                 ///< First those that have begun, in the order in which they came.
  size_t begun = 0;          ///< How many of them have.
  bool is_complete = false;  ///< Whoever has to come has a call of it, or made it before.

  std::span<const SimulatedCall> came() const { return std::span(calls).first(begun); }
  std::span<const SimulatedCall> awaited() const { return std::span(calls).subspan(begun); }
  bool has_ended() const { return is_complete && begun == calls.size(); }
};

class Simulation {
 public:
  using IsComplete = std::function<bool(const MeetingKey&, const std::vector<SimulatedCall>&)>;

  /// `programs` must outlive it. `streams_are_known`: of the programs, and groups as well.
  /// `is_complete` is asked once for each meeting, by line and index.
  Simulation(const std::vector<RankProgram>& programs, bool streams_are_known,
             const IsComplete& is_complete);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  const std::map<MeetingKey, Meeting>& meetings() const { return meetings_; }

  /// All who have to come to that call have begun it.
  bool has_ended(const SimulatedCall& call) const { return step(call).meeting->has_ended(); }

 private:
  /// Where a call stands.
  struct Step {
    Meeting* meeting = nullptr;
    uint32_t queue = 0;
    uint32_t batch = 0;
  };

  /// A stream of a program.
  struct Queue {
    uint32_t program = 0;
    std::vector<uint32_t> calls;
    std::vector<size_t> batches;  ///< Where in `calls` each begins.
    size_t head = 0;              ///< The first batch that has not ended.
    size_t open = 0;              ///< Of the head's calls, those that the stream waits for.

    std::span<const uint32_t> batch(size_t number) const;
  };

  void add_program(uint32_t program);
  void run_forward();
  void begin(const SimulatedCall& call, std::vector<uint32_t>& ready);
  void leave(const SimulatedCall& call, std::vector<uint32_t>& ready);
  void spread_doubt();

  const Step& step(const SimulatedCall& call) const { return steps_[call.program][call.call]; }
  const RankCall& made(const SimulatedCall& call) const {
    return programs_[call.program].calls[call.call];
  }

  const std::vector<RankProgram>& programs_;
  std::map<MeetingKey, Meeting> meetings_;
  std::vector<std::vector<Step>> steps_;  ///< By program and call.
  std::vector<Queue> queues_;             ///< By program, then by the first use of their stream.
};

}  // namespace ncclog
