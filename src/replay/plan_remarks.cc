#include "replay/plan_remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnose/call_waits.h"
#include "diagnose/cuda_graphs.h"
#include "diagnose/stop_evidence.h"
#include "model/call_signature.h"

namespace ncclog {
namespace {

std::string_view plural(uint64_t count, std::string_view one, std::string_view several) {
  return count == 1 ? one : several;
}

/// Ranks of the plan's communicators that take no part, by communicator.
void add_absent_ranks(const Job& job, const PlanSeats& seats, std::vector<std::string>& losses) {
  for (const int c : seats.communicators) {
    const Communicator& comm = job.communicators[static_cast<size_t>(c)];
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
  const auto count = [&](bool Process::*flag) {
    return static_cast<uint64_t>(
        std::count_if(job.processes.begin(), job.processes.end(),
                      [&](const Process& process) { return process.*flag; }));
  };
  if (const uint64_t torn = count(&Process::torn); torn > 0) {
    losses.push_back(fmt::format("Lines of {} {} are torn: some of {} calls may be missing.", torn,
                                 plural(torn, "process", "processes"),
                                 plural(torn, "its", "their")));
  }
  if (const uint64_t cut = count(&Process::cut); cut > 0) {
    losses.push_back(fmt::format("The logs of {} {} are cut: calls at the end are missing.", cut,
                                 plural(cut, "process", "processes")));
  }
}

void add_earlier_calls(const ReplayPlan& plan, std::vector<std::string>& losses) {
  uint64_t most = 0;
  for (const PlannedRank& rank : plan.ranks) most = std::max(most, rank.left_out);
  if (most == 0) return;
  losses.push_back(fmt::format("Up to {} earlier {} of each rank {} left out (--last).", most,
                               plural(most, "call", "calls"), plural(most, "is", "are")));
}

void add_dropped_calls(const PlanMaking& making, std::vector<std::string>& losses) {
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

/// What the lines do not say, and what was taken in its place.
void add_guesses(const PlanMaking& making, std::vector<std::string>& losses) {
  if (making.from_dumps) {
    losses.push_back(
        "The calls are those of the Flight Recorder's dumps, which name no reduction, root, stream "
        "or buffer: they are replayed as sums, with root 0, on a stream for each group.");
  }
  if (making.no_hosts) {
    losses.push_back(
        "Nothing tells on which host a rank ran: all are replayed as ranks of one host.");
  }
  if (making.split) {
    losses.push_back(
        "The dumps differ in a call, and no majority says who is right: the plan ends before it.");
  }
  if (making.guessed_groups) {
    losses.push_back(
        "No line tells of groups (subsystem CALL): messages that stand one after the other with "
        "one opCount are taken for a group.");
  }
  if (making.ungrouped) {
    losses.push_back(
        "No line tells of groups (subsystem CALL), and opCount does not count: messages are "
        "replayed one by one, also those that the job may have made in a group.");
  }
  if (making.counts_bytes) {
    losses.push_back(
        "NCCL 2.7 to 2.21 prints AllGather and Broadcast in bytes: they are replayed as int8, "
        "with as many bytes.");
  }
}

void add_clean_run(const PlanMaking& making, std::vector<std::string>& losses) {
  if (making.awaited > 0) {
    losses.push_back(fmt::format(
        "Before the call in question {} that ranks did not come to {} made in the clean run as "
        "those made {} who waited.",
        making.awaited == 1 ? "a call" : fmt::format("{} calls", making.awaited),
        plural(static_cast<uint64_t>(making.awaited), "is", "are"),
        plural(static_cast<uint64_t>(making.awaited), "it", "them")));
  }
  if (making.clean_run_ends_before) {
    losses.push_back(
        "The clean run ends before the call in question: from these logs it cannot be told what "
        "all ranks would have called, so the plan tests nothing.");
  }
  if (making.buffers_sends) {
    losses.push_back(
        "On their streams ranks send to each other before either of them receives: the clean run "
        "ends only while NCCL has room for these messages.");
  }
}

bool sizes_differ(const Job& job) {
  const Waits waits = find_waits(job);
  return std::any_of(waits.unmatched.begin(), waits.unmatched.end(),
                     [](const UnmatchedMessages& messages) { return messages.sizes_differ; });
}

/// Beside a job that stopped, a plan that tests nothing says why.
void add_untold(const Job& job, const PlanMaking& making, const ReplayPlan& plan,
                std::vector<std::string>& losses) {
  const bool is_told =
      plan.hypothesis.kind != DefectKind::None || making.from_dumps || making.clean_run_ends_before;
  if (is_told || !has_failed(job)) return;
  if (sizes_differ(job)) {
    losses.push_back(
        "A Send and its Recv differ in size, and no plan of such a message is made: the plan tests "
        "nothing.");
    return;
  }
  losses.push_back(
      "The job stopped, and these logs do not tell which call a rank left out or made otherwise: "
      "the plan tests nothing.");
}

bool has_own_reduction(const ReplayPlan& plan) {
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(),
                       [](const PlannedCall& call) { return call.redop >= kUserRedop; });
  });
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

std::vector<std::string> plan_losses(const Job& job, const PlanSeats& seats, const ReplayPlan& plan,
                                     const PlanMaking& making) {
  std::vector<std::string> losses;
  if (job.runs.size() > 1) {
    losses.push_back(
        fmt::format("The logs hold {} runs: one of them is planned.", job.runs.size()));
  }
  add_absent_ranks(job, seats, losses);
  losses.insert(losses.end(), making.absent.begin(), making.absent.end());
  add_damage(job, losses);
  add_earlier_calls(plan, losses);
  add_dropped_calls(making, losses);
  add_guesses(making, losses);
  add_clean_run(making, losses);
  add_untold(job, making, plan, losses);
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
  if (has_own_reduction(plan)) {
    limits.push_back(
        "The job's own reductions are replayed as sums, and their results are not compared.");
  }
  return limits;
}

}  // namespace ncclog
