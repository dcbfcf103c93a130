#include "app/read_replay.h"

#include "app/plan_file.h"
#include "app/read_job.h"
#include "base/error.h"
#include "input/find_inputs.h"
#include "replay/judge/outcome.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// A folder below that of the outcome: an outcome names no other places.
bool is_inside(const fs::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  const fs::path plain = name.lexically_normal();
  return plain.begin()->string() != "..";
}

ReadBack read_run_logs(const ReplayPlan& plan, const RunOutcome& run, const fs::path& folder) {
  if (!is_inside(run.logs)) return {};
  try {
    const std::string logs[] = {(folder / run.logs).string()};
    return read_back(read_job(find_inputs(logs), {}), plan, run);
  } catch (const Error&) {
    return {};  // A run without logs is judged as one that could not be read back.
  }
}

}  // namespace

ReplayOutcome read_outcome(const fs::path& folder, const std::string& plan_hash) {
  const std::string path = (folder / "outcome.json").string();
  ReplayOutcome outcome = parse_outcome(read_replay_file(path), path);
  if (outcome.plan != plan_hash) {
    throw Error("the outcome of another plan", path, "choose another folder with --out");
  }
  return outcome;
}

std::vector<ReadBack> read_replay_logs(const ReplayPlan& plan, const ReplayOutcome& outcome,
                                       const fs::path& folder) {
  std::vector<ReadBack> seen;
  for (const RunOutcome& run : outcome.runs) seen.push_back(read_run_logs(plan, run, folder));
  return seen;
}

}  // namespace ncclog
