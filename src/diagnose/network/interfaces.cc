#include "diagnose/network/interfaces.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <set>
#include <tuple>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/connections.h"

namespace ncclog {
namespace {

constexpr std::string_view kHostBridges[] = {"docker", "virbr", "br-", "lxcbr", "lxdbr", "podman"};
constexpr std::string_view kVirtualNames[] = {
    "cni", "flannel", "vxlan",     "cali",   "veth",    "tun",    "tap",    "wg",
    "zt",  "weave",   "tailscale", "kube-",  "dummy",   "cilium", "ip6tnl", "sit",
    "gre", "ip6gre",  "erspan",    "ip_vti", "ip6_vti", "teql"};

/// The first three bytes of libvirt's default network, 192.168.122.0/24.
constexpr uint32_t kLibvirt = 192 << 16 | 168 << 8 | 122;

/// True if a list has its first device at its beginning, behind "[0]" at most: another process's
/// words may stand in a torn one.
bool begins_with_device(std::string_view devices, const NetDevice& first) {
  const auto before = static_cast<size_t>(first.name.data() - devices.data());
  const std::string_view index = trim(devices.substr(0, before));
  return index.empty() ||
         (index.front() == '[' && index.find(']') == index.size() - 1 && index.size() > 2 &&
          index.find_first_not_of("0123456789", 1) == index.size() - 1);
}

/// The addresses in a list of devices, with nobody who has them.
std::vector<HostAddress> addresses_in(std::string_view devices, bool bootstrap) {
  std::vector<HostAddress> addresses;
  const std::vector<NetDevice> list = parse_device_list(devices);
  if (list.empty() || !begins_with_device(devices, list.front())) return addresses;
  for (const NetDevice& device : list) {
    const std::string_view ip = device.address;
    if (ip.empty()) continue;
    addresses.push_back({.name = device.name, .ip = ip, .bootstrap = bootstrap});
    // The bootstrap takes the first of the candidates that releases up to 2.7 list.
    if (bootstrap) break;
  }
  return addresses;
}

std::vector<HostAddress> read_addresses(const Job& job) {
  std::vector<HostAddress> addresses;
  addresses.reserve(records_of_kind(job, kKindIndex<BootstrapInterface>).records.size());
  // The ranks of a host stand together, and share the text of their list.
  std::string_view list;
  std::vector<HostAddress> in_list;
  const auto add = [&](int process, const Record& record, std::string_view devices,
                       bool bootstrap) {
    if (devices.data() != list.data()) in_list = addresses_in(devices, bootstrap);
    list = devices;
    for (HostAddress address : in_list) {
      address.process = process;
      address.host = nth_process(job, process).host;
      address.line = record;
      addresses.push_back(address);
    }
  };
  for_each_said<BootstrapInterface>(job, [&](const Said<BootstrapInterface>& said) {
    add(said.process, said.record(), said.message.devices, true);
  });
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network != "IB") add(said.process, said.record(), said.message.devices, false);
  });
  return addresses;
}

/// How many of them are the bootstrap's, which stand first.
size_t of_bootstrap(std::span<const HostAddress> addresses) {
  const auto end = std::ranges::partition_point(addresses, &HostAddress::bootstrap);
  return static_cast<size_t>(end - addresses.begin());
}

std::vector<HcaList> read_hca_lists(const Job& job) {
  std::vector<HcaList> lists;
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network != "IB") return;
    HcaList list{said.process, nth_process(job, said.process).host, {}, said.record()};
    for (const NetDevice& device : parse_device_list(said.message.devices)) {
      // One with an address is the interface after a list that another process's words broke.
      if (!device.name.empty() && device.address.empty()) list.hcas.push_back(device);
    }
    if (!list.hcas.empty()) lists.push_back(std::move(list));
  });
  return lists;
}

// Do several RoCE NICs of one host sit in one subnet?
//
//   Got completion … localGid ::ffff:10.21.0.1 … hca mlx5_0
//   Got completion … localGid ::ffff:10.21.0.2 … hca mlx5_1     → job.roce_nics_share_subnet
//
// The kernel then answers for the address of one NIC on the wire of the other, unless it is told
// not to. Masks are not printed: addresses that agree in 24 bits seem to share a subnet.

