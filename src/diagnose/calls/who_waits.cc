#include "diagnose/calls/who_waits.h"

#include <fmt/format.h>

#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "diagnose/calls/diverged.h"
#include "diagnose/calls/memberships.h"

namespace ncclog {
namespace {

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

/// How often all ranks called in that line whose programs are known.
uint64_t made_by_all(const Job& job, const CallLine& line, const std::set<Waiter>& known) {
  uint64_t least = UINT64_MAX;
  const auto count = [&](const CommRank& rank) {
    if (!known.contains(waiter_of(rank))) return;
    if (!line.is_message() || rank.rank == line.sender) {
      least = std::min(least, calls_made(job, rank, {line, false}));
    }
    if (line.is_message() && rank.rank == line.receiver) {
      least = std::min(least, calls_made(job, rank, {line, true}));
    }
  };
  const auto& ranks = nth_communicator(job, line.communicator).ranks;
  if (!line.is_message()) {
    std::ranges::for_each(ranks, count);
    return least;
  }
  for (const int end : {line.sender, line.receiver}) {
    const int first = member_of(job, line.communicator, end);
    for (auto m = static_cast<size_t>(std::max(first, 0)); first >= 0 && m < ranks.size(); ++m) {
      if (ranks[m].rank != end) break;
      count(ranks[m]);
    }
  }
  return least;
}

/// Points of the graph: waiters, and between those ahead and those behind one point for each
/// front, so that a front of n ranks has n edges and not n * n / 4.
class WaitGraph {
 public:
  size_t point_of(const Waiter& waiter) {
    const auto [entry, is_new] = points_.try_emplace(waiter, num_vertices(graph_));
    return is_new ? new_point() : entry->second;
  }
  size_t new_point() { return add_vertex(graph_); }
  void add_edge(size_t from, size_t to) { boost::add_edge(from, to, graph_); }

  /// Waiters of the strongly connected parts that no edge leaves and that somebody waits for.
  std::vector<std::vector<Waiter>> sinks() const {
    const std::vector<size_t> part_of = parts();
    std::set<size_t> awaited;
    std::set<size_t> left;
    for (const auto& edge : boost::make_iterator_range(edges(graph_))) {
      const size_t from = part_of[source(edge, graph_)];
      const size_t to = part_of[target(edge, graph_)];
      awaited.insert(to);
      if (from != to) left.insert(from);
    }
    return waiters_of(part_of, [&](size_t part, const std::vector<Waiter>&) {
      return awaited.contains(part) && !left.contains(part);
    });
  }

  /// Waiters of the strongly connected parts with several of them.
  std::vector<std::vector<Waiter>> circles() const {
    return waiters_of(
        parts(), [](size_t, const std::vector<Waiter>& waiters) { return waiters.size() > 1; });
  }

  /// Those from whom an edge leads, sorted.
  std::vector<Waiter> waiting() const {
    std::vector<Waiter> result;
    for (const auto& [waiter, point] : points_) {
      if (out_degree(point, graph_) > 0) result.push_back(waiter);
    }
    return result;
  }

 private:
  /// Waiters by part, sorted; of the parts that are wanted.
  template <typename IsWanted>
  std::vector<std::vector<Waiter>> waiters_of(const std::vector<size_t>& part_of,
                                              IsWanted is_wanted) const {
    std::map<size_t, std::vector<Waiter>> by_part;
    for (const auto& [waiter, point] : points_) {
      if (waiter.process >= 0) by_part[part_of[point]].push_back(waiter);
    }
    std::vector<std::vector<Waiter>> result;
    for (auto& [part, waiters] : by_part) {
      if (is_wanted(part, waiters)) result.push_back(std::move(waiters));
    }
    std::ranges::sort(result);
    return result;
  }

  /// By point, its strongly connected part.
  std::vector<size_t> parts() const {
    std::vector<size_t> part_of(num_vertices(graph_));
    boost::strong_components(graph_, boost::make_iterator_property_map(
                                         part_of.begin(), get(boost::vertex_index, graph_)));
    return part_of;
  }

