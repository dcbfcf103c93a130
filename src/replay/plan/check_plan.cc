#include "replay/plan/check_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "log/nccl_names.h"
#include "replay/plan/clean_run.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_frame.h"

namespace ncclog {
namespace {

// Complaints about a plan while they are collected: at most so many, and where each of them stands.

/// Where complaints go. Once it is full, further ones are dropped: a plan with that many faults is
/// wrong as a whole.
class PlanComplaints {
 public:
  void refuse(std::string where, std::string what, std::string hint = {}) {
    ++refusals_;
    add({PlanComplaint::Weight::Refusal, std::move(where), std::move(what), std::move(hint)});
  }
  void remark(std::string where, std::string what, std::string hint = {}) {
    add({PlanComplaint::Weight::Remark, std::move(where), std::move(what), std::move(hint)});
  }

  void append(PlanComplaints more) {
    refusals_ += more.refusals_;
    for (PlanComplaint& complaint : more.all_) add(std::move(complaint));
  }

  bool is_full() const { return all_.size() >= kMost; }
  bool has_refusals() const { return refusals_ > 0; }
  std::vector<PlanComplaint> take() && { return std::move(all_); }

 private:
  static constexpr size_t kMost = 100;

  void add(PlanComplaint complaint) {
    if (!is_full()) all_.push_back(std::move(complaint));
  }

  std::vector<PlanComplaint> all_;
  size_t refusals_ = 0;
};

inline std::string place_of_rank(size_t rank) { return fmt::format("ranks[{}]", rank); }

inline std::string place_of_call(size_t rank, size_t call) {
  return fmt::format("ranks[{}].calls[{}]", rank, call);
}

inline std::string place_of_communicator(size_t communicator) {
  return fmt::format("communicators[{}]", communicator);
}

// Are the parts of a plan there, and do their places and numbers make sense?

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

void check_shape(const ReplayPlan& plan, PlanComplaints& complaints) {
  check_number_of_ranks(plan, complaints);
  check_ranks(plan, complaints);
  check_communicators(plan, complaints);
  check_calls(plan, complaints);
  check_deadlines(plan.deadlines, complaints);
}

// Are the settings of a plan such as a replay may take?

constexpr size_t kLongestName = 128;
constexpr size_t kLongestValue = 4096;

std::string place_of_setting(size_t setting) { return fmt::format("settings[{}]", setting); }

bool is_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), fits);
}

bool has_control_character(std::string_view value) {
  return std::any_of(value.begin(), value.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

/// What is set in a way that a shell, a log or NCCL would read otherwise.
void check_text(const PlannedSetting& setting, const std::string& where,
                PlanComplaints& complaints) {
  if (!is_name(setting.name)) {
    complaints.refuse(
        where + ".name",
        fmt::format("'{}' is no name of a variable",
                    printable(std::string_view(setting.name).substr(0, kLongestName))));
  }
  if (has_control_character(setting.value)) {
    complaints.refuse(where + ".value", "it holds a line end or another control character");
  } else if (setting.value.size() > kLongestValue) {
    complaints.refuse(where + ".value",
                      fmt::format("it is longer than {} characters", kLongestValue));
  }
}

/// What a replay must not take over from anywhere, whoever wrote the plan.
void check_harm(const PlannedSetting& setting, const std::string& where,
                PlanComplaints& complaints) {
  const std::string_view reason =
      is_name(setting.name) ? why_left_out(setting.name, setting.value) : std::string_view();
  if (reason.empty()) return;
  complaints.refuse(where + ".name",
                    fmt::format("a replay does not set {}: {}", setting.name, reason),
                    "take it out, or say in \"left_out\" why it is not set");
}

void check_ranks(const PlannedSetting& setting, const ReplayPlan& plan, const std::string& where,
                 PlanComplaints& complaints) {
  for (const int rank : setting.ranks) {
    if (rank >= 0 && static_cast<size_t>(rank) < plan.ranks.size()) continue;
    complaints.refuse(where + ".ranks", fmt::format("there is no ranks[{}]", rank));
  }
}

/// Which setting gives a rank a variable.
class GivenValues {
 public:
  /// The setting that gives the rank another value of the same name; nullopt: none does.
  std::optional<size_t> conflict(const ReplayPlan& plan, size_t setting, int rank) {
    const PlannedSetting& given = plan.settings[setting];
    const auto [first, is_new] = by_name_and_rank_.emplace(std::pair(given.name, rank), setting);
    if (is_new || plan.settings[first->second].value == given.value) return std::nullopt;
    return first->second;
  }

 private:
  std::map<std::pair<std::string, int>, size_t> by_name_and_rank_;
};

std::vector<int> ranks_of(const PlannedSetting& setting, const ReplayPlan& plan) {
  if (!setting.ranks.empty()) return setting.ranks;
  std::vector<int> all;
  for (size_t r = 0; r < plan.ranks.size(); ++r) all.push_back(static_cast<int>(r));
  return all;
}

void check_conflicts(const ReplayPlan& plan, PlanComplaints& complaints) {
  GivenValues given;
  for (size_t s = 0; s < plan.settings.size() && !complaints.is_full(); ++s) {
    if (!plan.settings[s].left_out.empty()) continue;
    for (const int rank : ranks_of(plan.settings[s], plan)) {
      const auto other = given.conflict(plan, s, rank);
      if (!other) continue;
      complaints.refuse(place_of_setting(s), fmt::format("{} has another value on ranks[{}] by {}",
                                                         printable(plan.settings[s].name), rank,
                                                         place_of_setting(*other)));
      break;
    }
  }
}

void check_settings(const ReplayPlan& plan, PlanComplaints& complaints) {
  for (size_t s = 0; s < plan.settings.size() && !complaints.is_full(); ++s) {
    const PlannedSetting& setting = plan.settings[s];
    const std::string where = place_of_setting(s);
    check_ranks(setting, plan, where, complaints);
    if (!setting.left_out.empty()) continue;
    check_text(setting, where, complaints);
    check_harm(setting, where, complaints);
  }
  check_conflicts(plan, complaints);
}

// Does what a plan is to test point to what is in it?

void check_listed_ranks(const std::vector<int>& ranks, const ReplayPlan& plan,
                        const std::string& where, PlanComplaints& complaints) {
  for (const int rank : ranks) {
    if (rank >= 0 && static_cast<size_t>(rank) < plan.ranks.size()) continue;
    complaints.refuse(where, fmt::format("there is no ranks[{}]", rank));
  }
}

/// Whether some rank makes, in some run, the call that the front names.
bool is_call_of_plan(const FrontLine& front, const ReplayPlan& plan) {
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(), [&](const PlannedCall& call) {
      return call.communicator == front.communicator && call.index == front.index;
    });
  });
}

