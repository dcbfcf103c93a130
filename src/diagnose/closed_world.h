// What does it prove that a process did not print a line?
//
//   its file is there, the line's subsystem spoke in it, it came past the place where NCCL prints
//   the line, nothing of it is torn, cut off or unknown          → it did not print it
//   anything else                                                → nothing
//
// The same for a set: that no rank printed a line is known only where every rank's lines are there.

#pragma once

#include <string>
#include <vector>

#include "diagnose/instance.h"
#include "log/message_kind.h"
#include "model/job.h"

namespace ncclog {

/// Whether silence proves something, and if not, why not.
struct Proof {
  bool holds = false;
  std::string gap;  ///< In words, "the file of rank 3 is cut"; empty if it holds.
};

/// A line of the sort in question, as another process printed it.
struct PrintedBy {
  int process = -1;  ///< Into Job::processes.
  SourceRef where;
};

/// Whether it proves anything that `process` printed no line of `kind`. `others`, a few of those
/// that printed one: a process that prints what all of them print later came past it. `kind` is
/// nullptr for lines that no kind covers; only others can show where those belong.
Proof silence_proves(const Job& job, int process, const Kind* kind,
                     const std::vector<PrintedBy>& others = {});

/// Whether the lines of all processes are there that belong to the instance.
Proof all_are_there(const Job& job, const Instance& instance);

}  // namespace ncclog
