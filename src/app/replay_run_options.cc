#include "app/replay_run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>

#include "app/number_flag.h"
#include "base/error.h"
#include "base/text.h"
#include "replay/plan/plan.h"

namespace ncclog {
namespace {

/// A flag with one value that may be given several times.
void add_repeated(CLI::App& app, const char* flag, std::vector<std::string>& values,
                  const char* type, const char* what) {
  app.add_option(flag, values, what)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// What the runs are, and how many.
void declare_runs(CLI::App& app, ReplayRunOptions& options) {
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
  add_repeated(app, "--set", options.set, "NAME=VALUE", "a setting for all runs; may be repeated");
  add_repeated(app, "--vary", options.vary, "NAME=VALUES",
               "make the runs once with each of NAME=A,B and compare; may be repeated");
}

/// Where and how they are made.
void declare_conditions(CLI::App& app, ReplayRunOptions& options) {
  app.add_option("--devices", options.devices,
                 "the GPUs by number, as 0,1 (default: the first ones)")
      ->type_name("NUMBERS");
  app.add_flag("--share", options.share, "use GPUs that others use, too");
  app.add_option("--nccl", options.nccl, "NCCL's library (default: the one that is found)")
      ->type_name("FILE");
  add_number_flag(app, "--time", {1, kMostTimedRuns}, options.time,
                  "repeat the tested call N times and measure it")
      ->type_name("N");
  add_number_flag(app, "--deadline", {1, 3600}, options.deadline,
                  "seconds that calls and what follows them may take (default: as the plan says)")
      ->type_name("SECONDS");
  app.add_flag("--multicast", options.multicast, "allow NVLink multicast, which is off otherwise");
}

void check_mode(const std::string& mode) {
  const std::string_view modes[] = {"both", "defect", "clean"};
  if (std::find(std::begin(modes), std::end(modes), mode) != std::end(modes)) return;
  const auto nearest = nearest_name(mode, modes);
  throw Error(
      fmt::format("unknown value '{}'", printable(mode)), "--mode",
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "one of: both, defect, clean");
}

void check_settings(const std::vector<std::string>& settings, const char* flag) {
  for (const std::string& one : settings) {
    const bool is_named = one.find('=') != std::string::npos && one.front() != '=';
    if (is_named) continue;
    throw Error(fmt::format("no setting: '{}'", printable(one)), flag, "write NAME=VALUE");
  }
}

}  // namespace

void declare_run_options(CLI::App& app, ReplayRunOptions& options) {
  app.add_option("PLAN", options.plans, "a plan, '-' for stdin")->type_name("");
  declare_runs(app, options);
  declare_conditions(app, options);
  app.add_flag("--yes", options.yes, "do not ask");
  app.add_option("--runner", options.runner,
                 "the program ncclog-replay (default: beside ncclog, else in PATH)")
      ->type_name("FILE");
  app.add_option("--out", options.out,
                 "folder for logs and outcome (default: a new one, ncclog-replay-HASH)")
      ->type_name("FOLDER");
  app.add_option("-o,--output", options.result,
                 "where the result goes (default: result.json in the folder; '-': standard output)")
      ->type_name("FILE");
}

void check_words(const ReplayRunOptions& options) {
  if (options.plans.empty()) {
    throw Error("no plan named", "replay run", "'ncclog replay plan' makes one of logs");
  }
  if (options.plans.size() > 1) {
    throw Error(fmt::format("one plan is wanted, not {}", options.plans.size()), "replay run",
                "replay them one after the other");
  }
  check_mode(options.mode);
  check_settings(options.set, "--set");
  check_settings(options.vary, "--vary");
}

int runs_of(const ReplayRunOptions& options, const ReplayPlan& plan) {
  constexpr int64_t kMost = 10000;
  int64_t runs = options.mode == "both" ? runs_of(plan) : 1;
  for (const std::string& one : options.vary) {
    runs = std::min(kMost, runs * (1 + std::count(one.begin(), one.end(), ',')));
  }
  return static_cast<int>(runs);
}

std::vector<std::string> runner_command(const ReplayRunOptions& options, const std::string& runner,
                                        const std::filesystem::path& folder) {
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
  add_flag("--share", options.share);
  add_flag("--multicast", options.multicast);
  return words;
}

}  // namespace ncclog
