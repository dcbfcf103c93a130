
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"

namespace ncclog {
namespace {

/// Where complaints go. Once it is full, further ones are dropped: a plan with that many faults is
/// wrong as a whole.
struct PlanComplaints {
  std::vector<PlanComplaint> all;
  size_t refusals = 0;  ///< With those that were dropped.

  bool is_full() const { return all.size() >= 100; }
  void refuse(std::string where, std::string what, std::string hint = {}) {
    ++refusals;
    add({true, std::move(where), std::move(what), std::move(hint)});
  }
  void remark(std::string where, std::string what, std::string hint = {}) {
    add({false, std::move(where), std::move(what), std::move(hint)});
  }
  void add(PlanComplaint complaint) {
    if (!is_full()) all.push_back(std::move(complaint));
  }
};

std::string place_of_call(size_t rank, size_t call) {
  return fmt::format("ranks[{}].calls[{}]", rank, call);
}

std::string place_of_communicator(size_t communicator) {
  return fmt::format("communicators[{}]", communicator);
}

// Are the parts of a plan there, and do their places and numbers make sense?

/// No machine has more GPUs that one process each could take.
constexpr size_t kMostLocalGpus = 16;
constexpr int kMostStreams = 1024;
constexpr int64_t kMostBytes = int64_t{1} << 46;
constexpr int kNoColor = -1;  // NCCL_SPLIT_NOCOLOR of nccl.h.

bool is_place(int place, size_t size) { return place >= 0 && static_cast<size_t>(place) < size; }

/// Whether they are ranks of the plan.
void check_listed_ranks(const std::vector<int>& ranks, const ReplayPlan& plan,
                        const std::string& where, PlanComplaints& complaints) {
  for (const int rank : ranks) {
    if (is_place(rank, plan.ranks.size())) continue;
    complaints.refuse(where, fmt::format("there is no ranks[{}]", rank));
  }
}

/// Whether a number makes sense.
void check_range(int value, int least, int most, std::string_view unit, std::string where,
                 PlanComplaints& complaints) {
  if (value >= least && value <= most) return;
  complaints.refuse(std::move(where),
                    fmt::format("{}{} is not between {} and {}", value, unit, least, most));
}

void check_ranks(const ReplayPlan& plan, PlanComplaints& complaints) {
  if (plan.ranks.empty()) {
    complaints.refuse("ranks", "there is no rank, so nothing to replay");
  } else if (plan.ranks.size() > kMostLocalGpus) {
    complaints.remark("ranks",
                      fmt::format("{} ranks need as many GPUs, and hardly a machine has more than "
                                  "{}",
                                  plan.ranks.size(), kMostLocalGpus),
                      "plan with --gpus N for a machine with N");
  }
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const PlannedRank& rank = plan.ranks[r];
    if (rank.calls.empty()) {
      complaints.remark(fmt::format("ranks[{}].calls", r),
                        "the rank makes no call, but takes a GPU");
    }
  }
  if (!plan.ranks.empty() && is_empty(plan)) {
    complaints.refuse("ranks", "no rank makes a call, so nothing is replayed");
  }
}

/// Whether they are ranks of the plan, none of them twice.
void check_members(const ReplayPlan& plan, size_t c, PlanComplaints& complaints) {
  const std::vector<int>& ranks = plan.communicators[c].ranks;
  const std::string where = place_of_communicator(c) + ".ranks";
  if (ranks.size() < 2) {
    complaints.refuse(where,
                      fmt::format("a communicator of {} cannot hang or go wrong",
                                  ranks.empty() ? "no rank" : "one rank"),
                      "leave it out, and its calls with it");
  }
  std::set<int> seen;
  for (const int rank : ranks) {
    if (!is_place(rank, plan.ranks.size())) {
      complaints.refuse(where, fmt::format("there is no ranks[{}]", rank));
    } else if (!seen.insert(rank).second) {
      complaints.refuse(where, fmt::format("ranks[{}] is in it twice", rank),
                        "two ranks of one communicator never share a GPU");
    }
  }
}

/// Whether those ranks of the plan are in the communicator.
void check_in_communicator(const std::vector<int>& ranks, int communicator, const ReplayPlan& plan,
                           const std::string& where, std::string_view consequence,
                           PlanComplaints& complaints) {
  for (const int rank : ranks) {
    if (is_among(plan.communicators[communicator].ranks, rank)) continue;
    complaints.refuse(where, fmt::format("ranks[{}] is not in communicators[{}]{}", rank,
                                         communicator, consequence));
  }
}

void check_parent(const ReplayPlan& plan, size_t c, PlanComplaints& complaints) {
  const PlannedCommunicator& communicator = plan.communicators[c];
  const int parent = communicator.parent;
  if (parent == -1) return;
  const std::string where = place_of_communicator(c) + ".parent";
  if (!is_place(parent, plan.communicators.size())) {
    return complaints.refuse(where, fmt::format("there is no communicators[{}]", parent));
  }
  if (static_cast<size_t>(parent) >= c) {
    return complaints.refuse(where,
                             fmt::format("communicators[{}] does not come before it", parent));
  }
  check_in_communicator(communicator.ranks, parent, plan, where, ", so it cannot be split off",
                        complaints);
  if (communicator.color == kNoColor) {
    complaints.refuse(place_of_communicator(c) + ".color",
                      "-1 is NCCL_SPLIT_NOCOLOR, with which no communicator comes up");
  }
}

void check_communicators(const ReplayPlan& plan, PlanComplaints& complaints) {
  if (plan.communicators.empty()) {
    complaints.refuse("communicators", "there is none, so no rank can make a call");
  }
  for (size_t c = 0; c < plan.communicators.size() && !complaints.is_full(); ++c) {
    check_members(plan, c, complaints);
    check_parent(plan, c, complaints);
  }
}

void check_call(const ReplayPlan& plan, size_t r, size_t at, PlanComplaints& complaints) {
  const PlannedCall& call = plan.ranks[r].calls[at];
  const auto refuse = [&](const char* field, std::string what, std::string hint = {}) {
    complaints.refuse(fmt::format("{}.{}", place_of_call(r, at), field), std::move(what),
                      std::move(hint));
  };
  if (!is_place(call.communicator, plan.communicators.size())) {
    return refuse("communicator", fmt::format("there is no communicators[{}]", call.communicator));
  }
  const auto& members = plan.communicators[call.communicator].ranks;
  if (!is_among(members, static_cast<int>(r))) {
    return refuse("communicator",
                  fmt::format("ranks[{}] is not in communicators[{}]", r, call.communicator));
  }
  if (!is_replayable(call.op)) {
    refuse("op", fmt::format("{} cannot be replayed", printable(call.op)),
           "plan with --only failing, or take the call out on all ranks");
  }
  if (!datatype_bytes(call.datatype)) {
    refuse("datatype", fmt::format("{} is the number of no datatype", call.datatype));
  }
  if (is_reduction(call.op) && call.redop < 0) {
    refuse("redop", fmt::format("{} is the number of no reduction", call.redop));
  }
  const auto nranks = static_cast<int>(members.size());
  if ((is_message(call.op) || has_root(call.op)) && !is_place(call.root, members.size())) {
    refuse("root", fmt::format("{} {} is not among the {} ranks of the communicator",
                               is_message(call.op) ? "peer" : "root", call.root, nranks));
  }
  // Whether count * ranks * bytes is a size that can be thought of.
  if (call.count < 0) {
    refuse("count", fmt::format("{} is below 0", call.count));
  } else if (call.count > kMostBytes / datatype_bytes(call.datatype).value_or(1) / nranks) {
    refuse("count",
           fmt::format("{} elements on {} ranks are more than 64 TiB", call.count, nranks));
  }
  const std::string where = place_of_call(r, at);
  check_range(call.send_offset, 0, 255, "", where + ".send_offset", complaints);
  check_range(call.recv_offset, 0, 255, "", where + ".recv_offset", complaints);
  check_range(call.stream, 0, kMostStreams - 1, "", where + ".stream", complaints);
  if (call.group < -1) refuse("group", fmt::format("{} is no number of a group", call.group));
}

/// A group that other calls of the rank stand in the middle of.
void check_groups(const ReplayPlan& plan, size_t r, MadeIn mode, PlanComplaints& complaints) {
  std::set<int> ended;
  int open = -1;
  for (size_t at = 0; at < plan.ranks[r].calls.size(); ++at) {
    const PlannedCall& call = plan.ranks[r].calls[at];
    if (call.made_in != MadeIn::Both && call.made_in != mode) continue;
    if (call.group == open) continue;
    if (call.group >= 0 && ended.contains(call.group)) {
      complaints.refuse(
          place_of_call(r, at) + ".group",
          fmt::format("group {} was left before, in the {} run", call.group, to_string(mode)),
          "calls of one group stand one behind the other");
      return;
    }
    ended.insert(open);
    open = call.group;
  }
}

void check_calls(const ReplayPlan& plan, PlanComplaints& complaints) {
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    for (size_t at = 0; at < plan.ranks[r].calls.size() && !complaints.is_full(); ++at) {
      check_call(plan, r, at, complaints);
    }
    check_groups(plan, r, MadeIn::Clean, complaints);
    check_groups(plan, r, MadeIn::Defect, complaints);
  }
}

