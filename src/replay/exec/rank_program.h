// The calls of one rank on its GPU: filled, made and compared, in the order of the plan.
//
//   stream 0:  fill, AllReduce 27, event, compare, fill, AllReduce 28, event, compare, …
//
// All of a call stands in its stream; the host waits for none of them, so ranks may run apart as
// far as they did in training. Only where 128 calls of a stream are open does the host wait, before
// the driver's own queue is full and makes it wait where it hears nothing.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "replay/call_shape.h"
#include "replay/exec/buffer_layout.h"
#include "replay/exec/communicators.h"
#include "replay/exec/gpu_memory.h"
#include "replay/exec/issue_call.h"
#include "replay/exec/kernels.h"
#include "replay/exec/rank_command.h"
#include "replay/outcome.h"

namespace ncclog {

/// How far a rank has come, as RankOutcome counts it.
struct CallProgress {
  uint64_t entered = 0;
  uint64_t completed = 0;
  std::vector<uint64_t> open;  ///< The first kMostOpenNamed.

  static constexpr size_t kMostOpenNamed = 64;

  bool operator==(const CallProgress&) const = default;
};

/// Used by one thread, whose current GPU is the rank's. Invariant: a call's event is recorded once
/// NCCL has enqueued the call.
class RankProgram {
 public:
  /// The plan, NCCL and the communicators are kept by reference.
  RankProgram(const ReplayPlan& plan, int rank, MadeIn mode, const NcclLibrary& nccl,
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

  const CallProgress& progress() const { return progress_; }

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
  CallShape shape_of(size_t call) const;
  void await_room(size_t call, const std::function<void()>& looks_around);
  void fill(size_t call);
  void issue(size_t first, size_t end);
  void follow(size_t call);
  void count_completed();

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
  std::vector<GpuStream> copies_;   ///< One: what is copied out does not wait for the calls.
  std::vector<bool> is_completed_;
  CallProgress progress_;
};

}  // namespace ncclog
