// What devices does each host have, as far as its processes print them?
//
// Every process prints the machine once per communicator, without the GPUs that the communicator
// does not use and with those of other hosts that NVLink reaches. The parts are put together by
// the names of the nodes.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/device_list.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "model/build_steps.h"

namespace ncclog {
namespace {

bool is_of_one_host(const SystemTopology& all) {
  return std::all_of(all.nodes.begin(), all.nodes.end(), [&](const SystemNode& node) {
    return node.name.system == all.nodes.front().name.system;
  });
}

/// Leaves only the nodes of one host of an NVLink domain: the one in which GPU `rank` is.
SystemTopology own_part(SystemTopology&& all, int rank) {
  const auto own = std::find_if(all.nodes.begin(), all.nodes.end(), [&](const SystemNode& node) {
    return node.name.kind == "GPU" && node.rank == rank && rank >= 0;
  });
  if (is_of_one_host(all) || own == all.nodes.end()) return std::move(all);
  SystemTopology part = all;
  part.nodes.clear();
  part.links.clear();
  part.paths.clear();
  std::vector<int> place(all.nodes.size(), -1);
  for (size_t n = 0; n < all.nodes.size(); ++n) {
    if (all.nodes[n].name.system != own->name.system) continue;
    place[n] = static_cast<int>(part.nodes.size());
    part.nodes.push_back(all.nodes[n]);
  }
  const auto moved = [&](int node) { return node < 0 ? -1 : place[static_cast<size_t>(node)]; };
  for (SystemNode& node : part.nodes) node.parent = moved(node.parent);
  for (SystemLink link : all.links) {
    link.from = moved(link.from);
    link.to = moved(link.to);
    if (link.from >= 0 && link.to >= 0) part.links.push_back(std::move(link));
  }
  for (SystemPath path : all.paths) {
    path.from = moved(path.from);
    path.to = moved(path.to);
    if (path.from >= 0 && path.to >= 0) part.paths.push_back(std::move(path));
  }
  return part;
}

/// What the processes of a host print, put together.
struct HostSystem {
  SystemTopology system;
  /// Tables whose nodes are all in `system`, the first kMaxKnown: the ranks of a host print the
  /// same ones.
  std::vector<const BoundedLines*> known;

  static constexpr size_t kMaxKnown = 16;

  bool knows(const BoundedLines& table) const {
    return std::any_of(known.begin(), known.end(),
                       [&](const BoundedLines* other) { return *other == table; });
  }
};

/// A table of a log, taken apart.
struct PrintedSystem {
  SystemTopology system;
  const BoundedLines* table = nullptr;
  bool is_whole = false;  ///< `system` is all of it, and not a part that depends on the rank.
};

/// The topologies in a log that are not known, the one with most nodes first.
std::vector<PrintedSystem> printed_by(const SpeakerLog& log, const HostSystem& host) {
  std::vector<PrintedSystem> found;
  for (const InitSection& section : log.inits.all()) {
    if (!section.system.has_lines() || host.knows(section.system)) continue;
    SystemTopology all = parse_system(section.system);
    const bool is_whole = is_of_one_host(all);
    SystemTopology own = own_part(std::move(all), section.rank);
    if (!own.nodes.empty()) found.push_back({std::move(own), &section.system, is_whole});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.system.nodes.size() > b.system.nodes.size();
  });
  return found;
}

std::map<std::string, HostSystem> systems_by_host(const Job& job) {
  std::map<std::string, HostSystem> by_host;
  for (const Process& process : job.processes) {
    for (const size_t log : process.logs) {
      if (job.logs[log].inits.all().empty()) continue;
      HostSystem& host = by_host[process.host];
      for (const PrintedSystem& printed : printed_by(job.logs[log], host)) {
        add_system(host.system, printed.system);
        const bool keep = printed.is_whole && host.known.size() < HostSystem::kMaxKnown;
        if (keep) host.known.push_back(printed.table);
      }
    }
  }
  std::erase_if(by_host, [](const auto& entry) { return entry.second.system.nodes.empty(); });
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
      const Process& process = job.processes[static_cast<size_t>(rank.process)];
      uses.try_emplace({process.host, *bus_id},
                       GpuUse{process.rank >= 0 ? process.rank : rank.rank, rank.nvml_dev, ""});
    }
  }
  return uses;
}

