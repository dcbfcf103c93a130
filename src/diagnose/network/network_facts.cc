// Which network carries the data, is it the one that the hardware offers, and can hosts reach it?
//
//   NET/IB : Using [0]mlx5_0:1/IB            NET/Socket : Using [0]eth0:10.1.2.3<0>
//   eth0:172.17.0.3 on node-a and on node-b  an address that is of one host only

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/network/connections.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/address.h"
#include "log/messages.h"
#include "model/process_log.h"

namespace ncclog {
namespace {

// Did the first transfer between GPUs never end, and over what?
//
//   0[0] -> 1[1] via P2P/IPC; Pattern 4, … type PHB/PIX          → job.p2p_over_pcie
//   nccl-tests prints its settings and no row, then the job is cancelled
//   Watchdog caught collective operation timeout: SeqNum=1       → job.stalled_from_start
//
// P2P over PCIe passes switches and root ports whose access control, or an IOMMU, can send it
// astray: then nothing ever arrives. NVLink does not pass them.

/// What the log shows of the ways between GPUs.
struct GpuLinks {
  bool nvlink = false;
  bool pcie = false;
  std::string pcie_words;  ///< "the ring's paths are PHB".

  void add(std::string_view type, std::string_view whence) {
    if (type.starts_with("NV")) nvlink = true;
    constexpr std::string_view kPcie[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    if (std::ranges::find(kPcie, type) == std::end(kPcie)) return;
    pcie = true;
    if (pcie_words.empty()) pcie_words = fmt::format("{} {}", whence, type);
  }
};

GpuLinks gpu_links(const Job& job) {
  GpuLinks links;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      if (section == nullptr) continue;
      for (const SearchedGraph& graph : section->graphs) {
        // Of "PHB/PIX" the part inside a host.
        const std::string_view type = graph.type;
        if (graph.channels > 0) links.add(type.substr(0, type.find('/')), "NCCL's search says");
      }
    }
  }
  size_t gpus = 0;
  for_each_said<TopoMatrixRow>(job, [&](const auto&) { ++gpus; });
  for_each_said<TopoMatrixRow>(job, [&](const auto& said) {
    const auto cells = split_blanks(said.message.cells);
    for (size_t i = 0; i < std::min(gpus, cells.size()); ++i) {
      links.add(cells[i], "nvidia-smi topo -m says");
    }
  });
  for (const HostTopology& topology : job.topologies) {
    const auto is_gpu = [&](int node) {
      return topology.system.nodes[static_cast<size_t>(node)].name.kind == "GPU";
    };
    for (const SystemPath& path : topology.system.paths) {
      const bool joins_gpus = path.from != path.to && is_gpu(path.from) && is_gpu(path.to);
      if (joins_gpus) links.add(path.type, "the topology says");
    }
  }
  return links;
}

/// A connection via P2P/…; nullopt if none is logged.
std::optional<SourceRef> p2p_connection(const Job& job) {
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      if (key.path.starts_with("P2P")) return use.first;
    }
  }
  return std::nullopt;
}

/// Whether GPUs of a host are connected by P2P although no NVLink is between them; unknown where
/// the log shows no such connection, or nothing of the links.
FactValue p2p_over_pcie(const Job& job, const Instance&) {
  const auto connection = p2p_connection(job);
  if (!connection) return unknown();
  const GpuLinks links = gpu_links(job);
  if (links.nvlink) return no();
  if (!links.pcie) return unknown();
  return yes(links.pcie_words, {{*connection, {}}});
}

/// Whether the job stopped and not one transfer is known to have ended: nccl-tests has no row, or
/// the first two calls of groups timed out.
FactValue stalled_from_start(const Job& job, const Instance&) {
  const NcclTestsRun* test = job.nccl_tests.empty() ? nullptr : &job.nccl_tests.back();
  if (test != nullptr && test->rows.empty() && test->busbw.empty()) {
    const auto stop = stop_evidence(job);
    if (!stop) return unknown();
    return yes(fmt::format("{} printed no row", test->test.empty() ? "nccl-tests" : test->test),
               {stop->line});
  }
  if (prints_steps(job)) return no();
  std::vector<Evidence> lines;
  bool later = false;
  for_each_said<WatchdogTimeout>(job, [&](const Said<WatchdogTimeout>& said) {
    const int64_t seq = said.message.seq;
    later = later || seq < 1 || seq > 2;
    lines.push_back(evidence_of(said.record));
  });
  if (lines.empty()) return unknown();
  if (later) return no();
  return yes("the first calls timed out", {lines.front()});
}

