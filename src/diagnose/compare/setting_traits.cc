// How was a run set up: settings, versions, interfaces, and the topology that NCCL found?
//
// Each collector adds the traits of its topic, and says why a run may lack one.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/compare/run_difference.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/settings/nccl_variables.h"
#include "log/address.h"
#include "log/messages.h"

namespace ncclog {

// The settings of a run: what NCCL says that it has read, and who says so.
//
//   NCCL_P2P_DISABLE set by environment to 1.     on ranks 0-3 of 4    → NCCL_P2P_DISABLE: "1"
//   NCCL_ALGO set by environment to Ring          on rank 3 of 4       → "Ring on rank 3; …"
//
// Who prints a setting counts where it is read everywhere. Values that name files, hosts or
// addresses are different in every run and count only as being there.

namespace {

constexpr std::string_view kConfigPrefix = "Comm config ";

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What is written where, and by whom it can be reached: it changes nothing in the job.
bool is_about_logging(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"NCCL_RAS_ADDR", "NCCL_RAS_ENABLE",
                                                      "NCCL_SET_THREAD_NAME", "NCCL_CONF_FILE",
                                                      "NCCL_RAS_TIMEOUT_FACTOR"};
  return name.starts_with("NCCL_DEBUG") || name.find("DUMP") != name.npos ||
         is_one_of(name, kNames);
}

/// Has another value in every run, or on every host.
bool is_never_alike(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"NCCL_COMM_ID", "NCCL_HOSTID",
                                                      "NCCL_RAS_ADDR", "NCCL_SOCKET_MAGIC"};
  return is_one_of(name, kNames) || name.ends_with("_DUMP_FILE") || name == "NCCL_DEBUG_FILE";
}

/// Where a setting was printed.
struct Printed {
  std::vector<Evidence> lines;
  bool is_early = false;  ///< Before the end of the process's first initialisation, somewhere.
};

/// By name. Settings of processes that start NCCL are read in the same places everywhere, so a few
/// lines of each name tell.
std::map<std::string, Printed, std::less<>> printed_settings(const Job& job) {
  std::map<std::string, Printed, std::less<>> printed;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    auto found = printed.find(said.message.name);
    if (found == printed.end())
      found = printed.emplace(std::string(said.message.name), Printed()).first;
    Printed& setting = found->second;
    if (setting.lines.empty()) setting.lines.push_back(evidence_of(said.record));
    if (setting.is_early) return;
    const SourceRef completed = first_complete(job, nth_process(job, said.process));
    setting.is_early = completed.line == 0 || said.record.where < completed;
  });
  return printed;
}

/// Processes whose settings the logs show: they print some, or come to the end of an
/// initialisation. Only those of `ranks`, unless that is empty.
std::set<int> readers_of(const Job& job, const std::set<int>& ranks) {
  std::set<int> readers;
  const auto is_wanted = [&](int process) {
    return ranks.empty() || ranks.contains(nth_process(job, process).rank);
  };
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int process : setting.processes) {
      if (is_wanted(process)) readers.insert(process);
    }
  }
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const bool is_reader = first_complete(job, job.processes[p]).line != 0;
    if (is_reader && is_wanted(static_cast<int>(p))) readers.insert(static_cast<int>(p));
  }
  return readers;
}

/// "ranks 0-3", "2 processes".
std::string who(const Job& job, const std::set<int>& processes) {
  std::vector<int> ranks;
  for (const int p : processes) {
    const int rank = nth_process(job, p).rank;
    if (rank < 0)
      return fmt::format("{} process{}", processes.size(), processes.size() == 1 ? "" : "es");
    ranks.push_back(rank);
  }
  return ranks_phrase(ranks);
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
    parts.push_back(fmt::format("{} on {}", value, who(job, processes)));
  }
  if (!silent.empty()) parts.push_back("not printed by " + who(job, silent));
  return join(parts, "; ");
}

std::string values_text(const Camps& camps) {
  std::vector<std::string> values;
  for (const auto& [value, processes] : camps) values.push_back(value);
  return join(values, ", ");
}

