#include "diagnose/call_waits.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagnose/held_calls.h"
#include "diagnose/message_counts.h"
#include "model/call_coverage.h"

namespace ncclog {
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
  void add_edge(int from, int to) { edges_[static_cast<size_t>(from)].push_back(to); }

  /// Waiters of the strongly connected parts that no edge leaves and that somebody waits for.
  std::vector<std::vector<Waiter>> sinks() {
    std::vector<std::vector<Waiter>> result;
    for (const std::vector<int>& part : parts()) {
      std::vector<Waiter> waiters = waiters_in(part);
      if (waiters.empty() || leaves(part) || !is_awaited(part)) continue;
      result.push_back(std::move(waiters));
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  /// Waiters of the strongly connected parts with several of them.
  std::vector<std::vector<Waiter>> circles() {
    std::vector<std::vector<Waiter>> result;
    for (const std::vector<int>& part : parts()) {
      std::vector<Waiter> waiters = waiters_in(part);
      if (waiters.size() > 1) result.push_back(std::move(waiters));
    }
    std::sort(result.begin(), result.end());
    return result;
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
  /// Sorted.
  std::vector<Waiter> waiters_in(const std::vector<int>& part) const {
    std::vector<Waiter> waiters;
    for (const int point : part) {
      const Waiter& waiter = waiters_[static_cast<size_t>(point)];
      if (waiter.process >= 0) waiters.push_back(waiter);
    }
    std::sort(waiters.begin(), waiters.end());
    return waiters;
  }

  int add_point(const Waiter& waiter) {
    edges_.emplace_back();
    waiters_.push_back(waiter);
    return static_cast<int>(edges_.size()) - 1;
  }

  bool leaves(const std::vector<int>& part) const {
    return std::any_of(part.begin(), part.end(), [&](int point) {
      const auto& to = edges_[static_cast<size_t>(point)];
      return std::any_of(to.begin(), to.end(), [&](int other) {
        return part_of_[static_cast<size_t>(other)] != part_of_[static_cast<size_t>(point)];
      });
    });
  }

  bool is_awaited(const std::vector<int>& part) const {
    if (part.size() > 1) return true;
    return std::any_of(edges_.begin(), edges_.end(), [&](const std::vector<int>& to) {
      return std::find(to.begin(), to.end(), part.front()) != to.end();
    });
  }

  /// Tarjan's algorithm without recursion: a chain may be as long as the job has ranks.
  std::vector<std::vector<int>> parts() {
    const size_t n = edges_.size();
    constexpr int kNew = -1;
    std::vector<int> order(n, kNew);
    std::vector<int> low(n, 0);
    std::vector<int> open;
    std::vector<std::vector<int>> result;
    part_of_.assign(n, kNew);
    int next = 0;
    struct Visit {
      int point;
      size_t edge;
    };
    for (size_t start = 0; start < n; ++start) {
      if (order[start] != kNew) continue;
      std::vector<Visit> path = {{static_cast<int>(start), 0}};
      while (!path.empty()) {
        const auto at = static_cast<size_t>(path.back().point);
        if (path.back().edge == 0 && order[at] == kNew) {
          order[at] = low[at] = next++;
          open.push_back(path.back().point);
        }
        if (path.back().edge < edges_[at].size()) {
          const int to = edges_[at][path.back().edge++];
          if (order[static_cast<size_t>(to)] == kNew) {
            path.push_back({to, 0});
          } else if (part_of_[static_cast<size_t>(to)] == kNew) {
            low[at] = std::min(low[at], order[static_cast<size_t>(to)]);
          }
          continue;
        }
        if (low[at] == order[at])
          result.push_back(close_part(open, path.back().point, result.size()));
        path.pop_back();
        if (!path.empty()) {
          auto& before = low[static_cast<size_t>(path.back().point)];
          before = std::min(before, low[at]);
        }
      }
    }
    return result;
  }

  std::vector<int> close_part(std::vector<int>& open, int root, size_t number) {
    std::vector<int> part;
    do {
      part.push_back(open.back());
      part_of_[static_cast<size_t>(open.back())] = static_cast<int>(number);
      open.pop_back();
    } while (part.back() != root);
    return part;
  }

  std::map<Waiter, int> points_;
  std::vector<Waiter> waiters_;  ///< By point; process -1: the point of a front.
  std::vector<std::vector<int>> edges_;
  std::vector<int> part_of_;
};

const CommRank& rank_at(const Job& job, int communicator, int rank) {
  return job.communicators[static_cast<size_t>(communicator)].ranks[static_cast<size_t>(rank)];
}

void add_front(const Job& job, const CallFront& front, WaitGraph& graph) {
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
  if (messages.sizes_differ) {
    graph.add_edge(graph.point_of(sender), graph.point_of(receiver));
    graph.add_edge(graph.point_of(receiver), graph.point_of(sender));
    return;
  }
  const bool sender_waits = messages.sent > messages.received;
  const int from = graph.point_of(sender_waits ? sender : receiver);
  graph.add_edge(from, graph.point_of(sender_waits ? receiver : sender));
}

void add_held(const HeldCall& call, WaitGraph& graph) {
  const int held = graph.new_point();
  for (const Waiter& waiter : call.waiting) graph.add_edge(graph.point_of(waiter), held);
  for (const Waiter& waiter : call.awaited) graph.add_edge(held, graph.point_of(waiter));
}

bool holds(const Holdup& holdup, const Waiter& waiter) {
  return std::binary_search(holdup.waiters.begin(), holdup.waiters.end(), waiter);
}

Holdup make_holdup(const Job& job, const Waits& waits, std::vector<Waiter> waiters) {
  Holdup holdup{std::move(waiters), {}, {}};
  for (size_t f = 0; f < waits.fronts.size(); ++f) {
    const CallFront& front = waits.fronts[f];
    if (!front.knows_all()) continue;
    if (std::any_of(front.behind.begin(), front.behind.end(), [&](int r) {
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
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
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
  waits.circles = graph.circles();
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const UnmatchedMessages& messages : unmatched_messages(job, static_cast<int>(c))) {
      add_messages(job, messages, graph);
      waits.unmatched.push_back(messages);
    }
  }
  for (const HeldCall& call : held_calls(job)) add_held(call, graph);
  waits.waiting = graph.waiting();
  for (std::vector<Waiter>& sink : graph.sinks()) {
    waits.holdups.push_back(make_holdup(job, waits, std::move(sink)));
  }
  return waits;
}

}  // namespace

bool messages_are_covered(const Job& job) {
  return std::all_of(job.communicators.begin(), job.communicators.end(), [&](const auto& comm) {
    const std::map<int, int> ranks = counted_ranks(job, comm);
    return std::all_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
      const std::vector<int> peers = message_peers(job, rank);
      if (peers.empty()) return true;
      return ranks.contains(rank.rank) && !has_unknown_peers(job, rank) &&
             std::all_of(peers.begin(), peers.end(), [&](int peer) {
               const auto other = ranks.find(peer);
               return other != ranks.end() &&
                      !has_unknown_peers(job, comm.ranks[static_cast<size_t>(other->second)]);
             });
    });
  });
}

bool is_closed_by_fronts(const Waits& waits, const Holdup& holdup) {
  return std::any_of(waits.circles.begin(), waits.circles.end(), [&](const auto& circle) {
    return std::includes(holdup.waiters.begin(), holdup.waiters.end(), circle.begin(),
                         circle.end());
  });
}

bool holds_up(const Waits& waits, const Waiter& waiter) {
  return std::any_of(waits.holdups.begin(), waits.holdups.end(),
                     [&](const Holdup& holdup) { return holds(holdup, waiter); });
}

const Waits& find_waits(const Job& job) { return job.answers.of<&waits_of>(job); }

}  // namespace ncclog