// Are the settings of a plan such as a replay may take?

constexpr size_t kLongestName = 128;
constexpr size_t kLongestValue = 4096;

bool is_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && !is_digit(name.front()) &&
         std::ranges::all_of(name, fits);
}

/// What is set in a way that a shell, a log or NCCL would read otherwise, and what a replay must
/// not take over from anywhere, whoever wrote the plan.
void check_setting(const PlannedSetting& setting, const std::string& where,
                   PlanComplaints& complaints) {
  const bool is_named = is_name(setting.name);
  if (!is_named) {
    complaints.refuse(
        where + ".name",
        fmt::format("'{}' is no name of a variable",
                    printable(std::string_view(setting.name).substr(0, kLongestName))));
  }
  const bool has_control_character = std::ranges::any_of(
      setting.value, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
  if (has_control_character) {
    complaints.refuse(where + ".value", "it holds a line end or another control character");
  } else if (setting.value.size() > kLongestValue) {
    complaints.refuse(where + ".value",
                      fmt::format("it is longer than {} characters", kLongestValue));
  }
  const std::string_view reason =
      is_named ? why_left_out(setting.name, setting.value) : std::string_view();
  if (reason.empty()) return;
  complaints.refuse(where + ".name",
                    fmt::format("a replay does not set {}: {}", setting.name, reason),
                    "take it out, or say in \"left_out\" why it is not set");
}

void check_settings(const ReplayPlan& plan, PlanComplaints& complaints) {
  for (size_t s = 0; s < plan.settings.size() && !complaints.is_full(); ++s) {
    const PlannedSetting& setting = plan.settings[s];
    const std::string where = fmt::format("settings[{}]", s);
    check_listed_ranks(setting.ranks, plan, where + ".ranks", complaints);
    if (setting.left_out.empty()) check_setting(setting, where, complaints);
  }
}

// Does what a plan is to test point to what is in it?

void check_front(const FrontLine& front, const ReplayPlan& plan, PlanComplaints& complaints) {
  const std::string where = "hypothesis.front";
  if (!is_place(front.communicator, plan.communicators.size())) {
    return complaints.refuse(where + ".communicator",
                             fmt::format("there is no communicators[{}]", front.communicator));
  }
  check_in_communicator(front.entered, front.communicator, plan, where + ".entered", "",
                        complaints);
  check_in_communicator(front.missing, front.communicator, plan, where + ".missing", "",
                        complaints);
}

void check_hypothesis(const ReplayPlan& plan, PlanComplaints& complaints) {
  check_listed_ranks(plan.hypothesis.diverged, plan, "hypothesis.departed", complaints);
  if (plan.hypothesis.front) check_front(*plan.hypothesis.front, plan, complaints);
  const DefectKind kind = plan.hypothesis.kind;
  if (kind == DefectKind::None || kind == DefectKind::Stall || has_defect(plan)) return;
  complaints.refuse(
      "hypothesis.kind",
      fmt::format("'{}' is to be tested, but both runs make the same calls", to_string(kind)),
      "mark calls with \"made_in\": \"clean\" or \"defect\"");
}

// Do the calls of the run in which all ranks behave fit each other?

void check_clean_run(const ReplayPlan& plan, PlanComplaints& complaints) {
  const size_t before = complaints.refusals;
  const ReplayPlan counted = numbered_by_order(plan);
  const auto completed = completed_calls(counted, /*buffers_sends=*/true);
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const std::vector<PlannedCall>& calls = plan.ranks[r].calls;
    for (size_t at = 0; at < calls.size(); ++at) {
      if (completed[r][at] || calls[at].made_in == MadeIn::Defect) continue;
      complaints.refuse(
          place_of_call(r, at),
          fmt::format("{} does not come to its end in the clean run: other ranks do not make it, "
                      "make it otherwise, or wait for this one meanwhile",
                      words_of(calls[at])),
          "calls that were not made by all belong to \"made_in\": \"defect\"");
      break;
    }
  }
  if (complaints.refusals == before && !clean_run_ends(counted)) {
    complaints.remark("ranks", "the clean run ends only while NCCL buffers messages");
  }
}

