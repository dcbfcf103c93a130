#include "replay/plan/plan_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/stop_evidence.h"
#include "model/calls.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"

namespace ncclog {
namespace {

// Transports and tuning, as the logs show them.

/// That rank; nullptr: it is not listed.
const CommRank* find_rank(const Communicator& comm, int number) {
  const auto found = std::lower_bound(comm.ranks.begin(), comm.ranks.end(), number,
                                      [](const CommRank& a, int b) { return a.rank < b; });
  return found == comm.ranks.end() || found->rank != number ? nullptr : &*found;
}

/// True unless the number is none of the communicator's, or another process's. -1: any process.
bool may_be(const Communicator& comm, int number, int process) {
  if (number < 0 || (comm.nranks >= 0 && number >= comm.nranks)) return false;
  const CommRank* rank = find_rank(comm, number);
  const bool unknown = process < 0 || rank == nullptr || rank->process < 0;
  return unknown || rank->process == process;
}

bool may_belong_to(const Communicator& comm, const Edge& edge) {
  const int own = edge.sends ? edge.src_rank : edge.dst_rank;
  const int other = edge.sends ? edge.dst_rank : edge.src_rank;
  const CommRank* rank = own < 0 ? nullptr : find_rank(comm, own);
  return rank != nullptr && rank->process == edge.process && may_be(comm, other, edge.peer);
}

}  // namespace

std::string transport_class_name(const PathParts& path) {
  switch (path.transport) {
    case Transport::P2P:
      return "P2P";
    case Transport::SHM:
      return "SHM";
    case Transport::NET:
      return path.network.empty() ? "NET" : "NET/" + std::string(path.network);
    case Transport::COLLNET:
    case Transport::Other:
      break;
  }
  return "other";
}

std::vector<TransportShare> seen_transports(const Communicator& comm, std::span<const Edge> edges) {
  std::map<std::string, std::set<std::pair<int, int>>> pairs;
  for (const Edge& edge : edges) {
    if (!may_belong_to(comm, edge)) continue;
    pairs[transport_class_name(edge.path)].emplace(edge.src_rank, edge.dst_rank);
  }
  std::vector<TransportShare> shares;
  for (const auto& [transport, joined] : pairs) {
    shares.push_back({transport, static_cast<int>(joined.size())});
  }
  return shares;
}

std::vector<RecordedTuning> seen_tuning(const Job& job, std::span<const size_t> logs) {
  std::map<TuningKey, uint64_t> counts;
  for (const size_t log : logs) {
    for (const auto& [key, use] : job.logs[log].tuning.all) {
      if (!key.function.empty()) counts[key] += use.count;
    }
  }
  std::vector<RecordedTuning> all;
  for (const auto& [key, calls] : counts) {
    all.push_back({to_valid_utf8(key.function), to_valid_utf8(key.algorithm),
                   to_valid_utf8(key.protocol), calls});
  }
  return all;
}

std::vector<RecordedTuning> seen_tuning(const Job& job) {
  std::vector<size_t> logs(job.logs.size());
  std::iota(logs.begin(), logs.end(), size_t{0});
  return seen_tuning(job, logs);
}

namespace {

// Settings.

struct Exclusion {
  std::string_view pattern;  ///< '*' stands for any characters.
  std::string_view reason;
};

/// What the build makes of a line of left_out.table.
constexpr Exclusion row(std::string_view pattern, std::string_view reason) {
  return {pattern, reason};
}

constexpr Exclusion kExclusions[] = {
#include "replay/plan/left_out.inc"
};

/// True if `text` fits `pattern`, in which each '*' stands for any characters.
bool fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t at = star; at <= text.size(); ++at) {
    if (fits(rest, text.substr(at))) return true;
  }
  return false;
}

/// The plan's ranks among those processes, ascending; all of them: none is named.
std::vector<int> ranks_of(const PlanSeats& seats, const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (size_t s = 0; s < seats.seats.size(); ++s) {
    if (std::ranges::binary_search(processes, seats.seats[s].process)) {
      ranks.push_back(static_cast<int>(s));
    }
  }
  return ranks;
}

}  // namespace

