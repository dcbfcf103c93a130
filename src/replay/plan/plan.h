// What is to be replayed: which ranks, which communicators, which calls in which order, under which
// settings, and what that is to test.
//
//   8 ranks on 2 hosts; rank 5 skips the AllReduce that the others make as call 28
//       → 2 ranks kept (0 and 5, in two pseudo-hosts); both make calls 20 … 27; then
//         rank 0: AllReduce            rank 5: AllReduce in the clean run only,
//                                              AllGather in the defect run only
//
// A plan is a pure function of a job and of what was asked for. It holds everything that the run
// needs: who carries it out never sees a log. As a file it is JSON, schema ncclog.replay/1.
//
// Behind the plan: how many elements its calls move, its calls in words, what all of it takes of a
// machine, and how nccl-tests would make it.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// In which runs a call is made. Clean: all ranks behave. Defect: as it was recorded.
enum class MadeIn { Both, Clean, Defect };

constexpr std::string_view enum_words(MadeIn) { return "both|clean|defect"; }
constexpr std::string_view noun_of(MadeIn) { return "kind of run"; }

/// Bytes: a call's buffers lie at offsets from a multiple of this.
inline constexpr int kBufferBoundary = 256;

/// One call of one rank.
struct PlannedCall {
  int communicator = -1;  ///< Into ReplayPlan::communicators.
  /// Recorded number: of a collective among the rank's collectives on the communicator, from 0; of
  /// Send and Recv among its messages to, or from, that peer.
  uint64_t index = 0;
  std::string op;         ///< As NCCL spells it: "AllReduce", "Send", …
  int64_t count = 0;      ///< Elements, as the function takes them.
  int datatype = -1;      ///< ncclDataType_t, see base/collectives.h.
  int redop = 0;          ///< ncclRedOp_t; 5 and above: the job's own, replayed as a sum.
  int root = -1;          ///< Rank in the communicator; the peer of Send and Recv; -1: none.
  bool in_place = false;  ///< Send and receive buffer are one, as nccl.h means it.
  int send_offset = 0;    ///< Of the buffer behind a boundary of 256 bytes: 0 … 255.
  int recv_offset = 0;    ///< Likewise.
  int stream = 0;         ///< The rank's streams by first use, from 0.
  int group = -1;         ///< Calls in one ncclGroupStart … ncclGroupEnd; -1: alone.
  MadeIn made_in = MadeIn::Both;

  bool operator==(const PlannedCall&) const = default;
};

/// A rank of the replay: one process on one GPU, which makes what a rank of the job made.
struct PlannedRank {
  int recorded_rank = -1;       ///< In the job; -1: its logs do not name it.
  std::string host;             ///< As recorded, for people.
  int host_group = 0;           ///< Pseudo-host: ranks with equal numbers ran on one host.
  std::vector<int> stands_for;  ///< Recorded ranks left out that made the same calls. Sorted.
  uint64_t left_out = 0;        ///< Its earlier calls that are not replayed.
  std::vector<PlannedCall> calls;

  bool operator==(const PlannedRank&) const = default;
};

/// How much of a communicator's connections were of one class.
struct TransportShare {
  std::string transport;  ///< "P2P", "SHM", "NET/IB", "NET/Socket", …
  int connections = 0;    ///< Pairs of ranks with a direction.

  bool operator==(const TransportShare&) const = default;
};

/// A communicator of the job, with those of its ranks that take part.
struct PlannedCommunicator {
  std::string id;          ///< As reports name it: "0x9c1b…" or "inferred-1".
  std::vector<int> ranks;  ///< By rank in the communicator: into ReplayPlan::ranks.
  int recorded_nranks = -1;
  int parent = -1;    ///< It is split off that one of the plan; -1: initialised by itself.
  int color = 0;      ///< Of the split.
  int channels = -1;  ///< Collective channels as recorded; -1: not printed.
  std::vector<TransportShare> transports;  ///< As recorded, by name; empty: not printed.