void check_members(const std::vector<int>& ranks, const FrontLine& front, const ReplayPlan& plan,
                   const std::string& where, PlanComplaints& complaints) {
  const auto& members = plan.communicators[static_cast<size_t>(front.communicator)].ranks;
  for (const int rank : ranks) {
    if (std::find(members.begin(), members.end(), rank) != members.end()) continue;
    complaints.refuse(
        where, fmt::format("ranks[{}] is not in communicators[{}]", rank, front.communicator));
  }
}

void check_front(const FrontLine& front, const ReplayPlan& plan, PlanComplaints& complaints) {
  const std::string where = "hypothesis.front";
  if (front.communicator < 0 ||
      static_cast<size_t>(front.communicator) >= plan.communicators.size()) {
    complaints.refuse(where + ".communicator",
                      fmt::format("there is no communicators[{}]", front.communicator));
    return;
  }
  check_members(front.entered, front, plan, where + ".entered", complaints);
  check_members(front.missing, front, plan, where + ".missing", complaints);
  if (is_call_of_plan(front, plan)) return;
  complaints.refuse(where + ".index", fmt::format("no rank makes call {} of communicators[{}]",
                                                  front.index, front.communicator));
}

bool needs_two_runs(DefectKind kind) {
  return kind != DefectKind::None && kind != DefectKind::Stall;
}

/// Whether the two runs differ as the kind of defect says.
void check_kind(const ReplayPlan& plan, PlanComplaints& complaints) {
  const DefectKind kind = plan.hypothesis.kind;
  if (needs_two_runs(kind) && !has_defect(plan)) {
    complaints.refuse(
        "hypothesis.kind",
        fmt::format("'{}' is to be tested, but both runs make the same calls", to_string(kind)),
        "mark calls with \"made_in\": \"clean\" or \"defect\"");
  }
  if (!needs_two_runs(kind) && has_defect(plan)) {
    complaints.remark(
        "hypothesis.kind",
        fmt::format("'{}' names no departure, but the runs make different calls", to_string(kind)));
  }
  if (needs_two_runs(kind) && !plan.hypothesis.front) {
    complaints.remark("hypothesis.front",
                      "where the job stood still is not known, so that a hang cannot be held "
                      "against it");
  }
}

void check_hypothesis(const ReplayPlan& plan, PlanComplaints& complaints) {
  check_listed_ranks(plan.hypothesis.departed, plan, "hypothesis.departed", complaints);
  if (plan.hypothesis.front) check_front(*plan.hypothesis.front, plan, complaints);
  check_kind(plan, complaints);
}

// Do the calls of the run in which all ranks behave fit each other?

std::string place_of(const CallOfRank& place) { return place_of_call(place.rank, place.call); }

/// Reductions of the job's own have another number on each rank.
bool same_reduction(const PlannedCall& a, const PlannedCall& b) {
  return !is_reduction(a.op) || reduction_name(a.redop) == reduction_name(b.redop);
}

bool same_root(const PlannedCall& a, const PlannedCall& b) {
  return !has_root(a.op) || a.root == b.root;
}

bool do_fit(const PlannedCall& a, const PlannedCall& b) {
  return a.op == b.op && a.count == b.count && a.datatype == b.datatype && same_reduction(a, b) &&
         same_root(a, b);
}