Trait setting_trait(const Job& job, const std::string& name, const Camps& camps,
                    const std::set<int>& readers) {
  Trait trait{.topic = Topic::Setting, .name = name};
  const bool everywhere = !is_read_where_used(name) && !is_about_logging(name);
  trait.value = everywhere ? camps_text(job, camps, readers) : values_text(camps);
  trait.alike = is_never_alike(name) ? "set" : without_names(job, trait.value);
  trait.is_note = is_about_logging(name);
  return trait;
}

/// What the application asked for when it made a communicator, but for its name.
void add_config_traits(const Job& job, Traits& traits) {
  std::map<std::string, StatedValues> by_name;
  for_each_said<CommConfig>(job, [&](const Said<CommConfig>& said) {
    if (said.message.name == "Comm name") return;
    by_name[std::string(said.message.name)].add(std::string(said.message.value),
                                                evidence_of(said.record));
  });
  for (const auto& [name, values] : by_name) {
    traits.push_back(trait_of(Topic::Setting, std::string(kConfigPrefix) + name, values));
  }
}

/// Whether some release of the job reads the variable.
bool is_read_by_release(const Job& job, std::string_view name) {
  const NcclVariable* variable = find_nccl_variable(name);
  if (variable == nullptr || job.nccl_versions.empty()) return true;
  return std::any_of(job.nccl_versions.begin(), job.nccl_versions.end(),
                     [&](const std::string& version) {
                       const bool is_older = compare_releases(version, variable->first) < 0;
                       const bool is_newer =
                           !variable->last.empty() && compare_releases(version, variable->last) > 0;
                       return !is_newer && (!is_older || variable->first == "2.4.2");
                     });
}

bool is_connected(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(),
                     [](const SpeakerLog& log) { return !log.connections.all.empty(); });
}

}  // namespace

std::set<int> ranks_with_settings(const Job& job) {
  std::set<int> ranks;
  for (const int p : readers_of(job, {})) ranks.insert(nth_process(job, p).rank);
  ranks.erase(-1);
  return ranks;
}

void add_setting_traits(const Job& job, const std::set<int>& ranks, Traits& traits) {
  const std::set<int> readers = readers_of(job, ranks);
  std::map<std::string, Camps> by_name;
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int p : setting.processes) {
      if (readers.contains(p)) by_name[setting.name][setting.value].insert(p);
    }
  }
  const auto printed = printed_settings(job);
  for (const auto& [name, camps] : by_name) {
    Trait trait = setting_trait(job, name, camps, readers);
    if (const auto lines = printed.find(name); lines != printed.end()) {
      trait.evidence = lines->second.lines;
      trait.is_late = !lines->second.is_early;
    }
    traits.push_back(std::move(trait));
  }
  add_config_traits(job, traits);
}

Absence setting_absence(const Job& job, const Trait& other) {
  if (!has_spoken(job, Subsystem::Env)) {
    return not_told("its logs show no setting: none is set, or ENV is not among its subsystems");
  }
  if (is_torn(job) || job.losses.count(Loss::LineLeftOut) > 0) {
    return not_told("lines of its logs are torn or left out");
  }
  if (!has_initialised(job)) return not_told("no rank came to the end of its initialisation");
  if (is_read_where_used(other.name)) return not_told("NCCL reads it only where it is of use");
  if (!is_read_by_release(job, other.name)) return not_told("its release of NCCL does not read it");
  if (other.is_late && !is_connected(job)) return not_told("it did not come as far as to read it");
  return proven();
}

// Which software a run uses: NCCL, CUDA, the driver, PyTorch, plugins and the network that they
// bring.
//
//   NCCL version 2.28.9+cuda13.0        → NCCL: "2.28.9", CUDA of NCCL: "13.0"
//   cudaDriverVersion 13000             → CUDA driver: "13.0"
//   Using network AWS Libfabric         → network: "AWS Libfabric"