  std::map<Waiter, size_t> points_;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph_;
};

void add_front(const Job& job, const CallFront& front, WaitGraph& graph) {
  // Where a rank is unknown, all may wait for that one.
  if (!front.is_open() || !front.knows_all()) return;
  const size_t open = graph.new_point();
  const auto point_of = [&](int r) {
    return graph.point_of(waiter_at(job, front.communicator, r));
  };
  for (const int r : front.ahead) graph.add_edge(point_of(r), open);
  for (const int r : front.behind) graph.add_edge(open, point_of(r));
}

void add_messages(const Job& job, const UnmatchedMessages& messages, WaitGraph& graph) {
  const size_t owing = graph.point_of(waiter_at(job, messages.communicator, messages.owing()));
  const size_t other = graph.point_of(waiter_at(job, messages.communicator, messages.waiting()));
  graph.add_edge(other, owing);
  // Messages of two sizes keep both ends.
  if (messages.sizes_differ) graph.add_edge(owing, other);
}

/// Some calls lack another rank's, so that calls behind them may be held, too: ranks whose calls
/// are counted made unequal numbers of calls that meet.
bool is_any_lacking(const Job& job, const Waits& waits) {
  return std::ranges::any_of(waits.unmatched, std::not_fn(&UnmatchedMessages::sizes_differ)) ||
         std::ranges::any_of(job.communicators, [&](const Communicator& comm) {
           return !equally_long(job, comm) ||
                  std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
                    return call_coverage(job, comm, rank) == CallCoverage::Counted &&
                           has_unknown_peers(job, rank);
                  });
         });
}

/// Calls that nobody owes and that may not have been completed; fronts and unmatched messages tell
/// of the others.
void add_held_calls(const Job& job, WaitGraph& graph) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  const Simulation simulation = simulate_calls(job);
  for (const auto& [key, meeting] : simulation.meetings()) {
    if (!meeting.is_complete || meeting.came().empty() || meeting.has_ended()) continue;
    const size_t held = graph.new_point();
    const auto point_of = [&](const SimulatedCall& call) {
      return graph.point_of(programs[call.program].waiter);
    };
    for (const SimulatedCall& call : meeting.came()) graph.add_edge(point_of(call), held);
    for (const SimulatedCall& call : meeting.awaited()) graph.add_edge(held, point_of(call));
  }
}

/// Notes with the blockers, of which no two hold one waiter, what is waited for.
void add_what_lacks(const Job& job, Waits& waits) {
  std::map<Waiter, Blocker*> by_waiter;
  for (Blocker& blocker : waits.blockers) {
    for (const Waiter& waiter : blocker.waiters) by_waiter.emplace(waiter, &blocker);
  }
  const auto note = [&](int communicator, int r, std::vector<size_t> Blocker::*numbers, size_t n) {
    const auto blocker = by_waiter.find(waiter_at(job, communicator, r));
    if (blocker == by_waiter.end()) return;
    std::vector<size_t>& all = blocker->second->*numbers;
    if (all.empty() || all.back() != n) all.push_back(n);
  };
  for (size_t f = 0; f < waits.fronts.size(); ++f) {
    const CallFront& front = waits.fronts[f];
    if (!front.knows_all()) continue;
    for (const int r : front.behind) note(front.communicator, r, &Blocker::fronts, f);
  }
  for (size_t m = 0; m < waits.unmatched.size(); ++m) {
    const UnmatchedMessages& messages = waits.unmatched[m];
    note(messages.communicator, messages.owing(), &Blocker::unmatched, m);
  }
}

/// Ranks of a communicator whose calls are counted, or, `with_cut`, up to the place where their file
/// ends, by rank: into Communicator::ranks.
std::map<int, int> counted_ranks(const Job& job, const Communicator& comm, bool with_cut = false) {
  std::map<int, int> ranks;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const CallDoubt doubt = call_doubt(job, comm, comm.ranks[r]);
    const bool is_known = doubt == CallDoubt::None || (with_cut && doubt == CallDoubt::Cut);
    if (comm.ranks[r].rank >= 0 && is_known) ranks[comm.ranks[r].rank] = static_cast<int>(r);
  }
  return ranks;
}