/// The first collective in which a rank departs from the communicator's rank 0.
void check_rank(const ReplayPlan& plan, size_t c, const std::vector<CallOfRank>& first,
                const std::vector<CallOfRank>& other, PlanComplaints& complaints) {
  const size_t both = std::min(first.size(), other.size());
  for (size_t k = 0; k < both; ++k) {
    const PlannedCall& a = call_at(plan, first[k]);
    const PlannedCall& b = call_at(plan, other[k]);
    if (do_fit(a, b)) continue;
    complaints.refuse(
        place_of(other[k]),
        fmt::format("{}, but {} is {}: both are collective {} of {} in the clean run", words_of(b),
                    place_of(first[k]), words_of(a), k, place_of_communicator(c)));
    return;
  }
}

/// Whether all ranks make equally many collectives; the place is where one has more.
void check_lengths(size_t c, const std::vector<CallOfRank>& first, size_t first_rank,
                   const std::vector<CallOfRank>& other, size_t other_rank,
                   PlanComplaints& complaints) {
  if (first.size() == other.size()) return;
  const auto& longer = first.size() > other.size() ? first : other;
  const size_t shorter_rank = first.size() > other.size() ? other_rank : first_rank;
  const size_t both = std::min(first.size(), other.size());
  complaints.refuse(place_of(longer[both]),
                    fmt::format("ranks[{}] makes only {} of the collectives of {} in the clean "
                                "run, so nobody meets this one",
                                shorter_rank, both, place_of_communicator(c)),
                    "calls that were not made by all belong to \"made_in\": \"defect\"");
}

void check_collectives(const ReplayPlan& plan, size_t c, const CommunicatorCalls& calls,
                       PlanComplaints& complaints) {
  const auto& ranks = plan.communicators[c].ranks;
  for (size_t m = 1; m < calls.collectives.size(); ++m) {
    check_rank(plan, c, calls.collectives[0], calls.collectives[m], complaints);
    check_lengths(c, calls.collectives[0], static_cast<size_t>(ranks[0]), calls.collectives[m],
                  static_cast<size_t>(ranks[m]), complaints);
  }
}

/// The first message of a line that does not fit.
void check_line(const ReplayPlan& plan, const MessageLine& line, PlanComplaints& complaints) {
  const size_t both = std::min(line.sends.size(), line.recvs.size());
  for (size_t k = 0; k < both; ++k) {
    const PlannedCall& send = call_at(plan, line.sends[k]);
    const PlannedCall& recv = call_at(plan, line.recvs[k]);
    if (send.count == recv.count && send.datatype == recv.datatype) continue;
    complaints.refuse(place_of(line.recvs[k]),
                      fmt::format("{}, but {}, which it meets in the clean run, is {}",
                                  words_of(recv), place_of(line.sends[k]), words_of(send)));
    return;
  }
  if (line.sends.size() == line.recvs.size()) return;
  const bool lacks_recv = line.sends.size() > both;
  complaints.refuse(place_of(lacks_recv ? line.sends[both] : line.recvs[both]),
                    fmt::format("{} has no {} in the clean run", lacks_recv ? "Send" : "Recv",
                                lacks_recv ? "Recv" : "Send"),
                    "messages that were not met belong to \"made_in\": \"defect\"");
}

std::string circle_text(const ReplayPlan& plan, const std::vector<WaitingCall>& circle) {
  constexpr size_t kMostLinks = 6;
  std::string text;
  for (size_t i = 0; i < std::min(circle.size(), kMostLinks); ++i) {
    const WaitingCall& link = circle[i];
    text += fmt::format("{}{} ({}) waits for {}", i == 0 ? "" : ", behind ", place_of(link.waiting),
                        call_at(plan, link.waiting).op, place_of(link.awaited));
  }
  return text + (circle.size() > kMostLinks ? ", and so on in a circle"
                                            : ", which is behind "
                                              "the first");
}

void check_order(const ReplayPlan& plan, PlanComplaints& complaints) {
  if (const auto circle = find_deadlock(plan, SendEnds::ByItself); !circle.empty()) {
    complaints.refuse(place_of(circle.front().waiting),
                      "the clean run cannot end: " + circle_text(plan, circle));
  } else if (const auto tight = find_deadlock(plan, SendEnds::WithItsRecv); !tight.empty()) {
    complaints.remark(
        place_of(tight.front().waiting),
        "the clean run ends only while NCCL buffers messages: " + circle_text(plan, tight));
  }
}

void check_clean_run(const ReplayPlan& plan, PlanComplaints& complaints) {
  PlanComplaints own;
  const auto calls = run_calls(plan, MadeIn::Clean);
  for (size_t c = 0; c < calls.size() && !own.is_full(); ++c) {
    check_collectives(plan, c, calls[c], own);
    for (const auto& [ends, line] : calls[c].messages) check_line(plan, line, own);
  }
  if (!own.has_refusals()) check_order(plan, own);
  complaints.append(std::move(own));
}

// Does it fit a GPU?

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
