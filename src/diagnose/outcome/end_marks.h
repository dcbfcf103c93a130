// Which lines say that the work, or a process, came to an end?
//
//   # Avg bus bandwidth    : 124.196                               the job finished
//   slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT … ***      the job was stopped
//   [launch.py:347:main] Process 4243 exits successfully.          the process with that pid
//   finished x3000c0s1b0n0: rank 3 died from signal 6 and dumped core       rank 3 failed
//
// Programs, launchers, shells and schedulers each have their own words. What NCCL says of its
// communicators, and what follows from all of it, is in outcome.h.

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

/// How a job or a process ended, as far as the logs show.
enum class EndState {
  Finished,    ///< It did what it was started for, and left.
  Failed,      ///< It gave up, died, or ended with an error.
  Stopped,     ///< Somebody ended it from outside: a person, a limit, a launcher.
  Unfinished,  ///< It was at work, and no end is in the logs: cut, still running, or standing
               ///< still.
  Unknown,     ///< The logs show neither work nor end.
};
constexpr std::string_view enum_words(EndState) {
  return "finished|failed|stopped|unfinished|unknown";
}

/// How the job or a process ended, and the line that shows it.
struct EndOf {
  EndState state = EndState::Unknown;
  std::string what;                ///< A clause: "nccl-tests printed its summary"; valid UTF-8.
  std::vector<Evidence> evidence;  ///< The line; none where the state is Unknown.
  int process = -1;  ///< Whom the line is about, into Job::processes; -1: the job, or not known.
  /// A rank says it of its own work: what became of ranks without a line, it does not tell.
  bool is_own = false;
  /// Words that are also printed after a failure, or of a part: they count where all else is open.
  bool is_weak = false;

  /// Not of Unknown.
  const Evidence& line() const { return evidence.front(); }
};

/// What Slurm says by that line, a clause with the reason that this or another line of the same job
/// gives: "the scheduler ended the job at its time limit", "the scheduler cancelled step 77.0". Valid
/// UTF-8. nullopt: nobody stopped it. Slurm ends a step without a reason behind a task that failed, in
/// the same file: srun does so with --kill-on-bad-exit.
std::optional<std::string> cancelled_words(const Job& job, const Said<JobCancelled>& line);

/// What a launcher, PBS or LSF says by that line, a clause: "its owner ended the job", "the scheduler
/// ended the job: walltime 3605 exceeded limit 3600". Valid UTF-8.
std::string stopped_words(const LaunchStopped& line);

/// What lines say so, Finished, Failed or Stopped, in input order; but for the failures that
/// processes report themselves. Owned by the job.
const std::vector<EndOf>& end_marks(const Job& job);

}  // namespace ncclog