// Can the hosts of the job reach the addresses that NCCL advertises?
//
//   node-a: Bootstrap : Using docker0:172.17.0.1<0>
//   node-b: Bootstrap : Using docker0:172.17.0.1<0>      the same bridge on each host
//
// A job whose communicators are all complete and in which no connection failed has proved that its
// addresses are good; then none of these facts accuses them.

constexpr size_t kMaxNamed = 4;

/// The first address of each host.
std::vector<HostAddress> one_per_host(const std::vector<HostAddress>& addresses) {
  std::vector<HostAddress> result;
  std::set<std::string> hosts;
  for (const HostAddress& address : addresses) {
    if (hosts.insert(address.host).second) result.push_back(address);
  }
  return result;
}

/// "eth0:172.17.0.3 on node-a, eth0:172.17.0.5 on node-b", one for each host, at most four.
std::string addresses_text(const std::vector<HostAddress>& addresses) {
  std::vector<std::string> parts;
  for (const HostAddress& address : one_per_host(addresses)) {
    const std::string where = address.host.empty() ? "" : " on " + address.host;
    parts.push_back(fmt::format("{}:{}{}", address.name, address.ip, where));
  }
  return few_of(parts, kMaxNamed, ", ");
}

/// The addresses in words, one line of each host, at most four, and the processes of all; no
/// without any.
FactValue answer_about(const std::vector<HostAddress>& addresses) {
  if (addresses.empty()) return no();
  FactValue value = yes(addresses_text(addresses));
  std::set<int> processes;
  for (const HostAddress& address : addresses) processes.insert(address.process);
  value.processes.assign(processes.begin(), processes.end());
  for (const HostAddress& address : one_per_host(addresses)) {
    if (value.evidence.size() < kMaxNamed) value.evidence.push_back(address.line);
  }
  return value;
}

template <typename Wanted>
FactValue addresses_where(const std::vector<HostAddress>& addresses, Wanted wanted) {
  std::vector<HostAddress> found;
  std::ranges::copy_if(addresses, std::back_inserter(found), wanted);
  return answer_about(found);
}

bool all_complete(const Communicator& comm) {
  return std::ranges::all_of(comm.ranks, [](const CommRank& rank) {
    return rank.state == RankState::Complete || rank.state == RankState::Destroyed;
  });
}

bool connections_work(const Job& job) {
  return !any_said<ConnectFailed>(job) && !job.communicators.empty() &&
         std::ranges::all_of(job.communicators, all_complete);
}

size_t count_hosts(const std::vector<HostAddress>& addresses) {
  std::set<std::string> hosts;
  for (const HostAddress& address : addresses) {
    if (!address.host.empty()) hosts.insert(address.host);
  }
  return hosts.size();
}

/// Where somebody tried to connect to, and could not.
struct FailedTarget {
  std::string host;  ///< Of the process that tried.
  std::string ip;
};

std::vector<FailedTarget> failed_targets(const Job& job) {
  std::vector<FailedTarget> targets;
  for_each_said<ConnectFailed>(job, [&](const Said<ConnectFailed>& said) {
    const std::string_view ip = parse_address(said.message.address).ip;
    if (ip.empty()) return;
    targets.push_back({nth_process(job, said.process).host, std::string(ip)});
  });
  return targets;
}

/// Hosts that speak; where some say much, without those of which a line or two names one: in a torn
/// stream those are pieces of names.
size_t speaking_hosts(const Job& job) {
  constexpr uint64_t kFew = 2;
  std::map<std::string, uint64_t> lines;
  uint64_t most = 0;
  for (const Process& process : job.processes) {
    if (process.host.empty()) continue;
    for (const size_t log : process.logs) lines[process.host] += job.logs[log].lines;
    most = std::max(most, lines[process.host]);
  }
  return static_cast<size_t>(std::ranges::count_if(
      lines, [&](const auto& host) { return host.second > kFew || most <= 8 * kFew; }));
}

FactValue loopback_between_hosts(const Job& job, const Instance&) {
  if (job.nhosts == 0) return unknown();
  if (job.nhosts < 2 || speaking_hosts(job) == 1 || connections_work(job)) return no();
  return addresses_where(all_addresses(job),
                         [](const HostAddress& address) { return is_loopback(address.ip); });
}

