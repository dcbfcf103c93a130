#include "diagnose/calls/who_waits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/watchdog.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// A communicator of which no line says how many ranks it has may have any number.
int unseen_ranks(const Communicator& comm) {
  const int seen = static_cast<int>(comm.ranks.size());
  return comm.nranks < 0 ? 1 : std::max(0, comm.nranks - seen);
}

/// True if the watchdog of every rank whose calls are not counted fired.
bool unknown_ranks_wait(const Job& job) {
  if (job.communicators.empty()) return false;
  const Communicator& world = job.communicators.front();
  if (world.nranks != job.nranks || static_cast<int>(world.ranks.size()) != world.nranks) {
    return false;
  }
  std::set<int> gave_up;
  for (const TimedOutWork& work : timed_out_work(job)) {
    // Up to PyTorch 2.1 the rank may be that inside some group.
    if (nth_process(job, work.process).rank >= 0) gave_up.insert(work.rank);
  }
  return std::ranges::all_of(world.ranks, [&](const CommRank& rank) {
    return call_coverage(job, world, rank) == CallCoverage::Counted ||
           (rank.rank >= 0 && gave_up.contains(rank.rank));
  });
}

}  // namespace

uint64_t collectives_of(const Job& job, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  return calls == nullptr ? 0 : calls->collectives.size();
}

CallFront call_front(const Job& job, int communicator) {
  const Communicator& comm = nth_communicator(job, communicator);
  CallFront front;
  front.communicator = communicator;
  front.unseen = unseen_ranks(comm);
  std::vector<int> counted;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const bool is_counted = call_coverage(job, comm, comm.ranks[r]) == CallCoverage::Counted;
    (is_counted ? counted : front.unknown).push_back(static_cast<int>(r));
    front.furthest = std::max(front.furthest, collectives_of(job, comm.ranks[r]));
  }
  front.front = front.furthest;
  const auto length = [&](int r) {
    return collectives_of(job, comm.ranks[static_cast<size_t>(r)]);
  };
  for (const int r : counted) front.front = std::min(front.front, length(r));
  // Ranks that called different things cannot be told to be behind or ahead by counting.
  if (comm.difference || front.front == front.furthest) return front;
  for (const int r : counted) (length(r) == front.front ? front.behind : front.ahead).push_back(r);
  return front;
}

std::vector<CallFront> call_fronts(const Job& job) {
  const bool unknown_wait = unknown_ranks_wait(job);
  std::vector<CallFront> fronts;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    CallFront front = call_front(job, static_cast<int>(c));
    front.unknown_wait = unknown_wait;
    if (front.furthest > 0) fronts.push_back(std::move(front));
  }
  return fronts;
}

const PlacedCall* open_call(const Job& job, const CallFront& front) {
  const Communicator& comm = nth_communicator(job, front.communicator);
  for (const int r : front.ahead) {
    const CollectiveCalls* calls = calls_of(job, comm.ranks[static_cast<size_t>(r)]);
    if (const PlacedCall* call = calls->collectives.call(front.front)) return call;
  }
  return nullptr;
}

namespace {

/// How often all ranks called in that line whose programs are known.
uint64_t made_by_all(const Job& job, const CallLine& line, const std::set<Waiter>& known) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const CommRank& rank : nth_communicator(job, line.communicator).ranks) {
    if (!known.contains(waiter_of(rank))) continue;
    if (!line.is_message() || rank.rank == line.sender) {
      least = std::min(least, calls_made(job, rank, line, false));
    }
    if (line.is_message() && rank.rank == line.receiver) {
      least = std::min(least, calls_made(job, rank, line, true));
    }
  }
  return least;
}

}  // namespace

Simulation simulate_calls(const Job& job) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  std::set<Waiter> known;
  for (const RankProgram& program : programs) known.insert(program.waiter);
  std::map<CallLine, uint64_t> made;
  return Simulation(programs, Circles::End, [&](const MeetingKey& key, const auto&) {
    const auto [entry, is_new] = made.try_emplace(key.line, 0);
    if (is_new) entry->second = made_by_all(job, key.line, known);
    return key.index < entry->second;
  });
}

namespace {

/// Points of the graph: waiters, and between those ahead and those behind one point for each
/// front, so that a front of n ranks has n edges and not n * n / 4.
class WaitGraph {
 public:
  int point_of(const Waiter& waiter) {
    const auto [entry, is_new] = points_.try_emplace(waiter, static_cast<int>(edges_.size()));
    if (is_new) add_point(waiter);
    return entry->second;
  }
  int new_point() { return add_point({}); }
  void add_edge(int from, int to) {
    edges_[static_cast<size_t>(from)].push_back(to);
    back_[static_cast<size_t>(to)].push_back(from);
  }

