// Who failed before NCCL could: killed, crashed, raised, or never came?
//
//   job.killed = yes, "rank 3 (pid 1021): Killed"
//   job.store_root_silent = yes, rank 0: ranks 1-3 wait for its ncclUniqueId, it reports nothing
//
// Deaths are joined to ranks by pid, by the command line or by torchrun's table.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/deaths.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/first_exception.h"
#include "diagnose/store_barrier.h"
#include "diagnose/store_name.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

void blame(int process, int rank, FactValue& value) {
  if (process >= 0) {
    value.processes.push_back(process);
  } else if (rank >= 0) {
    value.ranks.push_back(rank);
  }
}

/// "rank 3 (pid 1021 on node-b)", as far as known.
std::string name_of(const Job& job, const Death& death) {
  const int process = process_of(job, death);
  const int rank = process >= 0 ? job.processes[static_cast<size_t>(process)].rank : death.rank;
  const std::string host =
      process >= 0 ? job.processes[static_cast<size_t>(process)].host : death.host;
  const std::string on = host.empty() ? "" : " on " + host;
  if (rank >= 0 && death.pid >= 0) return fmt::format("rank {} (pid {}{})", rank, death.pid, on);
  if (rank >= 0) return fmt::format("rank {}{}", rank, on);
  if (death.pid >= 0) return fmt::format("the process with pid {}{}", death.pid, on);
  return "a process" + on;
}

FactValue died(const Job& job, const std::vector<Death>& found) {
  if (found.empty()) return unknown();
  constexpr size_t kMostNames = 4;
  FactValue value = yes({});
  std::vector<std::string> names;
  for (const Death& death : found) {
    if (names.size() < kMostNames) names.push_back(name_of(job, death));
    value.evidence.push_back(death.line);
    const int process = process_of(job, death);
    blame(process, death.rank, value);
    // Without NCCL's own lines only the launcher names the host.
    const bool is_placed =
        process >= 0 && !job.processes[static_cast<size_t>(process)].host.empty();
    const bool is_named = process >= 0 || death.rank >= 0;
    if (is_named && !is_placed && !death.host.empty()) value.hosts.push_back(death.host);
  }
  value.what = join(names, ", ");
  if (found.size() > kMostNames) {
    value.what += fmt::format(" and {} more", found.size() - kMostNames);
  }
  return value;
}

std::vector<Death> deaths_by(const Job& job, DeathBy by) {
  std::vector<Death> found = deaths(job);
  std::erase_if(found, [by](const Death& death) { return death.by != by; });
  return found;
}

template <typename T>
bool is_said(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(),
                     [](const SpeakerLog& log) { return log.records.contains(kKindIndex<T>); });
}

/// Whoever ends a hung job kills most of it: then the kill is how it ended, not why.
bool is_cleaning_up(const Job& job, const std::vector<Death>& killed) {
  if (is_said<JobCancelled>(job) && !is_said<OomKill>(job)) return true;
  if (!job.nranks || !is_said<WatchdogTimeout>(job)) return false;
  return killed.size() > 1 && killed.size() * 2 > static_cast<size_t>(*job.nranks);
}

FactValue killed(const Job& job, const Instance&) {
  const std::vector<Death> found = deaths_by(job, DeathBy::Kill);
  return is_cleaning_up(job, found) ? no() : died(job, found);
}

FactValue segfaulted(const Job& job, const Instance&) {
  return died(job, deaths_by(job, DeathBy::SegmentationFault));
}

FactValue raised_first(const Job& job, const Instance&) {
  const auto first = first_exceptions(job);
  if (first.empty()) return unknown();
  FactValue value = yes(first.front().text);
  for (const ProgramException& exception : first) {
    value.evidence.push_back(exception.line);
    const Process& process = job.processes[static_cast<size_t>(exception.process)];
    const bool named = process.rank >= 0 || process.pid >= 0;
    blame(named ? exception.process : process_of_rank(job, exception.rank), exception.rank, value);
  }
  return value;
}

