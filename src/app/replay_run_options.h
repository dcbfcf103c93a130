// What can be asked of `ncclog replay run`, and what it comes to.
//
//   --mode both --vary NCCL_ALGO=Ring,Tree
//       → 4 runs: ncclog-replay run DIR/plan.json --out DIR --mode both --judged --vary …

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "replay/plan/plan.h"

namespace CLI {
class App;
}

namespace ncclog {

/// What the user typed.
struct ReplayRunOptions {
  std::vector<std::string> plans;  ///< A file, "-"; none or several: a mistake.
  std::string mode = "both";
  int gpus = 0;                   ///< Ranks that are kept; 0: all of the plan.
  int hosts = 0;                  ///< Pseudo-hosts; 0: as the plan says.
  std::vector<std::string> set;   ///< NAME=VALUE, for all runs.
  std::vector<std::string> vary;  ///< NAME=a,b: runs with each of them.
  std::string devices;            ///< "0,1"; empty: the first ones.
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

/// Lets `app` read them into `options`, which it keeps a reference to.
void declare_run_options(CLI::App& app, ReplayRunOptions& options);

/// Throws Error if the words make no sense, whatever the plan.
void check_words(const ReplayRunOptions& options);

/// Runs that the modes and variations make of the plan, 10,000 at most; ncclog-replay refuses far
/// fewer.
int runs_of(const ReplayRunOptions& options, const ReplayPlan& plan);

/// The command line of ncclog-replay for the plan in the folder; what the user did not say is left
/// to it. `runner` is its path.
std::vector<std::string> runner_command(const ReplayRunOptions& options, const std::string& runner,
                                        const std::filesystem::path& folder);

}  // namespace ncclog
