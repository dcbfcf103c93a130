// Who takes part in a replay, and which of the job's calls does each rank bring along?
//
//   8 ranks, 1 communicator, --last 32   → 8 seats; of each rank AllReduce 1 to 28
//
// First the windows of calls that a plan takes, then the seats of those who made them, then the
// calls themselves, in the order of their lines, with everything that a replay needs.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log/event.h"
#include "model/calls.h"
#include "model/job.h"
#include "model/process_log.h"
#include "replay/plan/plan.h"

namespace ncclog {

// Which calls of each rank does a plan take?
//
//   world: rank 5 made 28 collectives, the others 60; --last 8
//       → of every rank those numbered 20 to 59: the last eight that all made, and what some made
//         beyond them, at most kBeyond calls
//
// Ranks of a communicator begin at the same collective, and both ends of a pair at the same
// message, so that what is taken can be replayed without what came before it. How many calls were
// made is known from the job; the calls themselves are read again (CallRecorder).

/// A rank of a communicator.
struct Membership {
  int communicator = -1;  ///< Into Job::communicators.
  int member = -1;        ///< Into Communicator::ranks.

  auto operator<=>(const Membership&) const = default;
};

/// The calls numbered `from` to before `to` of those that are numbered together.
struct CallWindow {
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t made = 0;  ///< So many were seen so far while lines are read.

  bool holds(uint64_t number) const { return from <= number && number < to; }
  bool operator==(const CallWindow&) const = default;
};

/// Of one member: its collectives, and its messages by the peer's rank in the communicator.
struct MemberWindows {
  CallWindow collectives;
  std::map<int, CallWindow> sent;
  std::map<int, CallWindow> received;
  uint64_t earlier = 0;    ///< Calls before the windows, while lines are read.
  bool by_traces = false;  ///< Its CALL lines count, not its COLL lines; likewise.
};

using CallWindows = std::map<Membership, MemberWindows>;

/// Calls beyond the last that all ranks made, at most: those that a host enqueued ahead.
inline constexpr uint64_t kBeyond = 32;

/// The members of all communicators whose calls the logs cover as well as any: those that are
/// counted, else those that made at least what is seen, else all of whom calls are seen. None of a
/// communicator with fewer than two such ranks, or whose ranks are not numbered.
std::vector<Membership> covered_members(const Job& job);

/// Windows of those members, around the last `last` calls that all of a communicator made.
CallWindows call_windows(const Job& job, const std::vector<Membership>& members, uint64_t last);

/// The member's entry in the job. Valid as long as the job is.
const CommRank& rank_of(const Job& job, const Membership& member);

// Who takes part in a replay: which ranks of the job become ranks of the plan, in which
// communicators?
//
//   8 processes, each in the world and in one of two TP groups
//       → 8 seats; communicators: the world, both TP groups
//   one process that holds 4 GPUs → 4 seats
//
// A seat is one rank of the replay: a process on one GPU. Communicators on which nothing was called
// are left out, but for parents that others are split from.

/// A rank of the job that becomes a rank of the plan.
struct Seat {
  int process = -1;        ///< Into Job::processes.
  int cuda_dev = -1;       ///< -1: the process holds one rank.
  int recorded_rank = -1;  ///< In the job; -1: unknown.
};

/// Who takes part, and how ranks are numbered among those who do.
struct PlanSeats {
  std::vector<Seat> seats;            ///< By recorded rank, unknown ones last.
  std::map<Membership, int> seat_of;  ///< Into `seats`.
  std::vector<int> communicators;     ///< Into Job::communicators; parents before their children.

  /// Ranks in a communicator of the job, as (communicator, rank), and their numbers in the plan.
  std::map<std::pair<int, int>, int> numbers;

