#include "replay/build_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "diagnose/edges.h"
#include "replay/call_shape.h"
#include "replay/clean_run.h"
#include "replay/plan_amendments.h"
#include "replay/plan_frame.h"
#include "replay/plan_programs.h"
#include "replay/plan_remarks.h"
#include "replay/plan_seats.h"
#include "replay/project_calls.h"
#include "replay/seen_transports.h"

namespace ncclog {
namespace {

constexpr const char* kWhere = "replay plan";

/// Communicators of which calls are known, or the defect adds some.
std::vector<int> called_communicators(const RecordedCalls& recorded, const RecordedDefect& defect) {
  std::set<int> called;
  for (const auto& [process, calls] : recorded.by_process) {
    for (const RecordedCall& call : calls) called.insert(call.by.communicator);
  }
  for (const AddedCall& added : defect.added) called.insert(added.call.by.communicator);
  return {called.begin(), called.end()};
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
  const std::vector<Edge>& edges = edges_of(job);
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
  std::set<int> processes;
  for (const Seat& seat : seats.seats) processes.insert(seat.process);
  std::vector<size_t> logs;
  for (const int process : processes) {
    const auto& own = job.processes[static_cast<size_t>(process)].logs;
    logs.insert(logs.end(), own.begin(), own.end());
  }
  return seen_tuning(job, logs);
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

/// The calls of all seats in both runs, as far as single ranks tell. Says what was done to them.
PlanMaking place_calls(const PlanSource& source, const PlanSeats& seats,
                       const RecordedDefect& defect, ReplayPlan& plan) {
  PlanPrograms programs = plan_programs(source.job, source.recorded, seats);
  plan.ranks.resize(seats.seats.size());
  for (size_t s = 0; s < seats.seats.size(); ++s) {
    plan.ranks[s].calls = std::move(programs.by_seat[s]);
  }
  add_missing_calls(source.job, seats, defect, plan);
  return {.not_replayable = programs.not_replayable + source.recorded.other_calls,
          .guessed_groups = programs.guessed_groups,
          .ungrouped = programs.ungrouped,
          .counts_bytes = programs.counts_bytes};
}

/// Settles what the runs of the plan come to, over the calls that it holds.
void fit_calls(const PlanSeats& seats, const RecordedDefect& defect, SendEnds sends,
               ReplayPlan& plan, PlanMaking& making) {
  if (!defect.added.empty()) {
    const FrontLine front{.communicator = seats.place_of(defect.communicator),
                          .index = defect.index,
                          .entered = {},
                          .missing = seats_of(seats, defect.missing)};
    making.awaited = extend_clean_run(plan, front, defect.kind == DefectKind::Message, sends);
  }
  settle_clean_run(plan, sends);
  making.clean_run_ends_before = (!defect.added.empty() || !defect.late.empty()) &&
                                 !reaches(plan, seats.place_of(defect.communicator), defect.index,
                                          defect.kind == DefectKind::Message);
  const bool is_healthy = defect.kind == DefectKind::None || defect.kind == DefectKind::Stall;
  if (is_healthy) making.unmet = drop_unmet(plan);
}

/// As fit_calls; where the clean run does not come far enough so, with Sends that NCCL buffers.
void fit_either_way(const PlanSeats& seats, const RecordedDefect& defect, ReplayPlan& plan,
                    PlanMaking& making) {
  ReplayPlan buffered = plan;
  PlanMaking other = making;
  fit_calls(seats, defect, SendEnds::WithItsRecv, plan, making);
  if (!making.clean_run_ends_before && making.unmet == 0) return;
  fit_calls(seats, defect, SendEnds::ByItself, buffered, other);
  const bool is_better =
      making.clean_run_ends_before ? !other.clean_run_ends_before : other.unmet < making.unmet;
  if (!is_better) return;
  plan = std::move(buffered);
  making = other;
  making.buffers_sends = true;
}

/// The calls of the plan in both runs.
PlanMaking make_calls(const PlanSource& source, const PlanSeats& called, const PlanSeats& seats,
                      const RecordedDefect& defect, ReplayPlan& plan) {
  ReplayPlan all;
  PlanMaking making = place_calls(source, called, defect, all);
  project_calls(all, called, seats, plan);
  fit_either_way(seats, defect, plan, making);
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
  RecordedDefect defect = find_defect(job, source.recorded.members, suspicion);
  refuse_untested(options, defect.kind);
  const std::vector<Membership>& members = source.recorded.members;
  const PlanSeats called = plan_seats(job, members, called_communicators(source.recorded, defect));
  const PlanSeats seats =
      options.only_failing ? plan_seats(job, members, {defect.communicator}) : called;
  ReplayPlan plan = begin_plan(job, source.logs);
  plan.recorded_nranks = job.nranks.value_or(static_cast<int>(seats.seats.size()));
  plan.ranks = planned_ranks(job, seats);
  plan.communicators = planned_communicators(job, seats);
  const ReplayPlan frame = plan;
  PlanMaking making = make_calls(source, called, seats, defect, plan);
  if (making.clean_run_ends_before) {
    defect = {};
    plan = frame;
    making = make_calls(source, called, seats, defect, plan);
    making.clean_run_ends_before = true;
  }
  plan.hypothesis = hypothesis_of(suspicion, defect, seats);
  plan.tuning = recorded_tuning(job, seats);
  count_left_out(source.recorded, seats, plan);
  return finish_plan(job, seats, making, options, std::move(plan));
}

}  // namespace ncclog