std::string_view why_left_out(std::string_view name, std::string_view value) {
  // Every replay has it, unless multicast is asked for.
  if (name == "NCCL_NVLS_ENABLE" && value == "0") return {};
  for (const Exclusion& one : kExclusions) {
    if (fits(one.pattern, name)) return one.reason;
  }
  return name.starts_with("NCCL_") ? "" : "no setting of NCCL itself";
}

namespace {

/// The settings that processes of the plan's ranks report, by name, then value.
std::vector<PlannedSetting> planned_settings(const Job& job, const PlanSeats& seats) {
  std::vector<PlannedSetting> settings;
  for (const EnvironmentSetting& setting : job.environment) {
    PlannedSetting planned;
    planned.ranks = ranks_of(seats, setting.processes);
    if (planned.ranks.empty()) continue;
    if (planned.ranks.size() == seats.seats.size()) planned.ranks.clear();
    planned.name = to_valid_utf8(setting.name);
    planned.value = to_valid_utf8(setting.value);
    planned.left_out = why_left_out(setting.name, setting.value);
    settings.push_back(std::move(planned));
  }
  return settings;
}

// Where does a plan end? At the call that is in question.
//
//   rank 5 leaves out AllReduce(28) and goes on: AllGather(28) ReduceScatter(29) …
//       → in the defect run rank 5 makes nothing after call 27 on that communicator, the others
//         make AllReduce(28), and nobody makes a call after it
//
// What a diverged rank called later meets the call that the others wait in. NCCL matches calls by
// their order alone, so with a few ranks it may take those data for the missing ones, and compute
// nonsense where many ranks stood still.

/// The message that one rank makes in the clean run only; nullptr: none at the front.
const PlannedCall* added_message(const ReplayPlan& plan, const FrontLine& front) {
  for (const int rank : front.missing) {
    for (const PlannedCall& call : plan.ranks[rank].calls) {
      if (is_at(call, front, true) && call.made_in == MadeIn::Clean) return &call;
    }
  }
  return nullptr;
}

/// Messages behind the added one, at both ends: the first of them would take its place.
uint64_t end_at_message(ReplayPlan& plan) {
  const FrontLine& front = *plan.hypothesis.front;
  const PlannedCall* found = added_message(plan, front);
  if (found == nullptr) return 0;
  const PlannedCall added = *found;
  const auto& ranks = plan.communicators[front.communicator].ranks;
  const int peer = ranks[added.root];
  const int own = front.missing.front();
  const int number = rank_in(plan.communicators[front.communicator], own);
  uint64_t removed = std::erase_if(plan.ranks[own].calls, [&](const auto& call) {
    return call.communicator == added.communicator && call.op == added.op &&
           call.root == added.root && call.index >= added.index && call.made_in != MadeIn::Clean;
  });
  removed += std::erase_if(plan.ranks[peer].calls, [&](const auto& call) {
    return call.communicator == added.communicator && is_message(call.op) && call.op != added.op &&
           call.root == number && call.index > added.index;
  });
  return removed;
}

/// Removes the collectives after the front, on its communicator, from both runs, and for a missing
/// call what those who left it out made in its place; those are then missing at the front. Of a
/// missing message, what its two ranks sent each other after it. Nothing if the hypothesis has no
/// front. Gives how many calls were removed.
uint64_t end_at_front(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  if (!hypothesis.front) return 0;
  if (hypothesis.kind == DefectKind::Message) return end_at_message(plan);
  FrontLine& front = *hypothesis.front;
  // The front says that those who left the call out came, though with another one.
  std::vector<int> without;
  if (hypothesis.kind == DefectKind::MissingCall) {
    std::ranges::copy_if(hypothesis.diverged, std::back_inserter(without),
                         [&](int rank) { return is_among(front.entered, rank); });
  }
  uint64_t removed = 0;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const bool left_it_out = is_among(without, static_cast<int>(r));
    removed += std::erase_if(plan.ranks[r].calls, [&](const PlannedCall& call) {
      if (call.communicator != front.communicator || is_message(call.op)) return false;
      const bool is_instead =
          left_it_out && call.index == front.index && call.made_in != MadeIn::Clean;
      return call.index > front.index || is_instead;
    });
  }
  std::erase_if(front.entered, [&](int rank) { return is_among(without, rank); });
  front.missing.insert(front.missing.end(), without.begin(), without.end());
  std::ranges::sort(front.missing);
  return removed;
}