  bool operator==(const PlannedCommunicator&) const = default;
};

/// A setting of the job.
struct PlannedSetting {
  std::string name;
  std::string value;
  std::vector<int> ranks;  ///< Into ReplayPlan::ranks; empty: all.
  std::string left_out;    ///< Why it is not set in the replay; empty: it is.

  bool operator==(const PlannedSetting&) const = default;
};

/// What NCCL recorded to have used for calls of that function and size.
struct RecordedTuning {
  std::string op;
  std::string algorithm;  ///< "RING", "TREE", "NVLS", …
  std::string protocol;   ///< "LL", "LL128", "SIMPLE".
  uint64_t calls = 0;

  bool operator==(const RecordedTuning&) const = default;
};

/// Where a communicator stands still: the first call that was not completed by all.
struct FrontLine {
  int communicator = -1;     ///< Into ReplayPlan::communicators.
  uint64_t index = 0;        ///< PlannedCall::index.
  std::vector<int> entered;  ///< Ranks of the plan that made that call, or another one as it.
  std::vector<int> missing;  ///< Those that did not come so far.

  bool operator==(const FrontLine&) const = default;
};

/// What kind of defect is recorded.
enum class DefectKind {
  None,         ///< Nothing to test: the plan is of a healthy stretch.
  MissingCall,  ///< Some ranks did not make a call that the others made.
  ExtraCall,    ///< Some ranks made one call more.
  OtherCall,    ///< Some ranks made another call: other function, count, datatype, root, …
  Message,      ///< A Send without Recv, or the other way round.
  Stall,        ///< All ranks made the call and it did not complete: nothing to leave out.
};

constexpr std::string_view enum_words(DefectKind) {
  return "none|missing-call|extra-call|other-call|message|stall";
}
constexpr std::string_view noun_of(DefectKind) { return "kind of defect"; }

/// What the replay is to test.
struct Hypothesis {
  std::string finding;  ///< Id of the finding; empty: none was made.
  std::string title;    ///< Its title.
  DefectKind kind = DefectKind::None;
  std::vector<int> diverged;       ///< Ranks of the plan that diverged; empty for None, Stall.
  std::optional<FrontLine> front;  ///< As recorded; nullopt: the job did not stand still.

  bool operator==(const Hypothesis&) const = default;
};

/// How long each phase may take at most, in seconds; from when its first rank begins it.
struct ReplayDeadlines {
  int start = 60;
  int init = 120;
  int enqueue = 30;
  int completion = 30;
  int teardown = 30;

  bool operator==(const ReplayDeadlines&) const = default;
};

/// The whole plan. Indices into its lists are checked by check_plan(), not by reading.
struct ReplayPlan {
  static constexpr std::string_view kSchema = "ncclog.replay/1";

  std::string tool_version;                ///< Of the ncclog that made it.
  std::vector<std::string> logs;           ///< What it was made of, as the user named it.
  std::vector<std::string> nccl_versions;  ///< As recorded: "2.28.9". Empty: not printed.
  std::string cuda_version;                ///< As recorded; empty: not printed, or several.
  int recorded_nranks = 0;
  int recorded_nhosts = 0;
  Hypothesis hypothesis;
  std::vector<PlannedRank> ranks;                  ///< One process and one GPU each.
  std::vector<PlannedCommunicator> communicators;  ///< Parents before their children.
  std::vector<PlannedSetting> settings;            ///< By name, then value.
  std::vector<RecordedTuning> tuning;              ///< By op, algorithm, protocol.
  ReplayDeadlines deadlines;
  std::vector<std::string> losses;  ///< What was dropped, folded or is not known; sentences.
  std::vector<std::string> limits;  ///< What no replay of this plan can show; sentences.

  bool operator==(const ReplayPlan&) const = default;
};

/// The calls of that rank in one of the two runs, in order. `mode` is Clean or Defect.
std::vector<PlannedCall> calls_in(const PlannedRank& rank, MadeIn mode);

