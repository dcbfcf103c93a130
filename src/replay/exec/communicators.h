// The communicators of one rank: made, used by one thread, and aborted by another.
//
// They do not block: what NCCL has begun is asked for until it is done, so that the thread that
// uses them sees at any time that they are to be aborted. An abort frees a communicator; from then
// on the using thread must not touch it. So each use takes a turn, and none is given after an
// abort.

#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "replay/exec/check.h"
#include "replay/exec/nccl_library.h"
#include "replay/plan.h"

namespace ncclog {

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
  ncclComm_t at(int communicator) const { return comms_[static_cast<size_t>(communicator)]; }

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
  void split(int parent, const std::vector<int>& made);
  void settle(const CallSite& site, ncclComm_t comm);
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

}  // namespace ncclog
