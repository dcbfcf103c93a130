// Who reports that a process ended, and how?
//
//   bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=3 python3 train.py
//     rank      : 3 (local_rank: 1)
//     exitcode  : -9 (pid: 1021)
//
// Shells, MPI launchers, srun, torchrun and container runtimes say it in their own ways.

#pragma once

#include <map>

#include "diagnose/facts/fact.h"

namespace ncclog {

/// A line that says so.
struct ExitReport {
  ProcessEnded ended;           ///< Views the job. With torchrun's codes: pid and rank at most.
  std::optional<int> exitcode;  ///< nullopt: a status or a signal is printed.
  Record record;

  /// By number, whatever names it: -11, 139, "Segmentation fault", "SIGSEGV". Below 1: none that is
  /// known.
  int signal() const;
  /// What the command timeout of coreutils returns where it ended its command.
  static constexpr int kTimeLimit = 124;

  /// By SIGHUP, SIGINT or SIGTERM, or at the limit of timeout: somebody wanted it to end. SIGKILL is
  /// as often the kernel's.
  bool is_requested() const;
  /// "ended with exit code 3", "ended: Killed"; empty: it is MPICH's first line of two, who and not
  /// how.
  std::string words() const;
};

/// The rank whose own file holds that line: no other one speaks there, and others do elsewhere; -1:
/// none or several.
int rank_of_file(const Job& job, SourceRef where);

/// In input order. Who names nobody in a rank's own file speaks of that rank.
std::vector<ExitReport> exit_reports(const Job& job);

/// By unit, where a launcher first saw a task end with a status of its own, or by a signal that the
/// program brings upon itself. Whoever is ended behind that may be ended by its launcher.
const std::map<uint64_t, SourceRef>& first_failed_exits(const Job& job);

}  // namespace ncclog
