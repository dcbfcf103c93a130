#include "replay/build_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "diagnose/edges.h"
#include "replay/call_shape.h"
#include "replay/clean_run.h"
#include "replay/plan_amendments.h"
#include "replay/plan_end.h"
#include "replay/plan_programs.h"
#include "replay/plan_remarks.h"
#include "replay/plan_seats.h"
#include "replay/planned_settings.h"
#include "replay/seen_transports.h"
#include "replay/shrink_plan.h"

namespace ncclog {
namespace {

constexpr const char* kWhere = "replay plan";

/// Communicators of whose calls some are to be replayed.
std::vector<int> wanted_communicators(const RecordedCalls& recorded, const RecordedDefect& defect,
                                      bool only_failing) {
  if (only_failing) {
    if (defect.communicator >= 0) return {defect.communicator};
    throw Error("nothing stands still in these logs, so no communicator is the failing one", kWhere,
                "leave out --only failing");
  }
  std::set<int> wanted;
  for (const auto& [process, calls] : recorded.by_process) {
    for (const RecordedCall& call : calls) wanted.insert(call.by.communicator);
  }
  for (const AddedCall& added : defect.added) wanted.insert(added.call.by.communicator);
  return {wanted.begin(), wanted.end()};
}

std::vector<PlannedRank> planned_ranks(const Job& job, const PlanSeats& seats) {
  const std::vector<int> groups = host_groups(job, seats);
  std::vector<PlannedRank> ranks;
  for (size_t s = 0; s < seats.seats.size(); ++s) {
    const Seat& seat = seats.seats[s];
    PlannedRank rank;
    rank.recorded_rank = seat.recorded_rank;
    rank.host = to_valid_utf8(job.processes[static_cast<size_t>(seat.process)].host);
    rank.host_group = groups[s];
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

std::vector<PlannedCommunicator> planned_communicators(const Job& job, const PlanSeats& seats) {
  const std::vector<Edge> edges = edges_of(job);
  std::vector<PlannedCommunicator> result;
  for (const int c : seats.communicators) {
    const Communicator& comm = job.communicators[static_cast<size_t>(c)];
    PlannedCommunicator planned;
    planned.id = comm.id;
    planned.ranks = seats.ranks_of(job, c);
    planned.recorded_nranks = comm.nranks;
    planned.parent = comm.parent < 0 ? -1 : seats.place_of(comm.parent);
    planned.color = planned.parent < 0 ? 0 : std::max(0, comm.color);
    planned.channels = comm.graphs.channels.coll;
    planned.transports = seen_transports(comm, edges);
    result.push_back(std::move(planned));
  }
  return result;
}

std::vector<RecordedTuning> recorded_tuning(const Job& job, const PlanSeats& seats) {
  std::map<std::tuple<std::string, std::string, std::string>, uint64_t> uses;
  std::set<int> processes;
  for (const Seat& seat : seats.seats) processes.insert(seat.process);
  for (const int process : processes) {
    for (const size_t log : job.processes[static_cast<size_t>(process)].logs) {
      for (const auto& [key, use] : job.logs[log].tuning.uses) {
        if (!key.function.empty()) {
          uses[{key.function, key.algorithm, key.protocol}] += use.count;
        }
      }
    }
  }
  std::vector<RecordedTuning> result;
  for (const auto& [key, calls] : uses) {
    const auto& [op, algorithm, protocol] = key;
    result.push_back({to_valid_utf8(op), to_valid_utf8(algorithm), to_valid_utf8(protocol), calls});
  }
  return result;
}

void count_left_out(const RecordedCalls& recorded, const PlanSeats& seats, ReplayPlan& plan) {
  for (const auto& [member, calls] : recorded.earlier) {
    const auto seat = seats.seat_of.find(member);
    if (seat == seats.seat_of.end() || seats.place_of(member.communicator) < 0) continue;
    plan.ranks[static_cast<size_t>(seat->second)].left_out += calls;
  }
}

std::vector<int> seats_of(const PlanSeats& seats, const std::vector<Membership>& members) {
  std::set<int> result;
  for (const Membership& member : members) {
    const auto seat = seats.seat_of.find(member);
    if (seat != seats.seat_of.end()) result.insert(seat->second);
  }
  return {result.begin(), result.end()};
}

Hypothesis hypothesis_of(const Suspicion& suspicion, const RecordedDefect& defect,
                         const PlanSeats& seats) {
  Hypothesis hypothesis;
  hypothesis.kind = defect.kind;
  if (defect.kind == DefectKind::None) return hypothesis;
  hypothesis.finding = suspicion.id;
  hypothesis.title = suspicion.title;
  hypothesis.departed = seats_of(seats, defect.departed);
  hypothesis.front = FrontLine{seats.place_of(defect.communicator), defect.index,
                               seats_of(seats, defect.entered), seats_of(seats, defect.missing)};
  return hypothesis;
}

/// Some rank of the plan makes the call at the front.
bool holds_front(const ReplayPlan& plan, const FrontLine& front) {
  const bool by_message = plan.hypothesis.kind == DefectKind::Message;
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(), [&](const PlannedCall& call) {
      return call.communicator == front.communicator && call.index == front.index &&
             is_message(call.op) == by_message;
    });
  });
}

/// What the plan's calls cannot show is not claimed: a departure that makes no difference between
/// the runs, and a front whose call is not among them.
void limit_hypothesis(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  if (hypothesis.front && !holds_front(plan, *hypothesis.front)) hypothesis.front.reset();
  if (hypothesis.kind == DefectKind::None || has_defect(plan)) return;
  hypothesis.kind = DefectKind::Stall;
  hypothesis.departed.clear();
  if (hypothesis.front) hypothesis.front->missing.clear();
}

/// Drops what is made in the defect run only; gives how many calls that were.
uint64_t drop_unmet(ReplayPlan& plan) {
  uint64_t dropped = 0;
  for (PlannedRank& rank : plan.ranks) {
    dropped += std::erase_if(
        rank.calls, [](const PlannedCall& call) { return call.made_in == MadeIn::Defect; });
  }
  return dropped;
}

/// The clean run comes to the call in question.
bool reaches(const ReplayPlan& plan, const PlanSeats& seats, const RecordedDefect& defect) {
  const int communicator = seats.place_of(defect.communicator);
  const bool by_message = defect.kind == DefectKind::Message;
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(), [&](const PlannedCall& call) {
      return call.communicator == communicator && call.index == defect.index &&
             is_message(call.op) == by_message && call.made_in != MadeIn::Defect;
    });
  });
}

