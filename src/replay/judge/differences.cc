#include "replay/judge/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/connections.h"
#include "replay/plan/build_plan.h"

namespace ncclog {
namespace {

/// Ranks of the plan by the process that ran them.
using RankByPid = std::map<int64_t, int>;

/// The plan's ranks of a communicator of the log, by rank in it; empty if some are not known.
std::vector<int> plan_ranks(const Job& job, const Communicator& comm,
                            const RankByPid& ranks_of_plan) {
  std::vector<int> ranks;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) return {};
    const auto found = ranks_of_plan.find(job.processes[rank.process].pid);
    if (found == ranks_of_plan.end()) return {};
    ranks.push_back(found->second);
  }
  return ranks;
}

std::vector<PlannedCommunicator> seen_communicators(const Job& job, const ReplayPlan& plan,
                                                    const RunOutcome& run) {
  RankByPid ranks_of_plan;
  for (const RankOutcome& rank : run.ranks) {
    if (rank.pid >= 0) ranks_of_plan.emplace(rank.pid, rank.rank);
  }
  // The log's, by their ranks in the plan, in the order of their initialisation.
  std::multimap<std::pair<std::vector<int>, SourceRef>, const Communicator*> in_log;
  for (const Communicator& comm : job.communicators) {
    const InitSection* init = comm.ranks.empty() ? nullptr : init_section(job, comm.ranks.front());
    in_log.emplace(std::pair(plan_ranks(job, comm, ranks_of_plan),
                             init == nullptr ? SourceRef{} : init->first),
                   &comm);
  }
  const std::vector<Edge>& edges = edges_of(job);
  std::vector<PlannedCommunicator> all;
  for (const PlannedCommunicator& planned : plan.communicators) {
    PlannedCommunicator& seen = all.emplace_back();
    const auto found = in_log.lower_bound({planned.ranks, SourceRef{}});
    if (planned.ranks.empty() || found == in_log.end() || found->first.first != planned.ranks) {
      continue;
    }
    const Communicator& comm = *found->second;
    seen.recorded_nranks = comm.nranks;
    seen.channels = comm.graphs.channels.coll;
    seen.transports = seen_transports(comm, edges);
    in_log.erase(found);
  }
  return all;
}

SystemPath slowest_path(const Job& job) {
  SystemPath slowest;
  for (const HostTopology& host : job.topologies) {
    const auto is_gpu = [&](int node) {
      return node >= 0 && host.system.nodes[node].name.kind == "GPU";
    };
    for (const SystemPath& path : host.system.paths) {
      const bool is_between_gpus = path.from != path.to && is_gpu(path.from) && is_gpu(path.to);
      if (!is_between_gpus || path.bw <= 0) continue;
      if (slowest.bw < 0 || path.bw < slowest.bw) slowest = path;
    }
  }
  return slowest;
}

}  // namespace

ReadBack read_back(const Job& job, const ReplayPlan& plan, const RunOutcome& run) {
  ReadBack seen;
  seen.readable = std::ranges::any_of(job.processes, &Process::has_nccl);
  seen.nccl_versions = job.nccl_versions;
  seen.cuda_versions = job.cuda_versions;
  seen.communicators = seen_communicators(job, plan, run);
  std::vector<size_t> logs(job.logs.size());
  std::iota(logs.begin(), logs.end(), size_t{0});
  seen.tuning = seen_tuning(job, logs);
  const bool uses_network = std::ranges::any_of(seen.communicators, [](const auto& comm) {
    return std::ranges::any_of(comm.transports, [](const TransportShare& share) {
      return share.transport.starts_with("NET");
    });
  });
  if (!uses_network) seen.path = slowest_path(job);
  return seen;
}

