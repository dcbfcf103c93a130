#include "replay/read_back.h"

#include <algorithm>
#include <map>

#include "diagnose/edges.h"
#include "replay/seen_transports.h"

namespace ncclog {
namespace {

/// Ranks of the plan by the process that ran them.
using RankByPid = std::map<int64_t, int>;

RankByPid rank_by_pid(const RunOutcome& run) {
  RankByPid ranks;
  for (const RankOutcome& rank : run.ranks) {
    if (rank.pid >= 0) ranks.emplace(rank.pid, rank.rank);
  }
  return ranks;
}

/// The plan's ranks of a communicator of the log, by rank in it; empty if some are not known.
std::vector<int> plan_ranks(const Job& job, const Communicator& comm,
                            const RankByPid& ranks_of_plan) {
  std::vector<int> ranks;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) return {};
    const auto found = ranks_of_plan.find(job.processes[static_cast<size_t>(rank.process)].pid);
    if (found == ranks_of_plan.end()) return {};
    ranks.push_back(found->second);
  }
  return ranks;
}

/// Where the communicator's initialisation begins in the log of its first rank.
SourceRef begin_of(const Job& job, const Communicator& comm) {
  const InitSection* section = comm.ranks.empty() ? nullptr : init_section(job, comm.ranks.front());
  return section == nullptr ? SourceRef{} : section->first;
}

/// The log's communicators by their ranks in the plan, in the order of their initialisation.
using ByRanks = std::map<std::vector<int>, std::vector<const Communicator*>>;

ByRanks by_ranks(const Job& job, const RankByPid& ranks_of_plan) {
  ByRanks all;
  for (const Communicator& comm : job.communicators) {
    std::vector<int> ranks = plan_ranks(job, comm, ranks_of_plan);
    if (!ranks.empty()) all[std::move(ranks)].push_back(&comm);
  }
  for (auto& [ranks, list] : all) {
    std::stable_sort(list.begin(), list.end(), [&](const Communicator* a, const Communicator* b) {
      return begin_of(job, *a) < begin_of(job, *b);
    });
  }
  return all;
}

std::vector<SeenCommunicator> seen_communicators(const Job& job, const ReplayPlan& plan,
                                                 const RunOutcome& run) {
  const ByRanks in_log = by_ranks(job, rank_by_pid(run));
  const std::vector<Edge>& edges = edges_of(job);
  std::map<std::vector<int>, size_t> used;
  std::vector<SeenCommunicator> all(plan.communicators.size());
  for (size_t c = 0; c < all.size(); ++c) {
    const auto found = in_log.find(plan.communicators[c].ranks);
    const size_t place = used[plan.communicators[c].ranks]++;
    if (found == in_log.end() || place >= found->second.size()) continue;
    const Communicator& comm = *found->second[place];
    all[c] = {comm.nranks, comm.graphs.channels.coll, seen_transports(comm, edges)};
  }
  return all;
}

bool is_gpu_path(const SystemTopology& system, const SystemPath& path) {
  const auto is_gpu = [&](int node) {
    return node >= 0 && system.nodes[static_cast<size_t>(node)].name.kind == "GPU";
  };
  return path.from != path.to && path.bw > 0 && is_gpu(path.from) && is_gpu(path.to);
}

bool uses_network(const std::vector<SeenCommunicator>& communicators) {
  return std::any_of(communicators.begin(), communicators.end(), [](const auto& comm) {
    return std::any_of(
        comm.transports.begin(), comm.transports.end(),
        [](const TransportShare& share) { return share.transport.starts_with("NET"); });
  });
}

SlowestPath slowest_path(const Job& job) {
  SlowestPath slowest;
  for (const HostTopology& host : job.topologies) {
    for (const SystemPath& path : host.system.paths) {
      if (!is_gpu_path(host.system, path)) continue;
      if (slowest.bw < 0 || path.bw < slowest.bw) slowest = {path.bw, path.type};
    }
  }
  return slowest;
}

}  // namespace

ReadBack read_back(const Job& job, const ReplayPlan& plan, const RunOutcome& run) {
  ReadBack seen;
  seen.readable = std::any_of(job.processes.begin(), job.processes.end(),
                              [](const Process& process) { return process.has_nccl; });
  seen.nccl_versions = job.nccl_versions;
  seen.cuda_versions = job.cuda_versions;
  seen.communicators = seen_communicators(job, plan, run);
  seen.tuning = seen_tuning(job);
  if (!uses_network(seen.communicators)) seen.path = slowest_path(job);
  return seen;
}

}  // namespace ncclog