/// The first two devices of a process, or of a host where no process is given, in one subnet.
std::optional<std::pair<HostAddress, HostAddress>> sharing_subnet(
    std::span<const HostAddress> addresses) {
  std::map<std::tuple<int, std::string_view, std::string_view>, const HostAddress*> first;
  for (const HostAddress& address : addresses) {
    const std::string_view subnet = subnet_of(address.ip);
    if (subnet.empty()) continue;
    const auto [there, added] =
        first.try_emplace({address.process, address.host, subnet}, &address);
    if (!added && there->second->name != address.name) return {{*there->second, address}};
  }
  return std::nullopt;
}

/// Calls `use(said, device)` for every line about an RDMA transfer or connection that failed: all
/// tell local_gid and remote_gid.
template <typename Use>
void for_each_failed_transfer(const Job& job, Use use) {
  for_each_said<IbModifyQpFailed>(job, [&](const auto& said) { use(said, said.message.device); });
  for_each_said<IbCompletion>(job, [&](const auto& said) { use(said, said.message.hca); });
}

/// Addresses of RDMA devices, by host; they are of no process.
std::vector<HostAddress> port_addresses(const Job& job) {
  std::vector<HostAddress> found;
  const auto add = [&](const auto& said, std::string_view device, std::string_view ip) {
    if (device.empty() || subnet_of(ip).empty()) return;
    found.push_back({-1, nth_process(job, said.process).host, device, ip, false, said.record()});
  };
  for_each_said<GidRow>(
      job, [&](const auto& said) { add(said, said.message.device, said.message.address); });
  for_each_failed_transfer(job, [&](const auto& said, std::string_view device) {
    // "10.21.0.1" of "::ffff:10.21.0.1" too.
    std::string_view gid = trim(said.message.local_gid);
    constexpr std::string_view kMapped = "::ffff:";
    if (gid.starts_with(kMapped)) gid.remove_prefix(kMapped.size());
    add(said, device, gid);
  });
  std::ranges::stable_sort(found, {}, &HostAddress::host);
  return found;
}

FactValue roce_nics_share_subnet(const Job& job, const Instance&) {
  const std::vector<HostAddress> addresses = port_addresses(job);
  if (addresses.empty()) return unknown();
  const auto two = sharing_subnet(addresses);
  if (!two) return no();
  const auto& [a, b] = *two;
  return yes(fmt::format("{} with {} and {} with {}{}{}", a.name, a.ip, b.name, b.ip,
                         b.host.empty() ? "" : " on ", b.host),
             {evidence_of(a.line), evidence_of(b.line)});
}

// Does a RoCE port use an entry of its GID table that other hosts cannot reach?
//
//   mlx5_0  1  0  fe80:0000:…:71d2                  v1  ens2f0     link-local: never routed
//   mlx5_0  1  3  0000:…:ffff:0a78:021f  10.120.2.31  v2  ens2f0   the one that works
//
// Before 2.21 NCCL takes entry 0 unless NCCL_IB_GID_INDEX says otherwise; later it looks for a
// routable one itself.

constexpr int kUnset = -1;

/// NCCL_IB_GID_INDEX as processes report it; kUnset if none does.
int reported_index(const Job& job) {
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_IB_GID_INDEX") continue;
    return static_cast<int>(parse_int(setting.value).value_or(kUnset));
  }
  return kUnset;
}

FactValue from_gid_table(const Job& job, int index, int reported) {
  return said_answer<GidRow>(job, [&](const Said<GidRow>& said) -> std::string {
    const GidRow& row = said.message;
    if (row.index != index || (!is_link_local(row.gid) && row.version != "v1")) return {};
    return fmt::format("GID index {} of {} is {}{}", index, row.device,
                       is_link_local(row.gid) ? "link-local" : "RoCE v1",
                       reported == kUnset ? ", the default of this release" : "");
  });
}

FactValue from_failures(const Job& job) {
  FactValue answer = no();
  for_each_failed_transfer(job, [&](const auto& said, std::string_view) {
    const std::string_view local = said.message.local_gid;
    const std::string_view remote = said.message.remote_gid;
    if (!is_link_local(local) && !is_link_local(remote)) return;
    answer = yes(fmt::format("the failing connection uses link-local GID {}",
                             is_link_local(local) ? local : remote),
                 {evidence_of(said.record())});
  });
  return answer;
}

