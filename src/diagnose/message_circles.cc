#include "diagnose/message_circles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/call_programs.h"
#include "diagnose/call_waits.h"
#include "diagnose/fact_answers.h"
#include "diagnose/message_balance.h"
#include "diagnose/message_departures.h"
#include "diagnose/program_twins.h"
#include "diagnose/rank_programs.h"
#include "diagnose/step_past.h"
#include "diagnose/watchdog_records.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

bool is_one_message(const TimedOutWork& work) {
  // A size of its own on either end is printed since 2.1.
  return (work.op == "SEND" || work.op == "RECV") && work.numel_out >= 0;
}

/// The first message that each process gave up on.
std::map<int, TimedOutWork> stuck_messages(const Job& job) {
  std::map<int, TimedOutWork> stuck;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (work.process >= 0 && is_one_message(work)) stuck.try_emplace(work.process, work);
  }
  return stuck;
}

/// A rank of a communicator and the message in which it waits.
struct Stuck {
  const RankProgram* program = nullptr;
  size_t at = 0;  ///< Into its calls.
  const TimedOutWork* work = nullptr;

  const RankCall& message() const { return program->calls[at]; }
};

/// All messages that the rank made on the communicator.
uint64_t messages_made(const CollectiveCalls& calls) {
  uint64_t made = calls.other_peers;
  for (const auto& [peer, totals] : calls.peers) made += totals.sent.count + totals.received.count;
  return made;
}

/// The message that PyTorch means: it counts those of a group from 1 (since 2.5). Up to then it is
/// the last one of that direction, if all messages of the rank are on this communicator.
std::optional<size_t> place_of(const RankProgram& program, int communicator, uint64_t made,
                               const TimedOutWork& work) {
  std::vector<size_t> places;
  bool are_elsewhere = false;
  for (size_t at = 0; at < program.calls.size(); ++at) {
    const CallLine& line = program.calls[at].line;
    if (!line.is_message()) continue;
    if (line.communicator == communicator) {
      places.push_back(at);
    } else {
      are_elsewhere = true;
    }
  }
  const auto is_meant = [&](size_t at) {
    return program.calls[at].receives == (work.op == "RECV");
  };
  const uint64_t first = made - std::min<uint64_t>(made, places.size());
  const uint64_t number = static_cast<uint64_t>(work.seq) - 1;
  const bool is_kept = work.seq > 0 && number >= first && number - first < places.size();
  if (is_kept && is_meant(places[number - first])) return places[number - first];
  if (are_elsewhere) return std::nullopt;
  const auto last = std::find_if(places.rbegin(), places.rend(), is_meant);
  return last == places.rend() ? std::nullopt : std::optional(*last);
}

/// By rank in the communicator.
std::map<int, Stuck> stuck_in(const Job& job, int communicator,
                              const std::map<int, TimedOutWork>& works) {
  std::map<int, Stuck> stuck;
  for (const CommRank& rank : job.communicators[static_cast<size_t>(communicator)].ranks) {
    const auto work = works.find(rank.process);
    const CollectiveCalls* calls = calls_of(job, rank);
    if (work == works.end() || calls == nullptr) continue;
    const RankProgram* program = program_of(job, waiter_of(rank));
    if (program == nullptr) continue;
    const auto at = place_of(*program, communicator, messages_made(*calls), work->second);
    if (at) stuck[rank.rank] = {program, *at, &work->second};
  }
  return stuck;
}

/// Whether a rank waits for another one.
enum class Edge {
  None,
  Behind,    ///< The other end stands behind the message in which the peer waits itself.
  NotPosted  ///< The peer has not come to it.
};

/// How a rank waits for its peer.
Edge edge_of(const Stuck& waiting, const Stuck& peer) {
  const RankCall& message = waiting.message();
  const std::vector<RankCall>& theirs = peer.program->calls;
  uint64_t made = 0;
  for (size_t at = 0; at < theirs.size(); ++at) {
    if (theirs[at].line != message.line || theirs[at].receives == message.receives) continue;
    if (theirs[at].index == message.index) return at > peer.at ? Edge::Behind : Edge::None;
    made = std::max(made, theirs[at].index + 1);
  }
  return made <= message.index ? Edge::NotPosted : Edge::None;
}

int peer_of(const RankCall& message) {
  return message.receives ? message.line.sender : message.line.receiver;
}

/// The ranks of a circle in the order in which each waits for the next; empty: there is none.
std::vector<int> circle_of(const std::map<int, Stuck>& stuck) {
  std::map<int, int> awaited;
  for (const auto& [rank, waiting] : stuck) {
    const int peer = peer_of(waiting.message());
    const auto other = stuck.find(peer);
    if (peer == rank || other == stuck.end()) continue;
    const Edge edge = edge_of(waiting, other->second);
    // A message that was left out leaves both ends waiting, one for it and one for what is next.
    const bool same_way = waiting.work->op == other->second.work->op;
    if (edge == Edge::Behind || (edge == Edge::NotPosted && same_way)) awaited[rank] = peer;
  }
  for (const auto& [start, next] : awaited) {
    std::vector<int> circle = {start};
    for (int at = next; at != start; at = awaited.at(at)) {
      if (!awaited.contains(at) || std::count(circle.begin(), circle.end(), at) > 0) break;
      circle.push_back(at);
    }
    // Where all wait in a Recv, a Send may as well have been left out.
    const bool any_sends = std::any_of(
        circle.begin(), circle.end(), [&](int rank) { return !stuck.at(rank).message().receives; });
    if (awaited.at(circle.back()) == start && any_sends) return circle;
  }
  return {};
}

