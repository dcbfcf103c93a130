// Did the job stop, or do the logs only end while it runs?
//
//   [rank2]:[E1120 … ProcessGroupNCCL.cpp:689] [Rank 2] Watchdog caught collective operation
//   timeout
//       → it stopped: "rank 2 reports that ALLREDUCE timed out"
//   steps 0.1 s apart, then nothing for 22 s until SIGTERM came
//       → it had stopped: nobody printed anything for so long
//   the same communicators, half initialised, and nothing else   → unknown
//
// A hang and a snapshot of a job that starts look the same: some ranks are further than others.
// Only a line that says that somebody gave up, failed, died or was ended tells the two apart, or
// the user. Silence up to the end of the logs never does, so the answer is "stopped" or unknown.

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

/// How it is known that the job stopped, the most telling first.
enum class StopBy {
  Timeout,  ///< Somebody waited in a collective, a barrier or the store until a limit.
  Failure,  ///< A call of NCCL or CUDA or the program failed.
  Death,    ///< A process was killed or crashed, or its launcher saw it end with an error.
  Silence,  ///< It was silent for far longer than usual before somebody ended it.
  Watched,  ///< `ncclog run` saw that nothing was written any more.
  Stated,   ///< The user says that it hung.
  Ended,    ///< The scheduler or the launcher was told to end the job; perhaps it was fine.
  Waiting,  ///< Nothing of that, but other lines go on for long after something unfinished.
};

struct StopEvidence {
  StopBy by = StopBy::Timeout;
  std::string what;  ///< "rank 2 reports that ALLREDUCE timed out"; valid UTF-8.
  Evidence line;     ///< The line that shows it.
};

/// The most telling evidence that the job stopped, the first such line of the input; nullopt:
/// unknown. Where torchrun started the workers anew, lines before that prove nothing in the same
/// unit of input. Pure.
const std::optional<StopEvidence>& stop_evidence(const Job& job);

/// True if that evidence is of somebody who gave up, failed or died, or of a job that stood still.
bool has_failed(const Job& job);

/// True if it is of somebody who waited until a limit, or of a job that stood still: whoever is
/// behind then had the time to come to where it is stuck.
bool stood_still(const Job& job);

/// True if somebody who watched the job says so, the user or `ncclog run`, and no line of its own.
bool is_seen(const StopEvidence& stop);

/// The job's last line, if it was printed ten minutes or more after `since`: what should follow on
/// that line within seconds did not. nullopt where either carries no time, or their clocks do not
/// compare. The caller knows that nothing followed.
std::optional<StopEvidence> long_wait(const Job& job, const Evidence& since);

/// Names who is guilty: a process (into Job::processes), or a global rank that has none; -1: unknown.
inline void blame(int process, int rank, FactValue& value) {
  if (process >= 0) {
    value.processes.push_back(process);
  } else if (rank >= 0) {
    value.ranks.push_back(rank);
  }
}

}  // namespace ncclog