FactValue gid_evidence(const Job& job, const Instance&) {
  // The entry that was used; kUnset if the log does not let one tell. Unknown versions count as new.
  const int reported = reported_index(job);
  int index = reported;
  if (index == kUnset && job.nccl_versions.size() == 1) {
    const std::string& version = job.nccl_versions.front();
    if (version.starts_with("2.") && compare_releases(version, "2.21") < 0) index = 0;
  }
  if (index != kUnset) {
    if (FactValue table = from_gid_table(job, index, reported); !table.what.empty()) return table;
  }
  if (FactValue failures = from_failures(job); !failures.what.empty()) return failures;
  if (reported == 0) return yes("NCCL_IB_GID_INDEX=0 is set, usually a link-local RoCE v1 address");
  std::set<std::string, std::less<>> subnets = {""};
  for (const HostAddress& address : bootstrap_addresses(job)) {
    subnets.emplace(subnet_of(address.ip));
  }
  if (index == 0 && subnets.size() > 2) {
    return yes("this release uses GID index 0 by default while the hosts are in different subnets");
  }
  return no();
}

// Who was at the other end of an RDMA transfer that failed?
//
//   Bootstrap : Using eno1:10.1.2.3<0>                          on host elm1
//   NET/IB: Got completion from peer 10.1.2.3<41822> … (12)     on host elm1
//       → job.ib_timeout_within_host = yes, "elm1, NICs mlx5_0"
//
// The peer is named by the address over which its rank was found, so it can be looked up among the
// addresses that hosts say are theirs. Up to NCCL 2.9 no peer is named.

constexpr int kRetryExceeded = 12;

/// Hosts by address; an address that two hosts claim, as container bridges are, is nobody's.
std::map<std::string_view, std::string_view> hosts_by_address(const Job& job) {
  std::map<std::string_view, std::string_view> hosts;
  for (const HostAddress& address : all_addresses(job)) {
    if (address.host.empty() || address.ip.empty()) continue;
    const auto [known, is_new] = hosts.try_emplace(address.ip, address.host);
    if (!is_new && known->second != address.host) known->second = {};
  }
  return hosts;
}

FactValue ib_timeout_within_host(const Job& job, const Instance&) {
  const auto hosts = hosts_by_address(job);
  AnswerParts places;
  bool between_hosts = false;
  for_each_said<IbCompletion>(job, [&](const Said<IbCompletion>& said) {
    if (said.message.status != kRetryExceeded || said.message.peer.empty()) return;
    const std::string& own = nth_process(job, said.process).host;
    const std::string_view address = said.message.peer.substr(0, said.message.peer.find('<'));
    const auto peer = hosts.find(address);
    if (own.empty() || peer == hosts.end() || peer->second != own) {
      between_hosts = true;
      return;
    }
    const std::string nic(said.message.hca);
    places.add(printable(to_valid_utf8(nic.empty() ? own : fmt::format("{} ({})", own, nic))),
               evidence_of(said.record()), said.process);
  });
  // Where other hosts cannot be reached either, the wiring inside one is not what is special.
  if (between_hosts) return no();
  std::ranges::sort(places.words);
  return places.answer(unknown(), ", ");
}

// Can the hosts of the job reach the addresses that NCCL advertises?
//
//   node-a: Bootstrap : Using docker0:172.17.0.1<0>
//   node-b: Bootstrap : Using docker0:172.17.0.1<0>      the same bridge on each host
//
// A job whose communicators are all complete and in which no connection failed has proved that its
// addresses are good; then none of these facts accuses them.

template <typename Wanted>
FactValue addresses_where(std::span<const HostAddress> addresses, Wanted wanted) {
  std::vector<HostAddress> found;
  std::ranges::copy_if(addresses, std::back_inserter(found), wanted);
  return addresses_answer(found);
}

bool connections_work(const Job& job) {
  const auto is_complete = [](const CommRank& rank) {
    return rank.state == RankState::Complete || rank.state == RankState::Destroyed;
  };
  return !any_said<ConnectFailed>(job) && !job.communicators.empty() &&
         std::ranges::all_of(job.communicators, [&](const Communicator& comm) {
           return std::ranges::all_of(comm.ranks, is_complete);
         });
}