/// What makes two addresses parts of the same private bridge; empty if the address is in none.
std::string bridge_of(const HostAddress& address) {
  if (is_host_bridge(address.name)) return address.name;
  return bridge_range(address.ip, is_container_host(address.host));
}

/// Somebody on the address's host was refused by another address of the same range.
bool target_is_bridged(const HostAddress& address, const std::vector<FailedTarget>& targets) {
  const bool in_container = is_container_host(address.host);
  const std::string range = bridge_range(address.ip, in_container);
  return !range.empty() && std::ranges::any_of(targets, [&](const FailedTarget& target) {
    return target.host == address.host && target.ip != address.ip &&
           bridge_range(target.ip, in_container) == range;
  });
}

FactValue bridge_between_hosts(const Job& job, const Instance&) {
  if (job.nhosts == 0) return unknown();
  if (connections_work(job)) return no();
  const auto targets = failed_targets(job);
  std::map<std::string, std::vector<HostAddress>> bridges;
  std::vector<HostAddress> reaching_out;
  for (const HostAddress& address : all_addresses(job)) {
    const std::string bridge = bridge_of(address);
    if (!bridge.empty()) bridges[bridge].push_back(address);
    if (target_is_bridged(address, targets)) reaching_out.push_back(address);
  }
  for (const auto& [bridge, addresses] : bridges) {
    if (count_hosts(addresses) >= 2) return answer_about(addresses);
  }
  if (reaching_out.empty()) return no();
  FactValue value = answer_about(reaching_out);
  value.what += ", and the peer's address is in the same range";
  return value;
}

FactValue same_address_on_hosts(const Job& job, const Instance&) {
  std::map<std::string, std::vector<HostAddress>> by_ip;
  for (const HostAddress& address : bootstrap_addresses(job)) {
    if (!is_loopback(address.ip)) by_ip[address.ip].push_back(address);
  }
  for (const auto& [ip, addresses] : by_ip) {
    if (count_hosts(addresses) >= 2) return answer_about(addresses);
  }
  return no();
}

FactValue address_families_differ(const Job& job, const Instance&) {
  std::map<bool, std::vector<HostAddress>> by_family;
  for (const HostAddress& address : bootstrap_addresses(job)) {
    by_family[is_ipv6(address.ip)].push_back(address);
  }
  if (by_family.empty()) return unknown();
  if (by_family.size() < 2) return no();
  return yes(
      fmt::format("{}; {}", addresses_text(by_family[true]), addresses_text(by_family[false])),
      {by_family[true].front().line, by_family[false].front().line});
}

FactValue interfaces_share_subnet(const Job& job, const Instance&) {
  std::map<std::pair<int, std::string>, HostAddress> seen;
  for (const HostAddress& address : socket_addresses(job)) {
    const std::string subnet(subnet_of(address.ip));
    if (subnet.empty()) continue;
    const auto [first, added] = seen.try_emplace({address.process, subnet}, address);
    if (added || first->second.name == address.name) continue;
    return yes(fmt::format("{}:{} and {}:{}", first->second.name, first->second.ip, address.name,
                           address.ip),
               {address.line});
  }
  return no();
}

FactValue virtual_interface(const Job& job, const Instance&) {
  return addresses_where(all_addresses(job), [](const HostAddress& address) {
    return is_virtual_interface(address.name) ||
           (is_link_local(address.ip) && !is_ipv6(address.ip));
  });
}

/// Of each process the interfaces of its socket network, in NCCL's order.
std::map<int, std::vector<HostAddress>> socket_lists(const Job& job) {
  std::map<int, std::vector<HostAddress>> lists;
  for (const HostAddress& address : socket_addresses(job)) {
    std::vector<HostAddress>& list = lists[address.process];
    if (list.empty() || list.front().line.where == address.line.where) list.push_back(address);
  }
  return lists;
}

