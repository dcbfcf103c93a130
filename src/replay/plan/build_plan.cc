#include "replay/plan/build_plan.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/iterations/call_counts.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/known_messages.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

/// Ranks of whom any call is known, wherever their communicator's other ranks are.
size_t numbered_callers(const Job& job) {
  size_t most = 0;
  for (const Communicator& comm : job.communicators) {
    const auto callers = std::ranges::count_if(comm.ranks, [&](const CommRank& rank) {
      const CollectiveCalls* calls = calls_of(job, rank);
      return rank.rank >= 0 && calls != nullptr && calls->total > 0;
    });
    most = std::max(most, static_cast<size_t>(callers));
  }
  return most;
}

/// Its lines show how far its initialisations came: some of them were printed at INFO, which a job
/// that prints warnings only does not.
bool tells_of_inits(const SpeakerLog& log) {
  return std::any_of(log.records.begin(), log.records.end(), [&](const auto& entry) {
    const auto& [kind, lines] = entry;
    return all_kinds()[kind].subsystem == Subsystem::Init &&
           std::ranges::any_of(lines.kept, [](const Record& record) {
             return parse_record(record).header.level == Level::Info;
           });
  });
}

/// Where the rank's own part stands in the larger buffer, in bytes.
uint64_t own_part(const RecordedCall& call, int rank) {
  const auto size = static_cast<uint64_t>(datatype_bytes(call.call.datatype).value_or(0));
  return static_cast<uint64_t>(rank) * static_cast<uint64_t>(call.call.count) * size;
}

bool is_in_place(const RecordedCall& call, int rank) {
  const OperationTraits& traits = traits_of(call.call.op.operation());
  if (traits.is_message() || call.sendbuff == 0 || call.recvbuff == 0) return false;
  const bool uses_both = !traits.has_root() || rank == call.call.root;
  if (traits.exchanges_blocks() || !uses_both) return call.sendbuff == call.recvbuff;
  const uint64_t sent = call.sendbuff + (traits.sends_blocks() ? own_part(call, rank) : 0);
  const uint64_t received = call.recvbuff + (traits.receives_blocks() ? own_part(call, rank) : 0);
  return sent == received;
}

/// Behind such a boundary, whole elements of it: pointers of torn lines may point anywhere.
int offset_of(uint64_t pointer, int datatype) {
  const auto size = static_cast<uint64_t>(datatype_bytes(datatype).value_or(1));
  const uint64_t offset = pointer % kBufferBoundary;
  return static_cast<int>(offset - offset % size);
}

/// The lines of a rank's planned calls, one for each.
using CallLines = std::vector<const RecordedCall*>;

/// Where the group of the call at `begin` ends where no line tells of groups: messages on one
/// communicator and stream with one opCount, each peer at most once a direction. They are seen to be
/// a group where opCount counts, which it does on the communicators `counting`, or where a rank
/// sends to itself, which no rank can outside of a group; else each stands alone.
size_t end_of_batch(const Job& job, const std::vector<PlannedCall>& calls, const CallLines& lines,
                    size_t begin, const std::set<int>& counting, PlanMaking& making) {
  const PlannedCall& first = calls[begin];
  bool shows_group = counting.contains(first.communicator);
  std::set<std::pair<bool, int>> seen;
  size_t end = begin;
  for (; end < calls.size(); ++end) {
    const PlannedCall& call = calls[end];
    const RecordedCall& line = *lines[end];
    const bool goes_with = is_message(call.op) && call.communicator == first.communicator &&
                           call.stream == first.stream && line.op_count == lines[begin]->op_count;
    if (!goes_with || !seen.emplace(operation_of(call.op) == Operation::Send, call.root).second)
      break;
    shows_group = shows_group || line.call.root == rank_of(job, line.by).rank;
  }
  if (end - begin < 2) return begin + 1;
  (shows_group ? making.guessed_groups : making.ungrouped) = true;
  return shows_group ? end : begin + 1;
}

