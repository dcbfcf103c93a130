// One run of a replay, from the start of its processes until the last of them is gone.
//
//   started → all connected → init → calls → completion → teardown → all gone        completed
//                                       └ 30 s are over: "abort" → 5 s → SIGTERM → 2 s → SIGKILL
//
// One loop waits for whatever comes first: a rank's words, the end of a process, a deadline, a
// signal to the coordinator. However a run ends, no process of it is left when this returns, but
// for one that the kernel does not let go; that one is reported as Lost.

#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/judge/outcome.h"
#include "replay/run/gpus.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"

namespace ncclog {

/// How long a run waits.
struct RunLimits {
  /// For each phase from Start to Teardown, from when its first rank begins it.
  std::array<std::chrono::milliseconds, 5> phases{};
  std::chrono::milliseconds abort_grace{5000};      ///< From "abort" to SIGTERM.
  std::chrono::milliseconds terminate_grace{2000};  ///< From SIGTERM to SIGKILL.
  std::chrono::milliseconds kill_grace{10000};      ///< From SIGKILL until a process is given up.
  std::chrono::milliseconds probe{30000};           ///< For a GPU to answer, before and after it.
};

/// A run to be made.
struct RunRequest {
  const ReplayPlan* plan = nullptr;     ///< Outlives the run.
  MadeIn mode = MadeIn::Clean;          ///< Clean or Defect.
  std::vector<int> gpus;                ///< By rank of the plan.
  std::vector<ProcessStart> processes;  ///< By rank of the plan; their channels are made here.
  RunLimits limits;
  std::string token;         ///< By which their processes are known.
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

/// Starts the processes, each with a channel to this one, and returns when all are gone. Never
/// throws because of what a rank does.
RunResult coordinate(const RunRequest& request);

// `ncclog-replay run`: all runs of a replay, one after the other, and what came of them as a file.
//
//   result/outcome.json        written after every run, whole or not at all
//   result/run-1-defect/       nccl.node-1.4711.log, rank-0.out, …
//   result/run-2-clean/
//
// Before the first run everything is refused that can be told beforehand; after each of them the
// machine is as it was, or the outcome says what is not.

/// Exit status of the program: 0 it ran, whatever came of it; 2 refused, or it could not; 130 and
/// 143 interrupted. Says on `says` what it does. A refusal is an outcome, and written as one.
/// `limits` nullopt: the plan's, and the usual graces; tests are less patient. Throws Error if no
/// outcome can be written.
int carry_out(const RunFlags& flags, const ReplayMachine& machine, std::ostream& says,
              const std::optional<RunLimits>& limits = {});

// `ncclog-replay selftest`: do this program, with this NCCL and these GPUs, make and compare every
// call rightly?
//
//   all calls: clean: completed; 5886 results compared, 167866884 elements, none wrong
//   AllReduce: clean: completed with wrong data at AllReduce, call 1493 of communicator all; …
//   passed

/// Carries selftest_plan() out on flags.devices, one rank on each; then with one element falsified
/// of what an AllReduce and an AllGather receive. Of `flags` devices, set and nccl count; for
/// `reduces_float8` see selftest_plan(). Says on `says` what carry_out() does, and what came of it.
/// Returns 0: all is right; 1: it is not, and the logs are kept; 2: it could not.
int selftest(RunFlags flags, bool reduces_float8, const ReplayMachine& machine, std::ostream& says,
             const std::optional<RunLimits>& limits = {});

}  // namespace ncclog
