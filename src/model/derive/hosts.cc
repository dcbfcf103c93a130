// What the job runs on: its network, the devices of its hosts, and what their kernels report.
//
//   NET/IB : Using [0]mlx5_0:1/IB …                     → network IB, an interface of that host
//   + PCI[48.0] - GPU/0-a1000 (3)                       → a node of its topology, the GPU of rank 3
//   node-a kernel: NVRM: Xid (PCI:0000:1b:00): 79, …    → host node-a, the rank on that GPU

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/sorting.h"
#include "base/text.h"
#include "log/address.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/derive/steps.h"
#include "model/job.h"

namespace ncclog {
namespace {

/// Of hosts' names.
constexpr bool is_name_char(char c) { return is_word(c) || c == '-'; }

// Which host does the name of a file name?

/// Words that people put in front of a host when they name a file: "dmesg-node-a.txt".
constexpr std::string_view kFileWords[] = {"dmesg",   "kern",     "kernel", "syslog",
                                           "journal", "messages", "log",    "logs",
                                           "xid",     "nvidia",   "lspci"};

/// A name may begin behind `before`: "logs/", "dmesg-", "kern_"; not behind "gpu-".
bool begins_name(std::string_view before) {
  if (before.empty() || !is_name_char(before.back())) return true;
  const bool joined = before.back() == '-' || before.back() == '_';
  before.remove_suffix(1);
  return joined &&
         std::ranges::any_of(kFileWords, [&](auto word) { return before.ends_with(word); });
}

/// A name may end before `behind`: ".dmesg", "/kern.log", "-dmesg.txt"; not before "-2".
bool ends_name(std::string_view behind) {
  if (behind.empty() || !is_name_char(behind.front())) return true;
  const bool joined = behind.front() == '-' || behind.front() == '_';
  return joined && starts_with_one_of(behind.substr(1), kFileWords);
}

/// The host that stands in the path as a name of its own, not as a part of another name; empty if it
/// names none, or several of which none holds the others.
std::string host_of_file(const std::set<std::string>& hosts, std::string_view path) {
  std::set<std::string> named;
  for (size_t begin = 0; begin < path.size(); ++begin) {
    if (!begins_name(path.substr(0, begin))) continue;
    for (size_t end = begin + 1; end <= path.size(); ++end) {
      if (!ends_name(path.substr(end))) continue;
      std::string name(path.substr(begin, end - begin));
      if (hosts.contains(name)) named.insert(std::move(name));
    }
  }
  if (named.empty()) return {};
  const std::string& longest = *std::ranges::max_element(named, {}, &std::string::size);
  const bool several = std::ranges::any_of(
      named, [&](const std::string& host) { return longest.find(host) == longest.npos; });
  return several ? std::string() : longest;
}

// Which network NCCL chose, through which plugin, over which interfaces.

/// The name that most processes say last in messages of kind T, by `name_of`; the first in order of
/// several. Empty: none says one.
template <typename T, typename NameOf>
std::string elected(const Job& job, NameOf name_of, bool with_torn = true) {
  std::map<std::string_view, int> votes;
  MessageReader<T> read;
  for (const Process& process : job.processes) {
    if (process.torn && !with_torn) continue;
    std::string_view last;
    read.for_each(job, process, [&](const T& message) {
      if (const std::string_view name = std::invoke(name_of, message); !name.empty()) last = name;
    });
    if (!last.empty()) ++votes[last];
  }
  const auto best =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return std::string(best == votes.end() ? std::string_view() : best->first);
}

/// The network that most connections go through: "IB" of "via NET/IB/3/GDRDMA"; empty: none does.
std::string network_of_paths(const Job& job) {
  std::map<std::string, int> votes;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      if (transport_of(key.path) != Transport::NET) continue;
      const std::string_view name =
          std::string_view(key.path).substr(std::min<size_t>(4, key.path.size()));
      ++votes[std::string(name.substr(0, name.find('/')))];
    }
  }
  votes.erase("");
  const auto best =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return best == votes.end() ? std::string() : best->first;
}