/// Those that the addresses name are two at least.
bool are_of_two_hosts(const std::vector<HostAddress>& addresses) {
  const auto is_of = [](const HostAddress& address) { return !address.host.empty(); };
  const auto first = std::ranges::find_if(addresses, is_of);
  return std::any_of(first, addresses.end(), [&](const HostAddress& address) {
    return is_of(address) && address.host != first->host;
  });
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

/// "172.18.0.1": the host's own end of a bridge, as Docker numbers them. Clouds give such addresses to
/// routers alone.
bool is_bridge_gateway(std::string_view ip) {
  if (ip.size() != 10 || !ip.starts_with("172.") || !ip.ends_with(".0.1")) return false;
  const auto range = parse_int(ip.substr(4, 2));
  return range && *range >= 17 && *range <= 31;
}

/// Transfers with, or connections to, a peer that is known by such an address failed, and the host
/// itself has another one.
FactValue gateways_of_peers(const Job& job) {
  AnswerParts found;
  const auto add = [&](int process, const Record& record, std::string_view peer) {
    const std::string_view ip = ip_of(peer);
    if (!is_bridge_gateway(ip)) return;
    const bool is_its_own =
        std::ranges::any_of(all_addresses(job), [&](const HostAddress& address) {
          return address.ip == ip && address.host == nth_process(job, process).host;
        });
    if (is_its_own) return;
    found.add(fmt::format("{}, of a peer, is the gateway of a bridge as Docker makes them", ip),
              evidence_of(record), process);
  };
  for_each_said<SocketTransferFailed>(
      job, [&](const auto& said) { add(said.process, said.record(), said.message.peer); });
  for_each_said<ConnectFailed>(
      job, [&](const auto& said) { add(said.process, said.record(), said.message.address); });
  FactValue value = found.answer(no(), ", ");
  value.inferred = true;  // What the peer's host looks like is not seen.
  return value;
}

FactValue bridge_between_hosts(const Job& job, const Instance&) {
  if (job.nhosts == 0) return unknown();
  if (connections_work(job)) return no();
  // Where somebody tried to connect to, and could not; of the host that tried.
  std::vector<HostAddress> targets;
  for_each_said<ConnectFailed>(job, [&](const Said<ConnectFailed>& said) {
    const std::string_view ip = ip_of(said.message.address);
    if (!ip.empty()) targets.push_back({.host = nth_process(job, said.process).host, .ip = ip});
  });
  std::map<std::string, std::vector<HostAddress>> bridges;
  std::vector<HostAddress> reaching_out;
  std::vector<HostAddress> out_of_reach;
  for (const HostAddress& address : all_addresses(job)) {
    // What makes two addresses parts of the same private bridge.
    const bool in_container = is_container_host(address.host);
    const std::string range = bridge_range(address.ip, in_container);
    const std::string bridge = is_host_bridge(address.name) ? std::string(address.name) : range;
    if (!bridge.empty()) bridges[bridge].push_back(address);
    // Somebody on the address's host was refused by another address of the same range.
    const auto is_refusing = [&](const HostAddress& target) {
      return target.host == address.host && target.ip != address.ip &&
             bridge_range(target.ip, in_container) == range;
    };
    if (!range.empty() && std::ranges::any_of(targets, is_refusing)) {
      reaching_out.push_back(address);
    }
    // Another host tried to reach this very address, and has no bridge of its own to show.
    const auto tries = [&](const HostAddress& target) {
      return target.ip == address.ip && !target.host.empty() && target.host != address.host;
    };
    if (!bridge.empty() && !address.host.empty() && std::ranges::any_of(targets, tries)) {
      out_of_reach.push_back(address);
    }
  }
  for (const auto& [bridge, addresses] : bridges) {
    if (are_of_two_hosts(addresses)) return addresses_answer(addresses);
  }
  if (!out_of_reach.empty()) return addresses_answer(out_of_reach);
  if (reaching_out.empty()) return gateways_of_peers(job);
  FactValue value = addresses_answer(reaching_out);
  value.what += ", and the peer's address is in the same range";
  return value;
}

FactValue same_address_on_hosts(const Job& job, const Instance&) {
  std::map<std::string_view, std::string_view> hosts;  // By address, one that has it.
  std::string_view shared;
  const HostAddress* last = nullptr;  // Ranks of a host stand together.
  for (const HostAddress& address : bootstrap_addresses(job)) {
    if (last != nullptr && address.ip == last->ip && address.host == last->host) continue;
    last = &address;
    if (is_loopback(address.ip) || address.host.empty()) continue;
    const auto [known, is_new] = hosts.try_emplace(address.ip, address.host);
    const bool is_other = !is_new && known->second != address.host;
    if (is_other && (shared.empty() || address.ip < shared)) shared = address.ip;
  }
  if (shared.empty()) return no();
  return addresses_where(bootstrap_addresses(job),
                         [&](const HostAddress& address) { return address.ip == shared; });
}

FactValue address_families_differ(const Job& job, const Instance&) {
  const std::span<const HostAddress> all = bootstrap_addresses(job);
  if (all.empty()) return unknown();
  const auto is_v6 = [](const HostAddress& address) { return is_ipv6(address.ip); };
  const auto those = static_cast<size_t>(std::ranges::count_if(all, is_v6));
  if (those == 0 || those == all.size()) return no();
  const FactValue v6 = addresses_where(all, is_v6);
  const FactValue v4 = addresses_where(all, std::not_fn(is_v6));
  return yes(fmt::format("{}; {}", v6.what, v4.what), {v6.evidence.front(), v4.evidence.front()});
}

FactValue interfaces_share_subnet(const Job& job, const Instance&) {
  const auto two = sharing_subnet(socket_addresses(job));
  if (!two) return no();
  const auto& [a, b] = *two;
  return yes(fmt::format("{}:{} and {}:{}", a.name, a.ip, b.name, b.ip), {evidence_of(b.line)});
}

FactValue virtual_interface(const Job& job, const Instance&) {
  return addresses_where(all_addresses(job), [](const HostAddress& address) {
    return is_virtual_interface(address.name) ||
           (is_link_local(address.ip) && !is_ipv6(address.ip));
  });
}

/// "NET/Socket/1": the second interface of the process's list.
FactValue virtual_interface_carries(const Job& job, const Instance&) {
  // Of each process the interfaces of its socket network, in NCCL's order.
  const std::span<const HostAddress> all = socket_addresses(job);
  std::vector<HostAddress> found;
  SourceRef first;
  for (const Edge& edge : edges_of(job)) {
    if (edge.path->network != "Socket" || edge.path->device < 0) continue;
    const auto list = std::ranges::equal_range(all, edge.process, {}, &HostAddress::process);
    const Record line = list.empty() ? Record() : list.front().line;
    if (edge.path->device >= std::ranges::count(list, line, &HostAddress::line)) continue;
    const HostAddress& address = list[edge.path->device];
    if (!is_virtual_interface(address.name)) continue;
    if (found.empty()) first = edge.where;
    found.push_back(address);
  }
  if (found.empty()) return no();
  FactValue value = addresses_answer(found);
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

// Do the RDMA devices in use belong together?
//
//   job.hca_link_mix    = yes, "(mlx5_bond_0/RoCE beside 8 of the other kind)"
//   job.hca_sets_differ = yes, "8 InfiniBand and 0 RoCE devices on gpu-a, 7 InfiniBand and …"
//
// Names may differ between hosts; numbers and link layers should not.

/// How many devices of the list have that link layer.
int count_link(const HcaList& list, std::string_view link) {
  return static_cast<int>(
      std::ranges::count_if(list.hcas, [&](const NetDevice& hca) { return hca.link == link; }));
}

FactValue hca_sets_differ(const Job& job, const Instance&) {
  const auto lists = hca_lists(job);
  std::map<std::string_view, std::vector<const HcaList*>> by_host;
  for (const HcaList& list : lists) by_host[list.host].push_back(&list);
  by_host.erase("");
  if (by_host.size() < 2) return unknown();
  std::map<std::string, std::vector<int>> groups;
  std::vector<Evidence> evidence;
  for (const auto& [host, members] : by_host) {
    const HcaList& list = *members.front();
    const std::string kinds = fmt::format("{} InfiniBand and {} RoCE devices",
                                          count_link(list, "IB"), count_link(list, "RoCE"));
    if (groups[kinds].empty()) evidence.push_back(evidence_of(list.line));
    for (const HcaList* member : members) {
      // Each process of the host has devices of its own.
      if (member->hcas.size() != list.hcas.size()) return unknown();
      groups[kinds].push_back(member->process);
    }
  }
  if (groups.size() < 2) return no();
  AnswerParts parts{.evidence = std::move(evidence), .processes = minority(groups)};
  for (const auto& [kinds, members] : groups) {
    parts.words.push_back(kinds + " on " + nth_process(job, members.front()).host);
  }
  return parts.answer(no(), ", ");
}

/// All lists with those of their devices over which connections of the process run; nullopt: no line
/// of a connection names a device.
std::optional<std::vector<HcaList>> used_hcas(const Job& job) {
  std::map<int, std::set<int>> used;
  for (const Edge& edge : edges_of(job)) {
    if (edge.path->network == "IB" && edge.path->device >= 0) {
      used[edge.process].insert(edge.path->device);
    }
  }
  if (used.empty()) return std::nullopt;
  std::vector<HcaList> lists = hca_lists(job);
  for (HcaList& list : lists) {
    std::vector<NetDevice> all = std::move(list.hcas);
    list.hcas.clear();
    for (const int device : used[list.process]) {
      // Numbers after the list are fused devices, of which nothing is known here.
      const auto place = static_cast<size_t>(device);
      if (place < all.size()) list.hcas.push_back(all[place]);
    }
  }
  return lists;
}

/// All communicators whose size in hosts is printed stay within one: no NIC carries their data.
bool stays_on_one_host(const Job& job) {
  bool any = false;
  for (const Communicator& comm : job.communicators) {
    if (comm.nnodes > 1 || (comm.nnodes < 1 && comm.nranks != 1)) return false;
    any = true;
  }
  return any;
}

/// Groups of one host each may have been made before the one that joins them.
FactValue within_one_host(const Job& job, const Instance&) {
  int largest = 0;
  for (const Communicator& comm : job.communicators) largest = std::max(largest, comm.nranks);
  const bool is_whole = job.nhosts == 1 && job.hosts.size() == 1 && told_ranks(job) <= largest;
  return is_whole && stays_on_one_host(job) ? yes({}) : no();
}

/// Where lines of connections show which devices carry data: whether both kinds do.
FactValue used_link_mix(const std::vector<HcaList>& used) {
  AnswerParts ib;
  AnswerParts roce;
  for (const HcaList& list : used) {
    for (const NetDevice& hca : list.hcas) {
      if (hca.link != "IB" && hca.link != "RoCE") continue;
      (hca.link == "IB" ? ib : roce)
          .add_new(fmt::format("{}/{}", hca.name, hca.link), evidence_of(list.line));
    }
  }
  if (ib.words.empty() || roce.words.empty()) return no();
  const size_t most = std::max(ib.words.size(), roce.words.size());
  AnswerParts& names = roce.words.size() <= ib.words.size() ? roce : ib;
  names.words = {fmt::format("(connections run over {} beside {} of the other kind)",
                             join(names.words, ", "), most)};
  return names.answer(no());
}

FactValue hca_link_mix(const Job& job, const Instance&) {
  FactValue answer = said_answer<IbDevicesIncompatible>(
      job, [](const auto&) { return "(NCCL refuses to connect them)"; });
  if (is_yes(answer)) return answer;
  if (const auto used = used_hcas(job)) return used_link_mix(*used);
  if (stays_on_one_host(job)) return no();
  for (const HcaList& list : hca_lists(job)) {
    const int ib = count_link(list, "IB");
    const int roce = count_link(list, "RoCE");
    if (ib == 0 || roce == 0) continue;
    const std::string_view odd = roce <= ib ? "RoCE" : "IB";
    const auto hca =
        std::ranges::find_if(list.hcas, [&](const NetDevice& each) { return each.link == odd; });
    return yes(
        fmt::format("({}/{} beside {} of the other kind)", hca->name, odd, std::max(ib, roce)),
        {evidence_of(list.line)});
  }
  return answer;
}

/// Which devices the ranks use whose transfers got no answer: "rank 10 sends and receives over
/// mlx5_3 (RoCE)".
FactValue unanswered_hca(const Job& job, const Instance&) {
  constexpr size_t kMost = 4;
  const auto used = used_hcas(job);
  if (!used) return unknown();
  std::set<int> failed;
  for_each_said<IbCompletion>(job, [&](const Said<IbCompletion>& said) {
    if (said.message.status == kRetryExceeded) failed.insert(said.process);
  });
  AnswerParts parts;
  for (const HcaList& list : *used) {
    if (failed.erase(list.process) == 0) continue;
    std::vector<std::string> names;
    for (const NetDevice& hca : list.hcas) {
      names.push_back(hca.link.empty() ? std::string(hca.name)
                                       : fmt::format("{} ({})", hca.name, hca.link));
    }
    if (names.empty() || parts.words.size() == kMost) continue;
    const Process& process = nth_process(job, list.process);
    const std::string who = process.rank >= 0 ? fmt::format("rank {}", process.rank) : process.host;
    parts.add(fmt::format("{} uses {}", who, join(names, ", ")), evidence_of(list.line));
  }
  FactValue value = parts.answer(unknown());
  if (value.known()) value.what = " Of its devices, " + value.what + ".";
  return value;
}

template <typename Test>
FactValue every_hca(const Job& job, Test test) {
  const auto lists = hca_lists(job);
  if (lists.empty()) return unknown();
  const bool all = std::ranges::all_of(
      lists, [&](const HcaList& list) { return std::ranges::all_of(list.hcas, test); });
  return all ? yes({}, {evidence_of(lists.front().line)}) : no();
}

FactValue all_roce(const Job& job, const Instance&) {
  return every_hca(job, [](const NetDevice& hca) { return hca.link == "RoCE"; });
}

FactValue hca_bonds_only(const Job& job, const Instance&) {
  return every_hca(job, [](const NetDevice& hca) {
    return hca.link == "RoCE" && hca.name.find("bond") != std::string::npos;
  });
}

FactValue slow_hca(const Job& job, const Instance&) {
  std::map<int, std::pair<std::string, Evidence>> by_speed;
  for_each_said<IbDevice>(job, [&](const Said<IbDevice>& said) {
    if (said.message.speed <= 0) return;
    by_speed.try_emplace(said.message.speed, said.message.name, evidence_of(said.record()));
  });
  if (by_speed.empty()) return unknown();
  const auto& [slowest, device] = *by_speed.begin();
  const int fastest = by_speed.rbegin()->first;
  // Two generations of cards differ by a factor of two; a management NIC by more.
  if (slowest * 4 > fastest) return no();
  return yes(fmt::format("{} has {} Gbit/s beside {} Gbit/s", device.first, slowest / 1000,
                         fastest / 1000),
             {device.second});
}

constexpr std::array kInterfaceFacts = {
    // Lines of connections show the RDMA devices of a rank whose transfers got no answer.
    job_fact("job.unanswered_hca", unanswered_hca),
    // Every listed RDMA device is RoCE.
    job_fact("job.all_roce", all_roce),
    // Every listed RDMA device is a RoCE bond.
    job_fact("job.hca_bonds_only", hca_bonds_only),
    // Connections run over InfiniBand and RoCE devices; or one list holds both, and nothing shows
    // which carry data; or NCCL refuses to connect two.
    job_fact("job.hca_link_mix", hca_link_mix),
    // All ranks that are told of are on one host, and NCCL counts no other: no data need a network.
    job_fact("job.within_one_host", within_one_host),
    // Hosts list different numbers of InfiniBand or RoCE devices.
    comparing_fact("job.hca_sets_differ", hca_sets_differ),
    // One RDMA device has at most a quarter of another's speed.
    job_fact("job.slow_hca", slow_hca),
    // The GID in use is link-local or RoCE v1, or index 0 between subnets.
    job_fact("job.gid_evidence", gid_evidence),
    // Two RoCE NICs of one host have addresses that agree in 24 bits; unknown where no line names
    // addresses of NICs.
    job_fact("job.roce_nics_share_subnet", roce_nics_share_subnet),
    // RDMA transfers between NICs of one host got no answer, and no others failed.
    job_fact("job.ib_timeout_within_host", ib_timeout_within_host),
    // Some ranks use IPv4 and others IPv6 for the bootstrap.
    comparing_fact("job.address_families_differ", address_families_differ),
    // Hosts advertise addresses of the same private bridge, which each has for itself.
    comparing_fact("job.bridge_between_hosts", bridge_between_hosts),
    // Two socket interfaces of a process are in one subnet, if its mask has 24 bits.
    job_fact("job.interfaces_share_subnet", interfaces_share_subnet),
    // A socket network lists interfaces with names of InfiniBand ports.
    job_fact("job.ipoib_interfaces", ipoib_interfaces),
    // The log names several hosts, and some process uses a loopback address.
    comparing_fact("job.loopback_between_hosts", loopback_between_hosts),
    // Two hosts advertise the same address for the bootstrap.
    comparing_fact("job.same_address_on_hosts", same_address_on_hosts),
    // Some process uses or lists a bridge, tunnel or link-local IPv4 interface.
    job_fact("job.virtual_interface", virtual_interface),
    // Lines of connections show that data pass through a bridge or tunnel.
    job_fact("job.virtual_interface_carries", virtual_interface_carries),
};

}  // namespace

bool is_virtual_interface(std::string_view name) {
  return is_host_bridge(name) || starts_with_one_of(name, kVirtualNames);
}

bool is_host_bridge(std::string_view name) { return starts_with_one_of(name, kHostBridges); }

bool is_infiniband_interface(std::string_view name) {
  if (!name.starts_with("ib") || name.size() < 3) return false;
  const std::string_view rest = name.substr(name[2] == 's' || name[2] == 'p' ? 3 : 2);
  return !rest.empty() && is_digit(rest.front());
}

bool is_ipv6(std::string_view ip) { return ip.find(':') != std::string_view::npos; }

std::string bridge_range(std::string_view ip, bool in_container) {
  const auto address = parse_ipv4(ip);
  if (!address) return {};
  const uint32_t a = *address >> 24;
  const uint32_t b = *address >> 16 & 0xFF;
  if (*address >> 8 == kLibvirt) return "192.168.122.0/24";
  const uint32_t c = *address >> 8 & 0xFF;
  // Docker counts from .0.1 upwards, so 172.17.33.4 on a plain host is somebody's own network.
  const bool docker = a == 172 && (in_container ? b >= 17 && b <= 31 : b == 17 && c == 0);
  const bool podman = a == 10 && b == 88 && in_container;
  return docker || podman ? fmt::format("{}.{}.0.0/16", a, b) : std::string();
}

std::string_view subnet_of(std::string_view ip) {
  return parse_ipv4(ip) ? ip.substr(0, ip.rfind('.')) : std::string_view();
}

bool is_container_host(std::string_view host) {
  return host.size() == 12 && std::ranges::all_of(host, is_hex_digit);
}

const std::vector<HostAddress>& all_addresses(const Job& job) {
  return job.answers.of<&read_addresses>(job);
}

std::span<const HostAddress> bootstrap_addresses(const Job& job) {
  const std::span<const HostAddress> all = all_addresses(job);
  return all.first(of_bootstrap(all));
}

std::span<const HostAddress> socket_addresses(const Job& job) {
  const std::span<const HostAddress> all = all_addresses(job);
  return all.subspan(of_bootstrap(all));
}

const std::vector<HcaList>& hca_lists(const Job& job) {
  return job.answers.of<&read_hca_lists>(job);
}

/// "eth0:172.17.0.3 on node-a, eth0:172.17.0.5 on node-b".
FactValue addresses_answer(std::span<const HostAddress> addresses) {
  AnswerParts parts;
  std::set<std::string_view> hosts;
  for (const HostAddress& address : addresses) {
    parts.processes.push_back(address.process);
    if (!hosts.insert(address.host).second) continue;
    parts.words.push_back(fmt::format("{}:{}{}{}", address.name, address.ip,
                                      address.host.empty() ? "" : " on ", address.host));
    if (hosts.size() <= kMostNamed) parts.evidence.push_back(evidence_of(address.line));
  }
  return parts.answer(no(), ", ", kMostNamed);
}

std::span<const Fact> interface_facts() { return kInterfaceFacts; }

}  // namespace ncclog