/// Numbers the groups of the calls. Says in `making` what they rest on where no line tells them.
void add_groups(const Job& job, bool has_groups, const std::set<int>& counting,
                const CallLines& lines, std::vector<PlannedCall>& calls, PlanMaking& making) {
  int groups = 0;
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = has_groups ? begin + 1 : end_of_batch(job, calls, lines, begin, counting, making);
    while (has_groups && lines[begin]->group >= 0 && end < lines.size() &&
           lines[end]->group == lines[begin]->group) {
      ++end;
    }
    const int group = end - begin > 1 ? groups++ : -1;
    for (; begin < end; ++begin) calls[begin].group = group;
  }
}

/// The communicators whose opCount tells messages apart. It may stand still: NCCL 2.28 over NVLink
/// prints 0 all along, and then equal ones mean nothing.
std::set<int> counting_communicators(const RecordedCalls& recorded, const PlanSeats& seats) {
  std::set<int> counting;
  for (const auto& [process, calls] : recorded.by_process) {
    std::map<int, uint64_t> first;
    for (const RecordedCall& call : calls) {
      if (!is_message(call.call.op.view())) continue;
      const int communicator = seats.place_of(call.by.communicator);
      const auto [known, is_new] = first.try_emplace(communicator, call.op_count);
      if (!is_new && known->second != call.op_count) counting.insert(communicator);
    }
  }
  return counting;
}

/// Adds the calls of all seats to the plan's ranks, in the order of their lines.
void add_recorded_calls(const Job& job, const RecordedCalls& recorded, const PlanSeats& seats,
                        ReplayPlan& plan, PlanMaking& making) {
  std::vector<CallLines> lines(seats.seats.size());
  std::vector<std::map<uint64_t, int>> streams(seats.seats.size());
  for (const auto& [process, calls] : recorded.by_process) {
    for (const RecordedCall& call : calls) {
      if (seats.place_of(call.by.communicator) < 0) continue;
      if (!can_be_planned(call.call)) {
        ++making.not_replayable;
        continue;
      }
      making.counts_bytes |= may_count_bytes({call.call.op, call.call.datatype}, job.nccl_versions);
      const int seat = seats.seat_of.at(call.by);
      const int next = static_cast<int>(streams[seat].size());
      PlannedCall& planned = plan.ranks[seat].calls.emplace_back(planned_call(job, seats, call));
      planned.stream = streams[seat].try_emplace(call.stream, next).first->second;
      lines[seat].push_back(&call);
    }
  }
  making.not_replayable += recorded.other_calls;
  const std::set<int> counting = counting_communicators(recorded, seats);
  for (size_t s = 0; s < lines.size(); ++s) {
    add_groups(job, recorded.has_groups, counting, lines[s], plan.ranks[s].calls, making);
  }
}

// What the clean run makes that was not made: the calls that somebody left out, in their places.
//
//   rank 5: … AllGather(27) AllGather(28)          the others: … AllGather(27) AllReduce(28)
//       → rank 5: … AllGather(27) AllReduce(28), clean run only; AllGather(28), defect run only

using Calls = std::vector<PlannedCall>;

/// The call without stream, buffers and number.
auto sameness(const PlannedCall& call) {
  return std::tie(call.communicator, call.op, call.count, call.datatype, call.redop, call.root);
}

/// True for collectives of one communicator, and for messages to, or from, one of its ranks: they
/// count in one sequence.
bool counts_with(const PlannedCall& a, const PlannedCall& b) {
  if (a.communicator != b.communicator || is_message(a.op) != is_message(b.op)) return false;
  return !is_message(a.op) || (a.op == b.op && a.root == b.root);
}

/// The call with what the lines of others tell: of those who made the collective, or of the other
/// end of the message. nullopt: the plan holds no such call.
std::optional<PlannedCall> completed_call(const Job& job, const PlanSeats& seats,
                                          const RecordedCall& added, const ReplayPlan& plan) {
  PlannedCall call = planned_call(job, seats, added);
  const int own = seats.number_of(added.by.communicator, rank_of(job, added.by).rank);
  const PlannedCommunicator ends{.ranks = seats.ranks_of(job, added.by.communicator)};
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const bool is_peer = is_message(call.op) && rank_in(ends, static_cast<int>(r)) == call.root;
    for (const PlannedCall& other : plan.ranks[r].calls) {
      if (other.index != call.index || other.communicator != call.communicator) continue;
      if (is_peer && is_message(other.op) && other.op != call.op && other.root == own) {
        call.count = other.count;
        call.datatype = other.datatype;
        return call;
      }
      if (!is_message(call.op) && sameness(other) == sameness(call)) {
        call.in_place = other.in_place;
        call.send_offset = other.send_offset;
        call.recv_offset = other.recv_offset;
        return call;
      }
    }
  }
  return std::nullopt;
}