void add_devices(std::set<Interface>& interfaces, const std::string& host,
                 std::string_view devices) {
  for (const NetDevice& device : parse_device_list(devices)) {
    if (device.name.empty()) continue;
    Interface interface {
      host, std::string(device.name), std::string(device.address), device.port,
          std::string(device.link)
    };
    // By the kernel's naming; ib0 and plugins' names are left open.
    constexpr std::string_view kEthernet[] = {"en", "eth", "bond"};
    const bool is_ethernet = interface.port < 0 && starts_with_one_of(device.name, kEthernet);
    if (interface.link.empty() && is_ethernet) interface.link = "Ethernet";
    interfaces.insert(std::move(interface));
  }
}

std::vector<Interface> list_interfaces(const Job& job) {
  std::set<Interface> interfaces;
  // The ranks of a host mostly stand together, and print the same.
  std::string_view host;
  std::vector<const RecordText*> known;
  const auto is_new = [&](const Process& process, const Record& record) {
    if (process.host != host) known.clear();
    host = process.host;
    if (std::ranges::find(known, record.rest) != known.end()) return false;
    known.push_back(record.rest);
    return true;
  };
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<BootstrapInterface>, [&](const Record& record) {
      if (!is_new(process, record)) return;
      const auto message = read_message<BootstrapInterface>(parse_message(record));
      add_devices(interfaces, process.host, message.devices);
    });
    for_each_record(job, process, kKindIndex<NetDevices>, [&](const Record& record) {
      if (!is_new(process, record)) return;
      const auto message = read_message<NetDevices>(parse_message(record));
      add_devices(interfaces, process.host, message.devices);
      add_devices(interfaces, process.host, message.oob);
    });
  }
  return {interfaces.begin(), interfaces.end()};
}

}  // namespace

void build_network(Job& job) {
  Network& network = job.network;
  network.name = elected<NetworkSelected>(job, &NetworkSelected::network);
  if (network.name.empty()) network.name = elected<NetAssigned>(job, &NetAssigned::network);
  if (network.name.empty()) network.name = network_of_paths(job);
  // Every network that NCCL tries lists its devices; which one it took may be in a lost line.
  if (network.name.empty()) {
    const auto with_devices = [](const NetDevices& list) {
      return parse_device_list(list.devices).empty() ? std::string_view() : list.network;
    };
    network.name = elected<NetDevices>(job, with_devices, false);
  }
  if (network.name.empty())
    network.name = elected<NetPluginStarted>(job, &NetPluginStarted::network);
  network.plugin = elected<PluginLoaded>(job, [](const PluginLoaded& plugin) {
    return plugin.type == "NET" ? plugin.name : std::string_view();
  });
  if (network.plugin.empty()) {
    network.plugin = elected<PluginMissing>(job, [](const PluginMissing& plugin) {
      return plugin.type == "NET" ? std::string_view("internal") : std::string_view();
    });
  }
  network.interfaces = list_interfaces(job);
}

// What devices does each host have, as far as its processes print them?
//
// Every process prints the machine once per communicator, without the GPUs that the communicator
// does not use and with those of other hosts that NVLink reaches. The parts are put together by
// the names of the nodes.

namespace {

bool is_of_one_host(const SystemTopology& all) {
  return std::ranges::all_of(all.nodes, [&](const SystemNode& node) {
    return node.name.system == all.nodes.front().name.system;
  });
}

/// The host of an NVLink domain in which GPU `rank` is; nullopt: nobody knows.
std::optional<uint64_t> system_of(const SystemTopology& all, int rank) {
  const auto own = std::ranges::find_if(all.nodes, [&](const SystemNode& node) {
    return node.name.kind == "GPU" && node.rank == rank && rank >= 0;
  });
  return own == all.nodes.end() ? std::nullopt : std::optional(own->name.system);
}

/// What the processes of a host print, put together.
struct HostSystem {
  std::shared_ptr<const SystemTopology> system;  ///< nullptr: they print none.
  /// Tables whose nodes are all in `system`, the first kMaxKnown: the ranks of a host print the
  /// same ones.
  std::vector<const BoundedLines*> known;