// Does it fit a GPU?

/// Of a GPU of 80 GB, what is free on it at best.
constexpr int64_t kUsualBytes = int64_t{78} << 30;

void check_memory(const ReplayPlan& plan, PlanComplaints& complaints) {
  const ReplayCost cost = replay_cost(plan);
  if (cost.bytes() > kMostBytes) {
    complaints.refuse("ranks", "the calls of one rank need more than 64 TiB of buffers");
  } else if (cost.bytes() > kUsualBytes) {
    complaints.remark(
        "ranks", fmt::format("a rank needs about {:.1f} GiB of its GPU's memory, {:.1f} GiB of "
                             "that for the calls' buffers",
                             to_gib(cost.bytes()), to_gib(cost.buffers)));
  }
}

}  // namespace

std::vector<PlanComplaint> check_plan(const ReplayPlan& plan) {
  PlanComplaints complaints;
  check_ranks(plan, complaints);
  check_communicators(plan, complaints);
  check_calls(plan, complaints);
  const ReplayDeadlines& deadlines = plan.deadlines;
  each_field<ReplayDeadlines>(deadlines, [&](std::string_view phase, int seconds, int) {
    check_range(seconds, 1, 3600, " s", fmt::format("deadlines.{}", phase), complaints);
  });
  const bool has_shape = complaints.refusals == 0;
  if (has_shape) check_hypothesis(plan, complaints);
  check_settings(plan, complaints);
  if (has_shape) {
    check_clean_run(plan, complaints);
    check_memory(plan, complaints);
  }
  return std::move(complaints.all);
}

bool is_refused(const std::vector<PlanComplaint>& complaints) {
  return std::ranges::any_of(complaints, &PlanComplaint::is_refusal);
}

}  // namespace ncclog
