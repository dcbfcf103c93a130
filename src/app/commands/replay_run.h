// ncclog replay run PLAN: a folder of its own, ncclog-replay started in it, what it left read back
//
//   DIR/plan.json       written before the runs
//   DIR/outcome.json    by ncclog-replay, with NCCL's logs: DIR/run-1-defect/nccl.lab-7.4711.log
//   DIR/result.json     by ncclog, at the end

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "replay/judge/differences.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"

namespace ncclog {

/// DIR/outcome.json. Throws Error if it is not there, makes no sense, or is of another plan than
/// that of `plan_hash`.
ReplayOutcome read_outcome(const std::filesystem::path& folder, const std::string& plan_hash);

/// What the log of each run says, by run; one that cannot be read says nothing.
std::vector<ReadBack> read_replay_logs(const ReplayPlan& plan, const ReplayOutcome& outcome,
                                       const std::filesystem::path& folder);

// Starting ncclog-replay, which has the GPUs, and waiting for it: never longer than was said.
//
//   beside ncclog, else in PATH → ncclog-replay run plan.json --out DIR …
//   Ctrl-C → handed on; it ends its ranks and exits
//   time is over → SIGTERM, a grace, SIGKILL for its process group

/// How ncclog-replay came to its end.
struct RunnerEnd {
  int exit_code = -1;      ///< -1: it ended by a signal.
  int signal = 0;          ///< 0: none.
  bool expired = false;    ///< It took longer than it was given.
  bool stopped = false;    ///< Somebody asked us to stop (Ctrl-C), and it was told.
  std::string last_words;  ///< The last lines that it printed, any bytes; empty: none.
};

struct RunnerLimits {
  double most_seconds = 0;    ///< From its start until it is told to end.
  double grace_seconds = 60;  ///< From then until it is killed.
  bool passes_on = true;      ///< What it prints goes to standard error while it runs.
};

/// Path of the runner: `wanted` if it is not empty, else that beside this program, else that of
/// PATH. Throws Error if there is none.
std::string find_runner(const std::string& wanted);

/// Runs `command`, whose first word is the program's path, to its end. Throws Error if it cannot be
/// started.
RunnerEnd run_runner(const std::vector<std::string>& command, const RunnerLimits& limits);

/// Why it could not do what it was asked for, as far as its end tells; empty: it could.
std::string runner_trouble(const RunnerEnd& end);

}  // namespace ncclog