  static constexpr size_t kMaxKnown = 16;

  bool knows(const BoundedLines& table) const {
    return std::ranges::any_of(known, [&](const BoundedLines* other) { return *other == table; });
  }
};

/// A table of a log, taken apart.
struct PrintedSystem {
  std::shared_ptr<const SystemTopology> system;
  const BoundedLines* table = nullptr;
  bool is_whole = false;        ///< All of it counts, and not a part that depends on the rank.
  std::optional<uint64_t> own;  ///< The host whose nodes count; nullopt: all do.
  std::ptrdiff_t nodes = 0;     ///< That count.
};

/// Tables that were taken apart, by their bytes and whether they are cut, and what was put together
/// of them: hosts that are alike print the same ones.
struct ParsedTables {
  using System = std::shared_ptr<const SystemTopology>;
  std::map<std::tuple<const char*, size_t, bool>, System> systems;
  std::map<std::tuple<System, System, std::optional<uint64_t>>, System> joined;

  static constexpr size_t kMost = 64;

  /// `a` with what add_system adds to it of `b`.
  System join(const System& a, const System& b, std::optional<uint64_t> only) {
    if (joined.size() == kMost) joined.clear();
    System& known = joined[{a, b, only}];
    if (known == nullptr) {
      auto both = std::make_shared<SystemTopology>(*a);
      add_system(*both, *b, only);
      known = std::move(both);
    }
    return known;
  }

  System parse(const BoundedLines& table) {
    if (systems.size() == kMost) systems.clear();
    auto& known = systems[{table.bytes().data(), table.bytes().size(), table.cut()}];
    if (known == nullptr) {
      // Put together as tables are, so that a host's only one can be taken as it is.
      auto alone = std::make_shared<SystemTopology>();
      add_system(*alone, parse_system(table), std::nullopt);
      known = std::move(alone);
    }
    return known;
  }
};

/// The topologies in a log that are not known, the one with most nodes first.
std::vector<PrintedSystem> printed_by(const SpeakerLog& log, const HostSystem& host,
                                      ParsedTables& parsed) {
  std::vector<PrintedSystem> found;
  for (const InitSection& section : log.inits.all()) {
    if (!section.system.has_lines() || host.knows(section.system)) continue;
    PrintedSystem printed{parsed.parse(section.system), &section.system};
    printed.is_whole = is_of_one_host(*printed.system);
    if (!printed.is_whole) printed.own = system_of(*printed.system, section.rank);
    printed.nodes = std::ranges::count_if(printed.system->nodes, [&](const SystemNode& node) {
      return !printed.own || node.name.system == *printed.own;
    });
    if (printed.nodes > 0) found.push_back(std::move(printed));
  }
  std::ranges::stable_sort(found, std::greater(), &PrintedSystem::nodes);
  return found;
}

std::map<std::string, HostSystem> systems_by_host(const Job& job) {
  std::map<std::string, HostSystem> by_host;
  ParsedTables parsed;
  const auto none = std::make_shared<const SystemTopology>();
  for (const Process& process : job.processes) {
    for (const size_t log : process.logs) {
      if (job.logs[log].inits.all().empty()) continue;
      HostSystem& host = by_host[process.host];
      for (const PrintedSystem& printed : printed_by(job.logs[log], host, parsed)) {
        if (host.system == nullptr && printed.is_whole) {
          host.system = printed.system;
        } else {
          host.system =
              parsed.join(host.system != nullptr ? host.system : none, printed.system, printed.own);
        }
        const bool keep = printed.is_whole && host.known.size() < HostSystem::kMaxKnown;
        if (keep) host.known.push_back(printed.table);
      }
    }
  }
  std::erase_if(by_host, [](const auto& entry) {
    return entry.second.system == nullptr || entry.second.system->nodes.empty();
  });
  return by_host;
}

/// Who drives a GPU.
struct GpuUse {
  int rank = -1;
  int nvml_dev = -1;
  std::string fabric;  ///< "fabric 12ab.34cd, clique 0x7ffe"; empty: it belongs to none.
};
using BusIds = std::map<std::pair<std::string, uint64_t>, GpuUse>;  ///< By host and bus id.

/// The rank that drives each GPU; ranks of the largest communicator win.
BusIds uses_by_bus_id(const Job& job) {
  BusIds uses;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const auto bus_id = parse_hex(rank.bus_id);
      if (rank.process < 0 || !bus_id) continue;
      const Process& process = nth_process(job, rank.process);
      // Ranks follow one another from host to host.
      uses.try_emplace(uses.end(), {process.host, *bus_id},
                       GpuUse{process.rank >= 0 ? process.rank : rank.rank, rank.nvml_dev, ""});
    }
  }
  return uses;
}

