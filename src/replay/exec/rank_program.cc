#include "replay/exec/rank_program.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "base/error.h"
#include "replay/call_shape.h"
#include "replay/exec/call_pattern.h"

namespace ncclog {
namespace {

constexpr size_t kMostOpenOnStream = 128;
constexpr std::chrono::microseconds kBetweenLooks{200};
constexpr std::chrono::seconds kLongestCopy{1};

/// A value that no pattern is likely to begin with.
constexpr int kPoison = 0xa5;

}  // namespace

RankProgram::RankProgram(const ReplayPlan& plan, int rank, MadeIn mode, const NcclLibrary& nccl,
                         Communicators& communicators)
    : plan_(plan),
      rank_(rank),
      nccl_(nccl),
      communicators_(communicators),
      calls_(calls_in(plan.ranks[static_cast<size_t>(rank)], mode)),
      layout_(lay_out_buffers(plan, rank, calls_)),
      is_completed_(calls_.size(), false) {}

void RankProgram::allocate() {
  for (const StreamArenas& arenas : layout_.streams) {
    streams_.push_back(
        {GpuStream(rank_), GpuMemory(arenas.send, rank_), GpuMemory(arenas.receive, rank_), {}, 0});
    compared_.emplace_back(rank_);
  }
  copies_.emplace_back(rank_);
  for (size_t i = 0; i < calls_.size(); ++i) made_.emplace_back(rank_);
  const std::vector<ComparedElements> none(std::max<size_t>(calls_.size(), 1));
  const size_t bytes = none.size() * sizeof(ComparedElements);
  results_ = GpuMemory(static_cast<int64_t>(bytes), rank_);
  check(cudaMemcpy(results_.at(0), none.data(), bytes, cudaMemcpyHostToDevice),
        {"cudaMemcpy", rank_});
  auto* result = reinterpret_cast<ComparedElements*>(results_.at(0));
  check(launch_fill({}, results_.at(0), 0, nullptr), {"launch of fill", rank_});
  check(launch_compare({}, results_.at(0), 0, result, nullptr), {"launch of compare", rank_});
  check(cudaDeviceSynchronize(), {"cudaDeviceSynchronize", rank_});
}

CallSite RankProgram::site_of(size_t call) const {
  return {function_name(calls_[call]), rank_, calls_[call].communicator,
          static_cast<int64_t>(call)};
}

CallTarget RankProgram::target_of(size_t call) const {
  const PlannedCall& planned = calls_[call];
  const PlannedCommunicator& communicator =
      plan_.communicators[static_cast<size_t>(planned.communicator)];
  const BufferPlace& place = layout_.calls[call];
  const Stream& stream = streams_[static_cast<size_t>(planned.stream)];
  const GpuMemory& sends = place.sends_from_receive_arena ? stream.receive : stream.send;
  return {.send = sends.at(place.send),
          .receive = stream.receive.at(place.receive),
          .comm = communicators_.at(planned.communicator),
          .rank = rank_in(communicator, rank_),
          .nranks = static_cast<int>(communicator.ranks.size()),
          .stream = stream.stream.get()};
}

CallShape RankProgram::shape_of(size_t call) const {
  const CallTarget target = target_of(call);
  return ncclog::shape_of(calls_[call], target.rank, target.nranks);
}

void RankProgram::enqueue_all(const std::function<void()>& looks_around) {
  for (size_t at = 0; at < calls_.size();) {
    const size_t end = group_end(calls_, at);
    for (size_t call = at; call < end; ++call) await_room(call, looks_around);
    for (size_t call = at; call < end; ++call) fill(call);
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

void RankProgram::await_room(size_t call, const std::function<void()>& looks_around) {
  const Stream& stream = streams_[static_cast<size_t>(calls_[call].stream)];
  while (stream.entered.size() - stream.completed >= kMostOpenOnStream) {
    look();
    looks_around();
    communicators_.look_for_errors();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void RankProgram::fill(size_t call) {
  const CallTarget target = target_of(call);
  const CallShape shape = shape_of(call);
  const DataPattern pattern = pattern_of(calls_[call], target.rank, target.nranks);
  const bool is_filled = calls_[call].in_place && shape.sent >= shape.received;
  if (shape.received > 0 && !is_filled) {
    const auto bytes = static_cast<size_t>(shape.received * element_bytes(pattern.datatype));
    check(cudaMemsetAsync(target.receive, kPoison, bytes, target.stream),
          {"cudaMemsetAsync", rank_});
  }
  if (shape.sent == 0) return;
  check(launch_fill(pattern, const_cast<void*>(target.send), shape.sent, target.stream),
        {"launch of fill", rank_, -1, static_cast<int64_t>(call)});
}

void RankProgram::issue(size_t first, size_t end) {
  const bool is_group = calls_[first].group >= 0;
  if (!is_group) {
    communicators_.use(site_of(first),
                       [&] { return issue_call(nccl_, calls_[first], target_of(first)); });
  } else {
    communicators_.use({"ncclGroupStart … ncclGroupEnd", rank_, calls_[first].communicator,
                        static_cast<int64_t>(first)},
                       [&] {
                         ncclResult_t result = nccl_.group_start();
                         for (size_t call = first; call < end; ++call) {
                           const ncclResult_t made =
                               issue_call(nccl_, calls_[call], target_of(call));
                           if (made != ncclSuccess && made != ncclInProgress) result = made;
                         }
                         const ncclResult_t ended = nccl_.group_end();
                         return result == ncclSuccess ? ended : result;
                       });
  }
  std::set<int> used;
  for (size_t call = first; call < end; ++call) {
    if (used.insert(calls_[call].communicator).second) communicators_.settle(site_of(call));
  }
}

void RankProgram::follow(size_t call) {
  const CallTarget target = target_of(call);
  Stream& stream = streams_[static_cast<size_t>(calls_[call].stream)];
  made_[call].record(target.stream);
  stream.entered.push_back(call);
  const CallShape shape = shape_of(call);
  const DataPattern pattern = pattern_of(calls_[call], target.rank, target.nranks);
  if (corruption_ && corruption_->rank == rank_ && corruption_->call == call &&
      corruption_->element < shape.received) {
    check(launch_flip(target.receive, corruption_->element, element_bytes(pattern.datatype),
                      target.stream),
          {"launch of flip", rank_});
  }
  if (shape.received == 0 || !is_compared(calls_[call])) return;
  auto* result = reinterpret_cast<ComparedElements*>(results_.at(0)) + call;
  check(launch_compare(pattern, target.receive, shape.received, result, target.stream),
        {"launch of compare", rank_, -1, static_cast<int64_t>(call)});
}

void RankProgram::look() {
  for (Stream& stream : streams_) {
    while (stream.completed < stream.entered.size() &&
           made_[stream.entered[stream.completed]].is_reached()) {
      // An abort ends calls too, and what they leave is no result.
      if (communicators_.is_aborted()) return;
      is_completed_[stream.entered[stream.completed]] = true;
      ++stream.completed;
    }
  }
  count_completed();
}

void RankProgram::count_completed() {
  while (progress_.completed < progress_.entered && is_completed_[progress_.completed]) {
    ++progress_.completed;
  }
  progress_.open.clear();
  for (size_t call = progress_.completed;
       call < progress_.entered && progress_.open.size() < CallProgress::kMostOpenNamed; ++call) {
    if (!is_completed_[call]) progress_.open.push_back(call);
  }
}

void RankProgram::wait_for_all(const std::function<void()>& looks_around) {
  const auto is_over = [this] {
    return std::all_of(compared_.begin(), compared_.end(),
                       [](const GpuEvent& event) { return event.is_reached(); });
  };
  while (look(), !is_over()) {
    looks_around();
    communicators_.look_for_errors();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  look();
}

std::vector<ComparedElements> RankProgram::results() const {
  std::vector<ComparedElements> results(calls_.size());
  if (results.empty()) return results;
  const cudaStream_t stream = copies_.front().get();
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

void RankProgram::release() {
  made_.clear();
  compared_.clear();
  streams_.clear();
  copies_.clear();
  results_ = GpuMemory();
}

}  // namespace ncclog
