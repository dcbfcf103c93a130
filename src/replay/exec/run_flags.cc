#include "replay/exec/run_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "replay/replay_cost.h"

namespace ncclog {
namespace {

/// Every way to give each variable one of its values.
struct Variations {
  std::vector<Settings> all = {{}};
  std::string refusal;
};

Variations variations_of(const std::vector<std::string>& vary) {
  Variations variations;
  for (const std::string& text : vary) {
    const ParsedSetting parsed = parse_setting(text);
    if (!parsed.refusal.empty()) return {{}, parsed.refusal};
    std::vector<Settings> longer;
    for (const Settings& settings : variations.all) {
      for (std::string_view value : split(parsed.setting.second, ',')) {
        longer.push_back(settings);
        longer.back().emplace_back(parsed.setting.first, value);
      }
    }
    variations.all = std::move(longer);
    if (variations.all.size() > RunList::kMostRuns) break;
  }
  return variations;
}

/// In the order in which they are run. Empty: the plan has no such run.
std::vector<MadeIn> modes_of(const ReplayPlan& plan, const std::string& mode) {
  if (mode == "clean") return {MadeIn::Clean};
  if (mode == "defect")
    return has_defect(plan) ? std::vector{MadeIn::Defect} : std::vector<MadeIn>();
  return has_defect(plan) ? std::vector{MadeIn::Defect, MadeIn::Clean} : std::vector{MadeIn::Clean};
}

/// Refusal of --set, if there is one.
std::string read_settings(const std::vector<std::string>& texts, Settings& settings) {
  for (const std::string& text : texts) {
    ParsedSetting parsed = parse_setting(text);
    if (!parsed.refusal.empty()) return parsed.refusal;
    settings.push_back(std::move(parsed.setting));
  }
  return {};
}

}  // namespace

void add_run_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("plan", flags.plan, "The plan's file")->required();
  app.add_option("--out", flags.out, "Folder for the outcome and NCCL's logs")->required();
  app.add_option("--mode", flags.mode, "As recorded (defect), all ranks behaving (clean), or both")
      ->check(CLI::IsMember({"both", "defect", "clean"}))
      ->capture_default_str();
  app.add_option("--hosts", flags.hosts, "Pseudo-hosts, joined by sockets; as many as recorded");
  app.add_option("--set", flags.set, "A variable of NCCL for all runs: NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--vary", flags.vary, "Runs for each value of a variable: NAME=VALUE,VALUE")
      ->allow_extra_args(false);
  app.add_option("--devices", flags.devices, "GPUs by rank: 0,1")->delimiter(',');
  app.add_flag("--share", flags.share, "Take GPUs that others use");
  app.add_option("--nccl", flags.nccl, "NCCL's library");
  app.add_option("--time", flags.time_runs, "Timed repetitions in clean runs")
      ->check(CLI::Range(0, kMostTimedRuns));
  app.add_option("--deadline", flags.deadline, "Seconds that calls may take")
      ->check(CLI::Range(1, 3600));
  app.add_flag("--multicast", flags.multicast, "Leave NVLink multicast (NVLS) to NCCL");
  app.add_flag("--judged", flags.judged, "A refusal stands in the outcome only")->group("");
  app.add_option("--corrupt", flags.corrupt, "RANK:CALL:ELEMENT to falsify")->group("");
}

RunList list_runs(const ReplayPlan& plan, const RunFlags& flags) {
  RunList list;
  list.refusal = read_settings(flags.set, list.settings);
  if (!list.refusal.empty()) return list;
  const Variations variations = variations_of(flags.vary);
  list.refusal = variations.refusal;
  const std::vector<MadeIn> modes = modes_of(plan, flags.mode);
  if (list.refusal.empty() && modes.empty()) {
    list.refusal = "the plan has no defect: its two runs would be the same";
    list.hint = "--mode clean makes that run";
  }
  if (variations.all.size() * modes.size() > RunList::kMostRuns) {
    list.refusal = fmt::format("these are more than {} runs", RunList::kMostRuns);
    list.hint = "vary fewer variables at a time";
  }
  if (!list.refusal.empty()) return list;
  for (const Settings& varied : variations.all) {
    for (MadeIn mode : modes) {
      const std::string folder = fmt::format("run-{}-{}", list.runs.size() + 1, mode_word(mode));
      list.runs.push_back({mode, varied, folder});
    }
  }
  return list;
}

}  // namespace ncclog
