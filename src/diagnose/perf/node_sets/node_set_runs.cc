// Measurements that name their hosts, as runs over sets of hosts.
//
//   pair-a-b.log   all_reduce_perf, 16 ranks on a and b, up to 8 GiB
//   pair-a-c.log   all_reduce_perf, 16 ranks on a and c, up to 4 GiB   → both at 4 GiB
//
// Bandwidth depends on the size, and curves end at different ones: runs of a sort are read at the
// largest size that half of them have, as the median of the last three sizes, so that one bad row
// makes no run slow.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/perf/measured/curve.h"
#include "diagnose/perf/measured/measurement.h"
#include "diagnose/perf/node_sets/node_sets.h"
#include "diagnose/settings/nccl_variables.h"
#include "log/address.h"

namespace ncclog {
namespace {

struct HostCurve {
  const Measurement* measurement = nullptr;
  std::string op;
  /// What must be the same for two runs to be compared: operation, ranks, hosts, and the conditions
  /// under which they ran.
  std::string sort;
  std::vector<MeasuredPoint> sizes;  ///< With a bandwidth, ascending; at least one.
};

constexpr int64_t kLargeBytes = int64_t{64} << 20;  ///< What a path can give shows from here on.

/// By the file, settings that may make a run slower whatever its hosts are: "NCCL_PROTO=LL".
using SettingsByFile = std::map<std::string, std::set<std::string>>;

void add_setting(std::string_view name, std::string_view value, std::set<std::string>& settings) {
  // Which NIC is used is what runs with single rails differ in.
  const bool may_differ = name == "NCCL_IB_HCA" || name == "NCCL_HOSTID" ||
                          has_trait(name, "logging") || has_trait(name, "own");
  if (!may_differ) settings.insert(fmt::format("{}={}", name, value));
}

SettingsByFile settings_by_file(const Job& job) {
  SettingsByFile settings;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    add_setting(said.message.name, said.message.value, settings[file_line(job, said.where()).path]);
  });
  for (const Measurement& measurement : measurements(job)) {
    for (const auto& [name, value] : measurement.settings) {
      add_setting(name, value, settings[file_line(job, measurement.first).path]);
    }
  }
  return settings;
}

/// GPUs and settings. Where no GPU is named, nobody knows whether two runs had the same ones.
std::string conditions_of(const Job& job, const Measurement& measurement,
                          const SettingsByFile& settings) {
  const std::string file = file_line(job, measurement.first).path;
  const auto set = settings.find(file);
  return fmt::format("{}, {}", measurement.gpus.empty() ? file : join(measurement.gpus, ", "),
                     set == settings.end() ? "" : fmt::format("{}", fmt::join(set->second, ", ")));
}

/// The curves whose hosts are known, in input order.
std::vector<HostCurve> curves_of_hosts(const Job& job) {
  std::vector<HostCurve> curves;
  const SettingsByFile settings = settings_by_file(job);
  for (const Measurement& measurement : measurements(job)) {
    // Calls of a training wait for ranks that are late.
    if (measurement.hosts.empty() || measurement.in_training) continue;
    std::vector<MeasuredPoint> sizes = read_curve(measurement).sizes;
    std::erase_if(sizes, [](const MeasuredPoint& s) { return s.busbw() <= 0; });
    if (sizes.empty()) continue;
    const bool is_known = measurement.op != Operation::Unknown;
    const std::string op(is_known ? name_of(measurement.op) : measurement.name);
    curves.push_back(
        {&measurement, op,
         fmt::format("{} of {} ranks on {} hosts, {}", op, measurement.nranks,
                     measurement.hosts.size(), conditions_of(job, measurement, settings)),
         std::move(sizes)});
  }
  return curves;
}

/// By sort, the largest size that at least half of the curves reach.
std::map<std::string, int64_t> common_sizes(const std::vector<HostCurve>& curves) {
  std::map<std::string, std::vector<int64_t>> last;
  for (const HostCurve& curve : curves) last[curve.sort].push_back(curve.sizes.back().bytes);
  std::map<std::string, int64_t> common;
  for (auto& [sort, sizes] : last) {
    std::ranges::sort(sizes, std::greater<>());
    common[sort] = sizes[(sizes.size() - 1) / 2];
  }
  return common;
}

