#include "diagnose/network/interfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "log/address.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kHostBridges[] = {"docker", "virbr", "br-", "lxcbr", "lxdbr", "podman"};
constexpr std::string_view kVirtualNames[] = {"cni",       "flannel", "vxlan", "cali",  "veth",
                                              "tun",       "tap",     "wg",    "zt",    "weave",
                                              "tailscale", "kube-",   "dummy", "cilium"};

/// The first three bytes of libvirt's default network, 192.168.122.0/24.
constexpr uint32_t kLibvirt = 192 << 16 | 168 << 8 | 122;

bool starts_with_any(std::string_view name, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

bool is_virtual_interface(std::string_view name) {
  return is_host_bridge(name) || starts_with_any(name, kVirtualNames);
}

bool is_host_bridge(std::string_view name) { return starts_with_any(name, kHostBridges); }

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

namespace {

/// True if a list has its first device at its beginning, behind "[0]" at most: another process's
/// words may stand in a torn one.
bool begins_with_device(std::string_view devices, const NetDevice& first) {
  const auto before = static_cast<size_t>(first.name.data() - devices.data());
  const std::string_view index = trim(devices.substr(0, before));
  return index.empty() ||
         (index.front() == '[' && index.find(']') == index.size() - 1 && index.size() > 2 &&
          index.find_first_not_of("0123456789", 1) == index.size() - 1);
}

void add_addresses(const Job& job, int process, const Record& record, std::string_view devices,
                   bool bootstrap, std::vector<HostAddress>& addresses) {
  const std::vector<NetDevice> list = parse_device_list(devices);
  if (list.empty() || !begins_with_device(devices, list.front())) return;
  for (const NetDevice& device : list) {
    const std::string_view ip = parse_address(device.address).ip;
    if (ip.empty()) continue;
    const std::string& host = nth_process(job, process).host;
    addresses.push_back(
        {process, host, std::string(device.name), std::string(ip), bootstrap, evidence_of(record)});
    // The bootstrap takes the first of the candidates that releases up to 2.7 list.
    if (bootstrap) return;
  }
}

std::vector<HostAddress> read_bootstrap_addresses(const Job& job) {
  std::vector<HostAddress> addresses;
  for_each_said<BootstrapInterface>(job, [&](const Said<BootstrapInterface>& said) {
    add_addresses(job, said.process, said.record, said.message.devices, true, addresses);
  });
  return addresses;
}

std::vector<HostAddress> read_socket_addresses(const Job& job) {
  std::vector<HostAddress> addresses;
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network == "IB") return;
    add_addresses(job, said.process, said.record, said.message.devices, false, addresses);
  });
  return addresses;
}

std::vector<HostAddress> join_addresses(const Job& job) {
  std::vector<HostAddress> addresses = bootstrap_addresses(job);
  const std::vector<HostAddress>& others = socket_addresses(job);
  addresses.insert(addresses.end(), others.begin(), others.end());
  return addresses;
}

}  // namespace

const std::vector<HostAddress>& bootstrap_addresses(const Job& job) {
  return job.answers.of<&read_bootstrap_addresses>(job);
}

const std::vector<HostAddress>& socket_addresses(const Job& job) {
  return job.answers.of<&read_socket_addresses>(job);
}

const std::vector<HostAddress>& all_addresses(const Job& job) {
  return job.answers.of<&join_addresses>(job);
}

namespace {

std::vector<HcaList> read_hca_lists(const Job& job) {
  std::vector<HcaList> lists;
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network != "IB") return;
    HcaList list{said.process, nth_process(job, said.process).host, {}, evidence_of(said.record)};
    for (const NetDevice& device : parse_device_list(said.message.devices)) {
      // One with an address is the interface after a list that another process's words broke.
      if (!device.name.empty() && device.address.empty()) {
        list.hcas.push_back({std::string(device.name), std::string(device.link)});
      }
    }
    if (!list.hcas.empty()) lists.push_back(std::move(list));
  });
  return lists;
}

}  // namespace

const std::vector<HcaList>& hca_lists(const Job& job) {
  return job.answers.of<&read_hca_lists>(job);
}

namespace {

// Do several RoCE NICs of one host sit in one subnet?
//
//   Got completion … localGid ::ffff:10.21.0.1 … hca mlx5_0
//   Got completion … localGid ::ffff:10.21.0.2 … hca mlx5_1     → job.roce_nics_share_subnet
//
// The kernel then answers for the address of one NIC on the wire of the other, unless it is told
// not to. Masks are not printed: addresses that agree in 24 bits seem to share a subnet.

/// The address of one RDMA device.
struct PortAddress {
  std::string host;
  std::string device;
  std::string ip;
  Evidence line;
};

/// "10.21.0.1" for "::ffff:10.21.0.1" too.
std::string_view plain_ipv4(std::string_view gid) {
  gid = trim(gid);
  constexpr std::string_view kMapped = "::ffff:";
  return gid.starts_with(kMapped) ? gid.substr(kMapped.size()) : gid;
}

/// Calls `use(said, device)` for every line about an RDMA transfer or connection that failed: all
/// tell local_gid and remote_gid.
template <typename Use>
void for_each_failed_transfer(const Job& job, Use use) {
  for_each_said<IbModifyQpFailed>(job, [&](const auto& said) { use(said, said.message.device); });
  for_each_said<IbCompletion>(job, [&](const auto& said) { use(said, said.message.hca); });
}

/// By host.
std::vector<PortAddress> port_addresses(const Job& job) {
  std::vector<PortAddress> found;
  const auto add = [&](const auto& said, std::string_view device, std::string_view ip) {
    if (device.empty() || subnet_of(ip).empty()) return;
    found.push_back({nth_process(job, said.process).host, std::string(device), std::string(ip),
                     evidence_of(said.record)});
  };
  for_each_said<GidRow>(
      job, [&](const auto& said) { add(said, said.message.device, said.message.address); });
  for_each_failed_transfer(job, [&](const auto& said, std::string_view device) {
    add(said, device, plain_ipv4(said.message.local_gid));
  });
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.host < b.host; });
  return found;
}