  /// Waiters of the strongly connected parts that no edge leaves and that somebody waits for.
  std::vector<std::vector<Waiter>> sinks() const {
    return waiters_of_parts([&](const Part& part, const std::vector<Waiter>& waiters) {
      const auto is_left = [&](int point) {
        const auto& to = edges_[static_cast<size_t>(point)];
        return std::ranges::any_of(to, [&](int other) { return !part.contains(other); });
      };
      const bool is_awaited = part.size() > 1 || !back_[static_cast<size_t>(*part.begin())].empty();
      return !waiters.empty() && is_awaited && std::ranges::none_of(part, is_left);
    });
  }

  /// Waiters of the strongly connected parts with several of them.
  std::vector<std::vector<Waiter>> circles() const {
    return waiters_of_parts(
        [](const Part&, const std::vector<Waiter>& waiters) { return waiters.size() > 1; });
  }

  /// Those from whom an edge leads, sorted.
  std::vector<Waiter> waiting() const {
    std::vector<Waiter> result;
    for (const auto& [waiter, point] : points_) {
      if (!edges_[static_cast<size_t>(point)].empty()) result.push_back(waiter);
    }
    return result;
  }

 private:
  using Edges = std::vector<std::vector<int>>;
  using Part = std::set<int>;

  int add_point(const Waiter& waiter) {
    edges_.emplace_back();
    back_.emplace_back();
    waiters_.push_back(waiter);
    return static_cast<int>(edges_.size()) - 1;
  }

  template <typename IsWanted>
  std::vector<std::vector<Waiter>> waiters_of_parts(IsWanted is_wanted) const {
    std::vector<std::vector<Waiter>> result;
    for (const Part& part : parts()) {
      std::vector<Waiter> waiters;
      for (const int point : part) {
        const Waiter& waiter = waiters_[static_cast<size_t>(point)];
        if (waiter.process >= 0) waiters.push_back(waiter);
      }
      std::ranges::sort(waiters);
      if (is_wanted(part, waiters)) result.push_back(std::move(waiters));
    }
    std::ranges::sort(result);
    return result;
  }

  /// Strongly connected parts (Kosaraju): of the points in the order in which walks along the edges
  /// end, the last one first, what leads to each and is of no part yet.
  std::vector<Part> parts() const {
    std::vector<int> order;
    std::vector<bool> seen(edges_.size());
    for (size_t p = 0; p < edges_.size(); ++p) walk(static_cast<int>(p), edges_, seen, order);
    std::vector<Part> result;
    seen.assign(edges_.size(), false);
    for (auto p = order.rbegin(); p != order.rend(); ++p) {
      std::vector<int> part;
      walk(*p, back_, seen, part);
      if (!part.empty()) result.emplace_back(part.begin(), part.end());
    }
    return result;
  }

  /// Adds to `order` what edges lead to from `start` on and was not seen, each point after those
  /// that it leads to. Without recursion: a chain may be as long as the job has ranks.
  static void walk(int start, const Edges& edges, std::vector<bool>& seen,
                   std::vector<int>& order) {
    std::vector<std::pair<int, size_t>> path;  // Points, and how many of their edges were followed.
    const auto enter = [&](int point) {
      if (seen[static_cast<size_t>(point)]) return;
      seen[static_cast<size_t>(point)] = true;
      path.emplace_back(point, 0);
    };
    enter(start);
    while (!path.empty()) {
      auto& [point, followed] = path.back();
      const std::vector<int>& to = edges[static_cast<size_t>(point)];
      if (followed < to.size()) {
        enter(to[followed++]);
      } else {
        order.push_back(point);
        path.pop_back();
      }
    }
  }

