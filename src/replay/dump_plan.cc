#include "replay/dump_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "diagnose/recorder_verdict.h"
#include "replay/clean_run.h"
#include "replay/dump_calls.h"
#include "replay/plan_frame.h"

namespace ncclog {
namespace {

/// A group that the plan takes calls of; its place in the plan is that in the list.
struct DumpedGroup {
  const RecordedGroup* group = nullptr;
  std::vector<const RecordedRank*> ranks;
  DumpWindow window;
};

/// Up to where the known ranks called alike: before what the verdict is about, if it differs there.
int64_t common_number(const DumpedGroup& dumped, const RecorderVerdict& verdict) {
  int64_t least = dumped.ranks.front()->enqueued;
  for (const RecordedRank* rank : dumped.ranks) least = std::min(least, rank->enqueued);
  const bool differs = verdict.kind == RecordedKind::Mismatch || verdict.kind == RecordedKind::Late;
  const bool is_meant = differs && dumped.group->name == verdict.group;
  return is_meant ? std::min(least, verdict.number - 1) : least;
}

std::vector<DumpedGroup> dumped_groups(const std::vector<RecordedGroup>& groups,
                                       const RecorderVerdict& verdict, const PlanOptions& options) {
  std::vector<DumpedGroup> result;
  for (const RecordedGroup& group : groups) {
    DumpedGroup dumped{&group, known_ranks(group), {}};
    const bool is_wanted = !options.only_failing || group.name == verdict.group;
    if (dumped.ranks.empty() || !is_wanted) continue;
    dumped.window = dump_window(group, common_number(dumped, verdict), options.last);
    if (dumped.window.from <= dumped.window.to) result.push_back(std::move(dumped));
  }
  return result;
}

/// The plan's ranks: those of all groups, by their global rank.
using SeatOfRank = std::map<int, int>;

SeatOfRank seats_of_ranks(const std::vector<DumpedGroup>& groups) {
  SeatOfRank seats;
  for (const DumpedGroup& dumped : groups) {
    for (const RecordedRank* rank : dumped.ranks) seats[rank->rank] = -1;
  }
  int next = 0;
  for (auto& [rank, seat] : seats) seat = next++;
  return seats;
}

std::vector<int> seats_of(const SeatOfRank& seats, const std::vector<int>& ranks) {
  std::vector<int> result;
  for (const int rank : ranks) {
    const auto seat = seats.find(rank);
    if (seat != seats.end()) result.push_back(seat->second);
  }
  return result;
}

/// The processes of the plan's ranks; no seats if one of them is not known.
PlanSeats processes_of(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of) {
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

/// What the dumps show to be wrong, as ranks of the plan.
struct DumpedDefect {
  Hypothesis hypothesis;
  bool split = false;                          ///< Calls differ, and nobody is outvoted.
  const FlightRecorderEntry* right = nullptr;  ///< Of a mismatch: the call of the majority.
};

std::vector<int> callers_of(const DumpedGroup& dumped, int64_t number) {
  std::vector<int> ranks;
  for (const RecordedRank* rank : dumped.ranks) {
    if (rank->call(number) != nullptr) ranks.push_back(rank->rank);
  }
  return ranks;
}

DefectKind kind_of(const RecorderVerdict& verdict) {
  switch (verdict.kind) {
    case RecordedKind::Late:
      return DefectKind::MissingCall;
    case RecordedKind::Mismatch:
      return verdict.named.empty() ? DefectKind::None : DefectKind::OtherCall;
    case RecordedKind::Entered:
      return DefectKind::Stall;
    case RecordedKind::Nothing:
      break;
  }
  return DefectKind::None;
}

DumpedDefect find_defect(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of,
                         const RecorderVerdict& verdict) {
  DumpedDefect defect;
  defect.split = verdict.kind == RecordedKind::Mismatch && verdict.named.empty();
  const auto dumped = std::find_if(groups.begin(), groups.end(), [&](const DumpedGroup& one) {
    return one.group->name == verdict.group;
  });
  const DefectKind kind = kind_of(verdict);
  if (dumped == groups.end() || kind == DefectKind::None) return defect;
  FrontLine front{.communicator = static_cast<int>(dumped - groups.begin()),
                  .index = static_cast<uint64_t>(verdict.number - 1),
                  .entered = seats_of(seat_of, callers_of(*dumped, verdict.number)),
                  .missing = {}};
  for (const RecordedRank* rank : dumped->ranks) {
    if (rank->call(verdict.number) == nullptr) front.missing.push_back(seat_of.at(rank->rank));
  }
  if (const auto difference = recorded_difference(*dumped->group);
      difference && kind == DefectKind::OtherCall) {
    defect.right = difference->camps.front().call;
  }
  defect.hypothesis.kind = kind;
  defect.hypothesis.departed = seats_of(seat_of, verdict.named);
  defect.hypothesis.front = std::move(front);
  return defect;
}

/// In the clean run those who called something else make the majority's call in its place, and
/// nothing of what they made from then on with the group.
void put_right(const PlannedCall& right, const Hypothesis& hypothesis, ReplayPlan& plan) {
  for (const int seat : hypothesis.departed) {
    std::vector<PlannedCall>& calls = plan.ranks[static_cast<size_t>(seat)].calls;
    const auto own = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& call) {
      return call.communicator == hypothesis.front->communicator &&
             call.index == hypothesis.front->index;
    });
    if (own == calls.end()) continue;
    PlannedCall instead = right;
    instead.communicator = own->communicator;
    instead.stream = own->stream;
    instead.made_in = MadeIn::Clean;
    for (PlannedCall& call : calls) {
      const bool is_later = call.communicator == instead.communicator && call.index >= right.index;
      if (is_later) call.made_in = MadeIn::Defect;
    }
    calls.insert(own, std::move(instead));
  }
}

PlanMaking make_runs(const std::vector<DumpedGroup>& groups, const DumpedDefect& defect,
                     ReplayPlan& plan) {
  PlanMaking making{.from_dumps = true, .split = defect.split};
  for (const DumpedGroup& dumped : groups) making.not_replayable += dumped.window.left_out.size();
  const Hypothesis& hypothesis = defect.hypothesis;
  if (defect.right != nullptr) {
    const auto place = static_cast<size_t>(hypothesis.front->communicator);
    if (const auto right = call_of_entry(*defect.right, groups[place].group->ranks.size())) {
      put_right(*right, hypothesis, plan);
    }
  }
  if (hypothesis.kind == DefectKind::MissingCall) {
    making.awaited = extend_clean_run(plan, *hypothesis.front, /*by_message=*/false);
  }
  settle_clean_run(plan);
  const bool is_healthy =
      hypothesis.kind == DefectKind::None || hypothesis.kind == DefectKind::Stall;
  if (is_healthy) making.unmet = drop_unmet(plan);
  making.clean_run_ends_before =
      !is_healthy &&
      !reaches(plan, hypothesis.front->communicator, hypothesis.front->index, /*by_message=*/false);
  return making;
}

/// Of each group, who left no dump that can be used.
std::vector<std::string> absent_ranks(const Job& job, const std::vector<DumpedGroup>& groups) {
  std::vector<std::string> sentences;
  for (const DumpedGroup& dumped : groups) {
    std::vector<int> absent;
    for (const RecordedRank& rank : dumped.group->ranks) {
      const bool is_known =
          std::find(dumped.ranks.begin(), dumped.ranks.end(), &rank) != dumped.ranks.end();
      if (!is_known) absent.push_back(rank.rank);
    }
    if (absent.empty()) continue;
    sentences.push_back(absent_words(communicator_of(job, *dumped.group), absent.size(), absent));
  }
  return sentences;
}

int largest_group(const std::vector<DumpedGroup>& groups) {
  size_t most = 0;
  for (const DumpedGroup& dumped : groups) most = std::max(most, dumped.group->ranks.size());
  return static_cast<int>(most);
}

/// Versions that the dumps name, where no line of NCCL does.
std::vector<std::string> dumped_versions(const Job& job) {
  std::set<std::string> versions;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (!dump.nccl_version.empty()) versions.insert(to_valid_utf8(dump.nccl_version));
  }
  return {versions.begin(), versions.end()};
}

}  // namespace