/// The first call of the group that `at` stands in, or itself.
size_t begin_of_group(const Calls& calls, size_t at) {
  while (at > 0 && at < calls.size() && calls[at].group >= 0 &&
         calls[at - 1].group == calls[at].group) {
    --at;
  }
  return at;
}

/// Communicator, function and peer of a call, by which it counts in the plan.
PlannedCall sequence_of(const PlanSeats& seats, const RecordedCall& call) {
  PlannedCall result;
  result.communicator = seats.place_of(call.by.communicator);
  result.op = call.call.op.view();
  result.root = seats.number_of(call.by.communicator, call.call.root);
  return result;
}

size_t place_of(const PlanSeats& seats, const Calls& calls, const RecordedCall& before) {
  const PlannedCall wanted = sequence_of(seats, before);
  const auto found = std::ranges::find_if(calls, [&](const PlannedCall& other) {
    return counts_with(other, wanted) && other.index == before.index;
  });
  return begin_of_group(calls, static_cast<size_t>(found - calls.begin()));
}

/// The rank of the plan that a member is; nullptr: it takes no part.
PlannedRank* rank_of_member(const PlanSeats& seats, const Membership& member, ReplayPlan& plan) {
  const auto seat = seats.seat_of.find(member);
  const bool is_there = seat != seats.seat_of.end() && seats.place_of(member.communicator) >= 0;
  return is_there ? &plan.ranks[seat->second] : nullptr;
}

/// Adds those of the defect's calls whose places are known to the plan's ranks (for others see
/// extend_clean_run), and moves what was made instead, in excess or too late to one of the two
/// runs. A call takes its buffers and offsets from a rank that made it, its stream from the rank's
/// own calls on that communicator.
void add_missing_calls(const Job& job, const PlanSeats& seats, const RecordedDefect& defect,
                       ReplayPlan& plan) {
  for (const RecordedCall& added : defect.added) {
    PlannedRank* rank = rank_of_member(seats, added.by, plan);
    const auto before = defect.before.find(added.by);
    if (rank == nullptr || before == defect.before.end()) continue;
    std::optional<PlannedCall> call = completed_call(job, seats, added, plan);
    if (!call) continue;
    Calls& calls = rank->calls;
    const size_t place = place_of(seats, calls, before->second);
    call->stream = usual_stream(calls, *call);
    call->made_in = MadeIn::Clean;
    for (PlannedCall& own : calls) {
      const bool is_behind = counts_with(own, *call) && own.index >= call->index;
      if (is_behind && own.made_in == MadeIn::Both) own.made_in = MadeIn::Defect;
    }
    calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(place), std::move(*call));
  }
  for (const RecordedCall& from : defect.struck) {
    PlannedRank* rank = rank_of_member(seats, from.by, plan);
    if (rank == nullptr) continue;
    const PlannedCall struck = sequence_of(seats, from);
    for (PlannedCall& call : rank->calls) {
      if (counts_with(call, struck) && call.index >= from.index) call.made_in = MadeIn::Defect;
    }
  }
  for (const RecordedCall& from : defect.late) {
    PlannedRank* rank = rank_of_member(seats, from.by, plan);
    if (rank == nullptr) continue;
    const int communicator = seats.place_of(from.by.communicator);
    const auto late = std::ranges::find_if(rank->calls, [&](const auto& call) {
      return call.communicator == communicator && !is_message(call.op) && call.index >= from.index;
    });
    const auto place = static_cast<size_t>(late - rank->calls.begin());
    for (size_t c = begin_of_group(rank->calls, place); c < rank->calls.size(); ++c) {
      rank->calls[c].made_in = MadeIn::Clean;
    }
  }
}

/// Communicators of which calls are known, or the defect adds some.
std::vector<int> called_communicators(const RecordedCalls& recorded, const RecordedDefect& defect) {
  std::set<int> called;
  for (const auto& [process, calls] : recorded.by_process) {
    for (const RecordedCall& call : calls) called.insert(call.by.communicator);
  }
  for (const RecordedCall& added : defect.added) called.insert(added.by.communicator);
  return {called.begin(), called.end()};
}