/// One of its last calls stands where another one always stood.
bool left_its_past(const RankProgram& program) {
  constexpr size_t kLookedAt = 96;
  const std::vector<int> kinds = kinds_of(program);
  const size_t first = kinds.size() - std::min(kinds.size(), kLookedAt);
  for (size_t at = std::max(first, kStepContext); at < kinds.size(); ++at) {
    if (past_of_step(kinds, at, at - kStepContext + 1).past == Past::Other) return true;
  }
  return false;
}

/// Some rank of the circle is known to have left out a message of that communicator, or made
/// another call than those like it, or than it always did.
bool was_left_out(const Job& job, int communicator, const std::vector<int>& circle,
                  const std::map<int, Stuck>& stuck) {
  if (std::any_of(circle.begin(), circle.end(), [&](int rank) {
        return departure_from_twins(job, stuck.at(rank).program->waiter).has_value();
      })) {
    return true;
  }
  // Where all did, their program changed.
  const auto left = std::count_if(circle.begin(), circle.end(),
                                  [&](int rank) { return left_its_past(*stuck.at(rank).program); });
  if (left > 0 && static_cast<size_t>(left) < circle.size()) return true;
  std::vector<Waiter> waiters;
  for (const int rank : circle) waiters.push_back(stuck.at(rank).program->waiter);
  if (!departed(job, waiters).empty()) return true;
  const auto& apart = messages_out_of_step(job);
  if (std::any_of(apart.begin(), apart.end(), [&](const OutOfStep& messages) {
        return messages.messages.communicator == communicator;
      })) {
    return true;
  }
  const auto& unmatched = find_waits(job).unmatched;
  return std::any_of(unmatched.begin(), unmatched.end(), [&](const UnmatchedMessages& messages) {
    return messages.communicator == communicator && message_departure(job, messages);
  });
}

std::string circle_words(const Job& job, const Communicator& comm, const std::vector<int>& circle,
                         const std::map<int, Stuck>& stuck) {
  const auto number = [&](int rank) {
    for (const CommRank& member : comm.ranks) {
      if (member.rank != rank || member.process < 0) continue;
      const int known = job.processes[static_cast<size_t>(member.process)].rank;
      return known >= 0 ? known : rank;
    }
    return rank;
  };
  std::vector<std::string> names;
  for (const int rank : circle) names.push_back(fmt::format("rank {}", number(rank)));
  names.push_back(names.front());
  const RankCall& first = stuck.at(circle.front()).message();
  return fmt::format(
      "{} wait in a circle, each for a call that the next one makes only behind its "
      "own: {} waits in its {} number {} {} rank {}",
      join(names, " → "), names.front(), first.receives ? "Recv" : "Send", first.index + 1,
      first.receives ? "from" : "to", number(peer_of(first)));
}

/// As the lines of calls show it.
std::optional<FactValue> circle_in_calls(const Job& job) {
  const std::map<int, TimedOutWork> works = stuck_messages(job);
  for (size_t c = 0; c < job.communicators.size() && works.size() > 1; ++c) {
    const Communicator& comm = job.communicators[c];
    const std::map<int, Stuck> stuck = stuck_in(job, static_cast<int>(c), works);
    const std::vector<int> circle = circle_of(stuck);
    if (circle.empty() || was_left_out(job, static_cast<int>(c), circle, stuck)) continue;
    FactValue value = yes(circle_words(job, comm, circle, stuck));
    value.communicator = comm.id;
    value.inferred = comm.inferred;
    for (const int rank : circle) {
      value.evidence.push_back(stuck.at(rank).work->line);
      value.processes.push_back(stuck.at(rank).work->process);
    }
    return value;
  }
  return std::nullopt;
}

/// Every rank gave up on a message, and all on a Send, or all on a Recv.
std::optional<FactValue> circle_of_all(const Job& job) {
  const auto is_whole = [&](const Communicator& comm) { return comm.nranks == job.nranks; };
  const bool one_stream = !job.communicators.empty() &&
                          std::all_of(job.communicators.begin(), job.communicators.end(), is_whole);
  if (!one_stream || job.nranks.value_or(0) < 2) return std::nullopt;
  FactValue value = yes({});
  std::set<int> ranks;
  std::set<std::string> ops;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (!is_one_message(work) || work.rank < 0) return std::nullopt;
    ops.insert(work.op);
    if (!ranks.insert(work.rank).second) continue;
    value.evidence.push_back(work.line);
    if (work.process >= 0) value.processes.push_back(work.process);
  }
  if (ops.size() != 1 || static_cast<int>(ranks.size()) != *job.nranks) return std::nullopt;
  value.what = fmt::format(
      "all {} ranks gave up on a {} and nobody on a {}, so that some wait in a "
      "circle for each other",
      ranks.size(), *ops.begin(), *ops.begin() == "SEND" ? "RECV" : "SEND");
  return value;
}

}  // namespace

FactValue messages_in_circle(const Job& job, const Instance&) {
  if (auto circle = circle_in_calls(job)) return *circle;
  // Lines of calls say more than watchdogs alone, also where they show no circle.
  const bool has_calls = std::any_of(
      job.communicators.begin(), job.communicators.end(), [&](const Communicator& comm) {
        return std::any_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
          const CollectiveCalls* calls = calls_of(job, rank);
          return calls != nullptr && messages_made(*calls) > 0;
        });
      });
  if (has_calls) return unknown();
  auto circle = circle_of_all(job);
  return circle ? *circle : unknown();
}

}  // namespace ncclog
