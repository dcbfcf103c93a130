// What is the job: how large, how far did it come, of how many runs, and of which versions?
//
//   NCCL version 2.22.3+cuda12.6     printed by one rank of each communicator only
//   8 ranks on 2 hosts               job.nranks = 8
//   the same ranks with other pids   job.several_runs = yes

#pragma once

#include <algorithm>

#include "diagnose/facts/fact.h"

namespace ncclog {

/// Where the first communicator of the process was complete; line 0: none was.
SourceRef first_complete(const Job& job, const Process& process);

// What do the numbers of a version say, and which of two releases is the older one?
//
//   "2.9.8" < "2.10.3" < "2.27.3+cuda12.9" = "2.27.3"

/// The leading numbers of a version, of six digits at most each: {2, 9, 0} for "2.9.0a0+git1234".
/// Empty: it begins with none.
std::vector<int> version_parts(std::string_view version);

/// Below 0 if release `a` is older than `b`, 0 if they are the same, above 0 if it is newer.
/// Only version_parts are compared; those that one of the two lacks count as 0.
int compare_releases(std::string_view a, std::string_view b);

/// "13.0" for 13000, as the driver numbers its releases.
std::string cuda_release(int version);

/// True for two or more numbers between dots, "2.27.3".
bool is_release(std::string_view text);

// Which driver's CUDA did the processes run on?
//
//   n1:7:7 [0] NCCL INFO cudaDriverVersion 12040     → "12.4" (NCCL 2.13.4 and later, init.cc)

/// Distinct versions that processes print, sorted as numbers; empty: none does.
std::vector<std::string> driver_versions(const Job& job);

// Does the log speak of CUDA graphs, in which calls of NCCL may be captured?
//
//   NCCL INFO stream is being captured by a new graph, id 7            (2.9.6 to 2.12, COLL)
//   NCCL WARN … graphUsageMode is set to 0 but the user is capturing graphs …       (2.29.2)
//   INFO … model_runner.py:1535] Graph capturing finished in 14 secs, took 0.21 GiB  (vLLM)
//   # nThread 1 … validation: 1 graph: 10                              (nccl-tests -G 10)
//   NCCL INFO NCCL_GRAPH_REGISTER set by environment to 1.             only graphs are concerned
//
// A captured call is logged when it is captured, once, and runs as often as the graph does. Most
// programs that capture calls print nothing about it, so silence proves nothing.

/// The first line of the input that speaks of captured calls or models, else the first that names
/// a setting which only captured calls heed; nullopt: there is no such line. Pure.
std::optional<Evidence> cuda_graph_evidence(const Job& job);

/// Processes that took part in another run of what was read than that process; none where one run
/// was read, or its run is not known.
std::vector<int> processes_of_other_runs(const Job& job, int process);

/// True if `line` stands before `other` in the same input.
bool is_before(const Job& job, SourceRef line, SourceRef other);

/// The process printed a line of one of these kinds.
template <typename... T>
bool has_said(const Job& job, const Process& process) {
  return std::ranges::any_of(process.logs, [&](size_t log) {
    return (job.logs[log].records.contains(kKindIndex<T>) || ...);
  });
}

/// Lines of kind T, over all processes: kept or not, repeated or not.
template <typename T>
uint64_t count_lines(const Job& job) {
  uint64_t lines = 0;
  for (const SpeakerLog& log : job.logs) lines += log.records.find(kKindIndex<T>).total;
  return lines;
}

/// The communicators of a process, in all its logs.
std::vector<const CommSegment*> segments_of(const Job& job, const Process& process);

/// The process with that pid, else the one of that rank; -1: none of its lines are there.
int process_of(const Job& job, int64_t pid, int rank);

}  // namespace ncclog