  /// Into `communicators`; -1: that communicator of the job takes no part.
  int place_of(int communicator) const;
  /// Ranks of that communicator of the job, by rank in it, into `seats`.
  std::vector<int> ranks_of(const Job& job, int communicator) const;
  /// The number in the plan of a rank in that communicator of the job; -1: it takes no part.
  int number_of(int communicator, int rank) const;
};

/// The seats of `members` in those of their communicators that are in `wanted`, and in their
/// parents.
PlanSeats plan_seats(const Job& job, const std::vector<Membership>& members,
                     const std::vector<int>& wanted);

// The calls that a plan takes, in the order of their lines, with everything that a replay needs.
//
//   AllReduce: opCount 1b sendbuff 0x7f7b02800000 recvbuff 0x7f7b02800000 count 1048576 datatype 7
//   op 0 root 0 comm 0x3ccb6960 [nranks=8] stream (nil)
//       → the world's rank 0, collective 28, in place, on the null stream
//
// A job keeps no buffers, streams and groups, so the logs are read a second time. Only what
// is in the windows is kept; memory does not depend on how long the logs are.
// Where a call is told by a COLL and by a CALL line, the kind of line that the job counts is taken.

/// A call as one line of NCCL tells it.
struct RecordedCall {
  Membership by;
  /// Among the member's collectives; of Send and Recv among its messages to, or from, that peer.
  uint64_t index = 0;
  CallSignature call;
  uint64_t sendbuff = 0;  ///< 0: none printed. Of Send the buffer, wherever the release prints it.
  uint64_t recvbuff = 0;
  uint64_t stream = 0;    ///< Pointer; 0 is the null stream.
  uint64_t op_count = 0;  ///< Of COLL lines; 0 of CALL lines.
  int64_t group = -1;     ///< Number of the ncclGroupStart it stands behind; -1: none is printed.
};

/// The calls that fall into the windows, in the order of each process's lines.
struct RecordedCalls {
  std::vector<Membership> members;                      ///< Whose calls were looked for; sorted.
  std::map<int, std::vector<RecordedCall>> by_process;  ///< Into Job::processes.
  std::map<Membership, uint64_t> earlier;               ///< Calls before the member's windows.
  bool has_groups = false;                              ///< Lines of ncclGroupStart are there.
  uint64_t other_calls = 0;  ///< One-sided operations, which no window holds.
};

/// Follows the events of a job's logs in input order. `job` must outlive it.
class CallRecorder {
 public:
  CallRecorder(const Job& job, CallWindows windows);
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  void add(const Event& event);

  /// What was recorded; to be called once, behind the last event.
  RecordedCalls take();

 private:
  /// Which life of a pointer.
  using Life = std::pair<uint64_t, int>;

  /// A member, and its windows while its lines are read.
  using Cursor = CallWindows::value_type;

  /// A process whose lines tell calls that are wanted.
  struct Source {
    int process = -1;
    CommSegments lives;
    std::map<Life, Cursor*> cursors;
    std::vector<Cursor*> by_place;  ///< By segment in `lives`, as far as they were looked up.
    /// By thread: of each ncclGroupStart that is open the number of the outermost one.
    std::unordered_map<int64_t, std::vector<int64_t>> groups;
  };

  void follow_groups(Source& source, int64_t thread, std::string_view function);
  static Cursor* cursor_of(Source& source, const PrintedCall& call);
  void add_call(Source& source, const Event& event, const PrintedCall& call);

  CallWindows windows_;
  std::map<std::pair<std::string_view, int64_t>, Source> sources_;  ///< By host and pid.
  int64_t groups_ = 0;
  RecordedCalls recorded_;
};

// What is left of each rank's calls if only some of the communicators take part?
//
//   rank 1, both groups: Send@0 AllReduce@1 AllReduce@0       only communicator 1: AllReduce
//
// Where a call belongs may show only beside calls on other communicators, so calls get their places
// before those are left out.

/// Copies the calls of `all`, whose ranks are the seats of `from`, to the ranks of `plan`, which
/// are those of `to`. The communicators and seats of `to` are among those of `from`. Streams are
/// numbered anew by first use, and a group of which one call is left is none.
void project_calls(const ReplayPlan& all, const PlanSeats& from, const PlanSeats& to,
                   ReplayPlan& plan);

}  // namespace ncclog
