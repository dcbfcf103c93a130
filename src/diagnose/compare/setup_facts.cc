// How was a run set up: settings, versions, interfaces, and the topology that NCCL found?
//
// One function derives the facts of a topic, one says why a run may lack one of them.

#include <fmt/format.h>

#include <ranges>
#include <set>

#include "base/text.h"
#include "diagnose/compare/run_difference.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/perf/measured/measurement.h"
#include "diagnose/settings/nccl_variables.h"
#include "log/address.h"

namespace ncclog {

// The settings of a run: what NCCL says that it has read, and who says so.
//
//   NCCL_P2P_DISABLE set by environment to 1.     on ranks 0-3 of 4    → NCCL_P2P_DISABLE: "1"
//   NCCL_ALGO set by environment to Ring          on rank 3 of 4       → "Ring on rank 3; …"
//
// Who prints a setting counts where it is read everywhere. Values that name files, hosts or
// addresses are different in every run and count only as being there.

namespace {

/// Printed behind the end of an initialisation only. Settings of processes that start NCCL are read
/// in the same places everywhere, so a few lines of each name tell.
bool is_printed_late(const Job& job, std::string_view name) {
  bool is_printed = false;
  bool is_early = false;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    if (is_early || said.message.name != name) return;
    is_printed = true;
    const SourceRef completed = first_complete(job, nth_process(job, said.process));
    is_early = completed.line == 0 || said.where() < completed;
  });
  return is_printed && !is_early;
}

/// Processes of the instance whose settings the logs show: they print some, or come to the end of
/// an initialisation.
std::set<int> readers_of(const Job& job, const Instance& compared) {
  std::set<int> readers;
  for (const EnvironmentSetting& setting : job.environment) {
    readers.insert(setting.processes.begin(), setting.processes.end());
  }
  std::erase_if(readers, [&](int p) { return !std::ranges::binary_search(compared.processes, p); });
  for (const int p : compared.processes) {
    if (first_complete(job, nth_process(job, p)).line != 0) readers.insert(p);
  }
  return readers;
}

using Camps = std::map<std::string, std::set<int>>;  ///< Processes by the value that they print.

/// "1"; where some have another value or print none, "1 on ranks 0-2; not printed by rank 3".
std::string camps_text(const Job& job, const Camps& camps, const std::set<int>& readers) {
  std::set<int> silent = readers;
  for (const auto& [value, processes] : camps) {
    for (const int p : processes) silent.erase(p);
  }
  if (camps.size() == 1 && silent.empty()) return camps.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [value, processes] : camps) {
    parts.push_back(fmt::format("{} on {}", value,
                                processes_phrase(job, {processes.begin(), processes.end()})));
  }
  if (!silent.empty())
    parts.push_back("not printed by " + processes_phrase(job, {silent.begin(), silent.end()}));
  return join(parts, "; ");
}

/// Whether some release of the job reads the variable.
bool is_read_by_release(const Job& job, std::string_view name) {
  const NcclVariable* variable = find_nccl_variable(name);
  if (variable == nullptr || job.nccl_versions.empty()) return true;
  return std::ranges::any_of(job.nccl_versions, [&](const std::string& version) {
    const bool is_older = compare_releases(version, variable->first) < 0;
    const bool is_newer = !variable->last.empty() && compare_releases(version, variable->last) > 0;
    return !is_newer && (!is_older || variable->first == "2.4.2");
  });
}

FactValue::Set setting_values(const Job& job, const Instance& compared) {
  const std::set<int> readers = readers_of(job, compared);
  std::map<std::string, Camps> by_name;
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int p : setting.processes) {
      if (readers.contains(p)) by_name[setting.name][setting.value].insert(p);
    }
  }
  FactValue::Set facts;
  std::map<std::string, size_t, std::less<>> places;
  for (const auto& [name, camps] : by_name) {
    places[name] = facts.size();
    const bool is_logging = has_trait(name, "logging");
    const bool everywhere = !has_trait(name, "where_used") && !is_logging;
    FactValue& fact = facts.emplace_back(FactValue{.of = name, .minor = is_logging});
    fact.what = everywhere ? camps_text(job, camps, readers)
                           : fmt::format("{}", fmt::join(std::views::keys(camps), ", "));
    fact.value = has_trait(name, "own") ? "set" : without_names(job, fact.what);
  }
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    const auto place = places.find(said.message.name);
    if (place == places.end() || !facts[place->second].evidence.empty()) return;
    facts[place->second].evidence.push_back(evidence_of(said.record()));
  });
  // What the application asked for when it made a communicator, but for its name.
  StatedByName configs;
  for_each_said<CommConfig>(job, [&](const Said<CommConfig>& said) {
    if (said.message.name == "Comm name") return;
    configs[fmt::format("Comm config {}", said.message.name)].try_emplace(
        std::string(said.message.value), evidence_of(said.record()));
  });
  return stated_facts(configs, std::move(facts));
}

