// What can be done with a replay; each is a command below `replay` with a file of its own.

#pragma once

#include "app/commands.h"

namespace ncclog {

RunCommand declare_replay_check(CLI::App& app);  ///< app/replay_check.cc
RunCommand declare_replay_judge(CLI::App& app);  ///< app/replay_judge.cc
RunCommand declare_replay_plan(CLI::App& app);   ///< app/replay_plan.cc
RunCommand declare_replay_run(CLI::App& app);    ///< app/replay_run.cc

}  // namespace ncclog
