#include "replay/run/rank_execution.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "base/collectives.h"
#include "base/error.h"
#include "replay/run/pattern.h"

namespace ncclog {
namespace {

// The communicators of a rank.

/// The GPU and NCCL are asked so often whether they are done, wherever a rank waits.
constexpr std::chrono::microseconds kBetweenLooks{200};

/// An abort waits so long for a function of NCCL to return; then it is taken for one that hangs.
constexpr std::chrono::seconds kLongestUse{1};

/// Communicators beside those of the plan; a measurement adds one.
constexpr size_t kMostAdded = 8;

bool failed(ncclResult_t result) { return result != ncclSuccess && result != ncclInProgress; }

ncclConfig_t non_blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

// How a planned call is made.

ncclDataType_t type_of(const PlannedCall& call) {
  return static_cast<ncclDataType_t>(call.datatype);
}

/// Runs `make` within a group, which takes note of the first failure.
template <typename Make>
ncclResult_t in_one_group(const NcclLibrary& nccl, Make make) {
  ncclResult_t result = nccl.group_start();
  if (result != ncclSuccess) return result;
  make(result);
  // A group that was opened has to be closed, or it would take in all that follows.
  const ncclResult_t ended = nccl.group_end();
  return result != ncclSuccess ? result : ended;
}

/// AlltoAll, Gather or Scatter: the blocks of all peers lie side by side in the larger buffer.
ncclResult_t exchange_blocks(const NcclLibrary& nccl, const PlannedCall& call,
                             const CallTarget& on) {
  const int64_t bytes = call.count * element_bytes(call.datatype);
  const auto count = static_cast<size_t>(call.count);
  const bool is_root = on.rank == call.root;
  return in_one_group(nccl, [&](ncclResult_t& result) {
    const auto note = [&](ncclResult_t made) {
      if (failed(made)) result = made;
    };
    const auto send = [&](int block, int peer) {
      note(nccl.send(static_cast<const char*>(on.send) + block * bytes, count, type_of(call), peer,
                     on.comm, on.stream));
    };
    const auto receive = [&](int block, int peer) {
      note(nccl.recv(static_cast<char*>(on.receive) + block * bytes, count, type_of(call), peer,
                     on.comm, on.stream));
    };
    const OperationTraits& traits = traits_of(call.op);
    if (!traits.sends_blocks()) send(0, call.root);
    if (!traits.receives_blocks()) receive(0, call.root);
    for (int peer = 0; peer < on.nranks; ++peer) {
      if (traits.sends_blocks() && (is_root || !traits.has_root())) send(peer, peer);
      if (traits.receives_blocks() && (is_root || !traits.has_root())) receive(peer, peer);
    }
  });
}

// The calls of a rank on its GPU.

constexpr size_t kMostOpenOnStream = 128;
constexpr std::chrono::seconds kLongestCopy{1};

/// A value that no pattern is likely to begin with.
constexpr int kPoison = 0xa5;

// How long a call takes.

constexpr int kWarmUps = 10;

/// One rank's part in a measurement.
class Stopwatch {
 public:
  Stopwatch(RankExecution& program, size_t call, int runs, const NcclLibrary& nccl,
            Communicators& communicators, int rank)
      : call_(program.calls()[call]),
        target_(program.target_of(call)),
        communicator_(communicators.add_blocking(call_.communicator)),
        site_{function_name(call_), rank, communicator_, static_cast<int64_t>(call)},
        nccl_(nccl),
        communicators_(communicators),
        rank_(rank),
        times_(static_cast<int64_t>(sizeof(double)) * (runs + 2), rank) {
    target_.comm = communicators.at(communicator_);
    for (int i = 0; i < runs + 2; ++i) {
      starts_.emplace_back(rank, true);
      ends_.emplace_back(rank, true);
    }
  }

  /// Makes the call `calls` times between two events.
  void run_series(size_t run, int calls) {
    starts_[run].record(target_.stream);
    for (int i = 0; i < calls; ++i) {
      communicators_.use(site_, [&] { return issue_call(nccl_, call_, target_); });
    }
    ends_[run].record(target_.stream);
  }