  std::map<Waiter, int> points_;
  std::vector<Waiter> waiters_;  ///< By point; process -1: the point of a front.
  Edges edges_;
  Edges back_;  ///< The same, the other way round.
};

void add_front(const Job& job, const CallFront& front, WaitGraph& graph) {
  // Where a rank is unknown, all may wait for that one.
  if (!front.is_open() || !front.knows_all()) return;
  const int open = graph.new_point();
  for (const int r : front.ahead) {
    graph.add_edge(graph.point_of(waiter_of(rank_at(job, front.communicator, r))), open);
  }
  for (const int r : front.behind) {
    graph.add_edge(open, graph.point_of(waiter_of(rank_at(job, front.communicator, r))));
  }
}

void add_messages(const Job& job, const UnmatchedMessages& messages, WaitGraph& graph) {
  const Waiter sender = waiter_of(rank_at(job, messages.communicator, messages.sender));
  const Waiter receiver = waiter_of(rank_at(job, messages.communicator, messages.receiver));
  // Messages of two sizes keep both ends.
  if (messages.sizes_differ) {
    graph.add_edge(graph.point_of(sender), graph.point_of(receiver));
    graph.add_edge(graph.point_of(receiver), graph.point_of(sender));
    return;
  }
  const bool sender_waits = messages.sent > messages.received;
  const int from = graph.point_of(sender_waits ? sender : receiver);
  graph.add_edge(from, graph.point_of(sender_waits ? receiver : sender));
}

/// Calls that nobody owes and that may not have been completed; fronts and unmatched messages tell
/// of the others.
void add_held_calls(const Job& job, WaitGraph& graph) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  const Simulation simulation = simulate_calls(job);
  for (const auto& [key, meeting] : simulation.meetings()) {
    if (!meeting.is_complete || meeting.came().empty() || meeting.has_ended()) continue;
    const int held = graph.new_point();
    for (const SimulatedCall& call : meeting.came()) {
      graph.add_edge(graph.point_of(programs[call.program].waiter), held);
    }
    for (const SimulatedCall& call : meeting.awaited()) {
      graph.add_edge(held, graph.point_of(programs[call.program].waiter));
    }
  }
}

bool holds(const Holdup& holdup, const Waiter& waiter) {
  return std::ranges::binary_search(holdup.waiters, waiter);
}

Holdup make_holdup(const Job& job, const Waits& waits, std::vector<Waiter> waiters) {
  Holdup holdup{std::move(waiters), {}, {}};
  for (size_t f = 0; f < waits.fronts.size(); ++f) {
    const CallFront& front = waits.fronts[f];
    if (!front.knows_all()) continue;
    if (std::ranges::any_of(front.behind, [&](int r) {
          return holds(holdup, waiter_of(rank_at(job, front.communicator, r)));
        })) {
      holdup.fronts.push_back(static_cast<int>(f));
    }
  }
  for (size_t m = 0; m < waits.unmatched.size(); ++m) {
    const UnmatchedMessages& messages = waits.unmatched[m];
    const int owing = messages.sent > messages.received ? messages.receiver : messages.sender;
    if (holds(holdup, waiter_of(rank_at(job, messages.communicator, owing)))) {
      holdup.unmatched.push_back(m);
    }
  }
  return holdup;
}

/// Ranks of a communicator that are counted, by rank.
std::map<int, int> counted_ranks(const Job& job, const Communicator& comm) {
  std::map<int, int> ranks;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const CommRank& rank = comm.ranks[r];
    if (rank.rank < 0 || call_coverage(job, comm, rank) != CallCoverage::Counted) continue;
    ranks[rank.rank] = static_cast<int>(r);
  }
  return ranks;
}

}  // namespace

std::vector<UnmatchedMessages> unmatched_messages(const Job& job, int communicator) {
  const Communicator& comm = nth_communicator(job, communicator);
  const std::map<int, int> ranks = counted_ranks(job, comm);
  std::set<std::pair<int, int>> pairs;
  for (const auto& [number, r] : ranks) {
    for (const int peer : message_peers(job, comm.ranks[static_cast<size_t>(r)])) {
      if (ranks.contains(peer)) pairs.insert({{number, peer}, {peer, number}});
    }
  }
  std::vector<UnmatchedMessages> result;
  for (const auto& [sender, receiver] : pairs) {
    const int from = ranks.at(sender);
    const int to = ranks.at(receiver);
    const auto sent = message_count(job, comm.ranks[static_cast<size_t>(from)], receiver, false);
    const auto received = message_count(job, comm.ranks[static_cast<size_t>(to)], sender, true);
    if (!sent || !received) continue;
    const bool are_sized = sent->sizes && received->sizes;
    const bool sizes_differ =
        sent->count == received->count && are_sized && *sent->sizes != *received->sizes;
    if (sent->count == received->count && !sizes_differ) continue;
    result.push_back({communicator, from, to, sent->count, received->count, sizes_differ});
  }
  return result;
}

