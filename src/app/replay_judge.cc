// ncclog replay judge FOLDER
//
// The second half of `replay run`, for runs that somebody else carried out: ncclog-replay under
// srun or mpirun, or on a machine without ncclog.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "app/plan_file.h"
#include "app/read_replay.h"
#include "app/replay_actions.h"
#include "app/tell_replay.h"
#include "base/error.h"

namespace ncclog {
namespace {

struct ReplayJudgeOptions {
  std::string folder;  ///< With outcome.json and the runs' logs; empty: a mistake.
  std::string plan;    ///< Empty: plan.json in the folder.
  std::string result;  ///< Where the result goes; empty: nowhere.
};

ExitStatus judge(const ReplayJudgeOptions& options, Console& console) {
  if (options.folder.empty()) {
    throw Error("no folder named", "replay judge", "name what ncclog-replay wrote with --out");
  }
  const std::filesystem::path folder = options.folder;
  const PlanFile file =
      load_plan(options.plan.empty() ? (folder / "plan.json").string() : options.plan);
  const ReplayOutcome outcome = read_outcome(folder, file.hash);
  const ReplayResult result =
      make_result(file.plan, file.hash, outcome, read_replay_logs(file.plan, outcome, folder));
  tell_replay(result, options.result, console);
  return status_of(result.verdict.kind);
}

}  // namespace

RunCommand declare_replay_judge(CLI::App& app) {
  const auto options = std::make_shared<ReplayJudgeOptions>();
  app.add_option("FOLDER", options->folder, "what ncclog-replay wrote with --out")->type_name("");
  app.add_option("--plan", options->plan,
                 "the plan that it carried out (default: FOLDER/plan.json)")
      ->type_name("FILE");
  app.add_option("-o,--output", options->result,
                 "where the result goes (default: nowhere; '-': standard output)")
      ->type_name("FILE");
  return [options](Console& console) { return judge(*options, console); };
}

}  // namespace ncclog