/// Number of different pseudo-hosts.
int host_group_count(const ReplayPlan& plan);

/// True if some call of some rank is such.
template <typename IsSuch>
bool any_call(const ReplayPlan& plan, IsSuch is_such) {
  return std::ranges::any_of(plan.ranks, [&](const PlannedRank& rank) {
    return std::ranges::any_of(rank.calls, is_such);
  });
}

/// True if no rank makes a call, in either run.
bool is_empty(const ReplayPlan& plan);

/// True if the runs differ: some call is made in one of them only.
bool has_defect(const ReplayPlan& plan);

/// True for a call of the front's number: a collective, or a message to any peer.
bool is_at(const PlannedCall& call, const FrontLine& front, bool is_message);

/// True if the rank is one of `ranks`.
bool is_among(const std::vector<int>& ranks, int rank);

/// Of a message that is tested: the one that a missing rank makes in the clean run only. nullptr:
/// there is none, or the test is of something else.
const PlannedCall* owed_message(const ReplayPlan& plan);

/// The number in the communicator of a rank of the plan; -1: it is none of its.
int rank_in(const PlannedCommunicator& communicator, int rank);

// How many elements does a call read and write on one rank, and what does its time say of the
// links?
//
//   AllGather of 1024 on 8 ranks: sends 1024, receives 8192; busbw = algbw * 7/8
//
// Buffers as nccl.h documents them (2.28.9). Bandwidths as nccl-tests defines them (its
// doc/PERFORMANCE.md): algbw is the size of the whole operation over its time, busbw what of it the
// links of a ring would carry, whatever the algorithm.

/// How much of a rank's two buffers is used.
struct BufferSizes {
  int64_t send = 0;
  int64_t receive = 0;

  bool operator==(const BufferSizes&) const = default;
};

/// True for a function that a replay can make.
bool is_replayable(std::string_view op);

/// True for Send and Recv.
bool is_message(std::string_view op);

/// True if the result depends on the reduction.
bool is_reduction(std::string_view op);

/// True if `root` names a rank of the communicator that the result depends on.
bool has_root(std::string_view op);

/// Elements of `call` on rank `rank` of `nranks`. {0, 0} for what is_replayable denies.
BufferSizes shape_of(const PlannedCall& call, int rank, int nranks);

/// Bytes of the operation as nccl-tests counts its size.
int64_t operation_bytes(const PlannedCall& call, int nranks);

// A planned call in words: "AllReduce of 1048576 float32 (sum)", "Send of 16 int8 to rank 3".

/// Roots and peers are ranks in the communicator.
std::string words_of(const PlannedCall& call);

// Where do a rank's calls find their buffers?
//
//   stream 0   AllReduce of 4 MiB, then a group of Send and Recv of 1 KiB each
//              → 4 MiB to send from and 4 MiB to receive into; Send at 0, Recv at 0
//
// Each stream has two arenas. Its calls follow each other, so all begin at the start; those of one
// group run at once and lie side by side. Buffers lie as they were recorded: their distance from a
// boundary of 256 bytes, and in place where they were in place.

/// Bytes from the start of the stream's arenas. In place, both buffers lie in the receive arena.
struct BufferPlace {
  bool sends_from_receive_arena = false;
  int64_t send = 0;
  int64_t receive = 0;

  bool operator==(const BufferPlace&) const = default;
};

/// Where every call of a rank has its buffers.
struct BufferLayout {
  std::vector<BufferPlace> calls;    ///< One for each call.
  std::vector<BufferSizes> streams;  ///< Bytes that its calls share, up to the last one in use.
};

/// Of calls as calls_in() gives them for rank `rank` of the plan. Offsets that are no multiple of
/// the element are rounded down. Precondition: a plan that check_plan() accepts.
BufferLayout lay_out_buffers(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls);

/// The end of the group that the call at `at` opens: calls [at, end) are issued together.
size_t group_end(std::span<const PlannedCall> calls, size_t at);