/// "NET/Socket/1": the second interface of the process's list.
FactValue virtual_interface_carries(const Job& job, const Instance&) {
  const auto lists = socket_lists(job);
  std::vector<HostAddress> found;
  SourceRef first;
  for (const Edge& edge : edges_of(job)) {
    const auto list = lists.find(edge.process);
    if (edge.path.network != "Socket" || list == lists.end() || edge.path.device < 0) continue;
    if (edge.path.device >= static_cast<int>(list->second.size())) continue;
    const HostAddress& address = list->second[static_cast<size_t>(edge.path.device)];
    if (!is_virtual_interface(address.name)) continue;
    if (found.empty()) first = edge.where;
    found.push_back(address);
  }
  if (found.empty()) return no();
  FactValue value = answer_about(found);
  value.what = "; connections run over " + value.what;
  value.evidence.push_back({first, {}});
  return value;
}

FactValue ipoib_interfaces(const Job& job, const Instance&) {
  FactValue answer = addresses_where(socket_addresses(job), [](const HostAddress& address) {
    return is_infiniband_interface(address.name);
  });
  answer.processes.clear();
  return answer;
}

/// Whether NCCL_SOCKET_IFNAME admits the interface; an exclude list says nothing about the rest.
bool ifname_admits(std::string_view setting, std::string_view name) {
  if (setting.empty() || setting.front() == '^') return true;
  const bool exact = setting.front() == '=';
  if (exact) setting.remove_prefix(1);
  for (std::string_view wanted : split(setting, ',')) {
    wanted = trim(wanted.substr(0, wanted.find(':')));
    if (wanted.empty() || (exact ? name == wanted : name.starts_with(wanted))) return true;
  }
  return false;
}

/// The setting that counts for a process: its own line, else that of the commands in the log if they
/// give all ranks the same one.
std::map<int, std::string> ifname_settings(const Job& job) {
  static constexpr std::string_view kName = "NCCL_SOCKET_IFNAME=";
  std::set<std::string> commanded;
  for_each_said<ShellCommand>(job, [&](const Said<ShellCommand>& said) {
    const std::string_view command = said.message.command;
    const size_t at = command.find(kName);
    if (at == std::string_view::npos) return;
    const std::string_view rest = command.substr(at + kName.size());
    commanded.emplace(rest.substr(0, rest.find_first_of(" \t\"'")));
  });
  std::map<int, std::string> settings;
  for (size_t p = 0; commanded.size() == 1 && p < job.processes.size(); ++p) {
    settings[static_cast<int>(p)] = *commanded.begin();
  }
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_SOCKET_IFNAME") continue;
    for (const int process : setting.processes) settings[process] = setting.value;
  }
  return settings;
}

FactValue ifname_not_used(const Job& job, const Instance&) {
  const auto settings = ifname_settings(job);
  if (settings.empty()) return unknown();
  std::vector<HostAddress> odd;
  std::string value;
  for (const HostAddress& address : bootstrap_addresses(job)) {
    const auto setting = settings.find(address.process);
    if (setting == settings.end() || ifname_admits(setting->second, address.name)) continue;
    odd.push_back(address);
    value = setting->second;
  }
  if (odd.empty()) return no();
  FactValue answer = answer_about(odd);
  answer.what = fmt::format("the setting is {}, in use is {}", value, answer.what);
  return answer;
}

// Which network carries the data, and is it the one that the hardware offers?
//
//   job.rdma_evidence = yes, "gpu-a lists mlx5_0 (NET/IB)"
//   job.networks_differ = yes, "(IB in 8 processes on gpu-a, Socket in 8 processes on gpu-b)"

/// Collects signs of one thing; the first few make the answer.
struct Signs {
  std::vector<std::string> words;
  std::vector<Evidence> evidence;

  void add(const std::string& word, Evidence line) {
    if (std::ranges::find(words, word) != words.end() || words.size() == 2) return;
    words.push_back(word);
    evidence.push_back(std::move(line));
  }
  FactValue answer() const { return words.empty() ? no() : yes(join(words, " and "), evidence); }
};

std::string on_host(const Job& job, int process) {
  const std::string& host = nth_process(job, process).host;
  return host.empty() ? std::string() : " on " + host;
}

