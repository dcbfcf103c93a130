// Who reports that a process ended, and how; and words for asking what lines of processes say.
//
//   bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=3 python3 train.py
//     rank      : 3 (local_rank: 1)
//     exitcode  : -9 (pid: 1021)
//
// Shells, MPI launchers, srun, torchrun and container runtimes say it in their own ways. What the
// ends mean for the job is in end_marks.h, first_failure.h and stop_evidence.h.

#pragma once

#include <optional>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

/// A line that says so.
struct ExitReport {
  ProcessEnded ended;           ///< Views the job. With an exit code: pid and rank at most.
  std::optional<int> exitcode;  ///< nullopt: a status or a signal is printed.
  const Record* record = nullptr;

  int signal() const;  ///< Below 1: none that is known.
  /// By SIGHUP, SIGINT or SIGTERM: somebody wanted it to end. SIGKILL is as often the kernel's.
  bool is_requested() const;
  /// MPICH's first line of two: who, not how.
  bool names_only() const { return !exitcode && ended.status.empty() && ended.signal < 0; }
};

std::vector<ExitReport> exit_reports(const Job& job);

// Words for asking.

/// Some process printed a line of one of these kinds.
template <typename... T>
bool any_said(const Job& job) {
  return !job.processes_by_kind.empty() && (!job.processes_by_kind[kKindIndex<T>].empty() || ...);
}

/// for_each_said() for one kind after the other.
template <typename... T, typename Use>
void for_each_said_of(const Job& job, Use use) {
  (for_each_said<T>(job, use), ...);
}

/// True if `line` stands before `other` in the same input.
bool is_before(const Job& job, SourceRef line, SourceRef other);

/// The communicators of a process, in all its logs.
std::vector<const CommSegment*> segments_of(const Job& job, const Process& process);

/// Some input announces steps of a training.
bool prints_steps(const Job& job);

}  // namespace ncclog