// What the plan lost, and what it cannot show.

std::string_view plural(auto count, std::string_view one, std::string_view several) {
  return count == 1 ? one : several;
}

/// Ranks of the plan's communicators that take no part, by communicator.
void add_absent_ranks(const Job& job, const PlanSeats& seats, std::vector<std::string>& losses) {
  for (const int c : seats.communicators) {
    const Communicator& comm = job.communicators[c];
    const auto there = static_cast<int>(seats.ranks_of(job, c).size());
    if (there >= comm.nranks) continue;
    std::vector<int> absent;
    for (const CommRank& rank : comm.ranks) {
      if (rank.rank >= 0 && seats.number_of(c, rank.rank) < 0) absent.push_back(rank.rank);
    }
    losses.push_back(absent_words(comm.id, static_cast<size_t>(comm.nranks - there), absent));
  }
}

void add_damage(const Job& job, std::vector<std::string>& losses) {
  if (const auto torn = std::ranges::count_if(job.processes, &Process::torn); torn > 0) {
    losses.push_back(fmt::format("Lines of {} {} are torn: some of {} calls may be missing.", torn,
                                 plural(torn, "process", "processes"),
                                 plural(torn, "its", "their")));
  }
  if (const auto cut = std::ranges::count_if(job.processes, &Process::cut); cut > 0) {
    losses.push_back(fmt::format("The logs of {} {} are cut: calls at the end are missing.", cut,
                                 plural(cut, "process", "processes")));
  }
}

void add_dropped_calls(const ReplayPlan& plan, const PlanMaking& making,
                       std::vector<std::string>& losses) {
  uint64_t earlier = 0;
  for (const PlannedRank& rank : plan.ranks) earlier = std::max(earlier, rank.left_out);
  if (earlier > 0) {
    losses.push_back(fmt::format("Up to {} earlier {} of each rank {} left out (--last).", earlier,
                                 plural(earlier, "call", "calls"), plural(earlier, "is", "are")));
  }
  if (making.not_replayable > 0) {
    losses.push_back(
        fmt::format("{} {} left out: their function, datatype or count is none that "
                    "a replay can make.",
                    making.not_replayable, plural(making.not_replayable, "call is", "calls are")));
  }
  if (making.unmet > 0) {
    losses.push_back(fmt::format(
        "{} {} left out: not all ranks had made {} alike when the logs end.", making.unmet,
        plural(making.unmet, "call is", "calls are"), plural(making.unmet, "it", "them")));
  }
  if (making.after > 0) {
    losses.push_back(fmt::format(
        "{} {} after the one in question {} left out on its communicator: NCCL may take the data "
        "of later calls for those of a missing one.",
        making.after, plural(making.after, "call", "calls"), plural(making.after, "is", "are")));
  }
}

/// Why a plan tests nothing although the job stopped; empty: it tests something, or says why not.
std::string_view why_nothing_is_tested(const Job& job, const PlanMaking& making,
                                       const ReplayPlan& plan) {
  const bool is_told =
      plan.hypothesis.kind != DefectKind::None || making.from_dumps || making.clean_run_ends_before;
  if (is_told || !has_failed(job)) return {};
  if (std::ranges::any_of(find_waits(job).unmatched, &UnmatchedMessages::sizes_differ)) {
    return "A Send and its Recv differ in size, and no plan of such a message is made: the plan "
           "tests nothing.";
  }
  return "The job stopped, and these logs do not tell which call a rank left out or made "
         "otherwise: "
         "the plan tests nothing.";
}

