#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "model/flight_recorder.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "replay/plan/recorded_calls.h"

namespace ncclog {
namespace {

// Which groups and ranks of the Flight Recorder's dumps does a plan take?
//
//   default_pg: ranks 0-4, 6 and 7 left dumps   → their last 32 calls; seats 0-6 of the plan
//   tp_1: one rank left a dump                  → nothing: who called alike is not known

/// A group that the plan takes calls of; its place in the plan is that in the list.
struct DumpedGroup {
  const CallAccount* group = nullptr;
  std::vector<const LedgerRank*> ranks;  ///< Whose calls are known; at least one.
  CallWindow window;                     ///< By c10d's numbers, of which 1 is the first; not empty.
  std::vector<uint64_t> left_out;  ///< Of these, those that a replay cannot make on some rank.
};

/// The plan's ranks, which are those of all groups, by their global rank.
using SeatOfRank = std::map<int, int>;

/// By PyTorch's names (c10d/ProcessGroupNCCL.cpp, ncclDataType): ncclDataType_t.
constexpr std::pair<std::string_view, int> kTypes[] = {
    {"Char", 0},     {"Byte", 1},           {"Bool", 1},         {"Int", 2},
    {"Long", 4},     {"Half", 6},           {"Float", 7},        {"Double", 8},
    {"BFloat16", 9}, {"Float8_e4m3fn", 10}, {"Float8_e5m2", 11},
};

/// -1: NCCL has none for it, or it is not told.
int datatype_of(const FlightRecorderEntry& entry) {
  const auto& types = entry.input_dtypes.empty() ? entry.output_dtypes : entry.input_dtypes;
  for (const auto& [torch, datatype] : kTypes) {
    if (!types.empty() && torch == types.front()) return datatype;
  }
  return -1;
}

/// As NCCL counts: what one rank gives or, where the count is about that, gets. -1: unknown.
int64_t count_of(const FlightRecorderEntry& entry, const OperationTraits& traits, size_t nranks) {
  const bool by_output = traits.counts_received();
  const int64_t count = element_count(by_output ? entry.output_sizes : entry.input_sizes);
  if (!traits.exchanges_blocks()) return count;
  const auto parts = static_cast<int64_t>(nranks);
  const bool is_even =
      count >= 0 && count % parts == 0 && count == element_count(entry.output_sizes);
  return is_even ? count / parts : -1;
}

}  // namespace

std::optional<PlannedCall> call_of_entry(const FlightRecorderEntry& entry, size_t nranks) {
  const OperationTraits& traits = traits_of(recorded_operation(entry.profiling_name));
  if (!traits.is_collective() || entry.collective_seq_id < 1) return std::nullopt;
  PlannedCall call;
  call.index = static_cast<uint64_t>(entry.collective_seq_id) - 1;
  call.op = traits.name;
  call.count = count_of(entry, traits, nranks);
  call.datatype = datatype_of(entry);
  call.root = traits.has_root() ? 0 : -1;
  call.in_place = !traits.sends_blocks() && !traits.receives_blocks();
  if (call.count < 0 || call.datatype < 0) return std::nullopt;
  return call;
}

namespace {

/// The ranks of the group whose calls are known, by rank; fewer than two: none is returned.
std::vector<const LedgerRank*> known_ranks(const CallAccount& group) {
  std::vector<const LedgerRank*> known;
  if (!group.is_numbered_alike) return known;
  for (const LedgerRank& rank : group.ranks) {
    if (rank.dump != nullptr && !rank.calls.empty()) known.push_back(&rank);
  }
  return known.size() < 2 ? std::vector<const LedgerRank*>{} : known;
}

/// Takes the `last` collectives up to number `common`, which all known ranks called alike, and what
/// some called beyond them.
void take_calls(DumpedGroup& dumped, uint64_t common, uint64_t last) {
  const std::vector<LedgerRank>& ranks = dumped.group->ranks;
  CallWindow& window = dumped.window;
  window.from = common - std::min(common, last) + 1;
  uint64_t end = 0;
  for (const LedgerRank* rank : dumped.ranks) {
    window.from = std::max(window.from, rank->calls.front().number);
    end = std::max(end, rank->calls.back().number);
  }
  window.to = std::min(end, common + kBeyond) + 1;
  for (uint64_t number = window.from; number < window.to; ++number) {
    const bool can = std::ranges::all_of(ranks, [&](const LedgerRank& rank) {
      const LedgerCall* call = rank.call(number);
      return call == nullptr || call_of_entry(*call->entry, ranks.size());
    });
    if (!can) dumped.left_out.push_back(number);
  }
}

/// Up to where the known ranks called alike: before what the verdict is about, if it differs there.
uint64_t common_number(const DumpedGroup& dumped, const CallVerdict& verdict) {
  uint64_t least = dumped.ranks.front()->entered;
  for (const LedgerRank* rank : dumped.ranks) least = std::min(least, rank->entered);
  const bool differs = verdict.kind == VerdictKind::Mismatch || verdict.kind == VerdictKind::Late;
  const bool is_meant = differs && dumped.group == verdict.account;
  return is_meant ? std::min(least, verdict.number - 1) : least;
}

/// Those of `groups`, which outlive what is returned.
std::vector<DumpedGroup> dumped_groups(const std::vector<CallAccount>& groups,
                                       const CallVerdict& verdict, const PlanOptions& options) {
  std::vector<DumpedGroup> result;
  for (const CallAccount& group : groups) {
    DumpedGroup dumped{&group, known_ranks(group), {}, {}};
    const bool is_wanted = !options.only_failing || &group == verdict.account;
    if (dumped.ranks.empty() || !is_wanted) continue;
    take_calls(dumped, common_number(dumped, verdict), options.last);
    if (dumped.window.from < dumped.window.to) result.push_back(std::move(dumped));
  }
  return result;
}

SeatOfRank seats_of_ranks(const std::vector<DumpedGroup>& groups) {
  SeatOfRank seats;
  for (const DumpedGroup& dumped : groups) {
    for (const LedgerRank* rank : dumped.ranks) seats[rank->rank] = -1;
  }
  int next = 0;
  for (auto& [rank, seat] : seats) seat = next++;
  return seats;
}

/// Of those global ranks that have one.
std::vector<int> seats_of(const SeatOfRank& seats, const std::vector<int>& ranks) {
  std::vector<int> result;
  for (const int rank : ranks) {
    if (const auto seat = seats.find(rank); seat != seats.end()) result.push_back(seat->second);
  }
  return result;
}

// The ranks, communicators and calls of a plan as the Flight Recorder's dumps tell them.
//
//   rank 5's dump: default_pg 27, tp_0 112, default_pg 28
//       → three calls of rank 5 in that order, on two communicators, each on a stream of its own

std::vector<PlannedCommunicator> planned_communicators(const Job& job,
                                                       const std::vector<DumpedGroup>& groups,
                                                       const SeatOfRank& seat_of) {
  std::vector<PlannedCommunicator> result;
  for (const DumpedGroup& dumped : groups) {
    PlannedCommunicator planned;
    planned.id = communicator_of(job, *dumped.group);
    for (const LedgerRank* rank : dumped.ranks) planned.ranks.push_back(seat_of.at(rank->rank));
    planned.recorded_nranks = static_cast<int>(dumped.group->ranks.size());
    result.push_back(std::move(planned));
  }
  return result;
}

/// Over all groups, in the order in which the rank made them.
std::vector<PlannedCall> calls_of_rank(const std::vector<DumpedGroup>& groups, int rank) {
  const FlightRecorderDump* dump = nullptr;
  std::map<const FlightRecorderEntry*, int> wanted;  // With the places of their groups.
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto& [group, ranks, window, left_out] = groups[g];
    for (const LedgerRank* member : ranks) {
      if (member->rank != rank) continue;
      if (dump == nullptr) dump = member->dump;
      for (const LedgerCall& call : member->calls) {
        const bool is_taken =
            window.holds(call.number) && !std::ranges::binary_search(left_out, call.number);
        if (is_taken) wanted[call.entry] = static_cast<int>(g);
      }
    }
  }
  std::map<int, int> streams;
  std::vector<PlannedCall> calls;
  for (const FlightRecorderEntry& entry : dump->entries) {
    const auto place = wanted.find(&entry);
    if (place == wanted.end()) continue;
    auto call = call_of_entry(entry, groups[place->second].group->ranks.size());
    if (!call) continue;
    call->communicator = place->second;
    call->stream =
        streams.try_emplace(place->second, static_cast<int>(streams.size())).first->second;
    calls.push_back(std::move(*call));
  }
  return calls;
}

/// The processes of the plan's ranks; no seats if one of them is not known.
PlanSeats dumped_processes(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of) {
  PlanSeats seats;
  seats.seats.resize(seat_of.size());
  for (const DumpedGroup& dumped : groups) {
    for (const LedgerRank* rank : dumped.ranks) {
      if (rank->dump->process < 0) return {};
      seats.seats[seat_of.at(rank->rank)] = {
          .process = rank->dump->process, .cuda_dev = -1, .recorded_rank = rank->rank};
    }
  }
  return seats;
}

// What the Flight Recorder's dumps show to be wrong with the calls, as a plan tests it.
//
//   Late, rank 5 at collective 29    → a missing call of rank 5, communicator 0, index 28
//   Mismatch, rank 3 at 20           → another call; in the clean run rank 3 makes the majority's
//
// The verdict is diagnose/calls/call_verdict.h's.

/// Where the group stands still: who came to the verdict's call, and who did not.
FrontLine front_of(const DumpedGroup& dumped, int communicator, const SeatOfRank& seat_of,
                   const CallVerdict& verdict) {
  FrontLine front{
      .communicator = communicator, .index = verdict.number - 1, .entered = {}, .missing = {}};
  for (const LedgerRank* rank : dumped.ranks) {
    const bool has_called = rank->call(verdict.number) != nullptr;
    (has_called ? front.entered : front.missing).push_back(seat_of.at(rank->rank));
  }
  return front;
}

/// What a plan can test of it.
DefectKind kind_of(const CallVerdict& verdict) {
  if (verdict.kind == VerdictKind::Late) return DefectKind::MissingCall;
  if (verdict.kind == VerdictKind::Entered) return DefectKind::Stall;
  const bool is_outvoted = verdict.kind == VerdictKind::Mismatch && !verdict.named.empty();
  return is_outvoted ? DefectKind::OtherCall : DefectKind::None;
}

/// The verdict in terms of the plan's ranks. None if its group is not among `groups`.
Hypothesis dumped_hypothesis(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of,
                             const CallVerdict& verdict, const Suspicion& suspicion) {
  const auto dumped = std::ranges::find(groups, verdict.account, &DumpedGroup::group);
  const DefectKind kind = kind_of(verdict);
  if (dumped == groups.end() || kind == DefectKind::None) return {};
  const int communicator = static_cast<int>(dumped - groups.begin());
  return {.finding = suspicion.id,
          .title = suspicion.title,
          .kind = kind,
          .diverged = seats_of(seat_of, ranks_of(*verdict.account, verdict.named)),
          .front = front_of(*dumped, communicator, seat_of, verdict)};
}

/// Lets those who called something else make the majority's call in its place in the clean run, and
/// nothing of what they made from then on with the group.
void put_right(const std::vector<DumpedGroup>& groups, const CallVerdict& verdict,
               ReplayPlan& plan) {
  if (plan.hypothesis.kind != DefectKind::OtherCall) return;
  const FrontLine& front = *plan.hypothesis.front;
  const auto right = call_of_entry(*verdict.difference->camps.front().call->entry,
                                   groups[front.communicator].group->ranks.size());
  if (!right) return;
  for (const int seat : plan.hypothesis.diverged) {
    std::vector<PlannedCall>& calls = plan.ranks[seat].calls;
    const auto own = std::ranges::find_if(
        calls, [&](const PlannedCall& call) { return is_at(call, front, false); });
    if (own == calls.end()) continue;
    PlannedCall instead = *right;
    instead.communicator = own->communicator;
    instead.stream = own->stream;
    instead.made_in = MadeIn::Clean;
    for (PlannedCall& call : calls) {
      const bool is_later = call.communicator == instead.communicator && call.index >= right->index;
      if (is_later) call.made_in = MadeIn::Defect;
    }
    calls.insert(own, std::move(instead));
  }
}

/// Of each group, who left no dump that can be used.
std::vector<std::string> absent_ranks(const Job& job, const std::vector<DumpedGroup>& groups) {
  std::vector<std::string> sentences;
  for (const DumpedGroup& dumped : groups) {
    std::vector<int> absent;
    for (const LedgerRank& rank : dumped.group->ranks) {
      const bool is_known = std::ranges::find(dumped.ranks, &rank) != dumped.ranks.end();
      if (!is_known) absent.push_back(rank.rank);
    }
    if (absent.empty()) continue;
    sentences.push_back(absent_words(communicator_of(job, *dumped.group), absent.size(), absent));
  }
  return sentences;
}

}  // namespace

