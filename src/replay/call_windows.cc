#include "replay/call_windows.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// The members that `suits` holds of, of communicators with at least two of them.
template <typename Suits>
std::vector<Membership> members_with(const Job& job, Suits suits) {
  std::vector<Membership> result;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    std::vector<Membership> members;
    std::set<int> numbers;
    for (size_t r = 0; r < comm.ranks.size(); ++r) {
      const CommRank& rank = comm.ranks[r];
      if (rank.rank < 0 || rank.process < 0 || !suits(comm, rank)) continue;
      if (!numbers.insert(rank.rank).second) continue;
      members.push_back({static_cast<int>(c), static_cast<int>(r)});
    }
    if (members.size() >= 2) result.insert(result.end(), members.begin(), members.end());
  }
  return result;
}

bool made_calls(const Job& job, const std::vector<Membership>& members) {
  return std::any_of(members.begin(), members.end(), [&](const Membership& member) {
    const CollectiveCalls* calls = calls_of(job, rank_of(job, member));
    return calls != nullptr && calls->total > 0;
  });
}

using Members = std::vector<Membership>::const_iterator;

/// How many collectives all of them made alike, and up to where a difference of them may be.
CallWindow common_collectives(const Job& job, Members begin, Members end) {
  const Communicator& comm = job.communicators[static_cast<size_t>(begin->communicator)];
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (auto member = begin; member != end; ++member) {
    least = std::min(least, calls_of(job, rank_of(job, *member))->collectives.size());
  }
  if (!comm.difference) return {least, least};
  constexpr uint64_t kWidest = 4096;
  const uint64_t first = std::min(least, comm.difference->index);
  return {first, std::min(std::max(comm.difference->at_most, first), first + kWidest)};
}

CallWindow window_around(const CallWindow& common, uint64_t last) {
  return {common.from > last ? common.from - last : 0, common.to + kBeyond};
}

/// Adds the windows of the messages from one member to another.
void add_messages(const Job& job, const Membership& sender, const Membership& receiver,
                  uint64_t last, CallWindows& windows) {
  const CommRank& from = rank_of(job, sender);
  const CommRank& to = rank_of(job, receiver);
  const auto& sent = calls_of(job, from)->peers;
  const auto& received = calls_of(job, to)->peers;
  const auto out = sent.find(to.rank);
  const auto in = received.find(from.rank);
  const uint64_t sent_count = out == sent.end() ? 0 : out->second.sent.count;
  const uint64_t received_count = in == received.end() ? 0 : in->second.received.count;
  if (sent_count + received_count == 0) return;
  const uint64_t met = std::min(sent_count, received_count);
  windows[sender].sent[to.rank] = window_around({met, met}, last);
  windows[receiver].received[from.rank] = window_around({met, met}, last);
}

void add_communicator(const Job& job, Members begin, Members end, uint64_t last,
                      CallWindows& windows) {
  const CallWindow window = window_around(common_collectives(job, begin, end), last);
  std::map<int, const Membership*> by_rank;
  for (auto member = begin; member != end; ++member) {
    windows[*member].collectives = window;
    by_rank[rank_of(job, *member).rank] = &*member;
  }
  for (auto member = begin; member != end; ++member) {
    for (const auto& [peer, totals] : calls_of(job, rank_of(job, *member))->peers) {
      const auto other = by_rank.find(peer);
      if (other == by_rank.end()) continue;
      if (totals.sent.count > 0) add_messages(job, *member, *other->second, last, windows);
      if (totals.received.count > 0) add_messages(job, *other->second, *member, last, windows);
    }
  }
}

}  // namespace

const CommRank& rank_of(const Job& job, const Membership& member) {
  return job.communicators[static_cast<size_t>(member.communicator)]
      .ranks[static_cast<size_t>(member.member)];
}

std::vector<Membership> covered_members(const Job& job) {
  for (const CallCoverage wanted : {CallCoverage::Counted, CallCoverage::AtLeast}) {
    auto members = members_with(job, [&](const Communicator& comm, const CommRank& rank) {
      return call_coverage(job, comm, rank) == wanted;
    });
    if (made_calls(job, members)) return members;
  }
  auto members = members_with(job, [&](const Communicator&, const CommRank& rank) {
    const CollectiveCalls* calls = calls_of(job, rank);
    return calls != nullptr && calls->total > 0;
  });
  return made_calls(job, members) ? members : std::vector<Membership>{};
}

std::vector<Membership> members_of_one_run(const Job& job, const std::vector<Membership>& members,
                                           const std::string& communicator) {
  if (job.runs.size() < 2) return members;
  const auto holds = [](const Run& run, int process) {
    return std::binary_search(run.processes.begin(), run.processes.end(), process);
  };
  const auto size_of = [&](const Run& run) {
    return std::count_if(members.begin(), members.end(), [&](const Membership& member) {
      return holds(run, rank_of(job, member).process);
    });
  };
  const Run* chosen =
      &*std::max_element(job.runs.begin(), job.runs.end(),
                         [&](const Run& a, const Run& b) { return size_of(a) < size_of(b); });
  for (const Membership& member : members) {
    if (job.communicators[static_cast<size_t>(member.communicator)].id != communicator) continue;
    for (const Run& run : job.runs) {
      if (holds(run, rank_of(job, member).process)) chosen = &run;
    }
  }
  std::vector<Membership> result;
  std::copy_if(
      members.begin(), members.end(), std::back_inserter(result),
      [&](const Membership& member) { return holds(*chosen, rank_of(job, member).process); });
  return result;
}

CallWindows call_windows(const Job& job, const std::vector<Membership>& members, uint64_t last) {
  CallWindows windows;
  for (auto begin = members.begin(); begin != members.end();) {
    const auto end = std::find_if(begin, members.end(), [&](const Membership& member) {
      return member.communicator != begin->communicator;
    });
    add_communicator(job, begin, end, last, windows);
    begin = end;
  }
  return windows;
}

}  // namespace ncclog