/// GB/s at that size; negative: the curve does not come near it.
double busbw_near(const HostCurve& curve, int64_t bytes) {
  constexpr size_t kSizes = 3;
  std::vector<double> values;
  for (auto size = curve.sizes.rbegin(); size != curve.sizes.rend(); ++size) {
    if (size->bytes > bytes) continue;
    if (size->bytes < bytes / 8 || values.size() == kSizes) break;
    values.push_back(size->busbw());
  }
  const bool reaches = curve.sizes.back().bytes >= bytes;
  if (!reaches || values.empty()) return -1;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// The one GPU of each host by its bus id, in the order of hosts; empty: some host has several.
std::vector<std::string> lone_gpus(const Job& job, const Measurement& measurement) {
  std::map<std::string, std::set<std::string>> gpus;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (run.first != measurement.first) continue;
    for (const NcclTestsPlace& place : run.places) {
      if (!place.bus_id.empty()) gpus[place.host].insert(place.bus_id);
    }
  }
  std::vector<std::string> parts;
  for (const std::string& host : measurement.hosts) {
    const auto found = gpus.find(host);
    if (found == gpus.end() || found->second.size() != 1) return {};
    parts.push_back("GPU " + *found->second.begin());
  }
  return parts;
}

/// By the file, the NICs that NCCL lists in it.
std::map<std::string, std::set<std::string>> nics_by_file(const Job& job) {
  std::map<std::string, std::set<std::string>> nics;
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network == "Socket") return;
    for (const NetDevice& device : parse_device_list(said.message.devices)) {
      nics[file_line(job, said.where()).path].emplace(device.name);
    }
  });
  return nics;
}

/// GPUs count as parts of hosts only where some host ran with several of them, one at a time.
void drop_equal_parts(std::vector<NodeSetRun>& runs) {
  std::map<std::string, std::set<std::string>> parts;
  for (const NodeSetRun& run : runs) {
    for (size_t n = 0; n < run.parts.size(); ++n) parts[run.hosts[n]].insert(run.parts[n]);
  }
  const bool differ =
      std::ranges::any_of(parts, [](const auto& host) { return host.second.size() > 1; });
  if (differ) return;
  for (NodeSetRun& run : runs) run.parts.clear();
}

/// A file with several tests gives several runs: their hosts and operations tell them apart.
void name_runs(std::vector<NodeSetRun>& runs, const std::vector<std::string>& ops) {
  std::map<std::string, std::set<std::string>> ops_of;
  std::map<std::string, std::set<std::vector<std::string>>> hosts_of;
  for (size_t n = 0; n < runs.size(); ++n) {
    ops_of[runs[n].name].insert(ops[n]);
    hosts_of[runs[n].name].insert(runs[n].hosts);
  }
  for (size_t n = 0; n < runs.size(); ++n) {
    const std::string file = runs[n].name;
    if (hosts_of[file].size() > 1)
      runs[n].name += fmt::format(" ({})", few_of(runs[n].hosts, kMostNamed, " "));
    if (ops_of[file].size() > 1) runs[n].name += fmt::format(" ({})", ops[n]);
  }
}

/// What the measurement's path can give, where its lines show the path; -1: not known.
double known_ceiling(const Measurement& measurement, std::span<const PerfVerdict> verdicts) {
  const auto verdict = std::ranges::find(verdicts, &measurement, &PerfVerdict::measurement);
  const bool tells =
      verdict != verdicts.end() && verdict->answer != PerfAnswer::CannotTell && !verdict->by_guess;
  return tells ? verdict->ceiling : -1;
}

