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

#include <optional>
#include <string>
#include <vector>

#include "diagnose/fact.h"

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
std::string_view to_string(EndState state);

/// A line that says so: Finished, Failed or Stopped.
struct EndMark {
  EndState state = EndState::Finished;
  int process = -1;  ///< Into Job::processes; -1: it is about the job.
  std::string what;  ///< A clause: "nccl-tests printed its summary"; valid UTF-8.
  Evidence line;
};

/// All of them but the failures that processes report themselves, in input order.
std::vector<EndMark> end_marks(const Job& job);

/// Work stands behind `where` in the same input: a communicator begins, a step is printed, or ranks
/// go on calling. What was said there is then about a part of the work.
bool work_follows(const Job& job, SourceRef where);

/// The last test of nccl-tests that begins behind `where` in the same input, by the line of its
/// settings; nullopt: none does. Where no summary follows, nothing tells how it ended.
std::optional<Evidence> test_begun_behind(const Job& job, SourceRef where);

}  // namespace ncclog