/// Notes the NVLink fabric of each GPU that belongs to one; a process prints that of its own.
void add_fabrics(const Job& job, BusIds& uses) {
  MessageReader<MnnvlFabric> read;
  for (const Process& process : job.processes) {
    read.for_each(job, process, [&](const MnnvlFabric& gpu) {
      if (gpu.uuid == "0.0") return;
      uses[{process.host, gpu.bus_id.value}].fabric =
          fmt::format("fabric {}, clique {:#x}", gpu.uuid, gpu.clique_id.value);
    });
  }
}

void add_uses(HostTopology& topology, const BusIds& by_bus_id) {
  for (SystemNode& node : topology.system.nodes) {
    const auto known = node.name.kind == "GPU" ? by_bus_id.find({topology.host, node.name.local})
                                               : by_bus_id.end();
    topology.ranks.push_back(known != by_bus_id.end() ? known->second.rank : -1);
    if (known == by_bus_id.end()) continue;
    if (node.dev < 0) node.dev = known->second.nvml_dev;
    if (!known->second.fabric.empty()) node.detail = known->second.fabric;
  }
}

using DeviceNames = std::map<std::pair<std::string, uint64_t>, std::string>;  ///< By host, number.

/// Names of the devices of the network in use, as its list numbers them; the parts of a fused one
/// are joined.
DeviceNames device_names(const Job& job) {
  std::map<std::pair<std::string, uint64_t>, std::set<std::string>> parts;
  const Process* last_process = nullptr;
  std::string_view last;
  MessageReader<NetDevices> read;
  for (const Process& process : job.processes) {
    read.for_each(job, process, [&](const NetDevices& list) {
      if (list.network != job.network.name) return;
      // The ranks of a host print the same list.
      const bool is_same = last_process != nullptr && last_process->host == process.host &&
                           last.data() == list.devices.data();
      last_process = &process;
      last = list.devices;
      if (is_same) return;
      for (const NetDevice& device : parse_device_list(list.devices)) {
        if (device.index < 0 || device.name.empty()) continue;
        parts[{process.host, static_cast<uint64_t>(device.index)}].emplace(device.name);
      }
    });
  }
  DeviceNames names;
  for (const auto& [device, all] : parts) {
    names[device] = join(std::vector<std::string>(all.begin(), all.end()), "+");
  }
  return names;
}

/// What NCCL says about each RDMA device, by host and name: "port 1, IB, 400000 Mbit/s, Mlx5".
std::map<std::pair<std::string, std::string>, std::string> device_details(const Job& job) {
  std::map<std::pair<std::string, std::string>, std::string> details;
  MessageReader<IbDevice> read;
  for (const Process& process : job.processes) {
    read.for_each(job, process, [&](const IbDevice& device) {
      details.try_emplace({process.host, std::string(device.name)},
                          fmt::format("port {}, {}, {} Mbit/s, {}", device.port, device.link,
                                      device.speed, device.provider));
    });
  }
  return details;
}