FactValue roce_nics_share_subnet(const Job& job, const Instance&) {
  const std::vector<PortAddress> addresses = port_addresses(job);
  if (addresses.empty()) return unknown();
  std::map<std::pair<std::string, std::string_view>, const PortAddress*> first;
  for (const PortAddress& address : addresses) {
    const auto [there, added] = first.try_emplace({address.host, subnet_of(address.ip)}, &address);
    const PortAddress& other = *there->second;
    if (added || other.device == address.device) continue;
    return yes(fmt::format("{} with {} and {} with {}{}", other.device, other.ip, address.device,
                           address.ip, address.host.empty() ? "" : " on " + address.host),
               {other.line, address.line});
  }
  return no();
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

/// The entry that was used; kUnset if the log does not let one tell. Unknown versions count as new.
int index_in_use(const Job& job) {
  const int index = reported_index(job);
  if (index != kUnset || job.nccl_versions.size() != 1) return index;
  const std::string& version = job.nccl_versions.front();
  const bool old = version.starts_with("2.") && compare_releases(version, "2.21") < 0;
  return old ? 0 : kUnset;
}

FactValue from_gid_table(const Job& job, int index) {
  FactValue answer = no();
  for_each_said<GidRow>(job, [&](const Said<GidRow>& said) {
    const GidRow& row = said.message;
    if (row.index != index || (!is_link_local(row.gid) && row.version != "v1")) return;
    answer = yes(fmt::format("GID index {} of {} is {}{}", index, row.device,
                             is_link_local(row.gid) ? "link-local" : "RoCE v1",
                             reported_index(job) == kUnset ? ", the default of this release" : ""),
                 {evidence_of(said.record)});
  });
  return answer;
}

FactValue from_failures(const Job& job) {
  FactValue answer = no();
  for_each_failed_transfer(job, [&](const auto& said, std::string_view) {
    const std::string_view local = said.message.local_gid;
    const std::string_view remote = said.message.remote_gid;
    if (!is_link_local(local) && !is_link_local(remote)) return;
    answer = yes(fmt::format("the failing connection uses link-local GID {}",
                             is_link_local(local) ? local : remote),
                 {evidence_of(said.record)});
  });
  return answer;
}

bool hosts_in_different_subnets(const Job& job) {
  std::set<std::string_view> subnets;
  const auto addresses = bootstrap_addresses(job);
  for (const HostAddress& address : addresses) {
    if (const auto subnet = subnet_of(address.ip); !subnet.empty()) subnets.insert(subnet);
  }
  return subnets.size() > 1;
}

FactValue gid_evidence(const Job& job, const Instance&) {
  const int index = index_in_use(job);
  if (index != kUnset) {
    if (FactValue table = from_gid_table(job, index); !table.what.empty()) return table;
  }
  if (FactValue failures = from_failures(job); !failures.what.empty()) return failures;
  if (index == 0 && reported_index(job) == 0) {
    return yes("NCCL_IB_GID_INDEX=0 is set, usually a link-local RoCE v1 address");
  }
  if (index == 0 && hosts_in_different_subnets(job)) {
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
std::map<std::string, std::string, std::less<>> hosts_by_address(const Job& job) {
  std::map<std::string, std::string, std::less<>> hosts;
  for (const HostAddress& address : all_addresses(job)) {
    if (address.host.empty() || address.ip.empty()) continue;
    const auto [known, is_new] = hosts.try_emplace(address.ip, address.host);
    if (!is_new && known->second != address.host) known->second.clear();
  }
  return hosts;
}

FactValue ib_timeout_within_host(const Job& job, const Instance&) {
  const auto hosts = hosts_by_address(job);
  FactValue value = yes({});
  std::set<std::string> places;
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
    places.insert(printable(to_valid_utf8(nic.empty() ? own : fmt::format("{} ({})", own, nic))));
    value.evidence.push_back(evidence_of(said.record));
    value.processes.push_back(said.process);
  });
  if (places.empty()) return between_hosts ? no() : unknown();
  // Where other hosts cannot be reached either, the wiring inside one is not what is special.
  if (between_hosts) return no();
  value.what = fmt::format("{}", fmt::join(places, ", "));
  return value;
}

constexpr std::array kFacts = {
    job_fact("job.gid_evidence", gid_evidence,
             "The GID in use is link-local or RoCE v1, or index 0 between subnets."),
    job_fact(
        "job.roce_nics_share_subnet", roce_nics_share_subnet,
        "Two RoCE NICs of one host have addresses that agree in 24 bits; unknown where no line "
        "names addresses of NICs."),
    job_fact("job.ib_timeout_within_host", ib_timeout_within_host,
             "RDMA transfers between NICs of one host got no answer, and no others failed."),
};

}  // namespace

std::span<const Fact> interface_facts() { return kFacts; }

}  // namespace ncclog