/// Pasted output of commands, then what NCCL lists, then what names suggest.
FactValue rdma_evidence(const Job& job, const Instance&) {
  Signs signs;
  for_each_said<IbPort>(job, [&](const auto& said) {
    if (said.message.state != "Up") return;
    signs.add("ibdev2netdev shows RDMA ports that are up", evidence_of(said.record));
  });
  for_each_said<IbstatCa>(job, [&](const auto& said) {
    signs.add(fmt::format("ibstat shows {}", said.message.device), evidence_of(said.record));
  });
  for_each_said<GidRow>(job, [&](const auto& said) {
    signs.add(fmt::format("show_gids lists {}", said.message.device), evidence_of(said.record));
  });
  for (const HcaList& list : hca_lists(job)) {
    signs.add(fmt::format("NET/IB lists {}{}", list.hcas.front().name, on_host(job, list.process)),
              list.line);
  }
  for_each_said<IbDevice>(job, [&](const auto& said) {
    signs.add(fmt::format("NET/IB found {}{}", said.message.name, on_host(job, said.process)),
              evidence_of(said.record));
  });
  for_each_said<EnvSet>(job, [&](const auto& said) {
    if (said.message.name != "NCCL_IB_HCA" || said.message.value.starts_with('^')) return;
    signs.add(fmt::format("NCCL_IB_HCA names {}", said.message.value), evidence_of(said.record));
  });
  for (const HostAddress& address : all_addresses(job)) {
    if (!is_infiniband_interface(address.name)) continue;
    signs.add(fmt::format("{} is an InfiniBand interface by its name", address.name), address.line);
    break;
  }
  return signs.answer();
}

/// The networks that a process selected for its communicators, and a line of it.
struct Selection {
  std::set<std::string> networks;
  Evidence line;
};

/// NCCL's own complaint, which exists since 2.30.3.
FactValue device_counts_differ(const Job& job) {
  FactValue answer = no();
  for_each_said<DeviceCountsMixed>(job, [&](const Said<DeviceCountsMixed>& said) {
    if (said.header.level != Level::Warn) return;
    answer =
        yes(fmt::format("({} to {} devices for each rank)", said.message.min, said.message.max),
            {evidence_of(said.record)});
  });
  return answer;
}

/// Drops names that only the beginning of another one stands for: "Socke" is a cut line, no
/// network.
void drop_cut_names(std::map<std::string, std::vector<int>>& groups) {
  std::erase_if(groups, [&](const auto& cut) {
    return std::ranges::any_of(groups, [&](const auto& whole) {
      return whole.first.size() > cut.first.size() && whole.first.starts_with(cut.first);
    });
  });
}

FactValue networks_differ(const Job& job, const Instance&) {
  if (FactValue counts = device_counts_differ(job); !counts.evidence.empty()) return counts;
  std::map<int, Selection> selections;
  for_each_said<NetworkSelected>(job, [&](const Said<NetworkSelected>& said) {
    Selection& selection = selections[said.process];
    selection.networks.emplace(said.message.network);
    selection.line = evidence_of(said.record);
  });
  std::map<std::string, std::vector<int>> groups;
  std::map<std::string, Evidence> lines;
  for (const auto& [process, selection] : selections) {
    // A process that uses several networks is a program that asks for them.
    if (selection.networks.size() > 1) return no();
    groups[*selection.networks.begin()].push_back(process);
    lines.try_emplace(*selection.networks.begin(), selection.line);
  }
  drop_cut_names(groups);
  if (groups.size() < 2) return groups.empty() ? unknown() : no();
  std::vector<std::string> parts;
  std::vector<Evidence> evidence;
  for (const auto& [name, members] : groups) {
    parts.push_back(fmt::format("{} in {} process{}{}", name, members.size(),
                                members.size() == 1 ? "" : "es", on_host(job, members.front())));
    evidence.push_back(lines[name]);
  }
  return yes("(" + join(parts, ", ") + ")", std::move(evidence), minority(groups));
}

FactValue gpudirect(const Job& job, const Instance&) {
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      if (key.path.find("GDRDMA") != std::string::npos) {
        return yes("channels use " + key.path, {{use.first, {}}});
      }
    }
  }
  Signs signs;
  for_each_said<RingsConnected>(job, [&](const Said<RingsConnected>& said) {
    if (!said.message.text.ends_with("GDR 1")) return;
    signs.add("the rings use GPU Direct RDMA", evidence_of(said.record));
  });
  for_each_said<GpuDirect>(job, [&](const Said<GpuDirect>& said) {
    if (said.message.state != "Enabled" || said.message.device.empty()) return;
    signs.add(fmt::format("GPU Direct RDMA is enabled for {}", said.message.device),
              evidence_of(said.record));
  });
  return signs.answer();
}

FactValue socket_between_hosts(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  for (const Edge& edge : edges) {
    if (edge.path.network != "Socket" || edge.reach != EdgeReach::OtherHost) continue;
    return yes(edge_phrase(edge), {{edge.where, {}}});
  }
  return edges.empty() ? unknown() : no();
}

