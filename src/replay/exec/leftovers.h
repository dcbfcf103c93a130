// What did a run leave behind on this machine, and who may take it away?
//
//   /dev/shm/nccl-x8Kw2a      NCCL's shared memory (src/misc/shmutils.cc: mkstemp of nccl-XXXXXX;
//                             before 2.9 nccl-shm-recv-…): unlinked once both ends have it, so what
//                             is left is of ranks that were killed in between
//   process 4712 (sleep)      a child of a rank
//
// Sockets between ranks have abstract names and need no cleaning. Nothing is touched that was there
// before the run, that another user owns, or that a living process has mapped.

#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace ncclog {

inline constexpr const char* kSharedMemory = "/dev/shm";

/// Names of NCCL's segments in `folder`.
std::set<std::string> segments_in(const std::string& folder = kSharedMemory);

/// Names of NCCL's segments that the process has mapped. Empty if it is gone, or not ours.
std::set<std::string> segments_of(pid_t pid);

/// Removes the segments that ranks of the run were seen to use (`used`) and that no process has
/// mapped any more. Others that are not in `before` and that nobody seems to use are only told: a
/// job in another container may share the folder, and its processes are not seen. Returns what was
/// found, a text each.
std::vector<std::string> remove_segments(const std::set<std::string>& before,
                                         const std::set<std::string>& used,
                                         const std::string& folder = kSharedMemory);

/// Free bytes of the file system that holds `folder`; -1: unknown.
int64_t free_bytes(const std::string& folder = kSharedMemory);

/// From now on children of processes that end become this process's own, so that they can be found
/// and ended.
void adopt_orphans();

/// Kills what is left of the process groups that `leaders` led, and processes that carry the run's
/// token in their environment (children that left the group). Returns what was found, a text each.
std::vector<std::string> end_strays(const std::vector<pid_t>& leaders, const std::string& token);

}  // namespace ncclog