void note_nvls(Job& job) {
  MessageReader<NvlsSupport> read;
  for (Process& process : job.processes) {
    read.for_each(job, process, [&](const NvlsSupport& nvls) {
      process.nvls = nvls.state == "available" ? 1 : 0;
    });
  }
}

}  // namespace

void build_topologies(Job& job) {
  note_nvls(job);
  BusIds uses = uses_by_bus_id(job);
  add_fabrics(job, uses);
  const DeviceNames names = device_names(job);
  const auto details = device_details(job);
  std::set<std::string> hosts;
  for (const Process& process : job.processes) {
    const bool is_known = !hosts.empty() && *hosts.rbegin() == process.host;
    if (!process.host.empty() && !is_known) hosts.insert(process.host);
  }
  for (HostTopology& file : job.topologies) {
    file.host = host_of_file(hosts, file.source.substr(file.source.find_last_of('/') + 1));
  }
  for (PciListing& listing : job.pci_devices) {
    // The name of the file, or that of the folder it is in: "node-a/lspci.txt".
    const std::vector<std::string_view> parts = split(listing.source, '/');
    for (auto part = parts.rbegin(); part != parts.rend() && part - parts.rbegin() < 2; ++part) {
      if (listing.host.empty()) listing.host = host_of_file(hosts, *part);
    }
  }
  std::map<std::string, std::string> hosts_of_sources;
  for (PortCounter& counter : job.port_counters) {
    if (!counter.host.empty()) continue;
    const auto [known, is_new] = hosts_of_sources.try_emplace(counter.source);
    // Likewise, and of trees: "node-a/before/sys/class/infiniband".
    for (const std::string_view part : split(counter.source, '/')) {
      if (is_new && known->second.empty()) known->second = host_of_file(hosts, part);
    }
    counter.host = known->second;
  }
  for (auto& [host, printed] : systems_by_host(job)) {
    HostTopology topology;
    topology.host = host;
    topology.system = *printed.system;
    for (SystemNode& node : topology.system.nodes) {
      if (node.name.kind != "NET") continue;
      const auto name = names.find({host, node.name.local});
      if (name == names.end()) continue;
      node.device = name->second;
      const auto detail = details.find({host, node.device});
      if (detail != details.end()) node.detail = detail->second;
    }
    job.topologies.push_back(std::move(topology));
  }
  for (HostTopology& topology : job.topologies) add_uses(topology, uses);
  sort_unless_sorted(job.topologies, {},
                     [](const HostTopology& one) { return std::tie(one.host, one.source); });
}

// Which host, GPU and rank does a kernel line concern?

