// What number does a launcher put in front of a line, and what rank does the framework?
//
//   3: node-a:41:42 [3] NCCL INFO …       task 3 of srun: a rank, or a node that runs eight of them
//   [1,3]<stdout>:[rank7]: Traceback …    task 3 of Open MPI; rank 7, as PyTorch says itself

#pragma once

#include <string_view>

namespace ncclog {

struct TaskLabel {
  int task = -1;  ///< As the launcher numbers its tasks; -1: it prints no number.
  int rank = -1;  ///< As the framework states it; -1: it does not.
};

/// What stands in front of `line`.
TaskLabel task_label(std::string_view line);

}  // namespace ncclog
