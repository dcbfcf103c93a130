#include "replay/exec/prepare_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "base/version.h"
#include "replay/check_plan.h"
#include "replay/exec/gpu_probe.h"
#include "replay/exec/whole_file.h"
#include "replay/plan_json.h"
#include "replay/replay_cost.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// Thrown where the replay is refused; becomes ReplayOutcome::refused.
struct Refusal {
  std::string what;
  std::string hint;
};

ReplayPlan parse_plan_of(const RunFlags& flags, const std::string& text) {
  try {
    return parse_plan(text, flags.plan);
  } catch (const Error& error) {
    throw Refusal{fmt::format("{}: {}", error.where(), error.what()), error.hint()};
  }
}

void refuse_bad_plan(const ReplayPlan& plan) {
  for (const PlanComplaint& complaint : check_plan(plan)) {
    if (complaint.weight != PlanComplaint::Weight::Refusal) continue;
    throw Refusal{fmt::format("the plan is refused: {}: {}", complaint.where, complaint.what),
                  complaint.hint};
  }
}

void read_plan(PreparedReplay& replay) {
  const RunFlags& flags = replay.flags;
  const std::optional<std::string> text = read_whole_file(flags.plan);
  if (!text) throw Refusal{flags.plan + ": the plan cannot be read", {}};
  replay.outcome.plan = plan_hash(*text);
  replay.plan = parse_plan_of(flags, *text);
  replay.plan.deadlines = with_deadline(replay.plan.deadlines, flags.deadline);
  refuse_bad_plan(replay.plan);
}

void list_all_runs(PreparedReplay& replay) {
  replay.list = list_runs(replay.plan, replay.flags);
  if (!replay.list.refusal.empty()) throw Refusal{replay.list.refusal, replay.list.hint};
  if (replay.flags.corrupt.empty()) return;
  replay.corruption = parse_corruption(replay.flags.corrupt);
  if (!replay.corruption) throw Refusal{"--corrupt wants RANK:CALL:ELEMENT", {}};
}

int pseudo_hosts(const ReplayPlan& plan, const RunFlags& flags) {
  const int nranks = static_cast<int>(plan.ranks.size());
  if (flags.hosts < 0 || flags.hosts > nranks) {
    throw Refusal{fmt::format("--hosts {} cannot be: the plan has {} ranks", flags.hosts, nranks),
                  {}};
  }
  return flags.hosts > 0 ? flags.hosts : host_group_count(plan);
}

void describe(PreparedReplay& replay) {
  const ReplayMachine& machine = replay.machine;
  ReplayOutcome& outcome = replay.outcome;
  outcome.nccl_version = machine.nccl_version;
  outcome.nccl_library = machine.nccl_library;
  outcome.cuda_version = machine.gpus.runtime;
  outcome.driver = machine.gpus.driver;
  outcome.settings = settings_in_force(replay.plan,
                                       {.settings = replay.list.settings,
                                        .hosts = outcome.pseudo_hosts,
                                        .multicast = replay.flags.multicast},
                                       replay.inherited);
}

void take_gpus(PreparedReplay& replay, std::ostream& says) {
  GpuChoice choice = choose_gpus(replay.plan, replay.flags, replay.machine);
  if (!choice.refusal.empty()) throw Refusal{choice.refusal, choice.hint};
  const std::vector<int>& gpus = replay.gpus = std::move(choice.gpus);
  const std::string remark = machine_remark(replay.plan.ranks.size(), replay.machine);
  if (!remark.empty()) says << "ncclog-replay: " << remark << "\n";
  for (const GpuState& state : replay.machine.gpus.gpus) {
    const bool is_taken = std::find(gpus.begin(), gpus.end(), state.gpu.gpu) != gpus.end();
    if (is_taken) replay.outcome.gpus.push_back(state.gpu);
  }
}

void make_folders(const PreparedReplay& replay) {
  for (const ListedRun& listed : replay.list.runs) {
    const fs::path folder = replay.out / listed.folder;
    // Logs of an earlier replay there would be read back as this one's.
    fs::create_directories(folder);
    if (!fs::is_empty(folder)) {
      throw Refusal{folder.native() + " is not empty", "name another folder with --out"};
    }
  }
}

void check_gpus(PreparedReplay& replay, std::chrono::milliseconds patience) {
  replay.checks = probe_gpus({replay.machine.program, patience}, replay.gpus);
  for (const GpuCheck& check : replay.checks) {
    if (check.answers) continue;
    throw Refusal{fmt::format("GPU {} does not answer: {}", check.gpu, check.error), {}};
  }
}

}  // namespace

PreparedReplay prepare_replay(const RunFlags& flags, const ReplayMachine& machine,
                              std::chrono::milliseconds patience, std::ostream& says) {
  PreparedReplay replay(flags, machine);
  replay.outcome.tool_version = version();
  try {
    read_plan(replay);
    list_all_runs(replay);
    replay.outcome.pseudo_hosts = pseudo_hosts(replay.plan, flags);
    describe(replay);
    take_gpus(replay, says);
    make_folders(replay);
    check_gpus(replay, patience);
  } catch (const Refusal& refusal) {
    replay.outcome.refused = refusal.what;
    replay.outcome.hint = refusal.hint;
  }
  return replay;
}

}  // namespace ncclog