namespace {

using Texts = std::vector<std::string>;

/// "P2P, NET/IB".
std::string transport_names(const std::vector<TransportShare>& transports) {
  std::string out;
  for (const TransportShare& share : transports) {
    out += (out.empty() ? "" : ", ") + printable(share.transport);
  }
  return out;
}

void add_row(const std::string& what, const std::string& recorded, const std::string& replayed,
             bool matters, Comparison& rows) {
  if (recorded.empty()) {
    rows.unknown.push_back(what);
  } else if (recorded == replayed) {
    rows.same.push_back(fmt::format("{}: {}", what, recorded));
  } else {
    rows.differences.push_back({what, recorded, replayed, matters});
  }
}

/// "2.27.3+cuda12.9" → "2.27.3": what a build adds is no other release.
std::string release_of(std::string_view version) {
  const std::vector<int> parts = version_parts(version);
  return parts.empty() ? std::string(version) : fmt::format("{}", fmt::join(parts, "."));
}

Texts releases_of(const Texts& versions) {
  std::set<std::string> releases;
  for (const std::string& version : versions) releases.insert(release_of(version));
  return {releases.begin(), releases.end()};
}

/// True if all of them have the same first two numbers: 2.28.3 and 2.28.9.
bool same_series(const Texts& versions) {
  std::set<std::vector<int>> series;
  for (const std::string& version : versions) {
    std::vector<int> parts = version_parts(version);
    parts.resize(2);
    series.insert(parts);
  }
  return series.size() <= 1;
}

void add_versions(const ReplayPlan& plan, const ReplayOutcome& outcome, const ReadBack& seen,
                  Comparison& rows) {
  const Texts recorded = releases_of(plan.nccl_versions);
  Texts replayed = releases_of(seen.nccl_versions);
  if (replayed.empty() && !outcome.nccl_version.empty()) {
    replayed.push_back(release_of(outcome.nccl_version));
  }
  Texts both = recorded;
  both.insert(both.end(), replayed.begin(), replayed.end());
  add_row("NCCL", join(recorded, ", "), join(replayed, ", "),
          replayed.empty() || !same_series(both), rows);
  const std::string cuda =
      outcome.cuda_version.empty() ? join(seen.cuda_versions, ", ") : outcome.cuda_version;
  add_row("CUDA", plan.cuda_version, cuda, false, rows);
}

void add_size(const ReplayPlan& plan, const ReplayOutcome& outcome, Comparison& rows) {
  const int ranks = static_cast<int>(plan.ranks.size());
  add_row("ranks of the job", plan.recorded_nranks > 0 ? plural(plan.recorded_nranks, "rank") : "",
          plural(ranks, "rank"), true, rows);
  if (plan.recorded_nhosts <= 0) return;
  const int hosts = outcome.pseudo_hosts;
  const std::string replayed =
      hosts > 1 ? fmt::format("{} pseudo-hosts on one machine", hosts) : plural(hosts, "host");
  add_row("hosts", plural(plan.recorded_nhosts, "host"), replayed, hosts != plan.recorded_nhosts,
          rows);
}

void add_communicator(const PlannedCommunicator& recorded, const PlannedCommunicator& seen,
                      bool is_tested, Comparison& rows) {
  const std::string of = fmt::format(" of communicator {}", printable(recorded.id));
  if (recorded.recorded_nranks > 0) {
    const int replayed = static_cast<int>(recorded.ranks.size());
    add_row("size" + of, plural(recorded.recorded_nranks, "rank"), plural(replayed, "rank"),
            is_tested, rows);
  }
  add_row("transports" + of, transport_names(recorded.transports), transport_names(seen.transports),
          is_tested, rows);
  const auto channels = [](int n) { return n < 0 ? std::string() : std::to_string(n); };
  add_row("channels" + of, channels(recorded.channels), channels(seen.channels), false, rows);
}

using Choice = std::string RecordedTuning::*;

/// The choices for calls of `op`, sorted; numbers, which early releases print, are left out.
std::set<std::string> choices(const std::vector<RecordedTuning>& tuning, std::string_view op,
                              Choice choice) {
  std::set<std::string> all;
  for (const RecordedTuning& row : tuning) {
    const std::string& value = row.*choice;
    const bool is_name = !value.empty() && !is_digit(value.front());
    if (row.op == op && is_name) all.insert(value);
  }
  return all;
}

/// A replay that makes fewer calls may use fewer of what was recorded, and nothing else.
void add_tuning(const ReplayPlan& plan, const ReadBack& seen, std::string_view op, Choice choice,
                std::string_view word, bool matters, Comparison& rows) {
  const std::set<std::string> recorded = choices(plan.tuning, op, choice);
  const std::set<std::string> replayed = choices(seen.tuning, op, choice);
  if (recorded.empty() || replayed.empty()) return;
  const bool is_part =
      std::includes(recorded.begin(), recorded.end(), replayed.begin(), replayed.end());
  const std::string what = fmt::format("{} of {}", word, op);
  const std::string is = fmt::format("{}", fmt::join(replayed, ", "));
  add_row(what, is_part ? is : fmt::format("{}", fmt::join(recorded, ", ")), is, matters, rows);
}

/// Ops of the tested communicator's calls; without a hypothesis of all.
std::set<std::string> tested_ops(const ReplayPlan& plan, int tested) {
  std::set<std::string> ops;
  for (const PlannedRank& rank : plan.ranks) {
    for (const PlannedCall& call : rank.calls) {
      if (tested < 0 || call.communicator == tested) ops.insert(call.op);
    }
  }
  return ops;
}

}  // namespace