/// True if some process has come to the end of an initialisation.
bool has_initialised(const Job& job) {
  return std::ranges::any_of(job.logs, [](const SpeakerLog& log) {
    return std::ranges::any_of(
        log.comms.all, [](const CommSegment& segment) { return segment.completed.line != 0; });
  });
}

FactValue without_setting(const Job& job, const FactValue& other, const Job& other_job) {
  if (!has_spoken(job, Subsystem::Env)) {
    return unknown("its logs show no setting: none is set, or ENV is not among its subsystems");
  }
  if (is_torn(job) || job.losses.count(Loss::LineLeftOut) > 0) {
    return unknown("lines of its logs are torn or left out");
  }
  if (!has_initialised(job)) return unknown("no rank came to the end of its initialisation");
  if (has_trait(other.of, "where_used")) return unknown("NCCL reads it only where it is of use");
  if (!is_read_by_release(job, other.of)) return unknown("its release of NCCL does not read it");
  const bool is_connected = std::ranges::any_of(
      job.logs, [](const SpeakerLog& log) { return !log.connections.all.empty(); });
  if (!is_connected && is_printed_late(other_job, other.of)) {
    return unknown("it did not come as far as to read it");
  }
  return no();
}

// Which software a run uses: NCCL, CUDA, the driver, PyTorch, plugins and the network that they
// bring.
//
//   NCCL version 2.28.9+cuda13.0        → NCCL: "2.28.9", CUDA of NCCL: "13.0"
//   cudaDriverVersion 13000             → CUDA driver: "13.0"
//   Using network AWS Libfabric         → network: "AWS Libfabric"

constexpr std::string_view kNetwork = "network";
constexpr std::string_view kNetPlugin = "network plugin";
constexpr std::string_view kGpuDirect = "GPU Direct RDMA";

/// Versions that the job lists; lines that name them are shown where there are some.
Stated listed(const std::vector<std::string>& versions, const Stated& said) {
  Stated values;
  for (const std::string& version : versions) {
    const auto line = said.find(version);
    values.emplace(version, line == said.end() ? Evidence() : line->second);
  }
  return values;
}

FactValue::Set versions(const Job& job, const Instance&) {
  StatedByName stated;
  const auto version_of = [](const auto& message) { return message.version; };
  stated["NCCL"] = listed(job.nccl_versions, stated_by<NcclVersion>(job, version_of));
  stated["CUDA of NCCL"] =
      listed(job.cuda_versions,
             stated_by<NcclVersion>(job, [](const auto& banner) { return banner.cuda; }));
  stated["CUDA driver"] = stated_by<CudaDriverVersion>(job, [](const auto& driver) {
    return driver.version < 0 ? "" : cuda_release(driver.version);
  });
  stated["PyTorch"] = listed(job.pytorch_versions, stated_by<TorchVersionLine>(job, version_of));
  stated["source of NCCL"] =
      stated_by<GitVersion>(job, [](const auto& source) { return source.commit; });
  for_each_said<OfiVersion>(job, [&](const Said<OfiVersion>& said) {
    if (said.message.part == "CUDA driver") return;
    stated[std::string(said.message.part)].try_emplace(std::string(said.message.version),
                                                       evidence_of(said.record()));
  });
  return stated_facts(stated);
}

