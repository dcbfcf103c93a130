// How far does each rank come with its program?
//
//   rank 2: … AllReduce(world) entered at 81.2 s, waits in it: rank 5 never enters
//
// The host of a rank enqueues and runs ahead of its GPU by a limited number of calls; the GPU works
// off its queue in order. A collective is done when all members have come to it, a Send when its
// Recv has. Where members come to calls that do not fit each other, none of them goes on.

#pragma once

#include <cstdint>
#include <vector>

#include "support/synthetic/program.h"

namespace ncclog::testing {

/// What a rank's host did, in its order.
struct Happening {
  enum class Kind { InitStart, InitComplete, Calls, Marker, Destroy };
  Kind kind = Kind::Calls;
  int step = 0;     ///< Into the rank's program.
  double time = 0;  ///< Seconds since the job began.
};

/// How far a rank's works on one group had come; both count collectives alone, as c10d does.
struct Progress {
  int64_t enqueued = 0;
  int64_t completed = 0;
};

/// How a rank ended.
struct RankEnd {
  enum class How {
    Finished,  ///< Came to the end of its program.
    Waiting,   ///< In a call or an initialisation that the others do not come to.
    Busy,      ///< Outside of NCCL.
    Dead,
  };
  How how = How::Finished;
  double time = 0;          ///< Of its last happening.
  bool is_in_call = false;  ///< Waiting: `call` is the one, the first in its queue.
  Call call;
  int64_t sequence = 0;    ///< Of `call` among the group's collectives, or its exchanges; from 1.
  bool is_batch = false;   ///< `call` is one of several in a group call.
  double waits_since = 0;  ///< When `call` was enqueued.
};

/// What happened in a job.
struct JobRun {
  std::vector<std::vector<Happening>> happenings;  ///< By rank.
  std::vector<RankEnd> ends;                       ///< By rank.
  std::vector<std::vector<Progress>> progress;     ///< By rank, then by group.
  bool hung = false;
  double hung_at = 0;  ///< When the last rank stopped; of a job that did not hang, its end.
};

struct SimulationOptions {
  int run_ahead = 8;     ///< Calls that a host may be ahead of its GPU; 0: none.
  int works_for = 0;     ///< How often calls of different sizes go through before they jam.
  double timeout = 600;  ///< Seconds after which a rank that sleeps goes on.
  double pace = 1e-4;    ///< Seconds that a call takes on the GPU.
  double step = 0.3;     ///< Seconds that a rank computes between two iterations.
};

JobRun simulate(const Layout& layout, const std::vector<Program>& programs,
                const SimulationOptions& options, Seeded& seeded);

}  // namespace ncclog::testing
