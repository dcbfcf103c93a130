// Do the calls of the run in which all ranks behave fit each other?

#include <algorithm>

#include "log/nccl_names.h"
#include "replay/call_shape.h"
#include "replay/call_words.h"
#include "replay/find_deadlock.h"
#include "replay/plan_complaints.h"
#include "replay/run_calls.h"

namespace ncclog {
namespace {

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

}  // namespace

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

}  // namespace ncclog
