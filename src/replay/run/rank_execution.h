// The calls of one rank on its GPU: its communicators, its buffers, what it calls, and how far that
// is.
//
//   stream 0:  fill, AllReduce 27, event, compare, fill, AllReduce 28, event, compare, …
//
// All of a call stands in its stream; the host waits for none of them, so ranks may run apart as
// far as they did in training. Only where 128 calls of a stream are open does the host wait, before
// the driver's own queue is full and makes it wait where it hears nothing.

#pragma once

#include <nccl.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"
#include "replay/run/kernels.h"
#include "replay/run/machine.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"
#include "replay/run/rank_plan.h"

namespace ncclog {

// The communicators of one rank: made, used by one thread, and aborted by another.
//
// They do not block: what NCCL has begun is asked for until it is done, so that the thread that
// uses them sees at any time that they are to be aborted. An abort frees a communicator; from then
// on the using thread must not touch it. So each use takes a turn, and none is given after an
// abort.

/// Thrown in the using thread when its communicators are aborted. No error of the run.
struct RunAborted {};

/// Invariant: after abort() no function of NCCL is called for the communicators but ncclCommAbort.
class Communicators {
 public:
  /// Of rank `rank` of the plan, on CUDA's GPU `gpu`. `looks_around` is called while NCCL is waited
  /// for. NCCL and the plan are kept by reference.
  Communicators(const NcclLibrary& nccl, const ReplayPlan& plan, int rank, int gpu,
                std::function<void()> looks_around);

  /// Makes all of them, in the order of comm_steps(). `ids` by communicator. Throws.
  void make(const std::vector<ncclUniqueId>& ids);

  /// Splits off a communicator of the same ranks whose calls block, and returns where at() has it.
  /// All ranks of `communicator` do so. Few are added. Throws.
  int add_blocking(int communicator);

  /// Valid until finish() or abort(); nullptr: the rank is no member.
  ncclComm_t at(int communicator) const { return comms_[communicator]; }

  /// Calls `use`, whose answer is NCCL's, unless they are aborted. Throws.
  void use(const CallSite& site, const std::function<ncclResult_t()>& use);

  /// Waits until NCCL has done what was begun on the communicator. Throws what it failed with.
  void settle(const CallSite& site);

  /// Throws if any of them failed meanwhile.
  void look_for_errors();

  /// Finalises and destroys all of them.
  void finish();

  /// Ends all of them, whatever runs; from another thread. Returns when NCCL has ended them. A use
  /// that blocks keeps its turn for a second at most.
  void abort();

  bool is_aborted() const { return aborted_; }

 private:
  void initialise(int communicator, const ncclUniqueId& id);
  void split(const std::vector<int>& made);
  ncclResult_t state_of(const CallSite& site);
  void need_split() const;

  const NcclLibrary& nccl_;
  const ReplayPlan& plan_;
  int rank_;
  int gpu_;
  std::function<void()> looks_around_;
  std::vector<ncclComm_t> comms_;  ///< By communicator of the plan; behind them those added.
  ncclComm_t no_comm_ = nullptr;   ///< What a split gives to a rank of no color; NCCL writes late.
  std::timed_mutex turn_;
  std::atomic<bool> aborted_ = false;
};

// How is a planned call made?
//
//   {"op": "Reduce", "count": 1024, …, "root": 0}
//   →  ncclReduce(send, receive, 1024, …, 0, comm, stream)

/// On what a call is made. Buffers are in the GPU's memory and large enough.
struct CallTarget {
  const void* send = nullptr;
  void* receive = nullptr;
  ncclComm_t comm = nullptr;
  int rank = 0;  ///< In the communicator.
  int nranks = 1;
  cudaStream_t stream = nullptr;
};

/// Enqueues the call; the job's own reductions as a sum. AlltoAll, Gather and Scatter are made of
/// messages where the library lacks them, in a group of their own as NCCL's documentation has it.
ncclResult_t issue_call(const NcclLibrary& nccl, const PlannedCall& call, const CallTarget& on);

/// True if that is what issue_call() does.
bool is_made_of_messages(const NcclLibrary& nccl, const PlannedCall& call);

/// "ncclAllReduce".
std::string function_name(const PlannedCall& call);

/// Used by one thread, whose current GPU is the rank's. Invariant: a call's event is recorded once
/// NCCL has enqueued the call.
class RankExecution {
 public:
  /// The plan, NCCL and the communicators are kept by reference.
  RankExecution(const ReplayPlan& plan, int rank, MadeIn mode, const NcclLibrary& nccl,
                Communicators& communicators);

  /// Flips a bit of what that call receives, before it is compared.
  void plant(const PlantedCorruption& corruption) { corruption_ = corruption; }

  /// Takes memory, streams and events, and loads the kernels: a kernel that is loaded when it is
  /// first launched may wait for one that hangs. Throws Error.
  void allocate();

  /// Makes all calls. Throws.
  void enqueue_all(const std::function<void()>& looks_around);

  /// Waits until all calls are completed and compared. Throws.
  void wait_for_all(const std::function<void()>& looks_around);

  /// Asks the GPU which calls are completed; after an abort none is any more. Throws if it failed.
  void look();

  /// How far the calls are, as the coordinator is told.
  const RankMessage& progress() const { return progress_; }

  /// Of each call what was compared; valid for those that are completed. Waits for the copy, not
  /// for the calls. Throws, also if the GPU does not answer within a second.
  std::vector<ComparedElements> results() const;

  /// By call, as look() saw it last.
  const std::vector<bool>& completed() const { return is_completed_; }

  const std::vector<PlannedCall>& calls() const { return calls_; }

  /// Gives back what allocate() took, in the thread that took it.
  void release();

  /// Where that call is made.
  CallTarget target_of(size_t call) const;

 private:
  struct Stream {
    GpuStream stream;
    GpuMemory send;
    GpuMemory receive;
    std::vector<size_t> entered;  ///< Calls, in order.
    size_t completed = 0;         ///< So many of them.
  };

  CallSite site_of(size_t call) const;
  BufferSizes shape_of(size_t call) const;
  void await_room(size_t call, const std::function<void()>& looks_around);
  void fill(size_t call);
  void issue(size_t first, size_t end);
  void follow(size_t call);

  const ReplayPlan& plan_;
  int rank_;
  const NcclLibrary& nccl_;
  Communicators& communicators_;
  std::vector<PlannedCall> calls_;
  BufferLayout layout_;
  std::optional<PlantedCorruption> corruption_;
  std::vector<Stream> streams_;
  std::vector<GpuEvent> made_;      ///< By call: NCCL's part is done.
  std::vector<GpuEvent> compared_;  ///< By stream: its last comparison is done.
  GpuMemory results_;               ///< A ComparedElements for each call.
  GpuStream copy_;                  ///< What is copied out does not wait for the calls.
  std::vector<bool> is_completed_;
  RankMessage progress_{.kind = RankMessage::Kind::Progress};
};

// How long does a call take on these GPUs?
//
// What is measured, and why twice, says replay/run/rank_plan.h. All ranks of the communicator
// measure together; of each run the slowest rank's time counts, which they agree on by a reduction.

/// Times the call that the plan is about and says so if this is its rank 0; nullopt: it is not, or
/// there is nothing to time, or NCCL is older than 2.18 and splits no communicator. Called when all
/// calls are compared, by all ranks. Throws.
std::optional<CallTiming> time_program(const ReplayPlan& plan, int rank, int runs,
                                       RankExecution& program, const NcclLibrary& nccl,
                                       Communicators& communicators);

}  // namespace ncclog