std::vector<PlannedCommunicator> planned_communicators(const Job& job, const PlanSeats& seats) {
  const std::vector<Edge>& edges = edges_of(job);
  std::vector<PlannedCommunicator> result;
  for (const int c : seats.communicators) {
    const Communicator& comm = job.communicators[c];
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
    const auto& own = job.processes[process].logs;
    logs.insert(logs.end(), own.begin(), own.end());
  }
  return seen_tuning(job, logs);
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
  hypothesis.diverged = seats_of(seats, defect.diverged);
  hypothesis.front = FrontLine{seats.place_of(defect.communicator), defect.index,
                               seats_of(seats, defect.entered), seats_of(seats, defect.missing)};
  return hypothesis;
}

/// As fit_calls; where the clean run does not come far enough so, with Sends that NCCL buffers.
void fit_either_way(ReplayPlan& plan, PlanMaking& making) {
  ReplayPlan buffered = plan;
  PlanMaking other = making;
  other.buffers_sends = true;
  fit_calls(plan, making);
  if (!making.clean_run_ends_before && making.unmet == 0) return;
  // Small messages end by themselves in NCCL's buffers; how many do, no log shows. So this is the
  // second choice, and the plan's limits say that it was taken.
  fit_calls(buffered, other);
  const bool is_better =
      making.clean_run_ends_before ? !other.clean_run_ends_before : other.unmet < making.unmet;
  if (!is_better) return;
  plan = std::move(buffered);
  making = other;
}

/// The calls of the plan in both runs, for its hypothesis.
PlanMaking make_calls(const Job& job, const RecordedCalls& recorded, const PlanSeats& called,
                      const PlanSeats& seats, const RecordedDefect& defect, ReplayPlan& plan) {
  ReplayPlan all;
  all.ranks.resize(called.seats.size());
  const bool adds_calls = !defect.added.empty();
  PlanMaking making{.extends_clean_run = adds_calls,
                    .has_to_reach = adds_calls || !defect.late.empty()};
  add_recorded_calls(job, recorded, called, all, making);
  add_missing_calls(job, called, defect, all);
  project_calls(all, called, seats, plan);
  fit_either_way(plan, making);
  return making;
}

}  // namespace

bool failed_before_calls(const Job& job) {
  if (!has_failed(job) || !job.flight_recorders.empty()) return false;
  // What was left out may have been a call, and work that timed out was one.
  if (job.losses.count(Loss::LineLeftOut) > 0 || !timed_out_work(job).empty()) return false;
  const auto was_complete = [](const CommSegment& segment) {
    return segment.completed.line != 0 || segment.calls->total + segment.traces->total > 0 ||
           segment.end == CommFate::Destroyed;
  };
  const bool ever_complete = std::ranges::any_of(job.logs, [&](const SpeakerLog& log) {
    return std::ranges::any_of(log.comms.all, was_complete);
  });
  bool told = false;
  for (const Process& process : job.processes) {
    if (!process.has_nccl) continue;
    if (process.cut || process.torn) return false;
    if (process.pid < 0) continue;  // Lines without a header, such as the version's.
    if (std::ranges::none_of(process.logs,
                             [&](size_t log) { return tells_of_inits(job.logs[log]); })) {
      return false;
    }
    told = true;
  }
  return told && !ever_complete;
}

void refuse_unknown_calls(const Job& job, const std::vector<Membership>& members,
                          const std::vector<Suspicion>& suspicions) {
  if (!members.empty()) return;
  if (std::ranges::none_of(job.processes, &Process::has_nccl)) refuse_plan("no-nccl");
  if (failed_before_calls(job)) {
    const auto reason = std::ranges::find(suspicions, true, &Suspicion::is_testable);
    refuse_plan("before-calls",
                {{"why", reason == suspicions.end()
                             ? ""
                             : fmt::format(": {} [{}]", printable(reason->title), reason->id)}});
  }
  const bool prints_calls = std::ranges::any_of(job.logs, [](const auto& log) {
    return log.calls->tape.total() + log.traces->tape.total() > 0;
  });
  if (!prints_calls) refuse_plan("no-calls");
  const size_t callers = numbered_callers(job);
  if (callers == 0) refuse_plan("no-ranks");
  refuse_plan("few-callers", {{"callers", std::to_string(callers)}});
}

