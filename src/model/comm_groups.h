// Which processes' segments are parts of one communicator?
//
//   rank 0: comm 0xa … commId 0xc0     rank 1: comm 0xb … commId 0xc0     → one group
//
// Across ranks a communicator is its commId. Children made by split print none since 2.23.4: they
// are (parent, child count, color). Releases before 2.16 print none at all: those are joined by
// size and by order within the process, called inferred, and kept apart where a rank would stand
// twice.

#pragma once

#include <cstdint>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// One process's part in a communicator.
struct CommMember {
  int process = -1;  ///< Into Job::processes.
  int log = -1;      ///< Into Job::logs.
  int segment = -1;  ///< Into that log's comms.
};

/// The parts that make up one communicator.
struct CommGroup {
  uint64_t comm_id = 0;             ///< 0: no line prints one, the group is inferred.
  int nranks = -1;                  ///< Size that all members print; only of inferred groups.
  int parent = -1;                  ///< Group of the parent; -1: none or unknown.
  bool is_child = false;            ///< Some member names a parent.
  std::vector<CommMember> members;  ///< Never empty; in the order of the job's processes.
};

const CommSegment& segment_of(const Job& job, const CommMember& member);

/// The communicators of the job's processes, by commId; inferred ones first. Needs Job::processes
/// and Job::logs.
std::vector<CommGroup> group_segments(const Job& job);

}  // namespace ncclog
