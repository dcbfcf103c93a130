#include "replay/dump_ranks.h"

#include <map>
#include <utility>

#include "base/text.h"
#include "replay/dump_calls.h"

namespace ncclog {
namespace {

std::vector<PlannedRank> planned_ranks(const Job& job, const SeatOfRank& seat_of,
                                       const PlanSeats& seats) {
  std::vector<PlannedRank> ranks;
  for (const auto& [rank, seat] : seat_of) ranks.push_back({.recorded_rank = rank, .host = {}});
  if (seats.seats.empty()) return ranks;
  const std::vector<int> groups = host_groups(job, seats);
  for (size_t s = 0; s < ranks.size(); ++s) {
    const auto process = static_cast<size_t>(seats.seats[s].process);
    ranks[s].host = to_valid_utf8(job.processes[process].host);
    ranks[s].host_group = groups[s];
  }
  return ranks;
}

std::vector<PlannedCommunicator> planned_communicators(const Job& job,
                                                       const std::vector<DumpedGroup>& groups,
                                                       const SeatOfRank& seat_of) {
  std::vector<PlannedCommunicator> result;
  for (const DumpedGroup& dumped : groups) {
    PlannedCommunicator planned;
    planned.id = communicator_of(job, *dumped.group);
    for (const RecordedRank* rank : dumped.ranks) planned.ranks.push_back(seat_of.at(rank->rank));
    planned.recorded_nranks = static_cast<int>(dumped.group->ranks.size());
    result.push_back(std::move(planned));
  }
  return result;
}

/// Entries of one rank that the plan takes, with the places of their groups.
std::map<const FlightRecorderEntry*, int> wanted_entries(const std::vector<DumpedGroup>& groups,
                                                         int rank) {
  std::map<const FlightRecorderEntry*, int> wanted;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const RecordedRank* member : groups[g].ranks) {
      if (member->rank != rank) continue;
      for (const FlightRecorderEntry* entry : member->calls) {
        if (groups[g].window.holds(entry->collective_seq_id)) wanted[entry] = static_cast<int>(g);
      }
    }
  }
  return wanted;
}

const FlightRecorderDump* dump_of(const std::vector<DumpedGroup>& groups, int rank) {
  for (const DumpedGroup& dumped : groups) {
    for (const RecordedRank* member : dumped.ranks) {
      if (member->rank == rank) return member->dump;
    }
  }
  return nullptr;
}

/// Over all groups, in the order in which the rank made them.
std::vector<PlannedCall> calls_of_rank(const std::vector<DumpedGroup>& groups, int rank) {
  const auto wanted = wanted_entries(groups, rank);
  std::map<int, int> streams;
  std::vector<PlannedCall> calls;
  for (const FlightRecorderEntry& entry : dump_of(groups, rank)->entries) {
    const auto place = wanted.find(&entry);
    if (place == wanted.end()) continue;
    auto call =
        call_of_entry(entry, groups[static_cast<size_t>(place->second)].group->ranks.size());
    if (!call) continue;
    call->communicator = place->second;
    call->stream =
        streams.try_emplace(place->second, static_cast<int>(streams.size())).first->second;
    calls.push_back(std::move(*call));
  }
  return calls;
}

void add_calls(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of,
               ReplayPlan& plan) {
  for (const auto& [rank, seat] : seat_of) {
    plan.ranks[static_cast<size_t>(seat)].calls = calls_of_rank(groups, rank);
  }
  for (const DumpedGroup& dumped : groups) {
    for (const RecordedRank* rank : dumped.ranks) {
      plan.ranks[static_cast<size_t>(seat_of.at(rank->rank))].left_out +=
          static_cast<uint64_t>(dumped.window.from - 1);
    }
  }
}

}  // namespace

PlanSeats dumped_processes(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of) {
  PlanSeats seats;
  seats.seats.resize(seat_of.size());
  for (const DumpedGroup& dumped : groups) {
    for (const RecordedRank* rank : dumped.ranks) {
      if (rank->dump->process < 0) return {};
      seats.seats[static_cast<size_t>(seat_of.at(rank->rank))] = {
          .process = rank->dump->process, .cuda_dev = -1, .recorded_rank = rank->rank};
    }
  }
  return seats;
}

void add_dumped(const Job& job, const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of,
                const PlanSeats& seats, ReplayPlan& plan) {
  plan.ranks = planned_ranks(job, seat_of, seats);
  plan.communicators = planned_communicators(job, groups, seat_of);
  add_calls(groups, seat_of, plan);
}

}  // namespace ncclog