/// "host n2: 7 of 28 runs are slow, down to 3.2 GB/s where others reach 10": the few hosts that
/// explain slow runs. Links, uplinks, and kinds of hosts that are slower by design are left to `perf`.
FactValue slow_hosts(const Job& job, const Instance&) {
  constexpr size_t kFewestSlow = 3;
  const std::vector<NodeSetRun> runs = node_set_runs(job, perf_verdicts(job));
  const NodeSetAnswer answer = solve_node_sets(runs);
  std::set<std::string> hosts;
  for (const NodeSetRun& run : runs) hosts.insert(run.hosts.begin(), run.hosts.end());
  const bool are_hosts = std::ranges::all_of(
      answer.explained, [](const Suspect& suspect) { return suspect.kind == SuspectKind::Host; });
  const bool are_few = 4 * answer.explained.size() <= hosts.size();
  if (answer.explained.empty() || answer.slow.size() < kFewestSlow || !are_hosts || !are_few ||
      answer.beside <= 0) {
    return unknown();
  }
  FactValue value = yes(
      fmt::format("{}: {} of {} are slow, down to {:.3g} GB/s where others reach {:.3g}",
                  suspects_text(answer.explained, " and "), answer.slow.size(),
                  plural(answer.slow.size() + answer.fast.size() + answer.unclear.size(), "run"),
                  answer.lowest, answer.beside));
  constexpr int64_t kLeastBytes = int64_t{1} << 20;  // Below, it is latency that differs.
  for (const Measurement& one : measurements(job)) {
    const bool shows = std::ranges::any_of(answer.explained, [&](const Suspect& suspect) {
      return std::ranges::find(one.hosts, suspect.host) != one.hosts.end();
    });
    if (!shows || one.points.empty() || value.evidence.size() == kMostNamed) continue;
    const MeasuredPoint& last = one.points.back();
    if (last.bytes >= kLeastBytes && last.busbw() <= kSlowTo * answer.beside)
      value.evidence.push_back({last.where, last.text});
  }
  return value.evidence.empty() ? unknown() : value;
}

constexpr std::array kNodeSetFacts = {
    // Runs over several sets of hosts show which few hosts are slow.
    job_fact("job.slow_hosts", slow_hosts),
};

}  // namespace

std::vector<NodeSetRun> node_set_runs(const Job& job, std::span<const PerfVerdict> verdicts) {
  const auto nics = nics_by_file(job);
  const bool has_several_hostids =
      std::ranges::count(job.environment, "NCCL_HOSTID", &EnvironmentSetting::name) > 1;
  const std::vector<HostCurve> curves = curves_of_hosts(job);
  const std::map<std::string, int64_t> sizes = common_sizes(curves);
  std::vector<NodeSetRun> runs;
  std::vector<std::string> ops;
  for (const HostCurve& curve : curves) {
    const Measurement& measurement = *curve.measurement;
    const int64_t bytes = sizes.at(curve.sort);
    const double busbw = busbw_near(curve, bytes);
    if (busbw <= 0) continue;
    ops.push_back(curve.op);
    NodeSetRun& run = runs.emplace_back();
    run.name = file_line(job, measurement.first).path;
    run.hosts = measurement.hosts;
    run.busbw = busbw;
    run.like = fmt::format("{} at {} bytes", curve.sort, bytes);
    run.parts = lone_gpus(job, measurement);
    if (bytes >= kLargeBytes) run.ceiling = known_ceiling(measurement, verdicts);
    run.over_network = run.hosts.size() == 1 && has_several_hostids;
    const auto listed = nics.find(run.name);
    if (listed == nics.end()) continue;
    run.rails.assign(listed->second.begin(), listed->second.end());
    // As NCCL_IB_HCA leaves it: of runs that list more, this is one rail alone.
    if (run.rails.size() == 1) run.rail = run.rails.front();
  }
  // Hosts with a single NIC have no rails to tell apart.
  const bool any_has_several =
      std::ranges::any_of(runs, [](const NodeSetRun& run) { return run.rails.size() > 1; });
  const auto first_alone =
      std::ranges::find_if(runs, [](const NodeSetRun& run) { return !run.rail.empty(); });
  const bool other_alone =
      first_alone != runs.end() && std::ranges::any_of(runs, [&](const NodeSetRun& run) {
        return !run.rail.empty() && run.rail != first_alone->rail;
      });
  for (NodeSetRun& run : runs) {
    if (!any_has_several && !other_alone) run.rail.clear();
    if (!run.rail.empty()) run.parts.clear();
  }
  drop_equal_parts(runs);
  name_runs(runs, ops);
  return runs;
}

std::span<const Fact> node_set_facts() { return kNodeSetFacts; }

}  // namespace ncclog
