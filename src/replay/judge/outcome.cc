#include "replay/judge/outcome.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "base/error.h"
#include "replay/judge/outcome_fields.h"
#include "replay/plan/plan.h"

namespace ncclog {
namespace {

constexpr std::string_view kPhases[] = {"start",      "init",     "enqueue",
                                        "completion", "teardown", "done"};
constexpr std::string_view kRunEnds[] = {"completed", "hung", "failed",
                                         "wrong",     "died", "not-started"};
constexpr std::string_view kProcessEnds[] = {"by-itself", "on-abort", "terminated", "killed",
                                             "lost"};

}  // namespace

std::string_view to_string(ReplayPhase phase) { return kPhases[static_cast<size_t>(phase)]; }
std::string_view to_string(RunEnd end) { return kRunEnds[static_cast<size_t>(end)]; }
std::string_view to_string(ProcessEnd end) { return kProcessEnds[static_cast<size_t>(end)]; }

std::optional<ReplayPhase> parse_replay_phase(std::string_view word) {
  const auto* found = std::ranges::find(kPhases, word);
  if (found == std::end(kPhases)) return std::nullopt;
  return static_cast<ReplayPhase>(found - std::begin(kPhases));
}

std::string write_outcome(const ReplayOutcome& outcome) {
  return write_json_document(to_json_value(outcome));
}

ReplayOutcome parse_outcome(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayOutcome>(text, source, "replay outcome");
}

bool is_of_a_refusal(const std::string& text) {
  try {
    const ReplayOutcome outcome = parse_outcome(text, "outcome.json");
    return !outcome.refused.empty() && outcome.runs.empty();
  } catch (const Error&) {
    return false;
  }
}

namespace {

/// One call of one rank, by its place in calls_in().
struct PlacedCall {
  uint64_t place = 0;
  uint64_t index = 0;  ///< PlannedCall::index.
};

/// Calls that can only be completed together: all collectives of a communicator, or all messages
/// from one rank to another. By rank of the plan; each rank's calls in order.
using Meeting = std::map<int, std::vector<PlacedCall>>;

/// The first call whose data are wrong: what came behind it was no longer as planned.
bool is_wrong(const RankOutcome& rank, uint64_t place) {
  const Verification& verified = rank.verified;
  return verified.wrong > 0 && verified.first && verified.first->call == place;
}

/// What a rank says of one call that others wait for.
struct Presence {
  bool has_entered = false;
  bool has_completed = false;
};

Presence presence_of(const RankOutcome& rank, const std::vector<PlacedCall>& calls, size_t k) {
  if (k >= calls.size()) return {};
  const uint64_t place = calls[k].place;
  return {place < rank.entered, is_completed(rank, place) && !is_wrong(rank, place)};
}

bool stands_in(const RankOutcome& rank, const std::vector<PlacedCall>& calls) {
  return std::ranges::any_of(calls, [&](const PlacedCall& call) {
    const bool is_open = call.place < rank.entered && !is_completed(rank, call.place);
    return is_open || is_wrong(rank, call.place);
  });
}

uint64_t recorded_index(const Meeting& meeting, size_t k, const std::vector<int>& entered) {
  for (int rank : entered) {
    const auto& calls = meeting.at(rank);
    if (k < calls.size()) return calls[k].index;
  }
  return k;
}

size_t longest_program(const Meeting& meeting) {
  size_t longest = 0;
  for (const auto& [rank, calls] : meeting) longest = std::max(longest, calls.size());
  return longest;
}

/// The first call of `meeting` that was not completed by all as it should; nullopt if nobody
/// stands.
std::optional<FrontLine> first_open(const Meeting& meeting, const std::vector<RankOutcome>& ranks) {
  const bool stands = std::ranges::any_of(
      meeting, [&](const auto& row) { return stands_in(ranks[row.first], row.second); });
  if (!stands) return std::nullopt;
  for (size_t k = 0; k < longest_program(meeting); ++k) {
    FrontLine front;
    bool all_completed = true;
    for (const auto& [rank, calls] : meeting) {
      const Presence presence = presence_of(ranks[rank], calls, k);
      all_completed = all_completed && presence.has_completed;
      (presence.has_entered ? front.entered : front.missing).push_back(rank);
    }
    if (all_completed) continue;
    front.index = recorded_index(meeting, k, front.entered);
    return front;
  }
  return std::nullopt;
}

/// The collectives of a communicator, and its messages by sender and receiver (ranks of the plan).
struct Meetings {
  Meeting collectives;
  std::map<std::pair<int, int>, Meeting> messages;
};

void add_message(Meetings& meetings, const PlannedCommunicator& communicator, int rank,
                 const PlannedCall& call, PlacedCall placed) {
  if (call.root < 0 || call.root >= static_cast<int>(communicator.ranks.size())) return;
  const int peer = communicator.ranks[call.root];
  const auto ends = call.op == "Send" ? std::pair(rank, peer) : std::pair(peer, rank);
  Meeting& meeting = meetings.messages[ends];
  meeting[ends.first];
  meeting[ends.second];
  // A message to oneself has both ends in one rank: its Send stands for it.
  if (rank == peer && call.op == "Recv") return;
  meeting[rank].push_back(placed);
}

Meetings meetings_of(const ReplayPlan& plan, MadeIn mode, int communicator) {
  Meetings meetings;
  for (int rank : plan.communicators[communicator].ranks) {
    meetings.collectives[rank];
    const std::vector<PlannedCall> calls = calls_in(plan.ranks[rank], mode);
    for (size_t place = 0; place < calls.size(); ++place) {
      const PlannedCall& call = calls[place];
      if (call.communicator != communicator) continue;
      const PlacedCall placed{place, call.index};
      if (is_message(call.op)) {
        add_message(meetings, plan.communicators[communicator], rank, call, placed);
      } else {
        meetings.collectives[rank].push_back(placed);
      }
    }
  }
  return meetings;
}

std::optional<FrontLine> message_front(const Meetings& meetings,
                                       const std::vector<RankOutcome>& ranks) {
  std::optional<FrontLine> front;
  for (const auto& [ends, meeting] : meetings.messages) {
    auto open = first_open(meeting, ranks);
    if (!open) continue;
    if (!front || (front->missing.empty() && !open->missing.empty())) front = std::move(open);
  }
  return front;
}

/// True if a front of messages says more than one of collectives.
bool prefers_messages(const ReplayPlan& plan, const std::optional<FrontLine>& collective) {
  return !collective || plan.hypothesis.kind == DefectKind::Message;
}

}  // namespace

bool is_completed(const RankOutcome& rank, uint64_t place) {
  if (place < rank.completed) return true;
  if (place >= rank.entered || rank.open.empty() || place > rank.open.back()) return false;
  return std::ranges::find(rank.open, place) == rank.open.end();
}

std::optional<FrontLine> front_of(const ReplayPlan& plan, MadeIn mode, int communicator,
                                  const std::vector<RankOutcome>& ranks) {
  if (communicator < 0 || communicator >= static_cast<int>(plan.communicators.size()) ||
      ranks.size() != plan.ranks.size()) {
    return std::nullopt;
  }
  const Meetings meetings = meetings_of(plan, mode, communicator);
  std::optional<FrontLine> front = first_open(meetings.collectives, ranks);
  if (prefers_messages(plan, front)) {
    if (auto messages = message_front(meetings, ranks)) front = std::move(messages);
  }
  if (front) front->communicator = communicator;
  return front;
}

std::optional<FrontLine> front_line(const ReplayPlan& plan, MadeIn mode,
                                    const std::vector<RankOutcome>& ranks) {
  if (plan.hypothesis.front) {
    auto front = front_of(plan, mode, plan.hypothesis.front->communicator, ranks);
    if (front) return front;
  }
  for (size_t i = 0; i < plan.communicators.size(); ++i) {
    if (auto front = front_of(plan, mode, static_cast<int>(i), ranks)) return front;
  }
  return std::nullopt;
}

}  // namespace ncclog
