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
  // Workers that torchrun starts anew wait for nobody of the attempt before.
  SourceRef restarted;
  for_each_said<WorkerGroupRestart>(job, [&](const auto& said) {
    if (is_before(job, said.where(), stop->line.where))
      restarted = std::max(restarted, said.where());
  });
  std::optional<ExitReport> first;
  Death who;
  for (const ExitReport& exit : exit_reports(job)) {
    const bool is_early = own_status(exit) > 0 && restarted < exit.record.where &&
                          is_before(job, exit.record.where, stop->line.where);
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

/// The hosts on which an agent that was told to end ends its workers: the agent names none itself.
std::set<std::string> stopped_hosts(const Job& job) {
  std::set<uint64_t> units;
  for_each_said<AgentSignalled>(job, [&](const auto& said) { units.insert(said.where().unit); });
  std::set<std::string> hosts;
  for_each_said<WorkerClosing>(job, [&](const Said<WorkerClosing>& said) {
    const int process = process_of_pid(job, said.message.pid);
    if (process < 0 || !units.contains(said.where().unit)) return;
    const std::string& host = nth_process(job, process).host;
    if (!host.empty()) hosts.insert(host);
  });
  return hosts;
}

/// All others noticed failures later than that. Where all agents are told to end, or more of them
/// than hosts are known for, somebody ended the job.
FactValue host_stopped(const Job& job, const Instance&) {
  const ReportedWarning* warning = first_warning(job);
  const bool nccl_failed = warning != nullptr && warning->is_own_failure();
  if (any_said<JobCancelled, LaunchStopped>(job) || nccl_failed) return unknown();
  const std::set<std::string> hosts = stopped_hosts(job);
  // An agent says it once, and once more as an exception.
  constexpr uint64_t kMostLines = 2;
  uint64_t lines = 0;
  std::optional<Record> told;
  for (const SpeakerLog& log : job.logs) {
    const RecordList list = log.records.find(kKindIndex<AgentSignalled>);
    lines += list.total;
    for (const Record& record : list.kept) {
      if (!told || record.where < told->where) told = record;
    }
  }
  if (!told || hosts.empty() || lines > kMostLines * hosts.size()) return unknown();
  if (std::cmp_greater_equal(hosts.size(), job.nhosts)) return no();
  const LineTime when = time_of(*told);
  std::optional<int64_t> failed;
  const auto add_failure = [&](const auto& said) {
    const LineTime time = time_of(said.record());
    const bool compares = time.known() && time.has_zone == when.has_zone;
    if (compares && (!failed || time.nanoseconds < *failed)) failed = time.nanoseconds;
  };
  for_each_said<WorkerFailed, WatchdogTimeout, WorkException, HeartbeatTimeout>(job, add_failure);
  if (!when.known() || !failed) return unknown();
  if (*failed <= when.nanoseconds) return no();
  FactValue value =
      yes(fmt::format("the launcher on {} was told to end (signal {})",
                      few_of({hosts.begin(), hosts.end()}, kMostNamed, ", "),
                      to_valid_utf8(read_message<AgentSignalled>(parse_message(*told)).signal)),
          {evidence_of(*told)});
  value.hosts.assign(hosts.begin(), hosts.end());
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