FactValue::Set network_values(const Job& job, const Instance&) {
  StatedByName stated;
  Stated& names = stated[std::string(kNetwork)];
  names = stated_by<NetworkSelected>(job, [](const auto& selected) { return selected.network; });
  if (names.empty() && !job.network.name.empty()) names.try_emplace(job.network.name);
  for_each_said<PluginLoaded>(job, [&](const Said<PluginLoaded>& said) {
    const PluginLoaded& plugin = said.message;
    std::string value(plugin.name);
    if (!plugin.version.empty()) value += fmt::format(" ({})", plugin.version);
    const auto name =
        plugin.type == "NET" ? std::string(kNetPlugin) : fmt::format("{} plugin", plugin.type);
    stated[name].try_emplace(std::move(value), evidence_of(said.record()));
  });
  Stated& net = stated[std::string(kNetPlugin)];
  if (net.empty() && !job.network.plugin.empty()) net.try_emplace(job.network.plugin);
  stated[std::string(kGpuDirect)] =
      stated_by<GpuDirect>(job, [](const auto& direct) { return direct.state; });
  return stated_facts(stated);
}

FactValue without_network(const Job& job, const FactValue& other, const Job&) {
  if (other.of == kNetwork) return unknown("no line of its logs says which network NCCL uses");
  if (other.of == kGpuDirect) return unknown("no line of its logs tells of GPU Direct RDMA");
  // NCCL says of every plugin whether it was found.
  if (other.of == kNetPlugin || !has_initialised(job)) {
    return unknown("no line of its logs tells of plugins");
  }
  return no();
}

// Through which interfaces and RDMA devices do the hosts of a run talk?
//
//   Bootstrap: Using eth0:192.0.2.2<0>                     → bootstrap: "eth0"
//   NET/IB : Using [0]mlx5_0:1/IB … ; OOB ib0:10.1.2.3<0>  → devices of IB: "mlx5_0:1/IB, …"
//
// Hosts are told apart by what they list only. Interfaces that somebody makes for each container or
// virtual machine have numbers that mean nothing: "vn542a10" counts as "vn*a*".

/// "veth1f2e" → "veth*": the letters, and a star for each run of what may be a number.
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!is_digit(c)) {
      out += c;
    } else if (!out.ends_with('*')) {
      out += '*';
    }
  }
  return out;
}

/// The name, if it is one that a machine keeps.
std::string lasting_name(const NetDevice& device) {
  if (is_host_bridge(device.name) && device.name.starts_with("br-")) return "br-*";
  const bool passes = is_virtual_interface(device.name) && !is_host_bridge(device.name);
  const bool local = is_ipv6(device.address) && is_link_local(device.address) &&
                     !is_infiniband_interface(device.name);
  if (passes || local) return without_numbers(device.name);
  return std::string(device.name);
}

/// What a host lists in one place.
struct ListedDevices {
  std::set<std::string> names;
  Evidence line;
};

/// By the place in which devices are listed, and host.
using Lists = std::map<std::pair<std::string, std::string>, ListedDevices>;

void add_list(std::string_view list, const std::string& place, const std::string& host,
              const Record& record, Lists& lists) {
  ListedDevices& there = lists[{place, host}];
  if (there.line.where.line == 0) there.line = evidence_of(record);
  for (const NetDevice& device : parse_device_list(list)) {
    // NCCL's buffer may end in the middle of the last one.
    const bool cut = place == "devices of IB" && device.link != "IB" && device.link != "RoCE";
    if (cut) continue;
    std::string name = lasting_name(device);
    if (device.port >= 0) name += fmt::format(":{}", device.port);
    if (!device.link.empty()) name += fmt::format("/{}", device.link);
    there.names.insert(std::move(name));
  }
}

FactValue::Set interfaces(const Job& job, const Instance&) {
  Lists lists;
  for_each_said<BootstrapInterface>(job, [&](const Said<BootstrapInterface>& said) {
    add_list(said.message.devices, "bootstrap", nth_process(job, said.process).host, said.record(),
             lists);
  });
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    const std::string& host = nth_process(job, said.process).host;
    const std::string network(said.message.network);
    add_list(said.message.devices, "devices of " + network, host, said.record(), lists);
    if (said.message.oob.empty()) return;
    add_list(said.message.oob, "out-of-band of " + network, host, said.record(), lists);
  });
  StatedByName stated;
  for (const auto& [place, there] : lists) {
    stated[place.first].try_emplace(
        there.names.empty() ? "none" : fmt::format("{}", fmt::join(there.names, " ")), there.line);
  }
  return stated_facts(stated);
}

// What hangs on what in the hosts of a run, as NCCL sees it?
//
//   GPU/0-a1000 … (2/240.0/NVL) … (4/48.0/PHB)   → between GPUs: "NVL", GPUs to NICs: "PHB"
//
// Hosts are told apart by what they have only, so a job on other hosts of the same sort has the
// same facts. Bus ids and the order of devices are names, and left out.