/// Who waits in the store for which root.
struct StoreWait {
  std::set<int> waiting;
  std::set<int> roots;
  bool in_subgroup = false;  ///< Ranks of a smaller group: they name no global rank.
  std::vector<Evidence> lines;
};

StoreWait store_wait(const Job& job) {
  StoreWait wait;
  for_each_said<StoreWaitFailed>(job, [&](const Said<StoreWaitFailed>& said) {
    const int own = rank_of(job, said.process, said.header);
    wait.in_subgroup |= own >= 0 && own != said.message.rank;
    wait.waiting.insert(said.message.rank);
    if (said.message.root >= 0) wait.roots.insert(said.message.root);
    wait.lines.push_back(evidence_of(said.record));
  });
  return wait;
}

/// The rank has come to a collective: it has a communicator or finished work.
bool has_joined(const Job& job, int rank) {
  const int process = process_of_rank(job, rank);
  const auto any = [&](const auto& holds) {
    if (process < 0) return false;
    const auto& logs = job.processes[static_cast<size_t>(process)].logs;
    return std::any_of(logs.begin(), logs.end(), [&](size_t log) { return holds(job.logs[log]); });
  };
  return any([](const SpeakerLog& log) {
    return !log.comms.all.empty() || log.records.contains(kKindIndex<WorkStatus>) ||
           log.records.contains(kKindIndex<WatchdogTimeout>) ||
           log.records.contains(kKindIndex<DumpSignal>);
  });
}

/// The rank, or somebody who may be that rank, reports a failure of its own.
bool may_have_failed(const Job& job, int rank) {
  const auto failed_here = [&](const Process& process) {
    return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
      const auto& records = job.logs[log].records;
      return records.contains(kKindIndex<PythonException>) ||
             records.contains(kKindIndex<NcclException>) ||
             records.contains(kKindIndex<CudaOomException>);
    });
  };
  for (const Process& process : job.processes) {
    if ((process.rank == rank || process.rank < 0) && failed_here(process)) return true;
  }
  bool died = false;
  for (const Death& death : deaths(job)) died |= death.rank == rank || death.rank < 0;
  for_each_said<WorkerFailed>(job, [&](const Said<WorkerFailed>& said) {
    died |= said.message.local_rank == rank && said.message.exitcode != -15;
  });
  return died;
}

FactValue store_root_silent(const Job& job, const Instance&) {
  StoreWait wait = store_wait(job);
  if (wait.roots.size() != 1) return unknown();
  const int root = *wait.roots.begin();
  if (wait.in_subgroup || wait.waiting.contains(root)) return unknown();
  if (has_joined(job, root) || may_have_failed(job, root)) return no();
  // What the rank says of itself may be among the torn lines.
  if (is_torn(job)) return unknown();
  FactValue value =
      yes(fmt::format("{} waited for rank {}'s ncclUniqueId; rank {} reports no failure",
                      ranks_phrase({wait.waiting.begin(), wait.waiting.end()}), root, root),
          std::move(wait.lines));
  blame(process_of_rank(job, root), root, value);
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.killed", Scope::Job, FactType::Bool,
         "Processes got SIGKILL, and not because the whole job was being ended.", killed},
    Fact{"job.raised_first", Scope::Job, FactType::Bool,
         "The program raised an exception before anything else failed.", raised_first},
    Fact{"job.segfaulted", Scope::Job, FactType::Bool, "Processes ended by a segmentation fault.",
         segfaulted},
    Fact{"job.store_barrier_absent", Scope::Job, FactType::Bool,
         "Ranks wait at the creation of a process group for ranks that never came to it.",
         within_runs<store_barrier_absent>},
    Fact{"job.store_name_unresolvable", Scope::Job, FactType::Bool,
         "PyTorch looked the store's host up in vain for half a minute, and nothing else began.",
         store_name_unresolvable},
    Fact{"job.store_root_silent", Scope::Job, FactType::Bool,
         "Ranks wait in the store for a rank that shows neither a failure nor a communicator.",
         within_runs<store_root_silent>},
};

}  // namespace

std::span<const Fact> failure_facts() { return kFacts; }

}  // namespace ncclog