namespace {

Waits waits_of(const Job& job) {
  Waits waits;
  waits.fronts = call_fronts(job);
  WaitGraph graph;
  for (const CallFront& front : waits.fronts) add_front(job, front, graph);
  // Before messages are added: circles of collectives alone are inversions of their order.
  waits.circles = graph.circles();
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const UnmatchedMessages& messages : unmatched_messages(job, static_cast<int>(c))) {
      add_messages(job, messages, graph);
      waits.unmatched.push_back(messages);
    }
  }
  add_held_calls(job, graph);
  waits.waiting = graph.waiting();
  for (std::vector<Waiter>& sink : graph.sinks()) {
    waits.holdups.push_back(make_holdup(job, waits, std::move(sink)));
  }
  return waits;
}

}  // namespace

bool messages_are_covered(const Job& job) {
  return std::ranges::all_of(job.communicators, [&](const auto& comm) {
    const std::map<int, int> ranks = counted_ranks(job, comm);
    return std::ranges::all_of(comm.ranks, [&](const CommRank& rank) {
      const std::vector<int> peers = message_peers(job, rank);
      if (peers.empty()) return true;
      return ranks.contains(rank.rank) && !has_unknown_peers(job, rank) &&
             std::ranges::all_of(peers, [&](int peer) {
               const auto other = ranks.find(peer);
               return other != ranks.end() &&
                      !has_unknown_peers(job, comm.ranks[static_cast<size_t>(other->second)]);
             });
    });
  });
}

bool is_closed_by_fronts(const Waits& waits, const Holdup& holdup) {
  return std::ranges::any_of(waits.circles, [&](const auto& circle) {
    return std::ranges::includes(holdup.waiters, circle);
  });
}

bool holds_up(const Waits& waits, const Waiter& waiter) {
  return std::ranges::any_of(waits.holdups,
                             [&](const Holdup& holdup) { return holds(holdup, waiter); });
}

const Waits& find_waits(const Job& job) { return job.answers.of<&waits_of>(job); }

namespace {

std::set<int> find_those_that_gave_up(const Job& job) {
  std::set<int> processes;
  for (const TimedOutWork& work : timed_out_work(job)) processes.insert(work.process);
  return processes;
}

const std::set<int>& processes_that_gave_up(const Job& job) {
  return job.answers.of<&find_those_that_gave_up>(job);
}

/// Its watchdog gave up although nothing of its own is open: in a call that all have made.
bool waited_in_a_whole_call(const Job& job, const Waits& waits, const Waiter& waiter) {
  return processes_that_gave_up(job).contains(waiter.process) &&
         !std::ranges::binary_search(waits.waiting, waiter);
}

/// On communicators with collectives.
bool may_wait_in_front(const Job& job, const Waits& waits, const Waiter& waiter) {
  return std::ranges::any_of(waits.fronts, [&](const CallFront& front) {
    if (front.knows_all()) return false;
    const auto& ranks = nth_communicator(job, front.communicator).ranks;
    return std::ranges::any_of(ranks, [&](const CommRank& rank) {
      const CollectiveCalls* calls = calls_of(job, rank);
      return waiter_of(rank) == waiter && calls != nullptr && calls->total > 0;
    });
  });
}

const CommRank* find_rank(const Communicator& comm, int number) {
  const auto found =
      std::ranges::find_if(comm.ranks, [&](const CommRank& rank) { return rank.rank == number; });
  return found == comm.ranks.end() ? nullptr : &*found;
}

/// The peer may not have made the other end of each message of `rank` in a direction.
bool may_lack_end(const Job& job, const CommRank& rank, const CommRank& peer, bool receives) {
  const auto own = message_count(job, rank, peer.rank, receives);
  const auto shown = message_count(job, peer, rank.rank, !receives);
  return !own || !shown || own->count > shown->count;
}

/// The peer is not counted, or not with this rank, and its log does not show the other end of all
/// messages.
bool may_owe(const Job& job, const Communicator& comm, const CommRank& rank, int peer) {
  const CommRank* other = find_rank(comm, peer);
  if (other == nullptr) return true;
  const CallCoverage coverage = call_coverage(job, comm, *other);
  if (coverage == CallCoverage::Unknown) return true;
  if (coverage == CallCoverage::Counted) {
    return !message_count(job, *other, rank.rank, false) ||
           !message_count(job, *other, rank.rank, true);
  }
  return may_lack_end(job, rank, *other, false) || may_lack_end(job, rank, *other, true);
}

bool may_lack_message(const Job& job, const Communicator& comm, const CommRank& rank) {
  if (has_unknown_peers(job, rank)) return true;
  const std::vector<int> peers = message_peers(job, rank);
  return std::ranges::any_of(peers, [&](int peer) { return may_owe(job, comm, rank, peer); });
}

/// Some rank that the waiter is, in whatever communicator, is such.
template <typename IsSuch>
bool any_rank_of(const Job& job, const Waiter& waiter, IsSuch is_such) {
  return std::ranges::any_of(job.communicators, [&](const auto& comm) {
    return std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
      return waiter_of(rank) == waiter && is_such(comm, rank);
    });
  });
}