/// Sentences for ReplayPlan::losses.
std::vector<std::string> plan_losses(const Job& job, const PlanSeats& seats, const ReplayPlan& plan,
                                     const PlanMaking& making) {
  std::vector<std::string> losses;
  const auto say = [&losses](bool holds, std::string_view sentence) {
    if (holds) losses.emplace_back(sentence);
  };
  if (job.runs.size() > 1) {
    losses.push_back(
        fmt::format("The logs hold {} runs: one of them is planned.", job.runs.size()));
  }
  add_absent_ranks(job, seats, losses);
  losses.insert(losses.end(), making.absent.begin(), making.absent.end());
  add_damage(job, losses);
  add_dropped_calls(plan, making, losses);
  // What the lines do not say, and what was taken in its place.
  say(making.from_dumps,
      "The calls are those of the Flight Recorder's dumps, which name no reduction, root, stream "
      "or "
      "buffer: they are replayed as sums, with root 0, on a stream for each group.");
  say(making.no_hosts,
      "Nothing tells on which host a rank ran: all are replayed as ranks of one host.");
  say(making.split,
      "The dumps differ in a call, and no majority says who is right: the plan ends before it.");
  say(making.guessed_groups,
      "No line tells of groups (subsystem CALL): messages that stand one after the other with one "
      "opCount are taken for a group.");
  say(making.ungrouped,
      "No line tells of groups (subsystem CALL), and opCount does not count: messages are replayed "
      "one by one, also those that the job may have made in a group.");
  say(making.counts_bytes,
      "NCCL 2.7 to 2.21 prints AllGather and Broadcast in bytes: they are replayed as int8, with "
      "as "
      "many bytes.");
  // How far the clean run comes.
  if (making.awaited > 0) {
    losses.push_back(fmt::format(
        "Before the call in question {} that ranks did not come to {} made in the clean run as "
        "those made {} who waited.",
        making.awaited == 1 ? "a call" : fmt::format("{} calls", making.awaited),
        plural(making.awaited, "is", "are"), plural(making.awaited, "it", "them")));
  }
  say(making.clean_run_ends_before,
      "The clean run ends before the call in question: from these logs it cannot be told what all "
      "ranks would have called, so the plan tests nothing.");
  say(making.buffers_sends,
      "On their streams ranks send to each other before either of them receives: the clean run "
      "ends "
      "only while NCCL has room for these messages.");
  const std::string_view nothing = why_nothing_is_tested(job, making, plan);
  say(!nothing.empty(), nothing);
  return losses;
}

/// Most programs that capture calls print nothing about it, so this holds for every log.
std::string cuda_graph_limit(const Job& job) {
  const std::string always =
      "A call that is captured in a CUDA graph is logged once, and may have run many times, at any "
      "later moment";
  const auto evidence = cuda_graph_evidence(job);
  if (!evidence) return always + ".";
  const FileLine place = file_line(job, evidence->where);
  return fmt::format("{}: {}:{} speaks of such graphs.", always, to_valid_utf8(place.path),
                     place.line);
}

/// Sentences for ReplayPlan::limits.
std::vector<std::string> plan_limits(const Job& job, const ReplayPlan& plan) {
  std::vector<std::string> limits = {
      "Only calls of NCCL are replayed: no computation, no loading of data, no time between "
      "calls.",
      "No log shows which stream waits for which: calls are ordered by their own streams only.",
      "No log shows what the buffers hold: they are filled with patterns.",
  };
  limits.push_back(cuda_graph_limit(job));
  if (plan.recorded_nhosts > 1) {
    limits.push_back(
        fmt::format("{} hosts are replayed on one machine: nothing follows about the "
                    "network between them.",
                    plan.recorded_nhosts));
  }
  if (any_call(plan, [](const PlannedCall& call) { return call.redop >= kUserRedop; })) {
    limits.push_back(
        "The job's own reductions are replayed as sums, and their results are not compared.");
  }
  return limits;
}

// How the plan ends.

/// Some rank made messages behind the front's collective, which was over by then.
bool goes_on_with_messages(const ReplayPlan& plan, const FrontLine& front) {
  return std::ranges::any_of(plan.ranks, [&](const PlannedRank& rank) {
    const auto at = std::ranges::find_if(
        rank.calls, [&](const PlannedCall& call) { return is_at(call, front, false); });
    return std::any_of(at, rank.calls.end(), [&](const PlannedCall& call) {
      return is_message(call.op) && call.communicator == front.communicator;
    });
  });
}

