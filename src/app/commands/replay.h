// What can be done with a replay? Making a plan of logs, checking plans, judging what was run.
//
//   ncclog replay plan logs/ -o plan.json   logs are analysed, then read again for the calls
//   ncclog replay check plan.json           → PlanFile, and what speaks against running it
//   ncclog replay judge DIR                 plan.json, outcome.json, NCCL's logs → a verdict
//   ncclog replay run plan.json             ncclog-replay started on this machine's GPUs

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/command_table.h"
#include "app/output.h"
#include "replay/judge/verdict.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "report/document/document.h"
#include "report/report.h"
#include "report/text_layout.h"

namespace ncclog {

// A replay's plan as the user names it: read, understood, and known by its bytes.

struct PlanFile {
  std::string path;  ///< "-": standard input.
  std::string hash;  ///< SHA-256 of its bytes.
  ReplayPlan plan;   ///< As it stands there; whether it makes sense is for check_plan() to say.
};

/// Throws Error if the file cannot be read or holds no plan.
PlanFile load_plan(const std::string& path);

// From paths to a plan: the logs are analysed, then read a second time for the calls themselves.

struct PlanRequest {
  InputOptions input;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  PlanOptions options;
  std::string output;       ///< Where the plan goes: a file; empty or "-": standard output.
  bool nccl_tests = false;  ///< Write command lines of nccl-tests instead.
};

struct MadePlan {
  ReplayPlan plan;
  ExitStatus status = ExitStatus::Fine;  ///< Partial: a part of the logs was cut or unreadable.
};

/// Notes about inputs go to `console.err`. Throws Error if there are no inputs, if they include
/// standard input, which cannot be read twice, or if no plan can be made of them.
MadePlan make_plan(const PlanRequest& request, Console& console);

// ncclog replay run PLAN: a folder of its own, ncclog-replay started in it, what it left read back
// (app/commands/replay_run.cc)
//
//   DIR/plan.json       written before the runs
//   DIR/outcome.json    by ncclog-replay, with NCCL's logs: DIR/run-1-defect/nccl.lab-7.4711.log
//   DIR/result.json     by ncclog, at the end

void declare_replay_run(CommandRow& command);

/// What the folder's outcome.json and the logs of the runs come to; a run whose logs cannot be read
/// is judged as one that could not be read back. Throws Error if there is no outcome, if it makes no
/// sense, or if it is of another plan than that of `hash`.
ReplayResult result_in(const std::filesystem::path& folder, const ReplayPlan& plan,
                       const std::string& hash, ReadingProgress* progress);

// Starting ncclog-replay, which has the GPUs, and waiting for it: never longer than it is given.
//
//   beside ncclog, else in PATH → ncclog-replay run plan.json --out DIR …
//   Ctrl-C → handed on; it ends its ranks and exits
//   time is over → SIGTERM, a grace, SIGKILL for its process group

/// How ncclog-replay came to its end.
struct RunnerEnd {
  int exit_code = -1;      ///< -1: it ended by a signal.
  int signal = 0;          ///< 0: none.
  bool expired = false;    ///< It took longer than it was given.
  bool stopped = false;    ///< Somebody asked us to stop (Ctrl-C), and it was asked to.
  std::string last_words;  ///< The last lines that it printed, any bytes; empty: none.
};

struct RunnerLimits {
  double most_seconds = 0;    ///< From its start until it is asked to end.
  double grace_seconds = 60;  ///< From then until it is killed.
  bool passes_on = true;      ///< What it prints goes to standard error while it runs.
};

/// Path of the runner: `wanted` if it is not empty, else that beside this program, else that of
/// PATH. Throws Error if there is none.
std::string find_runner(const std::string& wanted);

/// Runs `command`, whose first word is the program's path, to its end. Throws Error if it cannot be
/// started.
RunnerEnd run_runner(const std::vector<std::string>& command, const RunnerLimits& limits);

/// Why it could not do what it was asked for, as far as its end shows; empty: it could.
std::string runner_trouble(const RunnerEnd& end);

// A replay's result where it belongs: words for people, a file for programs, an exit status, a
// place in the report (--with-replay).
//
//   reproduced-hypothesis (likely)
//     As recorded, AllReduce, call 29 of communicator 0x9c1b… does not complete when rank 5 makes
//     another call in its place; when all ranks behave, …
//
//   Runs
//     - defect: hung in completion at AllReduce, call 29 …: as recorded
//
// The verdict stands first, then what it rests on, then what nobody may conclude.

/// The kind with its confidence and the headline, one line whatever the style's width.
std::string replay_headline(const ReplayResult& result, const TextStyle& style);

/// All of it.
Document replay_document(const ReplayResult& result);

/// Writes the result to `path` and what it says to the console; "-": the result itself goes to
/// standard output, and nothing else. Empty: it goes nowhere. Throws Error if the file cannot be
/// written.
void tell_replay(const ReplayResult& result, const std::string& path, Console& console);

/// Fine: the replay did what was hoped for. Findings: it speaks against the diagnosis. Partial: it
/// says nothing. CannotDo: it was refused.
ExitStatus status_of(ReplayVerdictKind kind);

/// The result in that file, "-" for standard input. Throws Error if there is none.
ReplayResult load_replay_result(const std::string& path);

/// What the report may say of it. It is of these logs if they show the finding that it tested and
/// all of its communicators.
ReplaySummary join_replay(const Report& report, const ReplayResult& result,
                          const std::string& path);

}  // namespace ncclog