namespace {

constexpr std::string_view kNetwork = "network";
constexpr std::string_view kNetPlugin = "network plugin";
constexpr std::string_view kGpuDirect = "GPU Direct RDMA";

void add_if_any(Topic topic, std::string_view name, const StatedValues& values, Traits& traits) {
  if (!values.empty()) traits.push_back(trait_of(topic, std::string(name), values));
}

/// Versions that the job lists; lines that name them are shown where there are some.
void add_listed(const Job& job, std::string_view name, Product product, const StatedValues& said,
                Traits& traits) {
  StatedValues values;
  for (const std::string& version : versions_of(job, product)) {
    const auto line = said.lines.find(version);
    values.add(version, line == said.lines.end() ? Evidence() : line->second);
  }
  add_if_any(Topic::Version, name, values, traits);
}

void add_nccl(const Job& job, Traits& traits) {
  StatedValues nccl;
  StatedValues cuda;
  for_each_said<NcclVersion>(job, [&](const Said<NcclVersion>& said) {
    nccl.add(std::string(said.message.version), evidence_of(said.record));
    cuda.add(std::string(said.message.cuda), evidence_of(said.record));
  });
  add_listed(job, "NCCL", Product::Nccl, nccl, traits);
  add_listed(job, "CUDA of NCCL", Product::Cuda, cuda, traits);
}

/// "13.0" for 13000.
std::string cuda_release(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

void add_driver(const Job& job, Traits& traits) {
  StatedValues drivers;
  for_each_said<CudaDriverVersion>(job, [&](const Said<CudaDriverVersion>& said) {
    if (said.message.version < 0) return;
    drivers.add(cuda_release(said.message.version), evidence_of(said.record));
  });
  add_if_any(Topic::Version, "CUDA driver", drivers, traits);
}

void add_parts(const Job& job, Traits& traits) {
  StatedValues torch;
  for_each_said<TorchVersionLine>(job, [&](const Said<TorchVersionLine>& said) {
    torch.add(std::string(said.message.version), evidence_of(said.record));
  });
  add_listed(job, "PyTorch", Product::PyTorch, torch, traits);
  StatedValues sources;
  for_each_said<GitVersion>(job, [&](const Said<GitVersion>& said) {
    sources.add(std::string(said.message.commit), evidence_of(said.record));
  });
  add_if_any(Topic::Version, "source of NCCL", sources, traits);
  std::map<std::string, StatedValues> ofi;
  for_each_said<OfiVersion>(job, [&](const Said<OfiVersion>& said) {
    if (said.message.part == "CUDA driver") return;
    ofi[std::string(said.message.part)].add(std::string(said.message.version),
                                            evidence_of(said.record));
  });
  for (const auto& [part, values] : ofi) add_if_any(Topic::Version, part, values, traits);
}

void add_network_name(const Job& job, Traits& traits) {
  StatedValues networks;
  for_each_said<NetworkSelected>(job, [&](const Said<NetworkSelected>& said) {
    networks.add(std::string(said.message.network), evidence_of(said.record));
  });
  if (networks.empty() && !job.network.name.empty()) networks.add(job.network.name, {});
  add_if_any(Topic::Network, kNetwork, networks, traits);
}

/// "NET" and the other kinds of a network plugin keep their words, as do "TUNER", "ENV", …
std::string plugin_trait_name(std::string_view type) {
  return type == "NET" ? std::string(kNetPlugin) : std::string(type) + " plugin";
}

void add_plugins(const Job& job, Traits& traits) {
  std::map<std::string, StatedValues> plugins;
  for_each_said<PluginLoaded>(job, [&](const Said<PluginLoaded>& said) {
    const PluginLoaded& plugin = said.message;
    std::string value(plugin.name);
    if (!plugin.version.empty()) value += fmt::format(" ({})", plugin.version);
    plugins[plugin_trait_name(plugin.type)].add(std::move(value), evidence_of(said.record));
  });
  StatedValues& net = plugins[std::string(kNetPlugin)];
  if (net.empty() && !job.network.plugin.empty()) net.add(job.network.plugin, {});
  for (const auto& [name, values] : plugins) add_if_any(Topic::Network, name, values, traits);
}

void add_gpu_direct(const Job& job, Traits& traits) {
  StatedValues states;
  for_each_said<GpuDirect>(job, [&](const Said<GpuDirect>& said) {
    states.add(std::string(said.message.state), evidence_of(said.record));
  });
  add_if_any(Topic::Network, kGpuDirect, states, traits);
}

}  // namespace

void add_version_traits(const Job& job, Traits& traits) {
  add_nccl(job, traits);
  add_driver(job, traits);
  add_parts(job, traits);
}

Absence version_absence(const Job&, const Trait&) {
  return not_told("no line of its logs names the version");
}

void add_network_traits(const Job& job, Traits& traits) {
  add_network_name(job, traits);
  add_plugins(job, traits);
  add_gpu_direct(job, traits);
}

Absence network_absence(const Job& job, const Trait& other) {
  if (other.name == kNetwork) return not_told("no line of its logs says which network NCCL uses");
  if (other.name == kGpuDirect) return not_told("no line of its logs tells of GPU Direct RDMA");
  // NCCL says of every plugin whether it was found.
  if (other.name == kNetPlugin || !has_initialised(job)) {
    return not_told("no line of its logs tells of plugins");
  }
  return proven();
}

// Through which interfaces and RDMA devices do the hosts of a run talk?
//
//   Bootstrap: Using eth0:192.0.2.2<0>                     → bootstrap: "eth0"
//   NET/IB : Using [0]mlx5_0:1/IB … ; OOB ib0:10.1.2.3<0>  → devices of IB: "mlx5_0:1/IB, …"
//
// Hosts are told apart by what they list only. Interfaces that somebody makes for each container or
// virtual machine have numbers that mean nothing: "vn542a10" counts as "vn*a*".

namespace {

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

std::string device_name(const NetDevice& device) {
  std::string name = lasting_name(device);
  if (device.port >= 0) name += fmt::format(":{}", device.port);
  if (!device.link.empty()) name += fmt::format("/{}", device.link);
  return name;
}

/// What a host lists in one place.
using Devices = std::set<std::string>;

struct HostDevices {
  Devices devices;
  Evidence line;
};

/// By host, for each place in which devices are listed.
using Lists = std::map<std::string, std::map<std::string, HostDevices>>;

void add_list(std::string_view list, const std::string& place, const std::string& host,
              const Record& record, Lists& lists) {
  HostDevices& there = lists[place][host];
  if (there.line.where.line == 0) there.line = evidence_of(record);
  for (const NetDevice& device : parse_device_list(list)) {
    // NCCL's buffer may end in the middle of the last one.
    const bool cut = place == "devices of IB" && device.link != "IB" && device.link != "RoCE";
    if (!cut) there.devices.insert(device_name(device));
  }
}

Lists device_lists(const Job& job) {
  Lists lists;
  const auto host_of = [&](int process) -> const std::string& {
    return nth_process(job, process).host;
  };
  for_each_said<BootstrapInterface>(job, [&](const Said<BootstrapInterface>& said) {
    add_list(said.message.devices, "bootstrap", host_of(said.process), said.record, lists);
  });
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    const std::string& host = host_of(said.process);
    const std::string network(said.message.network);
    add_list(said.message.devices, "devices of " + network, host, said.record, lists);
    if (said.message.oob.empty()) return;
    add_list(said.message.oob, "out-of-band of " + network, host, said.record, lists);
  });
  return lists;
}

