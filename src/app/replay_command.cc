// ncclog replay ACTION

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "app/commands.h"
#include "app/replay_actions.h"
#include "app/write_help.h"

namespace ncclog {
namespace {

struct ReplayAction {
  const char* name;
  const char* help;
  RunCommand (*declare)(CLI::App& app);
};

constexpr ReplayAction kActions[] = {
    {"plan", "write what is to be replayed of a job, from its logs", declare_replay_plan},
    {"check", "say what is wrong with plans; exit 1 if one is refused", declare_replay_check},
    {"run", "carry a plan out on this machine's GPUs, and judge what it proves",
     declare_replay_run},
    {"judge", "judge what ncclog-replay left in a folder", declare_replay_judge},
};

/// An action as it was declared.
struct DeclaredAction {
  const CLI::App* app;
  RunCommand run;
};

}  // namespace

RunCommand declare_replay(CLI::App& app) {
  app.require_subcommand(0, 1);
  std::vector<DeclaredAction> actions;
  for (const ReplayAction& action : kActions) {
    CLI::App* sub = app.add_subcommand(action.name, action.help);
    sub->allow_extras();
    sub->footer("");
    actions.push_back({sub, action.declare(*sub)});
  }
  return [actions, &app](Console& console) {
    for (const DeclaredAction& action : actions) {
      if (action.app->parsed()) return action.run(console);
    }
    console.out += help_text(app, console);
    return ExitStatus::Fine;
  };
}

}  // namespace ncclog