// What does a replay take of the machine: how much memory of each GPU, and how long at most?
//
//   2 ranks, AllReduce of 256 MiB, 16 channels:   512 MiB of buffers, about 1.1 GiB in all
//   two runs, each phase at its deadline:         at most 9 min 40 s
//
// Buffers are exact to a few KiB; what NCCL and CUDA take is an estimate.

/// What one GPU of a replay needs, at most.
struct ReplayCost {
  int64_t buffers = 0;  ///< Bytes that the calls of the hungriest rank need.
  int64_t nccl = 0;     ///< Bytes that NCCL and CUDA take on it, estimated.

  /// Together; the largest number if it is not one.
  int64_t bytes() const;
};

/// Of one GPU. The plan has to make sense to check_plan.
ReplayCost replay_cost(const ReplayPlan& plan);

/// The plan's deadlines where somebody wants another one for calls and for what follows them:
/// bringing the ranks up and initialising keep their own. `seconds` 0: as planned.
ReplayDeadlines with_deadline(ReplayDeadlines planned, int seconds);

/// Most timed runs of a call: all their times are kept, and their launches wait in the driver's
/// queue.
inline constexpr int kMostTimedRuns = 300;

/// How many seconds longer completion may take in a run that also times its calls so many times.
int timing_seconds(int time_runs);

/// Seconds that `runs` runs take at most, with the time that is left to stuck ranks to end and that
/// it takes to ask the GPUs afterwards.
int64_t longest_seconds(const ReplayDeadlines& deadlines, int runs);

/// How many runs a plan has of itself: the defect and the clean one, or the clean one alone.
int runs_of(const ReplayPlan& plan);

/// For people: 1.5 of 1610612736 bytes.
double to_gib(int64_t bytes);

/// "2 GPUs with about 1.2 GiB free on each, and at most 10 min 34 s".
std::string cost_words(const ReplayPlan& plan, int runs);

// How would nccl-tests make the calls of a plan?
//
//   # AllReduce of 1048576 float32 (sum), 2 ranks
//   NCCL_ALGO=Ring NCCL_NVLS_ENABLE=0 all_reduce_perf -b 4194304 -e 4194304 -d float -o sum -g 2 …
//
// For those who have it at hand. Its sizes are bytes of the whole operation (its
// doc/PERFORMANCE.md): of AllGather, ReduceScatter, AlltoAll, Gather and Scatter those of all ranks
// together, of which it gives each rank a multiple of 16.

/// Lines for a shell, with comments: the call at the front that is tested, or without one the first
/// few different calls of the clean run. The plan has to make sense to check_plan.
std::string nccl_tests_lines(const ReplayPlan& plan);

// Does a plan make sense, and is it safe to carry out?
//
//   refusal  ranks[1].calls[4]      rank 1 makes ReduceScatter as collective 4 of communicator 0,
//                                   rank 0 AllReduce
//   remark   settings[2]            …
//
// The planner's own plans pass. A plan is a file, though: people edit it, and pass it on. What is
// wrong would hang, crash or harm, or would prove nothing. Calls of the run in which all ranks
// behave have to fit each other; those of the other run need not: they are what is tested.

/// One thing that is wrong with a plan, or that somebody should know of it.
struct PlanComplaint {
  bool is_refusal = true;  ///< The plan is not carried out; else it is, but somebody should know.
  std::string where;       ///< "ranks[1].calls[4]", as in the file; empty: the plan as a whole.
  std::string what;        ///< One sentence without its full stop.
  std::string hint;        ///< What to do about it; may be empty.
};

/// What is wrong with the plan, in the order of its text; at most about a hundred. Programs are
/// compared only where places, ranks and functions make sense, so a mended plan may have more.
std::vector<PlanComplaint> check_plan(const ReplayPlan& plan);

/// True if one of them is a refusal.
bool is_refused(const std::vector<PlanComplaint>& complaints);

}  // namespace ncclog