Waits waits_of(const Job& job) {
  Waits waits;
  waits.fronts = call_fronts(job);
  // Nobody ends a communicator in order while a call on it does not end.
  std::erase_if(waits.fronts, [&](const CallFront& front) {
    const auto& ranks = nth_communicator(job, front.communicator).ranks;
    return std::ranges::all_of(
        ranks, [](const CommRank& rank) { return rank.state == RankState::Destroyed; });
  });
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
  // Where no call lacks its like, all of them end: a healthy job's calls are not played through.
  if (is_any_lacking(job, waits)) add_held_calls(job, graph);
  waits.waiting = graph.waiting();
  for (std::vector<Waiter>& sink : graph.sinks()) {
    waits.blocking.insert(waits.blocking.end(), sink.begin(), sink.end());
    waits.blockers.push_back({std::move(sink), {}, {}});
  }
  std::ranges::sort(waits.blocking);
  add_what_lacks(job, waits);
  return waits;
}

/// The peer is not counted, or not with this rank, and its log does not show the other end of all
/// messages.
bool may_owe(const Job& job, const Communicator& comm, const CommRank& rank, int peer) {
  const int number = member_of(comm, peer);
  if (number < 0) return true;
  const CommRank* const other = &comm.ranks[static_cast<size_t>(number)];
  const CallCoverage coverage = call_coverage(job, comm, *other);
  if (coverage == CallCoverage::Unknown) return true;
  return std::ranges::any_of(std::array{false, true}, [&](bool receives) {
    const auto shown = message_count(job, *other, rank.rank, !receives);
    if (coverage == CallCoverage::Counted) return !shown;
    const auto own = message_count(job, rank, peer, receives);
    return !own || !shown || *own > *shown;
  });
}

/// Another rank of the communicator waits itself, or is one of those that seem to wait for nobody,
/// and has come less far.
bool is_kept_in(const Job& job, const Waits& waits, const std::vector<Blocker>& idle,
                const Communicator& comm, const Waiter& waiter) {
  return std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
    const Waiter mate = waiter_of(rank);
    if (mate == waiter || !made_no_more(job, mate, waiter)) return false;
    if (is_one_of(idle, mate)) return !made_no_more(job, waiter, mate);
    return std::ranges::binary_search(waits.waiting, mate);
  });
}

/// It may wait for a rank of one of its groups in a call that no line shows, as the calls of a CUDA
/// graph are: that rank is at no later place of the same program, and waits for somebody else.
bool may_wait_unseen(const Job& job, const Waits& waits, const std::vector<Blocker>& idle,
                     const Waiter& waiter) {
  const int largest = job.communicators.front().nranks;
  return std::ranges::any_of(memberships(job, waiter), [&](const MemberCalls& own) {
    const Communicator& comm = nth_communicator(job, own.communicator);
    return collectives_of(job, *own.rank) > 0 && comm.nranks < largest &&
           is_kept_in(job, waits, idle, comm, waiter);
  });
}

/// By CallDoubt; empty: they are compared.
constexpr std::string_view kWhy[] = {"",
                                     "no line shows them",
                                     "lines are torn",
                                     "Ray left lines out",
                                     "its pid may have had two lives",
                                     "lines stand in several inputs",
                                     "the first lines are missing",
                                     "which communicator is theirs is not told",
                                     "",
                                     "the file ends early"};
static_assert(std::size(kWhy) == static_cast<size_t>(CallDoubt::Cut) + 1);

/// By why they were not compared, the ranks in the job; -1: one that is not known.
std::map<std::string_view, std::set<int>> uncompared_ranks(const Job& job) {
  std::map<std::string_view, std::set<int>> result;
  for (const Communicator& comm : job.communicators) {
    if (!comm.calls || comm.nranks == 1) continue;
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      const auto reason = kWhy[static_cast<size_t>(call_doubt(job, comm, rank))];
      if (!reason.empty()) result[reason].insert(nth_process(job, rank.process).rank);
    }
  }
  return result;
}

}  // namespace