std::string devices_text(const Devices& devices) {
  if (devices.empty()) return "none";
  return join(std::vector<std::string>(devices.begin(), devices.end()), " ");
}

}  // namespace

void add_interface_traits(const Job& job, Traits& traits) {
  for (const auto& [place, hosts] : device_lists(job)) {
    StatedValues values;
    for (const auto& [host, there] : hosts) values.add(devices_text(there.devices), there.line);
    traits.push_back(trait_of(Topic::Interface, place, values));
  }
}

Absence interface_absence(const Job&, const Trait&) {
  return not_told("no line of its logs lists them");
}

// What hangs on what in the hosts of a run, as NCCL sees it?
//
//   GPU/0-a1000 … (2/240.0/NVL) … (4/48.0/PHB)   → between GPUs: "NVL", GPUs to NICs: "PHB"
//
// Hosts are told apart by what they have only, so a job on other hosts of the same sort has the
// same traits. Bus ids and the order of devices are names, and left out.

namespace {

constexpr std::string_view kNvls = "NVLink SHARP";

using Counts = std::map<std::string, int64_t>;

/// "56 NVL, 8 SYS".
std::string counts_text(const Counts& counts) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : counts) parts.push_back(fmt::format("{} {}", count, what));
  return join(parts, ", ");
}

