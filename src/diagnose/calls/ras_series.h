// What do the answers of NCCL's RAS service say when they are read one after the other?
//
//   AllReduce 204 of rank 3, 255 of the others; then 331 and 340      → Grows: the job runs
//   AllReduce 41 of rank 2, 43 of the others; 15 s later the same     → Behind, rank 2
//   AllReduce 566 of all ranks; later the same (JSON alone tells)     → Level: nobody is behind
//   the same, and steps between them or after them                    → Grows: the job runs
//   one answer, its copies, or of different communicators             → Unclear
//
// An answer alone shows neither progress nor a hang: counts of a healthy job differ while RAS asks
// rank after rank. Counts are of operations that hosts launched, by communicator and function; a
// count that stands still in the last two answers, while nothing else grows, is a job that stands.
// A rank that is behind on one communicator and ahead on another one waits there, and is no cause.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

enum class RasTrend { Unclear, Grows, Behind, Level };

/// A rank that RAS names, as the job has it.
struct RasRankOfJob {
  RasMember member;
  int rank = -1;     ///< Of the job; -1: unknown.
  int process = -1;  ///< Into Job::processes; -1: none is it.
};

struct RasSeries {
  RasTrend trend = RasTrend::Unclear;
  const RasReport* last = nullptr;    ///< With communicators; nullptr: there is none. Of the job.
  const RasReport* before = nullptr;  ///< What `last` is held against; nullptr: nothing is.
  /// Of Behind: who launched fewer, by rank; empty where it cannot be told who that is.
  std::vector<RasRankOfJob> behind;
  /// Of Level: operations that each rank has launched on average.
  int64_t operations = 0;
};

/// Worked out once; lives as long as the job.
const RasSeries& ras_series(const Job& job);

/// The job's rank, and process, that a member of a statement is; several of a process with several
/// GPUs. One entry without a rank where it is not known.
std::vector<RasRankOfJob> ranks_of_job(const Job& job, const RasReport& report,
                                       const RasStatement& statement, const RasMember& member);

/// "process 6004 on node 10.4.1.3 (GPU 0)", "rank 1 (process 6004 on node 10.4.1.3, GPU 0)": valid
/// UTF-8.
std::string member_words(const RasMember& member);

/// The same of several, those of a node together: "ranks 8-15 on node 10.4.1.3".
std::string member_words(const std::vector<RasRankOfJob>& members);

/// Counts that differ in an answer: "AllReduce on communicator 3f: 7 ranks 64, rank 7 60"; empty:
/// none do. Valid UTF-8.
std::string counts_words(const RasReport& report);

/// What the answers alone come to, a clause for a job of which nothing else is told; empty: there is
/// no answer.
std::string ras_words(const Job& job);

}  // namespace ncclog