uint64_t collectives_of(const Job& job, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  return calls == nullptr ? 0 : calls->collectives.size();
}

bool equally_long(const Job& job, const Communicator& comm) {
  std::set<uint64_t> lengths;
  for (const CommRank& rank : comm.ranks) {
    const bool is_counted = call_coverage(job, comm, rank) == CallCoverage::Counted;
    if (is_counted) lengths.insert(collectives_of(job, rank));
  }
  return lengths.size() <= 1;
}

std::vector<CallFront> call_fronts(const Job& job) {
  const bool unknown_wait = unknown_ranks_wait(job);
  std::vector<CallFront> fronts;
  for (const CallAccount& account : call_ledger(job, CallSource::Lines)) {
    CallFront front = front_of(account);
    front.unknown_wait = unknown_wait;
    if (front.furthest > 0) fronts.push_back(std::move(front));
  }
  return fronts;
}

const PlacedCall* open_call(const Job& job, const CallFront& front) {
  for (const int r : front.ahead) {
    const CollectiveCalls* calls = calls_of(job, rank_at(job, front.communicator, r));
    if (const PlacedCall* call = calls->collectives.call(front.front)) return call;
  }
  return nullptr;
}

Simulation simulate_calls(const Job& job, bool in_order) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  std::set<Waiter> known;
  for (const RankProgram& program : programs) known.insert(program.waiter);
  std::map<CallLine, uint64_t> made;
  return Simulation(programs, in_order, [&](const MeetingKey& key, const auto&) {
    const auto [entry, is_new] = made.try_emplace(key.line, 0);
    if (is_new) entry->second = made_by_all(job, key.line, known);
    return key.index < entry->second;
  });
}

std::vector<UnmatchedMessages> unmatched_messages(const Job& job, int communicator) {
  const Communicator& comm = nth_communicator(job, communicator);
  const std::map<int, int> counted = counted_ranks(job, comm);
  const std::map<int, int> ranks = counted_ranks(job, comm, true);
  std::set<std::pair<int, int>> pairs;
  for (const auto& [number, r] : ranks) {
    for (const int peer : message_peers(job, rank_at(job, communicator, r))) {
      if (ranks.contains(peer)) pairs.insert({{number, peer}, {peer, number}});
    }
  }
  std::vector<UnmatchedMessages> result;
  for (const auto& [sender, receiver] : pairs) {
    const int from = ranks.at(sender);
    const int to = ranks.at(receiver);
    const CommRank& source = rank_at(job, communicator, from);
    const CommRank& target = rank_at(job, communicator, to);
    const auto sent = message_count(job, source, receiver, false);
    const auto received = message_count(job, target, sender, true);
    if (!sent || !received) continue;
    const auto sent_sizes = message_sizes(job, source, receiver, false);
    const auto received_sizes = message_sizes(job, target, sender, true);
    const bool are_as_many = sent == received;
    const bool sizes_differ =
        are_as_many && sent_sizes && received_sizes && sent_sizes != received_sizes;
    // As many as were made before a file ends are the same ones on both sides.
    const bool are_counted = counted.contains(sender) && counted.contains(receiver);
    if (!sizes_differ && (are_as_many || !are_counted)) continue;
    result.push_back({communicator, from, to, *sent, *received, sizes_differ});
  }
  return result;
}

CallLine line_of(const Job& job, const UnmatchedMessages& messages) {
  return {messages.communicator, rank_at(job, messages.communicator, messages.sender).rank,
          rank_at(job, messages.communicator, messages.receiver).rank};
}