/// Notes the NVLink fabric of each GPU that belongs to one; a process prints that of its own.
void add_fabrics(const Job& job, BusIds& uses) {
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<MnnvlFabric>, [&](const Record& record) {
      const Event event = parse_record(record);
      const auto gpu = read_message<MnnvlFabric>(event.message);
      if (gpu.uuid == "0.0") return;
      uses[{process.host, gpu.bus_id.value}].fabric =
          fmt::format("fabric {}, clique {:#x}", gpu.uuid, gpu.clique_id.value);
    });
  }
}

void add_uses(HostTopology& topology, const BusIds& by_bus_id) {
  for (SystemNode& node : topology.system.nodes) {
    const auto known = by_bus_id.find({topology.host, node.name.local});
    const bool driven = node.name.kind == "GPU" && known != by_bus_id.end();
    topology.ranks.push_back(driven ? known->second.rank : -1);
    if (!driven) continue;
    if (node.dev < 0) node.dev = known->second.nvml_dev;
    if (!known->second.fabric.empty()) node.detail = known->second.fabric;
  }
}

using DeviceNames = std::map<std::pair<std::string, uint64_t>, std::string>;  ///< By host, number.

/// Names of the devices of the network in use, as its list numbers them; the parts of a fused one
/// are joined.
DeviceNames device_names(const Job& job) {
  std::map<std::pair<std::string, uint64_t>, std::set<std::string>> parts;
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<NetDevices>, [&](const Record& record) {
      const Event event = parse_record(record);
      const auto list = read_message<NetDevices>(event.message);
      if (list.network != job.network.name) return;
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
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<IbDevice>, [&](const Record& record) {
      const Event event = parse_record(record);
      const auto device = read_message<IbDevice>(event.message);
      details.try_emplace({process.host, std::string(device.name)},
                          fmt::format("port {}, {}, {} Mbit/s, {}", device.port, device.link,
                                      device.speed, device.provider));
    });
  }
  return details;
}

void name_devices(HostTopology& topology, const DeviceNames& names) {
  for (SystemNode& node : topology.system.nodes) {
    const auto known = names.find({topology.host, node.name.local});
    if (node.name.kind == "NET" && known != names.end()) node.device = known->second;
  }
}

void note_nvls(Job& job) {
  for (Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<NvlsSupport>, [&](const Record& record) {
      const Event event = parse_record(record);
      process.nvls = read_message<NvlsSupport>(event.message).state == "available" ? 1 : 0;
    });
  }
}

bool is_name_char(char c) { return is_word(c) || c == '-'; }

/// `host` stands in `name` with nothing around it that could be part of it.
bool names_host(std::string_view name, std::string_view host) {
  for (size_t at = name.find(host); at != name.npos; at = name.find(host, at + 1)) {
    const size_t end = at + host.size();
    const bool begins = at == 0 || !is_name_char(name[at - 1]);
    if (begins && (end == name.size() || !is_name_char(name[end]))) return true;
  }
  return false;
}

/// The one host of the job that the file's name names; empty if there is none or more than one.
std::string host_of_file(const Job& job, std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  std::set<std::string> named;
  for (const Process& process : job.processes) {
    if (!process.host.empty() && names_host(name, process.host)) named.insert(process.host);
  }
  return named.size() == 1 ? *named.begin() : std::string();
}

}  // namespace

void build_topologies(Job& job) {
  note_nvls(job);
  BusIds uses = uses_by_bus_id(job);
  add_fabrics(job, uses);
  const DeviceNames names = device_names(job);
  const auto details = device_details(job);
  for (HostTopology& file : job.topologies) file.host = host_of_file(job, file.source);
  for (auto& [host, printed] : systems_by_host(job)) {
    HostTopology topology;
    topology.host = host;
    topology.system = std::move(printed.system);
    name_devices(topology, names);
    job.topologies.push_back(std::move(topology));
  }
  for (HostTopology& topology : job.topologies) {
    for (SystemNode& node : topology.system.nodes) {
      const auto known = details.find({topology.host, node.device});
      if (known != details.end() && topology.source.empty()) node.detail = known->second;
    }
    add_uses(topology, uses);
  }
  std::stable_sort(job.topologies.begin(), job.topologies.end(), [](const auto& a, const auto& b) {
    return std::tie(a.host, a.source) < std::tie(b.host, b.source);
  });
}

}  // namespace ncclog