/// What the plan's calls cannot show is not claimed: a defect that makes no difference between
/// the runs, a front whose call is not among them, and one of collectives where messages stalled.
void limit_hypothesis(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  const bool by_message = hypothesis.kind == DefectKind::Message;
  if (hypothesis.front && !any_call(plan, [&](const PlannedCall& call) {
        return is_at(call, *hypothesis.front, by_message);
      })) {
    hypothesis.front.reset();
  }
  const bool is_stall = hypothesis.kind == DefectKind::Stall && hypothesis.front;
  if (is_stall && goes_on_with_messages(plan, *hypothesis.front)) hypothesis.front.reset();
  if (hypothesis.kind == DefectKind::None || has_defect(plan)) return;
  hypothesis.kind = DefectKind::Stall;
  hypothesis.diverged.clear();
  if (hypothesis.front) hypothesis.front->missing.clear();
}

}  // namespace

std::string absent_words(const std::string& communicator, size_t count,
                         const std::vector<int>& absent) {
  const std::string who =
      absent.empty()
          ? fmt::format("{} ranks", count)
          : fmt::format("{} {}", plural(absent.size(), "rank", "ranks"), ranges_text(absent));
  return fmt::format("Communicator {} is made without {}: the logs do not show what {} called.",
                     communicator, who, absent.size() == 1 ? "it" : "they");
}

ReplayPlan begin_plan(const Job& job, const std::vector<std::string>& logs) {
  ReplayPlan plan;
  plan.tool_version = version();
  plan.logs = logs;
  plan.nccl_versions = job.nccl_versions;
  if (job.cuda_versions.size() == 1) plan.cuda_version = job.cuda_versions.front();
  plan.recorded_nhosts = job.nhosts;
  return plan;
}

std::vector<PlannedRank> planned_ranks(const Job& job, const PlanSeats& seats) {
  const std::vector<int> groups = host_groups(job, seats);
  std::vector<PlannedRank> ranks;
  for (size_t s = 0; s < seats.seats.size(); ++s) {
    const Seat& seat = seats.seats[s];
    PlannedRank rank;
    rank.recorded_rank = seat.recorded_rank;
    rank.host = to_valid_utf8(job.processes[seat.process].host);
    rank.host_group = groups[s];
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

void refuse_untested(const PlanOptions& options, DefectKind defect) {
  if (defect != DefectKind::None) return;
  if (options.only_failing) {
    throw Error(
        "of no call is it known who left it out or made another one, so no communicator is "
        "the failing one",
        "replay plan", "leave out --only failing");
  }
  if (options.finding.empty()) return;
  throw Error(
      fmt::format(
          "from these logs no call can be planned that stands still or differs because of '{}'",
          options.finding),
      "replay plan", "leave out --finding to replay the last calls");
}

void fit_calls(const CleanRunGoal& goal, SendEnds sends, ReplayPlan& plan, PlanMaking& making) {
  const bool by_message = goal.kind == DefectKind::Message;
  if (goal.is_extended) making.awaited = extend_clean_run(plan, goal.front, by_message, sends);
  settle_clean_run(plan, sends);
  making.clean_run_ends_before =
      goal.has_to_reach && !any_call(plan, [&](const PlannedCall& call) {
        return is_at(call, goal.front, by_message) && call.made_in != MadeIn::Defect;
      });
  if (goal.kind != DefectKind::None && goal.kind != DefectKind::Stall) return;
  for (PlannedRank& rank : plan.ranks) {
    making.unmet += std::erase_if(
        rank.calls, [](const PlannedCall& call) { return call.made_in == MadeIn::Defect; });
  }
}

ReplayPlan finish_plan(const Job& job, const PlanSeats& seats, PlanMaking making,
                       const PlanOptions& options, ReplayPlan plan) {
  if (is_empty(plan) && making.clean_run_ends_before) {
    throw Error("the clean run ends before the call in question, and all ranks made no call of it",
                "replay plan",
                "plan more calls before that one (--last), or collect all ranks' logs");
  }
  if (is_empty(plan)) {
    throw Error("the ranks of these logs have no call in common", "replay plan",
                "collect whole logs of all ranks from one run");
  }
  // First what the plan holds, then what can be claimed of it, then what is said about both.
  making.after = end_at_front(plan);
  limit_hypothesis(plan);
  plan.settings = planned_settings(job, seats);
  plan.losses = plan_losses(job, seats, plan, making);
  plan.limits = plan_limits(job, plan);
  return options.gpus > 0 ? shrink_plan(plan, options.gpus) : plan;
}

}  // namespace ncclog
