#include "replay/exec/run_request.h"

#include <fmt/format.h>

#include "replay/replay_cost.h"

namespace ncclog {
namespace {

RunLimits limits_for(const PreparedReplay& replay, const ListedRun& listed, RunLimits limits) {
  if (listed.mode == MadeIn::Clean) {
    limits.phases[static_cast<size_t>(ReplayPhase::Completion)] +=
        std::chrono::seconds(timing_seconds(replay.flags.time_runs));
  }
  return limits;
}

RunSetup setup_for(const PreparedReplay& replay, const ListedRun& listed, const RunMeans& means,
                   const std::string& token) {
  RunSetup setup{.settings = replay.list.settings,
                 .hosts = replay.outcome.pseudo_hosts,
                 .multicast = replay.flags.multicast,
                 .logs = (replay.out / listed.folder).native(),
                 .coordinator = means.address,
                 .token = token};
  setup.settings.insert(setup.settings.end(), listed.varied.begin(), listed.varied.end());
  return setup;
}

RankCommand command_for(const PreparedReplay& replay, const ListedRun& listed, int rank) {
  RankCommand command{.plan = replay.plan_file, .mode = listed.mode, .rank = rank};
  command.gpu = replay.gpus[static_cast<size_t>(rank)];
  command.nccl = replay.flags.nccl;
  if (listed.mode == MadeIn::Clean) command.timed_runs = replay.flags.time_runs;
  command.corrupt = replay.corruption;
  return command;
}

RankProcess process_for(const PreparedReplay& replay, const ListedRun& listed,
                        const RunSetup& setup, int rank) {
  RankProcess process{.rank = rank};
  process.start.program = replay.machine.program;
  process.start.arguments = arguments_of(command_for(replay, listed, rank));
  process.start.arguments.insert(process.start.arguments.begin(), "ncclog-replay");
  process.start.environment = environment_of(replay.plan, rank, setup, replay.inherited);
  process.start.output = fmt::format("{}/rank-{}.out", setup.logs, rank);
  return process;
}

}  // namespace

RunRequest request_for(const PreparedReplay& replay, size_t number, const RunMeans& means) {
  const ListedRun& listed = replay.list.runs[number];
  RunRequest request;
  request.plan = &replay.plan;
  request.mode = listed.mode;
  request.gpus = replay.gpus;
  request.limits = limits_for(replay, listed, means.limits);
  request.token = random_token();
  request.stop_descriptor = means.stop_descriptor;
  const RunSetup setup = setup_for(replay, listed, means, request.token);
  for (int rank = 0; rank < static_cast<int>(replay.plan.ranks.size()); ++rank) {
    request.processes.push_back(process_for(replay, listed, setup, rank));
  }
  return request;
}

}  // namespace ncclog
