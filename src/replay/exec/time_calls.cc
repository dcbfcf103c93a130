#include "replay/exec/time_calls.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ncclog {
namespace {

constexpr std::chrono::microseconds kBetweenLooks{200};
constexpr int kWarmUps = 10;

/// One rank's part in a measurement.
class Stopwatch {
 public:
  Stopwatch(RankProgram& program, size_t call, int runs, const NcclLibrary& nccl,
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

  void run_once(size_t run) { run_series(run, 1); }

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

MeasuredRuns time_call(RankProgram& program, size_t call, int runs, const NcclLibrary& nccl,
                       Communicators& communicators, int rank) {
  Stopwatch watch(program, call, runs, nccl, communicators, rank);
  const auto warm = static_cast<size_t>(runs);
  watch.meet();
  watch.run_once(0);
  // The series takes other times later; until then its place serves for what is not counted.
  watch.run_series(warm + 1, kWarmUps);
  watch.meet();
  for (size_t run = 1; run <= warm; ++run) watch.run_once(run);
  watch.meet();
  watch.run_series(warm + 1, runs);
  const std::vector<double> times = watch.slowest();
  return {.cold = times.front(),
          .warm = {times.begin() + 1, times.end() - 1},
          .series = times.back() / runs};
}

std::optional<CallTiming> time_program(const ReplayPlan& plan, int rank, int runs,
                                       RankProgram& program, const NcclLibrary& nccl,
                                       Communicators& communicators) {
  const std::optional<TimedCall> timed = choose_timed_call(plan);
  if (!timed || nccl.comm_split == nullptr) return std::nullopt;
  const std::optional<size_t> call = find_timed_call(program.calls(), *timed);
  if (!call) return std::nullopt;
  const MeasuredRuns measured = time_call(program, *call, runs, nccl, communicators, rank);
  if (rank != 0) return std::nullopt;
  return timing_of(program.calls()[*call], *call, program.target_of(*call).nranks, measured);
}

}  // namespace ncclog
