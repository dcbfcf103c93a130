// ncclog replay run PLAN

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/number_flag.h"
#include "app/options.h"
#include "app/output_file.h"
#include "app/plan_file.h"
#include "app/read_replay.h"
#include "app/replay_actions.h"
#include "app/replay_runner.h"
#include "app/tell_replay.h"
#include "base/error.h"
#include "base/text.h"
#include "replay/check_plan.h"
#include "replay/outcome_json.h"
#include "replay/plan_json.h"
#include "replay/replay_cost.h"
#include "replay/result.h"
#include "replay/shrink_plan.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// What the user typed.
struct ReplayRunOptions {
  std::vector<std::string> plans;  ///< A file, "-"; none or several: a mistake.
  std::string mode = "both";
  int gpus = 0;                   ///< Ranks that are kept; 0: all of the plan.
  int hosts = 0;                  ///< Pseudo-hosts; 0: as the plan says.
  std::vector<std::string> set;   ///< NAME=VALUE
  std::vector<std::string> vary;  ///< NAME=a,b
  bool threads = false;
  std::string devices;  ///< "0,1"; empty: the first ones.
  bool share = false;
  std::string nccl;  ///< A library; empty: the one that is found.
  int time = 0;      ///< Runs of the timed call; 0: none.
  int deadline = 0;  ///< Seconds for calls and for what follows; 0: as the plan says.
  bool multicast = false;
  bool yes = false;
  std::string runner;  ///< Path of ncclog-replay; empty: found.
  std::string out;     ///< Folder of the run; empty: a new one here.
  std::string result;  ///< File; empty: result.json in the folder; "-".
};

/// Runs that the modes and variations make. ncclog-replay refuses far fewer than kMost.
int runs_of(const ReplayRunOptions& options, const ReplayPlan& plan) {
  constexpr int64_t kMost = 10000;
  int64_t runs = options.mode == "both" ? runs_of(plan) : 1;
  for (const std::string& one : options.vary) {
    runs = std::min(kMost, runs * (1 + std::count(one.begin(), one.end(), ',')));
  }
  return static_cast<int>(runs);
}

void check_words(const ReplayRunOptions& options) {
  if (options.plans.empty()) {
    throw Error("no plan named", "replay run", "'ncclog replay plan' makes one of logs");
  }
  if (options.plans.size() > 1) {
    throw Error(fmt::format("one plan is wanted, not {}", options.plans.size()), "replay run",
                "replay them one after the other");
  }
  const std::string_view modes[] = {"both", "defect", "clean"};
  if (std::find(std::begin(modes), std::end(modes), options.mode) == std::end(modes)) {
    const auto nearest = nearest_name(options.mode, modes);
    throw Error(
        fmt::format("unknown value '{}'", printable(options.mode)), "--mode",
        nearest ? fmt::format("did you mean '{}'?", *nearest) : "one of: both, defect, clean");
  }
  for (const auto* list : {&options.set, &options.vary}) {
    for (const std::string& one : *list) {
      const bool named = one.find('=') != std::string::npos && one.front() != '=';
      if (!named) {
        throw Error(fmt::format("no setting: '{}'", printable(one)),
                    list == &options.set ? "--set" : "--vary", "write NAME=VALUE");
      }
    }
  }
}

/// The runner's arguments; what the user did not say is left to it.
std::vector<std::string> command_for(const ReplayRunOptions& options, const std::string& runner,
                                     const fs::path& folder) {
  std::vector<std::string> words = {runner,       "run",           (folder / "plan.json").string(),
                                    "--out",      folder.string(), "--mode",
                                    options.mode, "--judged"};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  const auto add_number = [&](const char* flag, int value) {
    if (value > 0) words.insert(words.end(), {flag, std::to_string(value)});
  };
  const auto add_flag = [&](const char* flag, bool is_set) {
    if (is_set) words.emplace_back(flag);
  };
  add_number("--hosts", options.hosts);
  for (const std::string& one : options.set) add("--set", one);
  for (const std::string& one : options.vary) add("--vary", one);
  add("--devices", options.devices);
  add("--nccl", options.nccl);
  add_number("--time", options.time);
  add_number("--deadline", options.deadline);
  add_flag("--threads", options.threads);
  add_flag("--share", options.share);
  add_flag("--multicast", options.multicast);
  return words;
}

void refuse_bad_plan(const PlanFile& file) {
  for (const PlanComplaint& complaint : check_plan(file.plan)) {
    if (complaint.weight != PlanComplaint::Weight::Refusal) continue;
    throw Error(complaint.what, fmt::format("{}: {}", file.path, complaint.where), complaint.hint);
  }
}

/// "ncclog-replay-5f0c1a2b", or the first of that name with a number that is not there yet.
fs::path new_folder(const std::string& plan_hash) {
  const std::string name = "ncclog-replay-" + plan_hash.substr(0, 8);
  fs::path path = name;
  for (int n = 2; fs::exists(path); ++n) path = fmt::format("{}-{}", name, n);
  return path;
}

/// An outcome of an earlier replay must not pass for this one's. That of a refusal is taken away;
/// one that somebody waited for is not.
void take_refusal_away(const fs::path& folder) {
  const fs::path path = folder / "outcome.json";
  if (!fs::exists(path)) return;
  if (!is_of_a_refusal(read_replay_file(path.string()))) {
    throw Error("holds the outcome of another replay", folder.string(), "choose another --out");
  }
  fs::remove(path);
}