namespace {

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

/// A GPU that a rank of the job uses.
struct UsedGpu {
  std::string host;
  uint64_t bus = 0;
  int process = -1;
  int rank = -1;
};

/// What the job's own lines say about hosts, pids and GPUs.
struct Places {
  std::set<std::string> hosts;
  std::vector<UsedGpu> gpus;
  bool all_gpus_known = true;  ///< Every process of NCCL named its GPU.
  std::set<std::string> short_hosts = {};
  /// By bus and short name of the host, and by bus alone: the first of `gpus`.
  std::map<std::pair<uint64_t, std::string>, size_t> gpu_by_host = {};
  std::map<uint64_t, size_t> gpu_by_bus = {};
  /// By pid and short name of the host, and by pid alone: the only process; -1: several.
  std::map<std::pair<int64_t, std::string>, int> process_by_host = {};
  std::map<int64_t, int> process_by_pid = {};
};

Places places_of(const Job& job) {
  Places places;
  std::set<int> with_gpu;
  const auto add = [&](int process, int rank, const std::string& bus_id) {
    const auto bus = bus_number(bus_id);
    if (process < 0 || !bus) return;
    with_gpu.insert(process);
    places.gpus.push_back({nth_process(job, process).host, *bus, process, rank});
  };
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl || process.host.empty()) continue;
    places.hosts.insert(process.host);
    add(static_cast<int>(p), process.rank, process.bus_id);
  }
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      // A process with several GPUs has no global rank of its own.
      const int own = nth_process(job, rank.process).rank;
      add(rank.process, own >= 0 || &comm != &job.communicators.front() ? own : rank.rank,
          rank.bus_id);
    }
  }
  for (const std::string& host : places.hosts) places.short_hosts.emplace(short_name(host));
  for (size_t g = 0; g < places.gpus.size(); ++g) {
    const UsedGpu& gpu = places.gpus[g];
    places.gpu_by_host.try_emplace({gpu.bus, std::string(short_name(gpu.host))}, g);
    places.gpu_by_bus.try_emplace(gpu.bus, g);
  }
  const auto note = [](auto& processes, const auto& key, size_t p) {
    const auto [known, is_new] = processes.try_emplace(key, static_cast<int>(p));
    if (!is_new) known->second = -1;
  };
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    note(places.process_by_host, std::pair(process.pid, std::string(short_name(process.host))), p);
    note(places.process_by_pid, process.pid, p);
  }
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const bool silent = job.processes[p].has_nccl && !with_gpu.contains(static_cast<int>(p));
    places.all_gpus_known &= !silent;
  }
  return places;
}

/// The process with the event's pid; -1 if none or several, or if it uses another GPU.
int process_with_pid(const Job& job, const Places& places, const KernelEvent& event) {
  constexpr int kNone = -1;
  constexpr int kSeveral = -2;
  if (event.pid < 0) return kNone;
  int found = kNone;
  const auto add = [&](const auto& processes, const auto& key) {
    const auto known = processes.find(key);
    if (known == processes.end()) return;
    found = found == kNone && known->second >= 0 ? known->second : kSeveral;
  };
  const std::string host(short_name(event.host));
  if (event.host.empty()) {
    add(places.process_by_pid, event.pid);
  } else {
    add(places.process_by_host, std::pair(event.pid, host));
    // Of one that names no host.
    if (!host.empty()) add(places.process_by_host, std::pair(event.pid, std::string()));
  }
  if (found < 0) return -1;
  const auto own = bus_number(nth_process(job, found).bus_id);
  const auto named = bus_number(event.bus_id);
  // In a container the same number may be somebody else's.
  return own && named && *own != *named ? -1 : found;
}

KernelRelation relation_to_gpus(const Places& places, KernelEvent& event) {
  const bool known = !event.host.empty();
  const std::string host(short_name(event.host));
  const bool here = known && places.short_hosts.contains(host);
  if (known && !here && !places.hosts.empty()) return KernelRelation::OtherHost;
  const KernelRelation otherwise = here ? KernelRelation::Host : KernelRelation::Unknown;
  const auto bus = bus_number(event.bus_id);
  const bool names_gpu = event.kind == kKindIndex<Xid> || event.kind == kKindIndex<GpuOffBus> ||
                         event.kind == kKindIndex<GpuStartFailed>;
  if (!names_gpu || !bus) return otherwise;
  size_t first = places.gpus.size();
  const auto add = [&](const auto& gpus, const auto& key) {
    const auto gpu = gpus.find(key);
    if (gpu != gpus.end()) first = std::min(first, gpu->second);
  };
  if (known) {
    add(places.gpu_by_host, std::pair(*bus, host));
    add(places.gpu_by_host, std::pair(*bus, std::string()));
  } else {
    add(places.gpu_by_bus, *bus);
  }
  const bool used_elsewhere = first < places.gpus.size();
  if (used_elsewhere && here) {
    event.process = places.gpus[first].process;
    event.rank = places.gpus[first].rank;
    return KernelRelation::Gpu;
  }
  const bool other = !used_elsewhere && !places.gpus.empty() && places.all_gpus_known;
  return other ? KernelRelation::OtherGpu : otherwise;
}