std::string communicator_of(const Job& job, const CallAccount& group) {
  if (group.communicator >= 0) return job.communicators[group.communicator].id;
  return to_valid_utf8(group.description.empty() ? group.group : group.description);
}

bool dumps_hold_calls(const Job& job) {
  const auto& groups = call_ledger(job, CallSource::Recorder);
  return std::ranges::any_of(groups,
                             [](const CallAccount& group) { return !known_ranks(group).empty(); });
}

ReplayPlan plan_of_dumps(const PlanSource& source, const PlanOptions& options) {
  const Job& job = source.job;
  const Suspicion suspicion = choose_suspicion(source.suspicions, options.finding);
  const auto& recorded = call_ledger(job, CallSource::Recorder);
  const CallVerdict verdict = verdict_of(job, CallSource::Recorder);
  refuse_untested(options, kind_of(verdict));
  const std::vector<DumpedGroup> groups = dumped_groups(recorded, verdict, options);
  const SeatOfRank seat_of = seats_of_ranks(groups);
  const PlanSeats seats = dumped_processes(groups, seat_of);
  ReplayPlan plan = begin_plan(job, source.logs);
  if (plan.nccl_versions.empty()) {  // No line of NCCL names one; the dumps may.
    std::set<std::string> versions;
    for (const FlightRecorderDump& dump : job.flight_recorders) {
      if (!dump.nccl_version.empty()) versions.insert(to_valid_utf8(dump.nccl_version));
    }
    plan.nccl_versions.assign(versions.begin(), versions.end());
  }
  size_t largest = 0;
  for (const DumpedGroup& dumped : groups) largest = std::max(largest, dumped.group->ranks.size());
  plan.recorded_nranks = job.nranks.value_or(static_cast<int>(largest));
  plan.ranks = planned_ranks(job, seats);
  if (plan.ranks.empty()) {
    for (const auto& [rank, seat] : seat_of) plan.ranks.push_back({.recorded_rank = rank});
  }
  plan.communicators = planned_communicators(job, groups, seat_of);
  for (const auto& [rank, seat] : seat_of) plan.ranks[seat].calls = calls_of_rank(groups, rank);
  for (const DumpedGroup& dumped : groups) {
    for (const LedgerRank* rank : dumped.ranks) {
      plan.ranks[seat_of.at(rank->rank)].left_out += dumped.window.from - 1;
    }
  }
  plan.hypothesis = dumped_hypothesis(groups, seat_of, verdict, suspicion);
  put_right(groups, verdict, plan);
  const DefectKind kind = plan.hypothesis.kind;
  PlanMaking making{
      .extends_clean_run = kind == DefectKind::MissingCall,
      .has_to_reach = kind != DefectKind::None && kind != DefectKind::Stall,
      .runs = source.runs,
      .from_dumps = true,
      .no_hosts = seats.seats.empty(),
      .split = verdict.kind == VerdictKind::Mismatch && verdict.named.empty(),
  };
  for (const DumpedGroup& dumped : groups) making.not_replayable += dumped.left_out.size();
  fit_calls(plan, making);
  making.absent = absent_ranks(job, groups);
  return finish_plan(job, seats, making, options, std::move(plan));
}

}  // namespace ncclog
