#include "replay/check_plan.h"

#include <algorithm>
#include <utility>

#include "replay/plan_complaints.h"
#include "replay/replay_cost.h"

namespace ncclog {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 46;
/// Of a GPU of 80 GB, what is free on it at best.
constexpr int64_t kUsualBytes = int64_t{78} << 30;

double gib(int64_t bytes) { return static_cast<double>(bytes) / (int64_t{1} << 30); }

void check_memory(const ReplayPlan& plan, PlanComplaints& complaints) {
  const ReplayCost cost = replay_cost(plan);
  if (cost.bytes() > kMostBytes) {
    complaints.refuse("ranks", "the calls of one rank need more than 64 TiB of buffers");
  } else if (cost.bytes() > kUsualBytes) {
    complaints.remark(
        "ranks", fmt::format("a rank needs about {:.1f} GiB of its GPU's memory, {:.1f} GiB of "
                             "that for the calls' buffers",
                             gib(cost.bytes()), gib(cost.buffers)));
  }
}

}  // namespace

std::vector<PlanComplaint> check_plan(const ReplayPlan& plan) {
  PlanComplaints complaints;
  check_shape(plan, complaints);
  const bool has_shape = !complaints.has_refusals();
  if (has_shape) check_hypothesis(plan, complaints);
  check_settings(plan, complaints);
  if (has_shape) {
    check_clean_run(plan, complaints);
    check_memory(plan, complaints);
  }
  return std::move(complaints).take();
}

bool is_refused(const std::vector<PlanComplaint>& complaints) {
  return std::any_of(complaints.begin(), complaints.end(), [](const PlanComplaint& complaint) {
    return complaint.weight == PlanComplaint::Weight::Refusal;
  });
}

}  // namespace ncclog
