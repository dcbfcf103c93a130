// Who ended first, without a word of its own, and left the others waiting or without a peer?
//
//   job.exited_first  = yes, "rank 13 (pid 84205 on node-b) ended with exit status 3"
//       the others' calls timed out ten minutes later
//   job.host_stopped  = yes, "the launcher on node-c was told to end (signal 15)"
//       six seconds before processes on node-a lost their peer there
//
// Both are known by their launchers: torchrun says when a worker or itself ends, and how.

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/stop_evidence.h"

namespace ncclog {
namespace {

/// The error status that a process ended with by itself; 0: none, or a signal ended it.
int64_t own_status(const ExitReport& exit) {
  if (exit.exitcode) return exit.signal() == 0 ? *exit.exitcode : 0;
  constexpr std::string_view kExited = "Exited with exit code ";
  if (!exit.ended.status.starts_with(kExited) || exit.signal() > 0) return 0;
  return parse_int(exit.ended.status.substr(kExited.size())).value_or(0);
}

/// Others gave up waiting later than the launcher saw it end, and it says nothing itself.
FactValue exited_first(const Job& job, const Instance&) {
  const auto& stop = stop_evidence(job);
  const ReportedWarning* warning = first_warning(job);
  const bool nccl_failed = warning != nullptr && warning->is_own_failure();
  if (!stop || stop->by != StopBy::Timeout || nccl_failed) return unknown();
  std::optional<ExitReport> first;
  Death who;
  for (const ExitReport& exit : exit_reports(job)) {
    const bool is_early =
        own_status(exit) > 0 && is_before(job, exit.record.where, stop->line.where);
    const bool is_first = is_early && (!first || exit.record.where < first->record.where);
    if (!is_first) continue;
    first = exit;
    who = {.pid = exit.ended.pid, .rank = exit.ended.rank, .host = std::string(exit.ended.host)};
  }
  if (!first || failed_before(job, first->record.where)) return unknown();
  // torchrun's table names the rank.
  for (const ExitReport& exit : exit_reports(job)) {
    if (who.rank < 0 && who.pid >= 0 && exit.ended.pid == who.pid) who.rank = exit.ended.rank;
  }
  const int process = process_of(job, who);
  if (process < 0 && who.rank < 0) return unknown();
  if (process >= 0 && has_said<WatchdogTimeout, NcclException, WorkException, WorkStatus>(
                          job, nth_process(job, process))) {
    return no();
  }
  FactValue value =
      yes(fmt::format("{} ended with exit status {}", name_of(job, who), own_status(*first)),
          {evidence_of(first->record), stop->line});
  blame(process, who.rank, value);
  return value;
}

/// Hosts whose launcher was told to end, and the line that says so first.
struct StoppedHosts {
  std::set<std::string> hosts;
  std::string signal;
  std::optional<Record> line;
};

/// torchrun's agent names no host: the workers do that it ends, and whose lines are in its file.
StoppedHosts stopped_hosts(const Job& job) {
  StoppedHosts stopped;
  std::set<uint64_t> units;
  for_each_said<AgentSignalled>(job, [&](const Said<AgentSignalled>& said) {
    units.insert(said.where().unit);
    if (stopped.line && stopped.line->where < said.where()) return;
    stopped.line = said.record();
    stopped.signal = to_valid_utf8(said.message.signal);
  });
  for_each_said<WorkerClosing>(job, [&](const Said<WorkerClosing>& said) {
    const int process = process_of_pid(job, said.message.pid);
    if (process < 0 || !units.contains(said.where().unit)) return;
    const std::string& host = nth_process(job, process).host;
    if (!host.empty()) stopped.hosts.insert(host);
  });
  return stopped;
}

/// The first time at which one of these lines was printed; nullopt: none carries one.
template <typename... T>
std::optional<LineTime> first_time_of(const Job& job) {
  std::optional<LineTime> first;
  const auto add = [&](const auto& said) {
    const LineTime time = time_of(said.record());
    if (time.known() && (!first || time.nanoseconds < first->nanoseconds)) first = time;
  };
  (for_each_said<T>(job, add), ...);
  return first;
}

/// The agents of other hosts noticed failures later than that. Where all agents are told to end,
/// somebody ended the job.
FactValue host_stopped(const Job& job, const Instance&) {
  if (any_said<JobCancelled, LaunchStopped>(job)) return unknown();
  const StoppedHosts stopped = stopped_hosts(job);
  if (!stopped.line || stopped.hosts.empty()) return unknown();
  if (std::cmp_greater_equal(stopped.hosts.size(), job.nhosts)) return no();
  const LineTime told = time_of(*stopped.line);
  const auto failed =
      first_time_of<WorkerFailed, WatchdogTimeout, WorkException, HeartbeatTimeout>(job);
  if (!told.known() || !failed || told.has_zone != failed->has_zone) return unknown();
  if (failed->nanoseconds <= told.nanoseconds) return no();
  FactValue value =
      yes(fmt::format("the launcher on {} was told to end (signal {})",
                      few_of({stopped.hosts.begin(), stopped.hosts.end()}, kMostNamed, ", "),
                      stopped.signal),
          {evidence_of(*stopped.line)});
  value.hosts.assign(stopped.hosts.begin(), stopped.hosts.end());
  return value;
}

constexpr std::array kFirstEndFacts = {
    // A process ended with an error status before the others gave up waiting, and none failed before.
    job_fact("job.exited_first", exited_first),
    // The launcher of some hosts was told to end, and those of other hosts saw failures after that.
    job_fact("job.host_stopped", host_stopped),
};

}  // namespace

std::span<const Fact> first_end_facts() { return kFirstEndFacts; }

}  // namespace ncclog