constexpr std::string_view kNvlinkSharp = "NVLink SHARP";
constexpr std::string_view kGpuModels = "GPU models";

/// "NVL at 370.8 GB/s".
std::string link_text(std::string_view type, double bw) {
  return bw < 0 ? std::string(type) : fmt::format("{} at {:.1f} GB/s", type, bw);
}

const std::string& kind_of(const SystemTopology& system, int node) {
  return system.nodes[node].name.kind;
}

void add_gpu_paths(const SystemTopology& system, std::string_view to, Shares& counts) {
  for (const SystemPath& path : system.paths) {
    const bool wanted = path.from != path.to && kind_of(system, path.from) == "GPU" &&
                        kind_of(system, path.to) == to;
    if (wanted) ++counts[path.type];
  }
}

/// What one host shows, by the name of the fact.
std::map<std::string, Shares> host_counts(const SystemTopology& system) {
  std::map<std::string, Shares> counts;
  for (const SystemNode& node : system.nodes) {
    const std::string& kind = node.name.kind;
    const bool has_speed = kind == "NET" && node.speed >= 0;
    if (kind == "NET" || kind == "GPU" || kind == "CPU") {
      ++counts["devices of a host"]
              [has_speed ? fmt::format("NIC of {:.1f} GB/s", node.speed) : kind];
    }
    if (kind == "GPU" && node.parent >= 0) {
      ++counts["PCI links of GPUs"][link_text(node.link, node.bw)];
    }
  }
  for (const SystemLink& link : system.links) {
    if (kind_of(system, link.from) != "GPU") continue;
    ++counts["NVLinks of GPUs"][link_text(link.type, link.bw)];
  }
  add_gpu_paths(system, "GPU", counts["paths between GPUs"]);
  add_gpu_paths(system, "NET", counts["paths from GPUs to NICs"]);
  std::erase_if(counts, [](const auto& entry) { return entry.second.empty(); });
  return counts;
}

/// A file may describe a host that another one describes too, or more than what NCCL uses.
bool is_printed(const HostTopology& host) { return host.source.empty() && !host.system.cut; }

FactValue::Set topology(const Job& job, const Instance&) {
  StatedByName stated;
  Evidence line;
  for_each_said<SystemHeader>(job, [&](const Said<SystemHeader>& said) {
    if (line.where.line == 0 || said.where() < line.where) line = evidence_of(said.record());
  });
  for (const HostTopology& host : job.topologies) {
    if (!is_printed(host)) continue;
    for (const auto& [name, counts] : host_counts(host.system)) {
      stated[name].try_emplace(counts_text(counts), line);
    }
  }
  stated[std::string(kNvlinkSharp)] = stated_by<NvlsSupport>(job, [](const auto& nvls) {
    return nvls.state == "available" ? "available" : "not available";
  });
  // As benchmarks list them.
  for (const Measurement& measurement : measurements(job)) {
    if (measurement.gpus.empty()) continue;
    stated[std::string(kGpuModels)].try_emplace(join(measurement.gpus, ", "));
  }
  return stated_facts(stated);
}

FactValue without_topology(const Job& job, const FactValue& other, const Job&) {
  if (other.of == kNvlinkSharp) return unknown("no line of its logs tells of NVLink SHARP");
  if (other.of == kGpuModels) return unknown();
  if (std::ranges::any_of(job.topologies, is_printed)) return no();
  return unknown("no process prints its host's devices (subsystem GRAPH)");
}

constexpr TopicRow kSetupTopics[] = {
    {Topic::Setting, "setting", "setting", "not set", setting_values, "", without_setting},
    {Topic::Version, "version", "version of", "none", versions,
     "no line of its logs names the version"},
    {Topic::Network, "network", "", "none", network_values, "", without_network},
    {Topic::Interface, "interface", "interfaces:", "none", interfaces,
     "no line of its logs lists them"},
    {Topic::Topology, "topology", "topology:", "none", topology, "", without_topology},
};

}  // namespace

std::span<const TopicRow> setup_topics() { return kSetupTopics; }

std::set<int> ranks_with_settings(const Job& job) {
  std::set<int> ranks;
  for (const int p : readers_of(job, job_instance(job))) ranks.insert(nth_process(job, p).rank);
  ranks.erase(-1);
  return ranks;
}

}  // namespace ncclog
