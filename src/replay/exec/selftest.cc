#include "replay/exec/selftest.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "log/nccl_names.h"
#include "replay/call_shape.h"
#include "replay/exec/buffer_layout.h"
#include "replay/exec/check.h"
#include "replay/exec/local_run.h"
#include "replay/exec/run_rank.h"
#include "replay/exec/selftest_plan.h"

namespace ncclog {
namespace {

constexpr std::chrono::minutes kPatience{3};

/// What came of one run of the plan.
struct LocalOutcome {
  std::string error;                                 ///< Empty: it was completed.
  std::vector<Verification> verified;                ///< By rank.
  std::vector<std::vector<ComparedElements>> calls;  ///< By rank, by call.
};

LocalOutcome run_locally(const std::shared_ptr<const ReplayPlan>& plan,
                         const std::vector<int>& gpus,
                         const std::shared_ptr<const NcclLibrary>& nccl,
                         const std::optional<PlantedCorruption>& corrupt) {
  LocalOutcome outcome;
  outcome.calls.resize(gpus.size());
  LocalBoard board(gpus.size(), kPatience);
  std::vector<std::thread> ranks;
  for (size_t rank = 0; rank < gpus.size(); ++rank) {
    const RankTask task{
        .plan = plan,
        .mode = MadeIn::Clean,
        .rank = static_cast<int>(rank),
        .gpu = gpus[rank],
        .timed_runs = 0,
        .corrupt = corrupt,
        .tell_results = [&outcome, rank](const auto& results) { outcome.calls[rank] = results; }};
    ranks.emplace_back([&board, &nccl, rank, task] {
      run_rank(task, nccl,
               {.say = [&board, rank](const RankMessage& said) { board.say(rank, said); },
                .hear = [&board, rank](auto patience) { return board.hear(rank, patience); }});
    });
  }
  for (std::thread& rank : ranks) rank.join();
  outcome.error = board.error();
  outcome.verified = board.verified();
  return outcome;
}

struct Tally {
  uint64_t calls = 0;
  uint64_t elements = 0;
  uint64_t wrong = 0;
  std::string first_wrong;  ///< Datatype and reduction of it.
};

std::string variant_text(const PlannedCall& call) {
  return fmt::format("{}{}{}, {} elements", datatype_name(call.datatype),
                     is_reduction(call.op) ? " " : "",
                     is_reduction(call.op) ? reduction_name(call.redop) : "", call.count);
}

/// By function.
std::map<std::string, Tally> tally(const ReplayPlan& plan, const LocalOutcome& outcome) {
  std::map<std::string, Tally> tallies;
  for (size_t rank = 0; rank < outcome.calls.size(); ++rank) {
    const std::vector<PlannedCall>& calls = plan.ranks[rank].calls;
    for (size_t i = 0; i < outcome.calls[rank].size(); ++i) {
      const PlannedCommunicator& communicator =
          plan.communicators[static_cast<size_t>(calls[i].communicator)];
      const CallShape shape = shape_of(calls[i], rank_in(communicator, static_cast<int>(rank)),
                                       static_cast<int>(communicator.ranks.size()));
      if (shape.received == 0) continue;
      Tally& sum = tallies[calls[i].op];
      ++sum.calls;
      sum.elements += static_cast<uint64_t>(shape.received);
      sum.wrong += outcome.calls[rank][i].wrong;
      if (outcome.calls[rank][i].wrong > 0 && sum.first_wrong.empty()) {
        sum.first_wrong = fmt::format("rank {}, call {}: {}", rank, i, variant_text(calls[i]));
      }
    }
  }
  return tallies;
}

/// Appends to the text; whether all is right.
bool report_calls(const ReplayPlan& plan, const LocalOutcome& outcome, std::string& text) {
  if (!outcome.error.empty()) {
    text += "the calls failed: " + outcome.error + "\n";
    return false;
  }
  bool is_right = true;
  for (const auto& [op, sum] : tally(plan, outcome)) {
    is_right = is_right && sum.wrong == 0;
    text += fmt::format("{:<14} {} calls, {} elements, {} wrong{}\n", op, sum.calls, sum.elements,
                        sum.wrong == 0 ? "none" : std::to_string(sum.wrong),
                        sum.wrong == 0 ? "" : "; first " + sum.first_wrong);
  }
  return is_right;
}

bool is_found(const LocalOutcome& outcome, const SelftestTarget& target) {
  const Verification& verified = outcome.verified[static_cast<size_t>(target.rank)];
  return outcome.error.empty() && verified.wrong == 1 && verified.first &&
         verified.first->call == target.call && verified.first->element == target.element;
}

bool report_corruption(const std::string& op, const LocalOutcome& outcome,
                       const SelftestTarget& target, std::string& text) {
  const bool found = is_found(outcome, target);
  text += fmt::format("a planted corruption of {} was {}: rank {}, call {}, element {}", op,
                      found ? "found" : "not found", target.rank, target.call, target.element);
  if (found) {
    const WrongElement& wrong = *outcome.verified[static_cast<size_t>(target.rank)].first;
    text += fmt::format(" is {} instead of {}", wrong.found, wrong.expected);
  }
  text += outcome.error.empty() ? "\n" : "; " + outcome.error + "\n";
  return found;
}

bool all_reduce_float8(const std::vector<int>& gpus) {
  for (const int gpu : gpus) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu),
          {"cudaDeviceGetAttribute"});
    if (major < 9) return false;
  }
  return true;
}

}  // namespace

SelftestResult run_selftest(const std::vector<int>& gpus, std::shared_ptr<const NcclLibrary> nccl) {
  if (gpus.size() < 2) throw Error("a selftest needs at least 2 GPUs");
  const bool reduces_float8 = all_reduce_float8(gpus);
  const auto plan = std::make_shared<const ReplayPlan>(
      selftest_plan(static_cast<int>(gpus.size()), reduces_float8));
  SelftestResult result;
  result.text = fmt::format("NCCL {}, {} GPUs\n", nccl->version, gpus.size());
  if (!reduces_float8) result.text += "8-bit floats are only moved: reducing them needs Hopper\n";
  result.passed = report_calls(*plan, run_locally(plan, gpus, nccl, std::nullopt), result.text);
  for (const char* op : {"AllReduce", "AllGather"}) {
    if (!result.passed) break;  // What a failed run left behind may be in the way.
    const SelftestTarget target = selftest_target(*plan, op);
    const PlantedCorruption corrupt{target.rank, target.call, target.element};
    const LocalOutcome outcome = run_locally(plan, gpus, nccl, corrupt);
    result.passed = report_corruption(op, outcome, target, result.text);
  }
  result.text += result.passed ? "passed\n" : "failed\n";
  return result;
}

}  // namespace ncclog