/// The calls of the plan in both runs. Says what was done to them.
PlanMaking fill_calls(const PlanSource& source, const PlanSeats& seats,
                      const RecordedDefect& defect, ReplayPlan& plan) {
  PlanPrograms programs = plan_programs(source.job, source.recorded, seats);
  for (size_t s = 0; s < seats.seats.size(); ++s) {
    plan.ranks[s].calls = std::move(programs.by_seat[s]);
  }
  add_missing_calls(source.job, seats, defect, plan);
  PlanMaking making{.not_replayable = programs.not_replayable + source.recorded.other_calls,
                    .guessed_groups = programs.guessed_groups,
                    .counts_bytes = programs.counts_bytes};
  if (!defect.added.empty()) {
    const FrontLine front{.communicator = seats.place_of(defect.communicator),
                          .index = defect.index,
                          .entered = {},
                          .missing = seats_of(seats, defect.missing)};
    making.awaited = extend_clean_run(plan, front, defect.kind == DefectKind::Message);
  }
  settle_clean_run(plan);
  making.clean_run_ends_before =
      (!defect.added.empty() || !defect.late.empty()) && !reaches(plan, seats, defect);
  const bool is_healthy = defect.kind == DefectKind::None || defect.kind == DefectKind::Stall;
  if (is_healthy) making.unmet = drop_unmet(plan);
  return making;
}

