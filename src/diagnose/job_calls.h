// What did each process call, in an order and under names that can be compared between processes?
//
//   pid 41: comm 0xa (8 ranks, its 1st) AllReduce 1024 float32   ┐ one kind, although the pointers
//   pid 42: comm 0xb (8 ranks, its 1st) AllReduce 1024 float32   ┘ differ
//
// A rank's tensor group is another communicator than its neighbour's, but has the same role: ranks
// make their communicators in the same order. So a kind names the communicator's size and which of
// that size it is in the process. Peers of sends and receives differ from rank to rank by nature.

#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "diagnose/folded_calls.h"
#include "model/job.h"

namespace ncclog {

/// A call as it may be repeated by the same process, or by another one.
struct CallKind {
  int nranks = -1;   ///< Of the communicator; -1: not printed.
  int ordinal = -1;  ///< Which of that size it is in the process, by first call; -1: not known.
  CallSignature call;

  auto operator<=>(const CallKind&) const = default;
};

/// The calls of one process, from the one kind of line that tells more of them.
struct ProcessCalls {
  int process = -1;                  ///< Into Job::processes.
  int log = -1;                      ///< Into Job::logs.
  bool traces = false;               ///< By CALL lines, else by COLL lines.
  const CallTrack* track = nullptr;  ///< In the job.
  std::vector<int> kinds;            ///< Into JobCalls::kinds, by entry of the tape.

  /// The kept calls. Valid as long as these are.
  FoldedCalls folded() const { return {track->tape, kinds}; }
};

struct JobCalls {
  std::vector<CallKind> kinds;          ///< Distinct, sorted.
  std::vector<ProcessCalls> processes;  ///< Those that made calls, in the job's order.
};

/// Valid as long as the job is.
JobCalls job_calls(const Job& job);

}  // namespace ncclog