/// Whose replay a file of the folder is of; nullopt: there is no such file.
template <typename PlanOf>
std::optional<std::string> plan_of(const fs::path& file, PlanOf plan_of_text) {
  if (!fs::exists(file)) return std::nullopt;
  try {
    return plan_of_text(read_replay_file(file.string()));
  } catch (const Error&) {
    return std::string();  // Somebody else's file, or a newer ncclog's.
  }
}

/// Throws Error if the folder holds another plan or what was found out about one.
void check_folder(const fs::path& folder, const ReplayPlan& plan, const std::string& hash) {
  const auto of_plan = [&](const std::string& text) {
    return parse_plan(text, "plan.json") == plan ? hash : plan_hash(text);
  };
  const auto of_outcome = [](const std::string& text) {
    return parse_outcome(text, "outcome.json").plan;
  };
  const auto of_result = [](const std::string& text) {
    return parse_result(text, "result.json").plan;
  };
  for (const auto& found :
       {plan_of(folder / "plan.json", of_plan), plan_of(folder / "outcome.json", of_outcome),
        plan_of(folder / "result.json", of_result)}) {
    if (found && *found != hash) {
      throw Error("holds another plan, or what came out of it", folder.string(),
                  "choose another --out");
    }
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

/// Makes the folder with the plan in it.
void prepare_folder(const fs::path& folder, const std::string& plan_text) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw Error("cannot be made: " + failed.message(), folder.string(), "choose another --out");
  }
  write_output_file((folder / "plan.json").string(), plan_text);
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

ExitStatus replay_run(const ReplayRunOptions& options, Console& console) {
  check_words(options);
  const PlanFile file = load_plan(options.plans.front());
  refuse_bad_plan(file);
  const ReplayPlan plan = options.gpus > 0 ? shrink_plan(file.plan, options.gpus) : file.plan;
  const std::string runner = find_runner(options.runner);
  const std::string plan_text = write_plan(plan);
  const std::string hash = plan_hash(plan_text);
  const fs::path folder = options.out.empty() ? new_folder(hash) : fs::path(options.out);
  check_folder(folder, plan, hash);
  check_result_file(options, folder);
  take_refusal_away(folder);
  const ReplayPlan timed = with_deadlines(plan, options);
  confirm(options, outline(timed, options, folder));
  prepare_folder(folder, plan_text);

  const int64_t most = longest_seconds(timed.deadlines, runs_of(options, plan));
  const RunnerEnd end =
      run_runner(command_for(options, runner, folder),
                 {.most_seconds = static_cast<double>(most), .passes_on = !console.quiet});
  const ReplayOutcome outcome = outcome_after(end, runner, folder, hash);
  const ReplayResult result =
      make_result(plan, hash, outcome, read_replay_logs(plan, outcome, folder));
  tell_replay(result, options.result.empty() ? (folder / "result.json").string() : options.result,
              console);
  const std::string trouble = runner_trouble(end);
  if (trouble.empty() || !outcome.refused.empty()) return status_of(result.verdict.kind);
  console.err += fmt::format("{}: {}; what it had done by then is judged\n", printable(runner),
                             printable(trouble));
  return std::max(status_of(result.verdict.kind), ExitStatus::Partial);
}

void declare_conditions(CLI::App& app, ReplayRunOptions& options) {
  app.add_option("--mode", options.mode,
                 "defect: as recorded; clean: all ranks behave; both (default): the one, then the "
                 "other")
      ->type_name("both|defect|clean");
  add_number_flag(app, "--gpus", {2, 1 << 20}, options.gpus,
                  "replay on N GPUs at most: ranks are left out, and what is lost is said")
      ->type_name("N");
  add_number_flag(app, "--hosts", {1, 1024}, options.hosts,
                  "split the GPUs into N pseudo-hosts that talk over sockets (default: as the plan "
                  "says)")
      ->type_name("N");
  app.add_option("--set", options.set, "a setting for all runs; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--vary", options.vary,
                 "make the runs once with each of NAME=A,B and compare; may be repeated")
      ->type_name("NAME=VALUES")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--threads", options.threads, "one process for all ranks, not one for each");
  app.add_option("--devices", options.devices,
                 "the GPUs by number, as 0,1 (default: the first ones)")
      ->type_name("NUMBERS");
  app.add_flag("--share", options.share, "use GPUs that others use, too");
  app.add_option("--nccl", options.nccl, "NCCL's library (default: the one that is found)")
      ->type_name("FILE");
  add_number_flag(app, "--time", {1, 100000}, options.time,
                  "repeat the tested call N times and measure it")
      ->type_name("N");
  add_number_flag(app, "--deadline", {1, 3600}, options.deadline,
                  "seconds that calls and what follows them may take (default: as the plan says)")
      ->type_name("SECONDS");
  app.add_flag("--multicast", options.multicast, "allow NVLink multicast, which is off otherwise");
}

}  // namespace

RunCommand declare_replay_run(CLI::App& app) {
  const auto options = std::make_shared<ReplayRunOptions>();
  app.add_option("PLAN", options->plans, "a plan, '-' for stdin")->type_name("");
  declare_conditions(app, *options);
  app.add_flag("--yes", options->yes, "do not ask");
  app.add_option("--runner", options->runner,
                 "the program ncclog-replay (default: beside ncclog, else in PATH)")
      ->type_name("FILE");
  app.add_option("--out", options->out,
                 "folder for logs and outcome (default: a new one, ncclog-replay-HASH)")
      ->type_name("FOLDER");
  app.add_option("-o,--output", options->result,
                 "where the result goes (default: result.json in the folder; '-': standard output)")
      ->type_name("FILE");
  return [options](Console& console) { return replay_run(*options, console); };
}

}  // namespace ncclog
