// The processes of a run as its coordinator holds them, one for each rank: how they ended.
//
//   process 0: rank 0, pid 4711, runs
//   process 1: rank 1, pid 4712, over; SIGTERM was sent, and by that it ended
//
// Nothing here waits, and nothing decides how the run goes on.

#pragma once

#include <sys/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replay/exec/child_process.h"
#include "replay/outcome.h"

namespace ncclog {

/// The process of a rank of the plan.
struct RankProcess {
  int rank = -1;
  ProcessStart start;
};

/// A process of the run that was started, or could not be.
struct HeldProcess {
  const RankProcess* what = nullptr;    ///< Of the request, which outlives this.
  std::unique_ptr<ChildProcess> child;  ///< nullptr: it could not be started.
  int sent_signal = 0;                  ///< The last one that we sent; 0: none.
  bool is_over = false;                 ///< Reaped, and what it said last was heard; or no child.

  bool is_running() const { return child && child->is_running(); }
};

/// Sends a signal to the process if it runs.
void send_signal(HeldProcess& process, int number);

/// True if a process runs of which no descriptor tells that it ends: it has to be asked.
bool is_any_to_be_asked(const std::vector<HeldProcess>& processes);

/// How a process that ended so was brought to its end. `was_ordered`: "abort" had been said.
ProcessEnd end_of(const HeldProcess& process, const ProcessStatus& status, bool was_ordered);

/// Shared memory of NCCL that those which run have mapped.
std::set<std::string> mapped_segments(const std::vector<HeldProcess>& processes);

/// What the process of `rank` wrote last, a line; empty: nothing.
std::string last_line_of(const std::vector<HeldProcess>& processes, int rank);

/// Of those that were started.
std::vector<pid_t> pids_of(const std::vector<HeldProcess>& processes);

}  // namespace ncclog
