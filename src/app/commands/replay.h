// What can be done with a replay? Making a plan of logs, checking plans, judging what was run.
//
//   ncclog replay plan logs/ -o plan.json   logs are analysed, then read again for the calls
//   ncclog replay check plan.json           → PlanFile, and what speaks against running it
//   ncclog replay judge DIR                 plan.json, outcome.json, NCCL's logs → a verdict
//
// What `ncclog replay run` does stands in app/commands/replay_run.h.

#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/exit_codes.h"
#include "app/options.h"
#include "app/output.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"

namespace ncclog {

RunCommand declare_replay_check(CLI::App& app);  ///< app/commands/replay.cc
RunCommand declare_replay_judge(CLI::App& app);  ///< app/commands/replay.cc
RunCommand declare_replay_plan(CLI::App& app);   ///< app/commands/replay.cc
RunCommand declare_replay_run(CLI::App& app);    ///< app/commands/replay_run.cc

// A replay's plan as the user names it: read, understood, and known by its bytes.

struct PlanFile {
  std::string path;  ///< "-": standard input.
  std::string hash;  ///< SHA-256 of its bytes.
  ReplayPlan plan;   ///< As it stands there; whether it makes sense is replay/plan/check_plan.h's.
};

/// All bytes of a file of a replay, "-" for standard input. Throws Error if it cannot be read or is
/// longer than kMaxReplayText.
std::string read_replay_file(const std::string& path);

/// Throws Error if the file cannot be read or holds no plan.
PlanFile load_plan(const std::string& path);

// From paths to a plan: the logs are analysed, then read a second time for the calls themselves.

struct PlanRequest {
  InputOptions input;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  PlanOptions options;
};

struct MadePlan {
  ReplayPlan plan;
  ExitStatus status = ExitStatus::Fine;  ///< Partial: a part of the logs was cut or unreadable.
};

/// Notes about inputs go to `console.err`. Throws Error if there are no inputs, if they include
/// standard input, which cannot be read twice, or if no plan can be made of them.
MadePlan make_plan(const PlanRequest& request, Console& console);

}  // namespace ncclog