  /// No rank's stream passes before all have come here.
  void meet() { reduce_times(1); }

  /// By run, of the slowest rank. Waits for all of them.
  std::vector<double> slowest() {
    wait();
    std::vector<double> times(starts_.size());
    for (size_t i = 0; i < times.size(); ++i) times[i] = ends_[i].microseconds_since(starts_[i]);
    const size_t bytes = times.size() * sizeof(double);
    check(
        cudaMemcpyAsync(times_.at(0), times.data(), bytes, cudaMemcpyHostToDevice, target_.stream),
        {"cudaMemcpyAsync", rank_});
    reduce_times(times.size());
    ends_.back().record(target_.stream);
    wait();
    check(cudaMemcpy(times.data(), times_.at(0), bytes, cudaMemcpyDeviceToHost),
          {"cudaMemcpy", rank_});
    return times;
  }

 private:
  void reduce_times(size_t count) {
    communicators_.use(site_, [&] {
      return nccl_.all_reduce(times_.at(0), times_.at(0), count, ncclFloat64, ncclMax, target_.comm,
                              target_.stream);
    });
    communicators_.settle(site_);
  }

  /// The last event of the stream is recorded; the host hears an abort meanwhile.
  void wait() {
    while (!ends_.back().is_reached()) {
      communicators_.look_for_errors();
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  const PlannedCall& call_;
  CallTarget target_;
  int communicator_;  ///< Blocking; a call on one that does not block costs the host 0.3 ms.
  CallSite site_;
  const NcclLibrary& nccl_;
  Communicators& communicators_;
  int rank_;
  GpuMemory times_;
  std::vector<GpuEvent> starts_;
  std::vector<GpuEvent> ends_;
};

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
  for (const std::vector<int>& step : comm_steps(plan_)) {
    const int first = step.front();
    if (plan_.communicators[first].parent >= 0) {
      split(step);
    } else {
      initialise(first, ids[first]);
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
  const PlannedCommunicator& planned = plan_.communicators[communicator];
  const int own = rank_in(planned, rank_);
  if (own < 0) return;
  ncclConfig_t config = non_blocking();
  const CallSite site{"ncclCommInitRankConfig", rank_, communicator};
  use(site, [&] {
    return nccl_.comm_init_rank_config(&comms_[communicator],
                                       static_cast<int>(planned.ranks.size()), id, own, &config);
  });
  settle(site);
}

void Communicators::split(const std::vector<int>& made) {
  const int parent = plan_.communicators[made.front()].parent;
  if (at(parent) == nullptr) return;
  need_split();
  const auto own = std::ranges::find_if(
      made, [this](int child) { return rank_in(plan_.communicators[child], rank_) >= 0; });
  const bool has_color = own != made.end();
  const PlannedCommunicator* child = has_color ? &plan_.communicators[*own] : nullptr;
  ncclConfig_t config = non_blocking();
  const CallSite site{"ncclCommSplit", rank_, parent};
  use(site, [&] {
    return nccl_.comm_split(at(parent), has_color ? child->color : NCCL_SPLIT_NOCOLOR,
                            has_color ? rank_in(*child, rank_) : 0,
                            has_color ? &comms_[*own] : &no_comm_, &config);
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
  const int own = rank_in(plan_.communicators[communicator], rank_);
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

ncclResult_t Communicators::state_of(const CallSite& site) {
  ncclResult_t state = ncclSuccess;
  use(site, [&] {
    const ncclResult_t asked = nccl_.comm_get_async_error(at(site.communicator), &state);
    return asked == ncclSuccess ? state : asked;
  });
  return state;
}

void Communicators::settle(const CallSite& site) {
  for (int round = 0; state_of(site) == ncclInProgress; ++round) {
    looks_around_();
    // Most of what is waited for takes a few microseconds.
    if (round > 20) std::this_thread::sleep_for(kBetweenLooks);
  }
}

void Communicators::look_for_errors() {
  for (size_t i = 0; i < comms_.size(); ++i) {
    if (comms_[i] == nullptr) continue;
    state_of({"ncclCommGetAsyncError", rank_, static_cast<int>(i)});
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
  std::ranges::fill(comms_, nullptr);
}

ncclResult_t issue_call(const NcclLibrary& nccl, const PlannedCall& call, const CallTarget& on) {
  if (is_made_of_messages(nccl, call)) return exchange_blocks(nccl, call, on);
  const auto count = static_cast<size_t>(call.count);
  const ncclRedOp_t redop =
      call.redop < ncclNumOps ? static_cast<ncclRedOp_t>(call.redop) : ncclSum;
  const auto make = [&](auto function, auto... own) {
    return function(on.send, on.receive, count, type_of(call), own..., on.comm, on.stream);
  };
  switch (operation_of(call.op)) {
    case Operation::Send:
      return nccl.send(on.send, count, type_of(call), call.root, on.comm, on.stream);
    case Operation::Recv:
      return nccl.recv(on.receive, count, type_of(call), call.root, on.comm, on.stream);
    case Operation::AllReduce:
      return make(nccl.all_reduce, redop);
    case Operation::Broadcast:
      return make(nccl.broadcast, call.root);
    case Operation::Reduce:
      return make(nccl.reduce, redop, call.root);
    case Operation::AllGather:
      return make(nccl.all_gather);
    case Operation::ReduceScatter:
      return make(nccl.reduce_scatter, redop);
    case Operation::AlltoAll:
      return make(nccl.all_to_all);
    case Operation::Gather:
      return make(nccl.gather, call.root);
    case Operation::Scatter:
      return make(nccl.scatter, call.root);
    default:
      return ncclInvalidUsage;
  }
}

bool is_made_of_messages(const NcclLibrary& nccl, const PlannedCall& call) {
  switch (operation_of(call.op)) {
    case Operation::AlltoAll:
      return nccl.all_to_all == nullptr;
    case Operation::Gather:
      return nccl.gather == nullptr;
    case Operation::Scatter:
      return nccl.scatter == nullptr;
    default:
      return false;
  }
}

std::string function_name(const PlannedCall& call) { return "nccl" + call.op; }

RankExecution::RankExecution(const ReplayPlan& plan, int rank, MadeIn mode, const NcclLibrary& nccl,
                             Communicators& communicators)
    : plan_(plan),
      rank_(rank),
      nccl_(nccl),
      communicators_(communicators),
      calls_(calls_in(plan.ranks[rank], mode)),
      layout_(lay_out_buffers(plan, rank, calls_)),
      is_completed_(calls_.size(), false) {}

void RankExecution::allocate() {
  for (const BufferSizes& arenas : layout_.streams) {
    streams_.push_back({make_stream(rank_),
                        GpuMemory(arenas.send, rank_),
                        GpuMemory(arenas.receive, rank_),
                        {},
                        0});
    compared_.emplace_back(rank_);
  }
  copy_ = make_stream(rank_);
  for (size_t i = 0; i < calls_.size(); ++i) made_.emplace_back(rank_);
  const std::vector<ComparedElements> none(std::max<size_t>(calls_.size(), 1));
  const size_t bytes = none.size() * sizeof(ComparedElements);
  results_ = GpuMemory(static_cast<int64_t>(bytes), rank_);
  check(cudaMemcpy(results_.at(0), none.data(), bytes, cudaMemcpyHostToDevice),
        {"cudaMemcpy", rank_});
  // Kernels are loaded now: one that is loaded at its first launch may wait for a call that hangs.
  auto* result = reinterpret_cast<ComparedElements*>(results_.at(0));
  check(launch_fill({}, results_.at(0), 0, nullptr), {"launch of fill", rank_});
  check(launch_compare({}, results_.at(0), 0, result, nullptr), {"launch of compare", rank_});
  check(cudaDeviceSynchronize(), {"cudaDeviceSynchronize", rank_});
}

CallSite RankExecution::site_of(size_t call) const {
  return {function_name(calls_[call]), rank_, calls_[call].communicator,
          static_cast<int64_t>(call)};
}

CallTarget RankExecution::target_of(size_t call) const {
  const PlannedCall& planned = calls_[call];
  const PlannedCommunicator& communicator = plan_.communicators[planned.communicator];
  const BufferPlace& place = layout_.calls[call];
  const Stream& stream = streams_[planned.stream];
  const GpuMemory& sends = place.sends_from_receive_arena ? stream.receive : stream.send;
  return {.send = sends.at(place.send),
          .receive = stream.receive.at(place.receive),
          .comm = communicators_.at(planned.communicator),
          .rank = rank_in(communicator, rank_),
          .nranks = static_cast<int>(communicator.ranks.size()),
          .stream = stream.stream.get()};
}

BufferSizes RankExecution::shape_of(size_t call) const {
  const CallTarget target = target_of(call);
  return ncclog::shape_of(calls_[call], target.rank, target.nranks);
}

void RankExecution::enqueue_all(const std::function<void()>& looks_around) {
  for (size_t at = 0; at < calls_.size();) {
    const size_t end = group_end(calls_, at);
    for (size_t call = at; call < end; ++call) await_room(call, looks_around);
    for (size_t call = at; call < end; ++call) fill(call);
    // Said before it is done: NCCL may never return from the call, and then this is the front.
    progress_.entered = end;
    looks_around();
    issue(at, end);
    for (size_t call = at; call < end; ++call) follow(call);
    look();
    looks_around();
    at = end;
  }
  for (size_t i = 0; i < streams_.size(); ++i) compared_[i].record(streams_[i].stream.get());
}

void RankExecution::await_room(size_t call, const std::function<void()>& looks_around) {
  const Stream& stream = streams_[calls_[call].stream];
  while (stream.entered.size() - stream.completed >= kMostOpenOnStream) {
    look();
    looks_around();
    communicators_.look_for_errors();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void RankExecution::fill(size_t call) {
  const CallTarget target = target_of(call);
  const BufferSizes shape = shape_of(call);
  const DataPattern pattern = pattern_of(calls_[call], target.rank, target.nranks);
  // What was received before must not pass for what is expected now. In place, the values to be
  // sent may already cover the receive buffer.
  const bool is_filled = calls_[call].in_place && shape.send >= shape.receive;
  if (shape.receive > 0 && !is_filled) {
    const auto bytes = static_cast<size_t>(shape.receive * element_bytes(pattern.datatype));
    check(cudaMemsetAsync(target.receive, kPoison, bytes, target.stream),
          {"cudaMemsetAsync", rank_});
  }
  if (shape.send == 0) return;
  check(launch_fill(pattern, const_cast<void*>(target.send), shape.send, target.stream),
        {"launch of fill", rank_, -1, static_cast<int64_t>(call)});
}

void RankExecution::issue(size_t first, size_t end) {
  const auto make = [this](size_t call) {
    return issue_call(nccl_, calls_[call], target_of(call));
  };
  if (calls_[first].group < 0) {
    communicators_.use(site_of(first), [&] { return make(first); });
  } else {
    CallSite site = site_of(first);
    site.function = "ncclGroupStart … ncclGroupEnd";
    communicators_.use(site, [&] {
      return in_one_group(nccl_, [&](ncclResult_t& result) {
        for (size_t call = first; call < end; ++call) {
          const ncclResult_t made = make(call);
          if (failed(made)) result = made;
        }
      });
    });
  }
  std::set<int> used;
  for (size_t call = first; call < end; ++call) {
    if (used.insert(calls_[call].communicator).second) communicators_.settle(site_of(call));
  }
}

void RankExecution::follow(size_t call) {
  const CallTarget target = target_of(call);
  Stream& stream = streams_[calls_[call].stream];
  made_[call].record(target.stream);
  stream.entered.push_back(call);
  const BufferSizes shape = shape_of(call);
  const DataPattern pattern = pattern_of(calls_[call], target.rank, target.nranks);
  if (corruption_ && corruption_->rank == rank_ && corruption_->call == call &&
      corruption_->element < shape.receive) {
    check(launch_flip(target.receive, corruption_->element, element_bytes(pattern.datatype),
                      target.stream),
          {"launch of flip", rank_});
  }
  if (shape.receive == 0 || !is_compared(calls_[call])) return;
  auto* result = reinterpret_cast<ComparedElements*>(results_.at(0)) + call;
  check(launch_compare(pattern, target.receive, shape.receive, result, target.stream),
        {"launch of compare", rank_, -1, static_cast<int64_t>(call)});
}

void RankExecution::look() {
  for (Stream& stream : streams_) {
    while (stream.completed < stream.entered.size() &&
           made_[stream.entered[stream.completed]].is_reached()) {
      // An abort ends calls too, and what they leave is no result.
      if (communicators_.is_aborted()) return;
      is_completed_[stream.entered[stream.completed]] = true;
      ++stream.completed;
    }
  }
  while (progress_.completed < progress_.entered && is_completed_[progress_.completed]) {
    ++progress_.completed;
  }
  progress_.open.clear();
  constexpr size_t kMostOpenNamed = 64;
  for (size_t call = progress_.completed;
       call < progress_.entered && progress_.open.size() < kMostOpenNamed; ++call) {
    if (!is_completed_[call]) progress_.open.push_back(call);
  }
}

void RankExecution::wait_for_all(const std::function<void()>& looks_around) {
  const auto is_over = [this] {
    return std::ranges::all_of(compared_, [](const GpuEvent& event) { return event.is_reached(); });
  };
  while (look(), !is_over()) {
    looks_around();
    communicators_.look_for_errors();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  look();
}

std::vector<ComparedElements> RankExecution::results() const {
  std::vector<ComparedElements> results(calls_.size());
  if (results.empty()) return results;
  const cudaStream_t stream = copy_.get();
  check(cudaMemcpyAsync(results.data(), results_.at(0), results.size() * sizeof(ComparedElements),
                        cudaMemcpyDeviceToHost, stream),
        {"cudaMemcpyAsync", rank_});
  GpuEvent copied(rank_);
  copied.record(stream);
  const auto end = std::chrono::steady_clock::now() + kLongestCopy;
  while (!copied.is_reached()) {
    if (std::chrono::steady_clock::now() > end) throw Error("the GPU does not answer");
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return results;
}

void RankExecution::release() {
  made_.clear();
  compared_.clear();
  streams_.clear();
  copy_.reset();
  results_ = GpuMemory();
}

std::optional<CallTiming> time_program(const ReplayPlan& plan, int rank, int runs,
                                       RankExecution& program, const NcclLibrary& nccl,
                                       Communicators& communicators) {
  const std::optional<CallPlace> timed = choose_timed_call(plan);
  if (!timed || nccl.comm_split == nullptr) return std::nullopt;
  const std::optional<size_t> call = find_timed_call(program.calls(), *timed);
  if (!call) return std::nullopt;
  // A communicator of its own is split off for it, so that its cold run sets up connections.
  Stopwatch watch(program, *call, runs, nccl, communicators, rank);
  const auto warm = static_cast<size_t>(runs);
  // Without meeting, a rank would measure how late the others come.
  watch.meet();
  watch.run_series(0, 1);
  // The series takes other times later; until then its place serves for what is not counted.
  watch.run_series(warm + 1, kWarmUps);
  watch.meet();
  for (size_t run = 1; run <= warm; ++run) watch.run_series(run, 1);
  watch.meet();
  watch.run_series(warm + 1, runs);
  const std::vector<double> times = watch.slowest();
  if (rank != 0) return std::nullopt;
  return timing_of(program.calls()[*call], *call, program.target_of(*call).nranks, times);
}

}  // namespace ncclog
