// ncclog replay run PLAN

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/options.h"
#include "app/output_file.h"
#include "app/plan_file.h"
#include "app/read_replay.h"
#include "app/replay_actions.h"
#include "app/replay_folder.h"
#include "app/replay_run_options.h"
#include "app/replay_runner.h"
#include "app/tell_replay.h"
#include "base/error.h"
#include "base/text.h"
#include "replay/plan/check_plan.h"
#include "replay/plan/plan_json.h"
#include "replay/plan/plan.h"
#include "replay/judge/verdict.h"
#include "replay/plan/shrink_plan.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// What is to be run, and where.
struct AskedReplay {
  ReplayPlan plan;
  std::string text;    ///< The plan as a file.
  std::string hash;    ///< Of the text.
  ReplayPlan timed;    ///< With the deadlines that ncclog-replay will keep.
  std::string runner;  ///< Path of ncclog-replay.
  fs::path folder;
};

void refuse_bad_plan(const PlanFile& file) {
  for (const PlanComplaint& complaint : check_plan(file.plan)) {
    if (complaint.weight != PlanComplaint::Weight::Refusal) continue;
    throw Error(complaint.what, fmt::format("{}: {}", file.path, complaint.where), complaint.hint);
  }
}

/// Before anything is run: whether the result can be written, and over nothing that is read.
void check_result_file(const ReplayRunOptions& options, const fs::path& folder) {
  if (options.result.empty() || options.result == kStandardOutput) return;
  check_other_file(options.result, options.plans.front(), "the plan itself");
  for (const char* name : {"plan.json", "outcome.json"}) {
    if (same_place(options.result) == same_place((folder / name).string())) {
      throw Error("is what the replay itself writes", options.result, "name another file");
    }
  }
  const fs::path parent = fs::path(options.result).parent_path();
  const bool is_inside = same_place((parent / ".").string()) == same_place((folder / ".").string());
  if (!is_inside) check_output_file(options.result, {});
}

/// The plan with the deadlines that ncclog-replay will keep.
ReplayPlan with_deadlines(ReplayPlan plan, const ReplayRunOptions& options) {
  plan.deadlines = with_deadline(plan.deadlines, options.deadline);
  plan.deadlines.completion += timing_seconds(options.time);
  return plan;
}

std::string settings_phrase(const ReplayRunOptions& options) {
  std::vector<std::string> all = options.set;
  all.insert(all.end(), options.vary.begin(), options.vary.end());
  return all.empty() ? std::string() : ", " + printable(join(all, " "));
}

/// What will happen, before anybody is asked.
std::string outline(const ReplayPlan& plan, const ReplayRunOptions& options,
                    const fs::path& folder) {
  const int runs = runs_of(options, plan);
  const int hosts = options.hosts > 0 ? options.hosts : host_group_count(plan);
  return fmt::format(
      "{} on {} of this machine{}, {} ({}){}\n"
      "  needs   {}\n"
      "  folder  {}\n",
      plural(plan.ranks.size(), "rank"), plural(plan.ranks.size(), "GPU"),
      hosts > 1 ? fmt::format(" as {} pseudo-hosts", hosts) : "",
      plural(static_cast<uint64_t>(runs), "run"), options.mode, settings_phrase(options),
      cost_words(plan, runs), printable(folder.string()));
}

/// True if the person at the terminal says yes.
bool is_confirmed() {
  write_all(STDERR_FILENO, "Run it? [y/N] ", "standard error");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void confirm(const ReplayRunOptions& options, const std::string& text) {
  if (options.yes) return;
  const bool can_ask = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  write_all(STDERR_FILENO, text, "standard error");
  if (!can_ask) throw Error("nobody is there to confirm it", "replay run", "give --yes");
  if (!is_confirmed()) throw Error("not confirmed: nothing was run", "replay run");
}

/// The outcome, or why there is none.
ReplayOutcome outcome_after(const RunnerEnd& end, const std::string& runner, const fs::path& folder,
                            const std::string& plan_hash) {
  if (fs::exists(folder / "outcome.json")) return read_outcome(folder, plan_hash);
  const std::string trouble = runner_trouble(end);
  throw Error(trouble.empty() ? "it wrote no outcome" : trouble, runner,
              "what it printed stands above");
}

/// Throws Error where the replay cannot be made; nothing is written yet, and nobody was asked.
AskedReplay asked_replay(const ReplayRunOptions& options) {
  check_words(options);
  const PlanFile file = load_plan(options.plans.front());
  refuse_bad_plan(file);
  AskedReplay asked;
  asked.plan = options.gpus > 0 ? shrink_plan(file.plan, options.gpus) : file.plan;
  asked.runner = find_runner(options.runner);
  asked.text = write_plan(asked.plan);
  asked.hash = plan_hash(asked.text);
  asked.timed = with_deadlines(asked.plan, options);
  asked.folder = options.out.empty() ? new_replay_folder(asked.hash) : fs::path(options.out);
  check_replay_folder(asked.folder, asked.plan, asked.hash);
  check_result_file(options, asked.folder);
  return asked;
}

RunnerEnd run_asked(const AskedReplay& asked, const ReplayRunOptions& options, bool is_quiet) {
  const int64_t most = longest_seconds(asked.timed.deadlines, runs_of(options, asked.plan));
  return run_runner(runner_command(options, asked.runner, asked.folder),
                    {.most_seconds = static_cast<double>(most), .passes_on = !is_quiet});
}

ReplayResult result_after(const RunnerEnd& end, const AskedReplay& asked) {
  const ReplayOutcome outcome = outcome_after(end, asked.runner, asked.folder, asked.hash);
  return make_result(asked.plan, asked.hash, outcome,
                     read_replay_logs(asked.plan, outcome, asked.folder));
}

ExitStatus replay_run(const ReplayRunOptions& options, Console& console) {
  const AskedReplay asked = asked_replay(options);
  take_refusal_away(asked.folder);
  confirm(options, outline(asked.timed, options, asked.folder));
  make_replay_folder(asked.folder, asked.text);

  const RunnerEnd end = run_asked(asked, options, console.quiet);
  const ReplayResult result = result_after(end, asked);
  tell_replay(result,
              options.result.empty() ? (asked.folder / "result.json").string() : options.result,
              console);
  const std::string trouble = runner_trouble(end);
  const ExitStatus status = status_of(result.verdict.kind);
  if (trouble.empty() || !result.outcome.refused.empty()) return status;
  console.err += fmt::format("{}: {}; what it had done by then is judged\n",
                             printable(asked.runner), printable(trouble));
  return std::max(status, ExitStatus::Partial);
}

}  // namespace

RunCommand declare_replay_run(CLI::App& app) {
  const auto options = std::make_shared<ReplayRunOptions>();
  declare_run_options(app, *options);
  return [options](Console& console) { return replay_run(*options, console); };
}

}  // namespace ncclog
