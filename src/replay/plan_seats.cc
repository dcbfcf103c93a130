#include "replay/plan_seats.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace ncclog {
namespace {

/// Processes that hold several ranks of one communicator.
std::set<int> processes_with_several(const Job& job, const std::vector<Membership>& members) {
  std::set<std::pair<int, int>> seen;
  std::set<int> several;
  for (const Membership& member : members) {
    const int process = rank_of(job, member).process;
    if (!seen.emplace(member.communicator, process).second) several.insert(process);
  }
  return several;
}

/// A process, and its GPU where it holds several ranks.
using SeatKey = std::pair<int, int>;

/// Who is a member, by communicator.
using MembersOf = std::map<int, std::set<SeatKey>>;

MembersOf members_of(const Job& job, const std::vector<Membership>& members) {
  const std::set<int> several = processes_with_several(job, members);
  MembersOf result;
  for (const Membership& member : members) {
    const CommRank& rank = rank_of(job, member);
    const int cuda_dev = several.contains(rank.process) ? rank.cuda_dev : -1;
    result[member.communicator].emplace(rank.process, cuda_dev);
  }
  return result;
}

/// True if `parent` is there with all members of `child`: else nothing can be split off it.
bool can_split(const MembersOf& members, int parent, int child) {
  const auto all = members.find(parent);
  const auto some = members.find(child);
  if (all == members.end() || some == members.end()) return false;
  return std::includes(all->second.begin(), all->second.end(), some->second.begin(),
                       some->second.end());
}

/// `wanted` with the parents that they can be split off, parents first.
std::vector<int> with_parents(const Job& job, const MembersOf& members,
                              const std::vector<int>& wanted) {
  std::vector<int> order;
  std::set<int> placed;
  for (const int communicator : wanted) {
    std::vector<int> line;
    for (int c = communicator; c >= 0 && members.contains(c) && placed.insert(c).second;) {
      line.push_back(c);
      const int parent = job.communicators[static_cast<size_t>(c)].parent;
      c = can_split(members, parent, c) ? parent : -1;
    }
    order.insert(order.end(), line.rbegin(), line.rend());
  }
  return order;
}

/// The rank that a seat has in the communicator of all ranks, else as its process is called.
int recorded_rank(const Job& job, const Seat& seat, const std::vector<Membership>& of) {
  for (const Membership& member : of) {
    const Communicator& comm = job.communicators[static_cast<size_t>(member.communicator)];
    if (job.nranks && comm.nranks == *job.nranks) return rank_of(job, member).rank;
  }
  return seat.cuda_dev >= 0 ? -1 : job.processes[static_cast<size_t>(seat.process)].rank;
}

}  // namespace

int PlanSeats::place_of(int communicator) const {
  const auto found = std::find(communicators.begin(), communicators.end(), communicator);
  return found == communicators.end() ? -1 : static_cast<int>(found - communicators.begin());
}

std::vector<int> PlanSeats::ranks_of(const Job& job, int communicator) const {
  std::vector<std::pair<int, int>> ranks;
  const auto begin = seat_of.lower_bound({communicator, -1});
  for (auto at = begin; at != seat_of.end() && at->first.communicator == communicator; ++at) {
    ranks.emplace_back(rank_of(job, at->first).rank, at->second);
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<int> result;
  for (const auto& [rank, seat] : ranks) result.push_back(seat);
  return result;
}

int PlanSeats::number_of(int communicator, int rank) const {
  const auto found = numbers.find({communicator, rank});
  return found == numbers.end() ? -1 : found->second;
}

PlanSeats plan_seats(const Job& job, const std::vector<Membership>& members,
                     const std::vector<int>& wanted) {
  PlanSeats result;
  result.communicators = with_parents(job, members_of(job, members), wanted);
  const std::set<int> chosen(result.communicators.begin(), result.communicators.end());
  const std::set<int> several = processes_with_several(job, members);
  std::map<SeatKey, std::vector<Membership>> by_seat;
  for (const Membership& member : members) {
    if (!chosen.contains(member.communicator)) continue;
    const CommRank& rank = rank_of(job, member);
    by_seat[{rank.process, several.contains(rank.process) ? rank.cuda_dev : -1}].push_back(member);
  }
  std::vector<std::pair<Seat, const std::vector<Membership>*>> sorted;
  for (const auto& [key, of] : by_seat) {
    Seat seat{key.first, key.second, -1};
    seat.recorded_rank = recorded_rank(job, seat, of);
    sorted.emplace_back(seat, &of);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first.recorded_rank < 0, a.first.recorded_rank) <
           std::tuple(b.first.recorded_rank < 0, b.first.recorded_rank);
  });
  for (const auto& [seat, of] : sorted) {
    for (const Membership& member : *of) {
      result.seat_of[member] = static_cast<int>(result.seats.size());
    }
    result.seats.push_back(seat);
  }
  // Members are sorted by communicator and, within it, by rank.
  std::map<int, int> counted;
  for (const auto& [member, seat] : result.seat_of) {
    result.numbers[{member.communicator, rank_of(job, member).rank}] =
        counted[member.communicator]++;
  }
  return result;
}

std::vector<int> host_groups(const Job& job, const PlanSeats& seats) {
  std::map<int, std::string> host_ids;
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_HOSTID") continue;
    for (const int process : setting.processes) host_ids[process] = setting.value;
  }
  std::map<std::pair<std::string, std::string>, int> numbers;
  std::vector<int> groups;
  for (const Seat& seat : seats.seats) {
    const std::string& host = job.processes[static_cast<size_t>(seat.process)].host;
    const auto id = host_ids.find(seat.process);
    const std::pair key(id == host_ids.end() ? host : std::string(),
                        id == host_ids.end() ? std::string() : id->second);
    groups.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return groups;
}

}  // namespace ncclog
