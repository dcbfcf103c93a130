// Are the parts of a plan there, and do their places and numbers make sense?

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "log/nccl_names.h"
#include "replay/call_shape.h"
#include "replay/plan_complaints.h"

namespace ncclog {
namespace {

/// No machine has more GPUs that one process each could take.
constexpr size_t kMostLocalGpus = 16;
constexpr int kMostStreams = 1024;
constexpr int64_t kMostBytes = int64_t{1} << 46;
constexpr int kNoColor = -1;  // NCCL_SPLIT_NOCOLOR of nccl.h.

bool is_place(int place, size_t size) { return place >= 0 && static_cast<size_t>(place) < size; }

struct NamedDeadline {
  const char* name;
  int ReplayDeadlines::*seconds;
};

constexpr std::array<NamedDeadline, 5> kDeadlines{{{"start", &ReplayDeadlines::start},
                                                   {"init", &ReplayDeadlines::init},
                                                   {"enqueue", &ReplayDeadlines::enqueue},
                                                   {"completion", &ReplayDeadlines::completion},
                                                   {"teardown", &ReplayDeadlines::teardown}}};

void check_deadlines(const ReplayDeadlines& deadlines, PlanComplaints& complaints) {
  for (const NamedDeadline& row : kDeadlines) {
    const int seconds = deadlines.*row.seconds;
    if (seconds >= 1 && seconds <= 3600) continue;
    complaints.refuse(fmt::format("deadlines.{}", row.name),
                      fmt::format("{} s is not between 1 and 3600", seconds));
  }
}

void check_number_of_ranks(const ReplayPlan& plan, PlanComplaints& complaints) {
  if (plan.ranks.empty()) {
    complaints.refuse("ranks", "there is no rank, so nothing to replay");
  } else if (plan.ranks.size() > kMostLocalGpus) {
    complaints.remark("ranks",
                      fmt::format("{} ranks need as many GPUs, and hardly a machine has more than "
                                  "{}",
                                  plan.ranks.size(), kMostLocalGpus),
                      "plan with --gpus N for a machine with N");
  }
}

void check_ranks(const ReplayPlan& plan, PlanComplaints& complaints) {
  bool any_call = false;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const PlannedRank& rank = plan.ranks[r];
    any_call = any_call || !rank.calls.empty();
    if (rank.host_group < 0) {
      complaints.refuse(place_of_rank(r) + ".host_group",
                        fmt::format("{} is no number of a pseudo-host", rank.host_group));
    }
    if (rank.calls.empty()) {
      complaints.remark(place_of_rank(r) + ".calls", "the rank makes no call, but takes a GPU");
    }
  }
  if (!plan.ranks.empty() && !any_call) {
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

void check_parent(const ReplayPlan& plan, size_t c, PlanComplaints& complaints) {
  const PlannedCommunicator& communicator = plan.communicators[c];
  if (communicator.parent == -1) return;
  const std::string where = place_of_communicator(c) + ".parent";
  if (!is_place(communicator.parent, plan.communicators.size())) {
    complaints.refuse(where, fmt::format("there is no communicators[{}]", communicator.parent));
    return;
  }
  if (static_cast<size_t>(communicator.parent) >= c) {
    complaints.refuse(
        where, fmt::format("communicators[{}] does not come before it", communicator.parent));
    return;
  }
  const auto& above = plan.communicators[static_cast<size_t>(communicator.parent)].ranks;
  for (const int rank : communicator.ranks) {
    if (std::find(above.begin(), above.end(), rank) != above.end()) continue;
    complaints.refuse(where, fmt::format("ranks[{}] is not in communicators[{}], so it cannot be "
                                         "split off",
                                         rank, communicator.parent));
  }
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

/// One call and where it stands.
struct CallPlace {
  const PlannedCall& call;
  std::string where;
  int nranks;  ///< Of its communicator.
};

void check_function(const CallPlace& place, PlanComplaints& complaints) {
  const PlannedCall& call = place.call;
  if (!is_replayable(call.op)) {
    complaints.refuse(place.where + ".op", fmt::format("{} cannot be replayed", printable(call.op)),
                      "plan with --only failing, or take the call out on all ranks");
  }
  if (!datatype_bytes(call.datatype)) {
    complaints.refuse(place.where + ".datatype",
                      fmt::format("{} is the number of no datatype", call.datatype));
  }
  if (is_reduction(call.op) && call.redop < 0) {
    complaints.refuse(place.where + ".redop",
                      fmt::format("{} is the number of no reduction", call.redop));
  }
}

void check_root(const CallPlace& place, PlanComplaints& complaints) {
  const PlannedCall& call = place.call;
  if (!is_message(call.op) && !has_root(call.op)) return;
  if (call.root >= 0 && call.root < place.nranks) return;
  complaints.refuse(place.where + ".root",
                    fmt::format("{} {} is not among the {} ranks of the communicator",
                                is_message(call.op) ? "peer" : "root", call.root, place.nranks));
}

/// Whether count * ranks * bytes is a size that can be thought of.
bool is_sane_count(const PlannedCall& call, int nranks) {
  return call.count <= kMostBytes / datatype_bytes(call.datatype).value_or(1) / nranks;
}

void check_count(const CallPlace& place, PlanComplaints& complaints) {
  const PlannedCall& call = place.call;
  if (call.count < 0) {
    complaints.refuse(place.where + ".count", fmt::format("{} is below 0", call.count));
  } else if (!is_sane_count(call, place.nranks)) {
    complaints.refuse(
        place.where + ".count",
        fmt::format("{} elements on {} ranks are more than 64 TiB", call.count, place.nranks));
  }
}

void check_offset(const CallPlace& place, const char* name, int offset,
                  PlanComplaints& complaints) {
  if (offset >= 0 && offset <= 255) return;
  complaints.refuse(fmt::format("{}.{}", place.where, name),
                    fmt::format("{} is not between 0 and 255", offset));
}

void check_stream_and_group(const CallPlace& place, PlanComplaints& complaints) {
  if (place.call.stream < 0 || place.call.stream >= kMostStreams) {
    complaints.refuse(place.where + ".stream", fmt::format("{} is not between 0 and {}",
                                                           place.call.stream, kMostStreams - 1));
  }
  if (place.call.group < -1) {
    complaints.refuse(place.where + ".group",
                      fmt::format("{} is no number of a group", place.call.group));
  }
}

void check_call(const ReplayPlan& plan, size_t r, size_t at, PlanComplaints& complaints) {
  const PlannedCall& call = plan.ranks[r].calls[at];
  const std::string where = place_of_call(r, at);
  if (!is_place(call.communicator, plan.communicators.size())) {
    complaints.refuse(where + ".communicator",
                      fmt::format("there is no communicators[{}]", call.communicator));
    return;
  }
  const auto& members = plan.communicators[static_cast<size_t>(call.communicator)].ranks;
  if (std::find(members.begin(), members.end(), static_cast<int>(r)) == members.end()) {
    complaints.refuse(where + ".communicator",
                      fmt::format("ranks[{}] is not in communicators[{}]", r, call.communicator));
    return;
  }
  const CallPlace place{call, where, static_cast<int>(members.size())};
  check_function(place, complaints);
  check_root(place, complaints);
  check_count(place, complaints);
  check_offset(place, "send_offset", call.send_offset, complaints);
  check_offset(place, "recv_offset", call.recv_offset, complaints);
  check_stream_and_group(place, complaints);
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

}  // namespace

void check_shape(const ReplayPlan& plan, PlanComplaints& complaints) {
  check_number_of_ranks(plan, complaints);
  check_ranks(plan, complaints);
  check_communicators(plan, complaints);
  check_calls(plan, complaints);
  check_deadlines(plan.deadlines, complaints);
}

}  // namespace ncclog
