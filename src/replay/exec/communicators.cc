#include "replay/exec/communicators.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/error.h"
#include "replay/exec/buffer_layout.h"
#include "replay/exec/comm_steps.h"

namespace ncclog {
namespace {

constexpr std::chrono::microseconds kBetweenLooks{200};
constexpr std::chrono::seconds kLongestUse{1};
constexpr size_t kMostAdded = 8;

ncclConfig_t non_blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

}  // namespace

Communicators::Communicators(const NcclLibrary& nccl, const ReplayPlan& plan, int rank, int gpu,
                             std::function<void()> looks_around)
    : nccl_(nccl),
      plan_(plan),
      rank_(rank),
      gpu_(gpu),
      looks_around_(std::move(looks_around)),
      comms_(plan.communicators.size(), nullptr) {
  // NCCL keeps the address of what it is to fill.
  comms_.reserve(comms_.size() + kMostAdded);
}

void Communicators::make(const std::vector<ncclUniqueId>& ids) {
  for (const CommStep& step : comm_steps(plan_)) {
    if (step.parent >= 0) {
      split(step.parent, step.made);
    } else {
      const int made = step.made.front();
      initialise(made, ids[static_cast<size_t>(made)]);
    }
  }
}

void Communicators::use(const CallSite& site, const std::function<ncclResult_t()>& use) {
  const std::lock_guard lock(turn_);
  if (aborted_) throw RunAborted{};
  const ncclComm_t comm = site.communicator < 0 ? nullptr : at(site.communicator);
  check(use(), site, nccl_, comm);
}

void Communicators::initialise(int communicator, const ncclUniqueId& id) {
  const PlannedCommunicator& planned = plan_.communicators[static_cast<size_t>(communicator)];
  const int own = rank_in(planned, rank_);
  if (own < 0) return;
  ncclConfig_t config = non_blocking();
  const CallSite site{"ncclCommInitRankConfig", rank_, communicator};
  use(site, [&] {
    return nccl_.comm_init_rank_config(&comms_[static_cast<size_t>(communicator)],
                                       static_cast<int>(planned.ranks.size()), id, own, &config);
  });
  settle(site);
}

void Communicators::split(int parent, const std::vector<int>& made) {
  if (at(parent) == nullptr) return;
  need_split();
  const auto own = std::find_if(made.begin(), made.end(), [this](int child) {
    return rank_in(plan_.communicators[static_cast<size_t>(child)], rank_) >= 0;
  });
  const bool has_color = own != made.end();
  const PlannedCommunicator* child =
      has_color ? &plan_.communicators[static_cast<size_t>(*own)] : nullptr;
  ncclConfig_t config = non_blocking();
  const CallSite site{"ncclCommSplit", rank_, parent};
  use(site, [&] {
    return nccl_.comm_split(at(parent), has_color ? child->color : NCCL_SPLIT_NOCOLOR,
                            has_color ? rank_in(*child, rank_) : 0,
                            has_color ? &comms_[static_cast<size_t>(*own)] : &no_comm_, &config);
  });
  settle(site);
  if (has_color && at(*own) != nullptr) settle({"ncclCommSplit", rank_, *own});
}

void Communicators::need_split() const {
  if (nccl_.comm_split != nullptr) return;
  throw Error("this NCCL has no ncclCommSplit, which came with NCCL 2.18", nccl_.path,
              "name a later release with --nccl");
}

int Communicators::add_blocking(int communicator) {
  need_split();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  const int own = rank_in(plan_.communicators[static_cast<size_t>(communicator)], rank_);
  const CallSite site{"ncclCommSplit", rank_, communicator};
  use(site, [&] {
    comms_.push_back(nullptr);
    return nccl_.comm_split(at(communicator), 0, own, &comms_.back(), &config);
  });
  settle(site);
  const int added = static_cast<int>(comms_.size()) - 1;
  if (at(added) != nullptr) settle({"ncclCommSplit", rank_, added});
  return added;
}

void Communicators::settle(const CallSite& site) { settle(site, at(site.communicator)); }

void Communicators::settle(const CallSite& site, ncclComm_t comm) {
  for (int round = 0;; ++round) {
    ncclResult_t state = ncclSuccess;
    use(site, [&] {
      const ncclResult_t asked = nccl_.comm_get_async_error(comm, &state);
      return asked == ncclSuccess ? state : asked;
    });
    if (state != ncclInProgress) return;
    looks_around_();
    // Most of what is waited for takes a few microseconds.
    if (round > 20) std::this_thread::sleep_for(kBetweenLooks);
  }
}

void Communicators::look_for_errors() {
  for (size_t i = 0; i < comms_.size(); ++i) {
    if (comms_[i] == nullptr) continue;
    const CallSite site{"ncclCommGetAsyncError", rank_, static_cast<int>(i)};
    use(site, [&] {
      ncclResult_t state = ncclSuccess;
      const ncclResult_t asked = nccl_.comm_get_async_error(comms_[i], &state);
      return asked == ncclSuccess ? state : asked;
    });
  }
}

void Communicators::finish() {
  for (size_t i = comms_.size(); i-- > 0;) {
    if (comms_[i] == nullptr) continue;
    const CallSite site{"ncclCommFinalize", rank_, static_cast<int>(i)};
    use(site, [&] { return nccl_.comm_finalize(comms_[i]); });
    settle(site);
  }
  for (size_t i = comms_.size(); i-- > 0;) {
    if (comms_[i] == nullptr) continue;
    // An abort in the middle of it would free what is being freed.
    const ncclComm_t comm = std::exchange(comms_[i], nullptr);
    use({"ncclCommDestroy", rank_, -1}, [&] { return nccl_.comm_destroy(comm); });
  }
}

void Communicators::abort() {
  aborted_ = true;
  std::unique_lock lock(turn_, kLongestUse);
  // One may have to wait for the kernel of another, so none may wait for the other's end.
  std::vector<std::thread> ends;
  for (const ncclComm_t comm : comms_) {
    if (comm == nullptr) continue;
    ends.emplace_back([this, comm] {
      // Else NCCL would leave a context on the thread's first GPU.
      (void)cudaSetDevice(gpu_);
      (void)nccl_.comm_abort(comm);
    });
  }
  for (std::thread& end : ends) end.join();
  std::fill(comms_.begin(), comms_.end(), nullptr);
}

}  // namespace ncclog