void relate(const Job& job, const Places& places, KernelEvent& event) {
  const int process = process_with_pid(job, places, event);
  if (process < 0) {
    event.relation = relation_to_gpus(places, event);
    return;
  }
  event.relation = KernelRelation::Process;
  event.process = process;
  event.rank = nth_process(job, process).rank;
  if (event.host.empty()) event.host = nth_process(job, process).host;
}

/// The GPU that a line just above names; empty: none does.
std::string gpu_named_above(const SpeakerLog& log, SourceRef where) {
  constexpr uint64_t kSentence = 4;  // Lines into which the driver breaks one.
  std::string named;
  for (const Record& record : log.records.kept(kKindIndex<GpuNamed>)) {
    const bool is_above = record.where.unit == where.unit && record.where.line < where.line &&
                          where.line - record.where.line <= kSentence;
    const Event line = parse_record(record);
    if (is_above) named = read_message<GpuNamed>(line.message).bus_id;
  }
  return named;
}

template <typename T>
void add_events(const Places& places, Job& job) {
  std::map<std::string, std::string> hosts_of_files;
  for (const SpeakerLog& log : job.logs) {
    for (const Record& record : log.records.kept(kKindIndex<T>)) {
      const Event line = parse_record(record);
      KernelEvent event{.kind = kKindIndex<T>, .where = record.where, .text = record.text()};
      const T said = read_message<T>(line.message);
      if constexpr (requires { said.code; }) {
        if (said.code < 0) continue;  // No number that there is.
      }
      if constexpr (requires { said.bus_id; }) event.bus_id = said.bus_id;
      // As an Xid names it: a GPU has one function.
      if constexpr (std::is_same_v<T, GpuOffBus>) {
        if (event.bus_id.empty()) event.bus_id = gpu_named_above(log, record.where);
      }
      if constexpr (std::is_same_v<T, GpuOffBus> || std::is_same_v<T, GpuStartFailed>)
        event.bus_id.resize(std::min(event.bus_id.size(), event.bus_id.find('.')));
      if constexpr (std::is_same_v<T, GpuFirmwareSilent>) {
        if (said.gpu >= 0) event.bus_id = fmt::format("GPU{}", said.gpu);
      }
      if constexpr (requires { said.code; }) event.code = said.code;
      if constexpr (requires { said.pid; }) event.pid = said.pid;
      if constexpr (requires { said.name; }) event.name = said.name;
      if constexpr (requires { said.host; }) event.host = said.host;
      if (event.host.empty()) event.host = short_name(line.header.prefix.host);
      if (event.host.empty()) {
        const std::string path = file_line(job, record.where).path;
        const auto [known, is_new] = hosts_of_files.try_emplace(path);
        if (is_new) known->second = host_of_file(places.hosts, path);
        event.host = known->second;
      }
      relate(job, places, event);
      job.kernel_events.push_back(std::move(event));
    }
  }
}

template <typename... T>
void add_events_of(Job& job) {
  const bool has_some = std::ranges::any_of(
      job.logs, [](const SpeakerLog& log) { return (log.records.contains(kKindIndex<T>) || ...); });
  if (!has_some) return;
  const Places places = places_of(job);
  (add_events<T>(places, job), ...);
}

}  // namespace

void build_kernel_events(Job& job) {
  add_events_of<Xid, GpuOffBus, GpuFirmwareSilent, GpuStartFailed, Sxid, PcieError, HcaFault,
                OomKill, KernelSegfault>(job);
  std::ranges::stable_sort(job.kernel_events, {}, &KernelEvent::where);
}

}  // namespace ncclog
