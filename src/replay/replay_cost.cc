#include "replay/replay_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/text.h"
#include "log/nccl_names.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;
/// What a process of CUDA 12 or 13 with NCCL's kernels takes before the first communicator.
constexpr int64_t kContext = 600 * kMiB;
/// Of each connection and channel besides NCCL_BUFFSIZE: the buffers of LL (512 KiB) and of LL128
/// (4.7 MiB), by src/include/device.h of NCCL 2.28.
constexpr int64_t kLowLatency = 524288 + 4915200;
constexpr int64_t kDefaultBuffer = 4 * kMiB;  // NCCL_BUFFSIZE.
constexpr int kUsualChannels = 16;
/// A rank receives from one neighbour in a ring, and in a tree from up to three.
constexpr int kMostConnections = 4;
/// Between an abort and the end of the last process, and for the GPUs to answer.
constexpr int64_t kGraceSeconds = 5 + 2 + 10 + 30;

/// Sums that stay at the largest number instead of running over.
int64_t add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t bytes_of(const ReplayPlan& plan, const PlannedCall& call, size_t rank) {
  const auto& members = plan.communicators[static_cast<size_t>(call.communicator)].ranks;
  const auto found = std::find(members.begin(), members.end(), static_cast<int>(rank));
  const CallShape shape =
      shape_of(call, static_cast<int>(found - members.begin()), static_cast<int>(members.size()));
  const bool is_one_buffer = call.in_place && !is_message(call.op);
  const int64_t elements =
      is_one_buffer ? std::max(shape.sent, shape.received) : add(shape.sent, shape.received);
  return elements * datatype_bytes(call.datatype).value_or(1);
}

/// What the calls of one run need at once: on each stream the largest of its groups.
int64_t buffers_of(const ReplayPlan& plan, size_t rank, MadeIn mode) {
  struct Stream {
    int group = -1;
    int64_t open = 0;  ///< Of the group, or of the call.
    int64_t most = 0;
  };
  std::map<int, Stream> streams;
  for (const PlannedCall& call : plan.ranks[rank].calls) {
    if (call.made_in != MadeIn::Both && call.made_in != mode) continue;
    Stream& stream = streams[call.stream];
    const bool joins = call.group >= 0 && call.group == stream.group;
    stream.open = add(joins ? stream.open : 0, bytes_of(plan, call, rank));
    stream.group = call.group;
    stream.most = std::max(stream.most, stream.open);
  }
  int64_t sum = 0;
  for (const auto& [number, stream] : streams) sum = add(sum, stream.most);
  return sum;
}

/// NCCL_BUFFSIZE of the plan, where it is one.
int64_t buffer_size(const ReplayPlan& plan) {
  for (const PlannedSetting& setting : plan.settings) {
    if (setting.name != "NCCL_BUFFSIZE" || !setting.left_out.empty()) continue;
    const auto bytes = parse_int(setting.value);
    if (bytes && *bytes > 0 && *bytes <= 1024 * kMiB) return *bytes;
  }
  return kDefaultBuffer;
}

int64_t nccl_bytes(const ReplayPlan& plan, size_t rank) {
  int64_t bytes = kContext;
  for (const PlannedCommunicator& communicator : plan.communicators) {
    const auto& ranks = communicator.ranks;
    if (std::find(ranks.begin(), ranks.end(), static_cast<int>(rank)) == ranks.end()) continue;
    const int channels =
        std::clamp(communicator.channels > 0 ? communicator.channels : kUsualChannels, 1, 64);
    const int connections = std::min(static_cast<int>(ranks.size()), kMostConnections);
    bytes += channels * connections * (buffer_size(plan) + kLowLatency);
  }
  return bytes;
}

}  // namespace

int64_t ReplayCost::bytes() const { return add(buffers, nccl); }

ReplayCost replay_cost(const ReplayPlan& plan) {
  ReplayCost most;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const int64_t buffers =
        std::max(buffers_of(plan, r, MadeIn::Clean), buffers_of(plan, r, MadeIn::Defect));
    const ReplayCost cost{buffers, nccl_bytes(plan, r)};
    if (cost.bytes() > most.bytes()) most = cost;
  }
  return most;
}

ReplayDeadlines with_deadline(ReplayDeadlines planned, int seconds) {
  if (seconds > 0) planned.enqueue = planned.completion = planned.teardown = seconds;
  return planned;
}

int timing_seconds(int time_runs) {
  constexpr int kMost = 300;
  return std::min(std::max(time_runs, 0), kMost / 2) * 2;
}

int64_t longest_seconds(const ReplayDeadlines& deadlines, int runs) {
  const int64_t phases = int64_t{deadlines.start} + deadlines.init + deadlines.enqueue +
                         deadlines.completion + deadlines.teardown;
  return runs * (phases + kGraceSeconds);
}

int runs_of(const ReplayPlan& plan) { return has_defect(plan) ? 2 : 1; }

std::string cost_words(const ReplayPlan& plan, int runs) {
  const double gib = static_cast<double>(replay_cost(plan).bytes()) / static_cast<double>(kGiB);
  const int64_t seconds = longest_seconds(plan.deadlines, runs);
  return fmt::format("{} GPU{} with about {:.1f} GiB free on each, and at most {} min {} s",
                     plan.ranks.size(), plan.ranks.size() == 1 ? "" : "s", gib, seconds / 60,
                     seconds % 60);
}

}  // namespace ncclog