/// "NVL at 370.8 GB/s".
std::string link_text(std::string_view type, double bw) {
  return bw < 0 ? std::string(type) : fmt::format("{} at {:.1f} GB/s", type, bw);
}

/// What one host shows, by the name of the trait.
class HostTraits {
 public:
  explicit HostTraits(const SystemTopology& system) : system_(system) {
    add_devices();
    add_gpu_links();
    add_paths("GPU", "paths between GPUs");
    add_paths("NET", "paths from GPUs to NICs");
  }

  const std::map<std::string, Counts>& counts() const { return counts_; }

 private:
  const std::string& kind_of(int node) const {
    return system_.nodes[static_cast<size_t>(node)].name.kind;
  }

  void add_devices() {
    for (const SystemNode& node : system_.nodes) {
      const bool is_net = node.name.kind == "NET";
      if (!is_net && node.name.kind != "GPU" && node.name.kind != "CPU") continue;
      const bool has_speed = is_net && node.speed >= 0;
      ++counts_["devices of a host"]
               [has_speed ? fmt::format("NIC of {:.1f} GB/s", node.speed) : node.name.kind];
    }
  }

  void add_gpu_links() {
    for (const SystemNode& node : system_.nodes) {
      if (node.name.kind != "GPU" || node.parent < 0) continue;
      ++counts_["PCI links of GPUs"][link_text(node.link, node.bw)];
    }
    for (const SystemLink& link : system_.links) {
      if (kind_of(link.from) != "GPU") continue;
      ++counts_["NVLinks of GPUs"][link_text(link.type, link.bw)];
    }
  }

  void add_paths(std::string_view to, const std::string& name) {
    for (const SystemPath& path : system_.paths) {
      const bool wanted =
          path.from != path.to && kind_of(path.from) == "GPU" && kind_of(path.to) == to;
      if (wanted) ++counts_[name][path.type];
    }
  }

  const SystemTopology& system_;
  std::map<std::string, Counts> counts_;
};

Evidence first_topology_line(const Job& job) {
  Evidence line;
  for_each_said<SystemHeader>(job, [&](const Said<SystemHeader>& said) {
    if (line.where.line == 0 || said.record.where < line.where) line = evidence_of(said.record);
  });
  return line;
}

void add_hosts(const Job& job, Traits& traits) {
  std::map<std::string, StatedValues> by_name;
  const Evidence line = first_topology_line(job);
  for (const HostTopology& host : job.topologies) {
    // A file may describe a host that another one describes too, or more than what NCCL uses.
    if (!host.source.empty() || host.system.cut) continue;
    const HostTraits shown(host.system);
    for (const auto& [name, counts] : shown.counts()) by_name[name].add(counts_text(counts), line);
  }
  for (const auto& [name, values] : by_name) {
    traits.push_back(trait_of(Topic::Topology, name, values));
  }
}

void add_nvls(const Job& job, Traits& traits) {
  StatedValues states;
  for_each_said<NvlsSupport>(job, [&](const Said<NvlsSupport>& said) {
    const bool available = said.message.state == "available";
    states.add(available ? "available" : "not available", evidence_of(said.record));
  });
  if (!states.empty()) traits.push_back(trait_of(Topic::Topology, std::string(kNvls), states));
}

}  // namespace

void add_topology_traits(const Job& job, Traits& traits) {
  add_hosts(job, traits);
  add_nvls(job, traits);
}

Absence topology_absence(const Job& job, const Trait& other) {
  const bool shows =
      std::any_of(job.topologies.begin(), job.topologies.end(),
                  [](const HostTopology& host) { return host.source.empty() && !host.system.cut; });
  if (other.name == kNvls) return not_told("no line of its logs tells of NVLink SHARP");
  return shows ? proven() : not_told("no process prints its host's devices (subsystem GRAPH)");
}

}  // namespace ncclog