// What is known of a connection between two ranks?
//
//   Channel 00/0 : 1[1] -> 2[2] [send] via NET/IB/0/GDRDMA   rank_pair.transport = NET/IB

FactValue text(std::string value) { return {std::move(value), {}, {}, {}, {}}; }

/// "NET/IB" for "NET/IB/0/GDRDMA", "P2P" for "P2P/CUMEM".
std::string transport_text(const std::string& path) {
  const Transport transport = transport_of(path);
  if (transport != Transport::NET) return std::string(to_string(transport));
  const auto parts = split(path, '/');
  if (parts.size() < 2) return "NET";
  return "NET/" + std::string(parts[1].substr(0, parts[1].find_first_of("( ")));
}

FactValue pair_transport(const Job&, const Instance& pair) {
  std::set<std::string> transports;
  for (const std::string& path : pair.paths) transports.insert(transport_text(path));
  return text(join(std::vector<std::string>(transports.begin(), transports.end()), "+"));
}

FactValue pair_path(const Job&, const Instance& pair) { return text(join(pair.paths, ", ")); }

FactValue pair_same_host(const Job& job, const Instance& pair) {
  const std::string& a = nth_process(job, pair.processes[0]).host;
  const std::string& b = nth_process(job, pair.processes[1]).host;
  if (a.empty() || b.empty()) return unknown();
  return a == b ? yes({}) : no();
}

constexpr std::array kFacts = {
    job_fact("job.address_families_differ", within_runs<address_families_differ>,
             "Some ranks use IPv4 and others IPv6 for the bootstrap."),
    job_fact("job.bridge_between_hosts", within_runs<bridge_between_hosts>,
             "Hosts advertise addresses of the same private bridge, which each has for itself."),
    job_fact("job.ifname_not_used", ifname_not_used,
             "The bootstrap uses an interface that NCCL_SOCKET_IFNAME does not name."),
    job_fact("job.interfaces_share_subnet", interfaces_share_subnet,
             "Two socket interfaces of a process are in one subnet, if its mask has 24 bits."),
    job_fact("job.ipoib_interfaces", ipoib_interfaces,
             "A socket network lists interfaces with names of InfiniBand ports."),
    job_fact("job.loopback_between_hosts", within_runs<loopback_between_hosts>,
             "The log names several hosts, and some process uses a loopback address."),
    job_fact("job.same_address_on_hosts", within_runs<same_address_on_hosts>,
             "Two hosts advertise the same address for the bootstrap."),
    job_fact("job.virtual_interface", virtual_interface,
             "Some process uses or lists a bridge, tunnel or link-local IPv4 interface."),
    job_fact("job.virtual_interface_carries", virtual_interface_carries,
             "Lines of connections show that data pass through a bridge or tunnel."),
    job_fact("job.gpudirect", gpudirect,
             "NICs read or write GPU memory: GDRDMA paths, or GPU Direct RDMA enabled."),
    job_fact(
        "job.networks_differ", within_runs<networks_differ>,
        "Processes selected different networks, one each, or see different numbers of devices."),
    job_fact("job.p2p_over_pcie", p2p_over_pcie,
             "GPUs of a host are connected by P2P, and no NVLink is between them."),
    job_fact("job.rdma_evidence", rdma_evidence,
             "Something in the log shows InfiniBand or RoCE hardware; no means nothing does."),
    job_fact("job.socket_between_hosts", socket_between_hosts,
             "Ranks of different hosts are connected via NET/Socket."),
    job_fact(
        "job.stalled_from_start", stalled_from_start,
        "The job stopped, and not one transfer is known to have ended: nccl-tests has no row, or "
        "the first two calls of groups timed out."),
    Fact{"rank_pair.path", Scope::RankPair, FactType::Text,
         "The paths between the two as printed, joined by commas.", pair_path},
    Fact{"rank_pair.same_host", Scope::RankPair, FactType::Bool, "Both run on one host.",
         pair_same_host},
    Fact{"rank_pair.transport", Scope::RankPair, FactType::Text,
         "P2P, SHM, NET/IB, NET/Socket, …; several are joined by +.", pair_transport},
};

}  // namespace

std::span<const Fact> network_facts() { return kFacts; }

}  // namespace ncclog