bool messages_are_covered(const Job& job) {
  return std::ranges::all_of(job.communicators, [&](const Communicator& comm) {
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

bool is_closed_by_fronts(const Waits& waits, const Blocker& blocker) {
  return std::ranges::any_of(waits.circles, [&](const std::vector<Waiter>& circle) {
    return std::ranges::includes(blocker.waiters, circle);
  });
}

bool blocks(const Waits& waits, const Waiter& waiter) {
  return std::ranges::binary_search(waits.blocking, waiter);
}

const Waits& find_waits(const Job& job) { return job.answers.of<&waits_of>(job); }

bool ranks_contradict_each_other(const Job& job) {
  return std::ranges::any_of(job.communicators,
                             [](const Communicator& comm) { return comm.difference.has_value(); });
}

bool timeouts_name_no_process(const Job& job) {
  const bool ranks_are_known = std::ranges::none_of(
      job.processes, [](const Process& process) { return process.has_nccl && process.rank < 0; });
  return std::ranges::any_of(timed_out_work(job), [&](const TimedOutWork& work) {
    const Process& process = nth_process(job, work.process);
    if (process.rank < 0 && process.pid < 0) return true;
    return !process.has_nccl && !ranks_are_known;
  });
}

bool may_wait_for_unknown(const Job& job, const Waits& waits, const Waiter& waiter) {
  // Its watchdog gave up although nothing of its own is open: in a call that all have made.
  if (processes_that_gave_up(job).contains(waiter.process) &&
      !std::ranges::binary_search(waits.waiting, waiter)) {
    return true;
  }
  return std::ranges::any_of(memberships(job, waiter), [&](const MemberCalls& own) {
    const auto front =
        std::ranges::lower_bound(waits.fronts, own.communicator, {}, &CallFront::communicator);
    const bool may_wait_in_front = front != waits.fronts.end() &&
                                   front->communicator == own.communicator && !front->knows_all() &&
                                   own.calls != nullptr && own.calls->total > 0;
    if (may_wait_in_front || has_unknown_peers(job, *own.rank)) return true;
    const Communicator& comm = nth_communicator(job, own.communicator);
    return std::ranges::any_of(message_peers(job, *own.rank),
                               [&](int peer) { return may_owe(job, comm, *own.rank, peer); });
  });
}

std::vector<Blocker> idle_blockers(const Job& job, const Waits& waits) {
  const std::set<int>& gave_up = processes_that_gave_up(job);
  std::vector<Blocker> result;
  for (const Blocker& blocker : waits.blockers) {
    if (blocker.waiters.size() != 1) continue;  // In a circle everybody waits for somebody.
    const Waiter& waiter = blocker.waiters.front();
    // Whose watchdog fired was waiting itself.
    if (gave_up.contains(waiter.process)) continue;
    // It began to initialise a communicator and waits there for its other ranks.
    const bool is_initialising = std::ranges::any_of(
        memberships(job, waiter),
        [](const MemberCalls& own) { return own.rank->state == RankState::Started; });
    if (is_initialising || may_wait_for_unknown(job, waits, waiter)) continue;
    // Its Send to itself and the Recv of it differ in size.
    const auto is_with_itself = [&](size_t m) {
      const UnmatchedMessages& messages = waits.unmatched[m];
      return messages.sizes_differ && messages.sender == messages.receiver;
    };
    if (std::ranges::none_of(blocker.unmatched, is_with_itself)) result.push_back(blocker);
  }
  // Without a watchdog nobody says of several that they do not wait.
  if (result.size() > 1 && gave_up.empty()) {
    const std::vector<Blocker> idle = result;
    std::erase_if(result, [&](const Blocker& blocker) {
      return may_wait_unseen(job, waits, idle, blocker.waiters.front());
    });
  }
  // Some of several may be among those that gave up.
  const bool is_uncertain = result.size() > 1 && timeouts_name_no_process(job);
  return is_uncertain ? std::vector<Blocker>{} : result;
}

std::string uncompared_words(const Job& job) {
  if (ranks_contradict_each_other(job) || !find_waits(job).unmatched.empty())
    return "calls of ranks differ, or lines of them are lost";
  const auto uncompared = uncompared_ranks(job);
  if (uncompared.empty()) return {};
  const auto& [reason, ranks] = *uncompared.begin();
  const std::string whose = *ranks.begin() < 0
                                ? std::string("some processes")
                                : ranks_phrase(std::vector<int>(ranks.begin(), ranks.end()));
  return fmt::format("the calls of {} were not compared ({})", whose, reason);
}

}  // namespace ncclog