/// Its Send to itself and the Recv of it differ in size: it waits for itself.
bool waits_for_itself(const Job& job, const Waits& waits, const Waiter& waiter) {
  return std::ranges::any_of(waits.unmatched, [&](const auto& messages) {
    const auto& ranks = nth_communicator(job, messages.communicator).ranks;
    return messages.sizes_differ && messages.sender == messages.receiver &&
           waiter_of(ranks[static_cast<size_t>(messages.sender)]) == waiter;
  });
}

/// Another rank of the communicator waits itself, or is one of those that seem to wait for nobody,
/// and has come less far.
bool is_kept_in(const Job& job, const Waits& waits, const std::vector<Holdup>& idle,
                const Communicator& comm, const Waiter& waiter) {
  return std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
    const Waiter mate = waiter_of(rank);
    if (mate == waiter || !made_no_more(job, mate, waiter)) return false;
    const bool is_idle =
        std::ranges::any_of(idle, [&](const Holdup& one) { return one.waiters.front() == mate; });
    if (is_idle) return !made_no_more(job, waiter, mate);
    return std::ranges::binary_search(waits.waiting, mate);
  });
}

/// It may wait for a rank of one of its groups in a call that no line shows, as the calls of a CUDA
/// graph are: that rank is at no later place of the same program, and waits for somebody else.
bool may_wait_unseen(const Job& job, const Waits& waits, const std::vector<Holdup>& idle,
                     const Waiter& waiter) {
  int largest = 0;
  for (const Communicator& comm : job.communicators) largest = std::max(largest, comm.nranks);
  return any_rank_of(job, waiter, [&](const Communicator& comm, const CommRank& rank) {
    return collectives_of(job, rank) > 0 && comm.nranks < largest &&
           is_kept_in(job, waits, idle, comm, waiter);
  });
}

}  // namespace

bool ranks_contradict_each_other(const Job& job) {
  return std::ranges::any_of(job.communicators,
                             [](const Communicator& comm) { return comm.difference.has_value(); });
}

bool timeouts_name_no_process(const Job& job) {
  const bool ranks_are_known = std::ranges::none_of(
      job.processes, [](const Process& process) { return process.has_nccl && process.rank < 0; });
  const std::vector<TimedOutWork> works = timed_out_work(job);
  return std::ranges::any_of(works, [&](const TimedOutWork& work) {
    const Process& process = nth_process(job, work.process);
    if (process.rank < 0 && process.pid < 0) return true;
    return !process.has_nccl && !ranks_are_known;
  });
}

bool may_wait_for_unknown(const Job& job, const Waits& waits, const Waiter& waiter) {
  return waited_in_a_whole_call(job, waits, waiter) || may_wait_in_front(job, waits, waiter) ||
         any_rank_of(job, waiter, [&](const Communicator& comm, const CommRank& rank) {
           return may_lack_message(job, comm, rank);
         });
}

std::vector<Holdup> idle_holdups(const Job& job, const Waits& waits) {
  const std::set<int>& gave_up = processes_that_gave_up(job);
  std::vector<Holdup> result;
  for (const Holdup& holdup : waits.holdups) {
    if (holdup.waiters.size() != 1) continue;  // In a circle everybody waits for somebody.
    const Waiter& waiter = holdup.waiters.front();
    // Whose watchdog fired was waiting itself.
    if (gave_up.contains(waiter.process)) continue;
    // It began to initialise a communicator and waits there for its other ranks.
    const bool is_initialising = any_rank_of(
        job, waiter,
        [](const Communicator&, const CommRank& rank) { return rank.state == RankState::Started; });
    if (is_initialising) continue;
    if (may_wait_for_unknown(job, waits, waiter)) continue;
    if (waits_for_itself(job, waits, waiter)) continue;
    result.push_back(holdup);
  }
  // Without a watchdog nobody says of several that they do not wait.
  if (result.size() > 1 && gave_up.empty()) {
    const std::vector<Holdup> idle = result;
    std::erase_if(result, [&](const Holdup& holdup) {
      return may_wait_unseen(job, waits, idle, holdup.waiters.front());
    });
  }
  // Some of several may be among those that gave up.
  const bool is_uncertain = result.size() > 1 && timeouts_name_no_process(job);
  return is_uncertain ? std::vector<Holdup>{} : result;
}

}  // namespace ncclog
