// Who stood elsewhere in its program while all others waited for it, as their stacks show?
//
//   rank 2 in the data loader (train.py:13), ranks 0,1,3 waiting in all_reduce (train.py:88)
//       → rank 2
//   all ranks waiting in all_reduce (train.py:88)    → alike: they accuse nobody
//   loader, all_reduce, train.py:40, checkpoint      → as those of a job at work: nobody
//
// Few are apart from many, as base/majority.h says. Who waits for the GPU may do so at any moment of
// a job that runs: that counts where it lasts from stack to stack, or where the job is known to have
// stopped.

#pragma once

#include <string>

#include "model/job.h"

namespace ncclog {

/// What all stacks together show, a sentence without its full stop; empty: there are none.
std::string stacks_summary(const Job& job);

/// Where threads stood in NCCL that are no main ones, sentences; empty: there are none, or a main
/// one tells more.
std::string threads_summary(const Job& job);

}  // namespace ncclog
