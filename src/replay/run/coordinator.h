// One run of a replay, from the start of its processes until the last of them is gone.
//
// started → all connected → init → calls → completion → teardown → all gone        completed
// └ 30 s are over: "abort" → 5 s → SIGTERM → 2 s → SIGKILL
//
// One loop waits for whatever comes first: a rank's words, the end of a process, a deadline, a
// signal to the coordinator. However a run ends, no process of it is left when this returns, but
// for one that the kernel does not let go; that one is told as Lost.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/judge/outcome.h"
#include "replay/run/connection.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"

namespace ncclog {

// The processes of a run as its coordinator holds them, one for each rank: how they ended.
//
//   process 0: rank 0, pid 4711, runs
//   process 1: rank 1, pid 4712, over; SIGTERM was sent, and by that it ended
//
// Nothing here waits, and nothing decides how the run goes on.

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

// How did a run end, in a word and in a sentence?
//
//   hung, completion    completion was not over after 30 s; ranks 0 and 1 were still in it
//   died, completion    rank 1 (pid 4711) was killed by SIGKILL in completion
//   failed, init        rank 0: ncclCommInitRankConfig on communicator 0: unhandled cuda error
//   wrong, teardown     rank 1: 3 of 4096 elements are wrong, the first is element 7 of call 28

/// What ended a run before its end.
struct Trouble {
  RunEnd end = RunEnd::Failed;
  ReplayPhase phase = ReplayPhase::Start;
  int rank = -1;       ///< That began it; -1: none.
  std::string reason;  ///< Empty: how the rank's process ended says it.
};

/// That the phase took too long.
Trouble expiry_of(const RunProgress::Deadline& deadline, const RunProgress& progress,
                  const RunLimits& limits);

/// How a run ends in which that rank's process went away before its time.
RunEnd end_of_death(const RankOutcome& rank);

/// True if a process that ended so is why other ranks failed: it was killed by somebody else.
bool explains(const ProcessStatus& status, const Trouble& trouble);

/// Fills in end, phase and reason. Without a trouble the run was completed, or its data are wrong.
void conclude(RunOutcome& run, const std::optional<Trouble>& trouble);

// One run of a replay, from the start of its processes until the last of them is gone.
//
//   started → all connected → init → calls → completion → teardown → all gone        completed
//                                       └ 30 s are over: "abort" → 5 s → SIGTERM → 2 s → SIGKILL
//
// One loop waits for whatever comes first: a rank's words, the end of a process, a deadline, a
// signal to the coordinator. However a run ends, no process of it is left when this returns, but
// for one that the kernel does not let go; that one is told as Lost.

/// A run to be made.
struct RunRequest {
  const ReplayPlan* plan = nullptr;  ///< Outlives the run.
  MadeIn mode = MadeIn::Clean;       ///< Clean or Defect.
  std::vector<int> gpus;             ///< By rank of the plan.
  std::vector<RankProcess> processes;
  RunLimits limits;
  std::string token;         ///< That ranks say first, and by which their processes are known.
  int stop_descriptor = -1;  ///< A signalfd: what comes there ends the run; -1: nothing does.
};

/// What became of it.
struct RunResult {
  /// Without what is found after the run: GPUs, leftovers, logs.
  RunOutcome run;
  std::string nccl_version;        ///< As the ranks report; empty: none did.
  int stop_signal = 0;             ///< That ended the run; 0: none.
  std::vector<pid_t> pids;         ///< Of the processes, each the leader of a group.
  std::set<std::string> segments;  ///< Shared memory of NCCL that they were seen to use.
};

/// Starts the processes, tells them where to connect by what their environment says, and returns
/// when all are gone. Never throws because of what a rank does.
RunResult coordinate(const RunRequest& request, Listener& listener);

// The way a process is brought to its end that does not come by itself.
//
//   "abort" → 5 s → SIGTERM → 2 s → SIGKILL → 10 s → given up

/// How a run stands. Every stage but the first is on the way to its end.
enum class EndStage { Running, Aborting, Terminating, Killing, GivenUp };

/// How long a stage behind Running lasts at most.
inline std::chrono::milliseconds grace_of(EndStage stage, const RunLimits& limits) {
  switch (stage) {
    case EndStage::Aborting:
      return limits.abort_grace;
    case EndStage::Terminating:
      return limits.terminate_grace;
    case EndStage::Killing:
      return limits.kill_grace;
    case EndStage::Running:
    case EndStage::GivenUp:
      break;
  }
  return {};
}

// What the coordinator of a run knows of it, from its start until the last process is gone.
//
// Its loop (exec/coordinator.h) hands it to those that change it: what ranks say
// (exec/hear_ranks.h), how their processes end (exec/note_ends.h), and what is done to end them
// (exec/end_run.h).

/// A run under way.
struct RunState {
  explicit RunState(const RunRequest& of)
      : request(of),
        progress(of.plan->ranks.size(), of.limits, began),
        connections(of.token, of.plan->ranks.size()),
        said_aborted(of.plan->ranks.size(), false) {}

  const RunRequest& request;
  RunClock::time_point began = RunClock::now();
  RunProgress progress;
  std::vector<HeldProcess> processes;
  RankConnections connections;
  std::vector<bool> said_aborted;  ///< By rank.
  EndStage stage = EndStage::Running;
  RunClock::time_point stage_ends;  ///< Of the stages behind Running.
  std::optional<Trouble> trouble;   ///< Why the run is being ended; nullopt: it is not.
  int stop_signal = 0;              ///< That ends the run; 0: none.
  std::set<std::string> segments;   ///< Shared memory of NCCL that its processes were seen to use.
};

}  // namespace ncclog
