// What can be asked of `ncclog-replay run`?
//
//   ncclog-replay run plan.json --out result --vary NCCL_P2P_DISABLE=0,1 --vary NCCL_ALGO=Ring,Tree
//   → 4 variations, each in the defect mode and then in the clean one: 8 runs

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/exec/rank_command.h"
#include "replay/exec/run_environment.h"

namespace CLI {
class App;
}

namespace ncclog {

/// The flags of `ncclog-replay run`; ncclog hands on those of `ncclog replay run`.
struct RunFlags {
  std::string plan;               ///< Path of the plan's file.
  std::string out;                ///< Folder for the outcome and NCCL's logs.
  std::string mode = "both";      ///< "both", "defect" or "clean".
  int hosts = 0;                  ///< Pseudo-hosts; 0: as many as the plan has.
  std::vector<std::string> set;   ///< NAME=VALUE, for all runs.
  std::vector<std::string> vary;  ///< NAME=VALUE,VALUE,… each.
  std::vector<int> devices;       ///< GPUs by rank; empty: the first ones that are free.
  bool share = false;             ///< GPUs that others use may be taken.
  std::string nccl;               ///< Library; empty: the one that the loader finds.
  int time_runs = 0;              ///< Timed repetitions in clean runs; 0: none.
  int deadline = 0;               ///< Seconds for calls and for what follows; 0: as planned.
  bool multicast = false;         ///< NVLink multicast is left to NCCL.
  bool judged = false;  ///< ncclog tells what is in the outcome: a refusal is not printed.
  std::string corrupt;  ///< RANK:CALL:ELEMENT; empty: nothing is falsified.

  bool operator==(const RunFlags&) const = default;
};

/// Lets `app`, which is the subcommand `run`, read them into `flags`, which it keeps a reference
/// to.
void add_run_flags(CLI::App& app, RunFlags& flags);

/// One run of several.
struct ListedRun {
  MadeIn mode = MadeIn::Clean;  ///< Clean or Defect.
  Settings varied;              ///< What --vary sets in it.
  std::string folder;           ///< Of its logs, in the folder of the outcome: "run-1-defect".

  bool operator==(const ListedRun&) const = default;
};

/// What the flags come to, or why that cannot be.
struct RunList {
  Settings settings;  ///< Of --set.
  std::vector<ListedRun> runs;
  std::string refusal;  ///< One sentence; empty: there is none.
  std::string hint;

  static constexpr size_t kMostRuns = 128;
};

/// Variations in the order of the flags, the last one changing fastest; in each the defect run
/// first. Both modes of a plan without a defect are one and the same clean run.
RunList list_runs(const ReplayPlan& plan, const RunFlags& flags);

}  // namespace ncclog
