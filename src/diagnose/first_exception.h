// Did the program itself fail first?
//
//   [rank1]: Traceback (most recent call last):
//   [rank1]:   File "/workspace/train.py", line 35, in <module>
//   [rank1]: RuntimeError: DataLoader worker (pid 4242) exited unexpectedly
//
// When one rank raises, the others lose their peer and report NCCL, store and watchdog errors. The
// exception counts as first only if nothing that could have caused it stands before it.

#pragma once

#include <string>
#include <vector>

#include "diagnose/fact.h"

namespace ncclog {

/// An exception of the program, not of NCCL, the store or a lost peer.
struct ProgramException {
  int process = -1;  ///< Into Job::processes.
  int rank = -1;     ///< -1: nothing tells.
  std::string text;  ///< "RuntimeError: …", valid UTF-8, cut at 160 bytes.
  Evidence line;
};

/// The exceptions that came first: one, or the same text on several ranks. Empty if none is known
/// to be the cause.
std::vector<ProgramException> first_exceptions(const Job& job);

/// Training output stands behind `where` in the same input, or all ranks go on calling there: what
/// failed was caught, and the job went on.
bool went_on(const Job& job, SourceRef where);

}  // namespace ncclog