bool dumps_hold_calls(const Job& job) {
  const std::vector<RecordedGroup> groups = recorded_groups(job);
  return std::any_of(groups.begin(), groups.end(),
                     [](const RecordedGroup& group) { return !known_ranks(group).empty(); });
}

std::string communicator_of(const Job& job, const RecordedGroup& group) {
  if (group.communicator >= 0) return job.communicators[static_cast<size_t>(group.communicator)].id;
  return to_valid_utf8(group.description.empty() ? group.name : group.description);
}

ReplayPlan plan_of_dumps(const Job& job, const Suspicion& suspicion, const PlanOptions& options,
                         const std::vector<std::string>& logs) {
  const std::vector<RecordedGroup> recorded = recorded_groups(job);
  const RecorderVerdict verdict = recorder_verdict(job);
  refuse_untested(options, kind_of(verdict));
  const std::vector<DumpedGroup> groups = dumped_groups(recorded, verdict, options);
  const SeatOfRank seat_of = seats_of_ranks(groups);
  const PlanSeats seats = processes_of(groups, seat_of);
  ReplayPlan plan = begin_plan(job, logs);
  if (plan.nccl_versions.empty()) plan.nccl_versions = dumped_versions(job);
  plan.recorded_nranks = job.nranks.value_or(largest_group(groups));
  plan.ranks = planned_ranks(job, seat_of, seats);
  plan.communicators = planned_communicators(job, groups, seat_of);
  add_calls(groups, seat_of, plan);
  const DumpedDefect defect = find_defect(groups, seat_of, verdict);
  PlanMaking making = make_runs(groups, defect, plan);
  making.absent = absent_ranks(job, groups);
  making.no_hosts = seats.seats.empty();
  plan.hypothesis = defect.hypothesis;
  if (plan.hypothesis.kind != DefectKind::None) {
    plan.hypothesis.finding = suspicion.id;
    plan.hypothesis.title = suspicion.title;
  }
  return finish_plan(job, seats, making, options, std::move(plan));
}

}  // namespace ncclog