bool can_be_planned(const CallSignature& call) {
  return is_replayable(call.op.view()) && call.count >= 0 && datatype_bytes(call.datatype) &&
         (!is_reduction(call.op.view()) || call.redop >= 0) &&
         ((!has_root(call.op.view()) && !is_message(call.op.view())) || call.root >= 0);
}

PlannedCall planned_call(const Job& job, const PlanSeats& seats, const RecordedCall& call) {
  const std::string_view op = call.call.op.view();
  PlannedCall planned;
  planned.communicator = seats.place_of(call.by.communicator);
  planned.index = call.index;
  planned.op = op;
  planned.count = call.call.count;
  planned.datatype = call.call.datatype;
  planned.redop = is_reduction(op) ? comparable(call.call).redop : 0;
  const bool is_rooted = has_root(op) || is_message(op);
  planned.root =
      is_rooted ? std::max(0, seats.number_of(call.by.communicator, call.call.root)) : -1;
  planned.in_place = is_in_place(call, rank_of(job, call.by).rank);
  planned.send_offset = offset_of(call.sendbuff, call.call.datatype);
  planned.recv_offset = offset_of(call.recvbuff, call.call.datatype);
  return planned;
}

Suspicion choose_suspicion(const std::vector<Suspicion>& suspicions, const std::string& id) {
  if (id.empty()) {
    const Suspicion* first = nullptr;
    for (const Suspicion& one : suspicions) {
      if (!one.is_testable) continue;
      if (!one.communicator.empty()) return one;
      if (first == nullptr) first = &one;
    }
    return first == nullptr ? Suspicion{} : *first;
  }
  std::vector<std::string_view> ids;
  std::vector<std::string_view> testable;
  for (const Suspicion& one : suspicions) {
    if (one.id == id && one.is_testable) return one;
    ids.push_back(one.id);
    if (one.is_testable) testable.push_back(one.id);
  }
  if (std::ranges::find(ids, id) != ids.end()) {
    refuse_plan(testable.empty() ? "all-untestable" : "untestable",
                {{"id", id}, {"others", fmt::format("{}", fmt::join(testable, ", "))}});
  }
  refuse_plan("unknown-finding",
              {{"id", printable(id)},
               {"what_next", hint_for(id, ids, "ncclog analyze lists the findings")}});
}

ReplayPlan build_plan(const PlanSource& source, const RecordedCalls& recorded,
                      const PlanOptions& options) {
  const Job& job = source.job;
  const Suspicion suspicion = choose_suspicion(source.suspicions, options.finding);
  const std::vector<Membership>& members = recorded.members;
  const RecordedDefect defect = find_defect(job, members, suspicion);
  refuse_untested(options, defect.kind);
  const PlanSeats called = plan_seats(job, members, called_communicators(recorded, defect));
  const PlanSeats seats =
      options.only_failing ? plan_seats(job, members, {defect.communicator}) : called;
  ReplayPlan plan = begin_plan(job, source.logs);
  plan.recorded_nranks = job.nranks.value_or(static_cast<int>(seats.seats.size()));
  plan.ranks = planned_ranks(job, seats);
  plan.communicators = planned_communicators(job, seats);
  const ReplayPlan frame = plan;
  plan.hypothesis = hypothesis_of(suspicion, defect, seats);
  PlanMaking making = make_calls(job, recorded, called, seats, defect, plan);
  // The clean run does not come to the call in question, so no run could show what it needs. What
  // the ranks called is still worth a replay, as a plan without a defect.
  if (making.clean_run_ends_before) {
    plan = frame;
    making = make_calls(job, recorded, called, seats, {}, plan);
    making.clean_run_ends_before = true;
  }
  plan.tuning = recorded_tuning(job, seats);
  for (const auto& [member, calls] : recorded.earlier) {
    if (PlannedRank* rank = rank_of_member(seats, member, plan)) rank->left_out += calls;
  }
  making.runs = source.runs;
  return finish_plan(job, seats, making, options, std::move(plan));
}

}  // namespace ncclog