Comparison compare_with_record(const ReplayPlan& plan, const ReplayOutcome& outcome,
                               const ReadBack& seen) {
  const std::optional<FrontLine> place = expected_place(plan);
  const int tested = place ? place->communicator : -1;  // -1: none in particular.
  Comparison rows;
  add_versions(plan, outcome, seen, rows);
  add_size(plan, outcome, rows);
  for (size_t c = 0; c < plan.communicators.size(); ++c) {
    const bool is_tested = tested < 0 || static_cast<size_t>(tested) == c;
    const PlannedCommunicator known =
        c < seen.communicators.size() ? seen.communicators[c] : PlannedCommunicator();
    add_communicator(plan.communicators[c], known, is_tested, rows);
  }
  for (const std::string& op : tested_ops(plan, tested)) {
    add_tuning(plan, seen, op, &RecordedTuning::algorithm, "algorithm", true, rows);
    add_tuning(plan, seen, op, &RecordedTuning::protocol, "protocol", false, rows);
  }
  std::ranges::stable_partition(rows.differences, &ReplayDifference::matters);
  return rows;
}

namespace {

/// What every replay has, or every one with pseudo-hosts, is not told.
bool is_own(const ReplayOutcome& outcome, const std::string& name, const std::string& value) {
  return std::ranges::any_of(kOwnSettings, [&](const OwnSetting& own) {
    const bool applies = !own.for_pseudo_hosts || outcome.pseudo_hosts > 1;
    // What is logged may be another choice where the outcome is another release's.
    const bool is_same = own.value == value || name.starts_with("NCCL_DEBUG");
    return applies && own.name == name && is_same;
  });
}

std::string text_of(const std::string& name, const std::string& value) {
  return fmt::format("{}={}", printable(name), printable(value));
}

}  // namespace

void compare_settings(const ReplayPlan& plan, const ReplayOutcome& outcome, const RunOutcome& run,
                      Texts& held, Texts& changed) {
  // What all ranks have in that run. Of settings that differ between ranks the first rank's.
  std::map<std::string, std::string> values(outcome.settings.begin(), outcome.settings.end());
  std::set<std::string> told;
  for (const auto& [name, value] : run.settings) {
    values[name] = value;
    told.insert(name);
  }
  for (const PlannedSetting& setting : plan.settings) {
    const auto found = values.find(setting.name);
    const bool is_set = found != values.end();
    const bool is_same = is_set && found->second == setting.value;
    const std::string text = text_of(setting.name, setting.value);
    if (!setting.left_out.empty() && !is_same) {
      changed.push_back(fmt::format("{} is not set: {}", text, printable(setting.left_out)));
    } else if (setting.left_out.empty() && setting.ranks.empty() && is_set && !is_same) {
      changed.push_back(fmt::format("{}: recorded {}, replayed {}", printable(setting.name),
                                    printable(setting.value), printable(found->second)));
    } else {
      held.push_back(text);
    }
    if (setting.left_out.empty()) told.insert(setting.name);
  }
  Texts added;
  for (const auto& [name, value] : outcome.settings) {
    const bool is_told = told.contains(name) || is_own(outcome, name, value);
    if (!name.starts_with("NCCL_") || is_told) continue;
    const std::string text = text_of(name, value);
    if (std::ranges::find(held, text) == held.end()) added.push_back(text);
  }
  if (!added.empty()) changed.push_back("set for the replay: " + join(added, ", "));
  const std::string varied = variation_text(run);
  if (!varied.empty()) changed.push_back("set for the trial: " + varied);
}

}  // namespace ncclog