/// Of those that name a communicator the first, else the first at all.
Suspicion first_testable(const std::vector<Suspicion>& suspicions) {
  const Suspicion* first = nullptr;
  for (const Suspicion& one : suspicions) {
    if (!one.is_testable) continue;
    if (!one.communicator.empty()) return one;
    if (first == nullptr) first = &one;
  }
  return first == nullptr ? Suspicion{} : *first;
}

[[noreturn]] void refuse_untestable(const std::vector<Suspicion>& suspicions,
                                    const std::string& id) {
  std::vector<std::string> others;
  for (const Suspicion& one : suspicions) {
    if (one.is_testable) others.push_back(one.id);
  }
  throw Error(fmt::format("the finding '{}' is about no call, so no replay can test it", id),
              kWhere,
              others.empty() ? "no finding of these logs is about calls; leave out --finding to "
                               "replay the last calls"
                             : "findings that a replay may test: " + join(others, ", "));
}

/// Who names a finding wants that one tested, and not a plan that tests nothing.
void refuse_untested(const PlanOptions& options, const RecordedDefect& defect) {
  if (options.finding.empty() || defect.kind != DefectKind::None) return;
  throw Error(fmt::format("these logs show no call that stands still or differs because of '{}'",
                          options.finding),
              kWhere, "leave out --finding to replay the last calls");
}

bool is_empty(const ReplayPlan& plan) {
  return std::all_of(plan.ranks.begin(), plan.ranks.end(),
                     [](const PlannedRank& rank) { return rank.calls.empty(); });
}

}  // namespace

Suspicion choose_suspicion(const std::vector<Suspicion>& suspicions, const std::string& id) {
  if (id.empty()) return first_testable(suspicions);
  std::vector<std::string_view> ids;
  for (const Suspicion& one : suspicions) {
    if (one.id == id && one.is_testable) return one;
    if (one.id == id) refuse_untestable(suspicions, id);
    ids.push_back(one.id);
  }
  const auto nearest = nearest_name(id, ids);
  throw Error(
      fmt::format("the analysis of these logs has no finding '{}'", printable(id)), kWhere,
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "ncclog analyze lists the findings");
}

ReplayPlan build_plan(const PlanSource& source, const PlanOptions& options) {
  const Job& job = source.job;
  const Suspicion suspicion = choose_suspicion(source.suspicions, options.finding);
  const RecordedDefect defect = find_defect(job, source.recorded.members, suspicion);
  refuse_untested(options, defect);
  const PlanSeats seats =
      plan_seats(job, source.recorded.members,
                 wanted_communicators(source.recorded, defect, options.only_failing));
  ReplayPlan plan;
  plan.tool_version = version();
  plan.logs = source.logs;
  plan.nccl_versions = job.nccl_versions;
  if (job.cuda_versions.size() == 1) plan.cuda_version = job.cuda_versions.front();
  plan.recorded_nranks = job.nranks.value_or(static_cast<int>(seats.seats.size()));
  plan.recorded_nhosts = job.nhosts;
  plan.ranks = planned_ranks(job, seats);
  plan.communicators = planned_communicators(job, seats);
  PlanMaking making = fill_calls(source, seats, defect, plan);
  if (is_empty(plan)) {
    throw Error("the ranks of these logs have no call in common", kWhere,
                "collect whole logs of all ranks from one run");
  }
  plan.hypothesis = hypothesis_of(suspicion, defect, seats);
  making.behind = end_at_front(plan);
  limit_hypothesis(plan);
  plan.settings = planned_settings(job, seats);
  plan.tuning = recorded_tuning(job, seats);
  count_left_out(source.recorded, seats, plan);
  plan.losses = plan_losses(job, seats, plan, making);
  plan.limits = plan_limits(plan);
  return options.gpus > 0 ? shrink_plan(plan, options.gpus) : plan;
}

}  // namespace ncclog
