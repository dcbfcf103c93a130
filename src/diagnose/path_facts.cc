// Do data take the way that the hardware offers, or a slower one?
//
//   0 -> 1 via SHM/direct in a host with NVSwitch   → job.shm_despite_nvlink = yes, rank 0
//   2 coll channels in such a host                  → communicator.few_channels = yes
//
// What is judged is printed by NCCL itself: paths, links, numbers of channels. Where the hardware
// is not known to offer more, nothing is called slow.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/channel_caps.h"
#include "diagnose/edges.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/hca_lists.h"
#include "diagnose/nvswitch.h"
#include "diagnose/within_runs.h"
#include "log/address.h"

namespace ncclog {
namespace {

constexpr size_t kMaxLines = 6;

const std::string& host_of(const Job& job, int process) {
  return job.processes[static_cast<size_t>(process)].host;
}

/// What a fact says that found edges: the first in words, some lines, who announced them.
struct Found {
  std::string first;
  std::vector<Evidence> lines;
  std::set<int> processes;

  void add(const Edge& edge) {
    if (first.empty()) first = edge_phrase(edge);
    if (lines.size() < kMaxLines) lines.push_back({edge.where, {}});
    processes.insert(edge.process);
  }
  FactValue answer(bool any_edges) const {
    if (processes.empty()) return any_edges ? no() : unknown();
    return yes(first, lines, {processes.begin(), processes.end()});
  }
};

bool is_rdma_between_hosts(const Edge& edge) {
  return edge.reach == EdgeReach::OtherHost && edge.path.transport == Transport::NET &&
         edge.path.network != "Socket" && edge.path.network != "FastSocket";
}

/// With `only_staged`, paths with GPU Direct RDMA do not count: NCCL may choose the NIC because it
/// is faster.
FactValue net_inside(const Job& job, bool only_staged) {
  Found found;
  const std::vector<Edge>& edges = edges_of(job);
  for (const Edge& edge : edges) {
    const bool by_net = edge.path.transport == Transport::NET && edge.reach == EdgeReach::SameHost;
    if (by_net && !(only_staged && edge.path.gpudirect)) found.add(edge);
  }
  return found.answer(!edges.empty());
}

FactValue net_within_host(const Job& job, const Instance&) { return net_inside(job, false); }

FactValue staged_net_within_host(const Job& job, const Instance&) { return net_inside(job, true); }

FactValue shm_despite_nvlink(const Job& job, const Instance&) {
  Found found;
  const std::set<std::string> hosts = nvswitch_hosts(job);
  const std::vector<Edge>& edges = edges_of(job);
  for (const Edge& edge : edges) {
    const bool linked = hosts.contains(host_of(job, edge.process));
    if (linked && edge.path.transport == Transport::SHM) found.add(edge);
  }
  return found.answer(!edges.empty() && !hosts.empty());
}

/// A host that joins all its GPUs by NVSwitch gives every communicator inside it more than two.
FactValue few_channels(const Job& job, const Instance& instance) {
  const Communicator& comm = job.communicators[static_cast<size_t>(instance.communicator)];
  const int channels = comm.graphs.channels.coll;
  if (channels < 0 || comm.hosts.size() != 1 || comm.nnodes > 1) return unknown();
  if (comm.nranks < 2 || !nvswitch_hosts(job).contains(comm.hosts.front())) return unknown();
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name == "NCCL_HOSTID") return unknown();
  }
  if (channels > 2) return no();
  std::vector<Evidence> lines;
  for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
    const bool own =
        std::binary_search(instance.processes.begin(), instance.processes.end(), said.process);
    if (own && said.message.coll == channels && lines.size() < 2) {
      lines.push_back(evidence_of(said.record));
    }
  });
  return yes(fmt::format("{} for {} ranks on {}", channels, comm.nranks, comm.hosts.front()),
             std::move(lines));
}

/// "eth1", "ens8f0", "enp3s0f1np1": an Ethernet port by the kernel's naming.
bool is_ethernet_port(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"eth", "ens", "enp", "eno"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix) && is_digit(name[prefix.size()]);
  });
}

/// Processes whose list of socket interfaces names two Ethernet ports at least.
std::set<int> with_several_ports(const Job& job) {
  std::set<int> processes;
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network != "Socket") return;
    std::set<std::string_view> ports;
    for (const NetDevice& device : parse_device_list(said.message.devices)) {
      if (is_ethernet_port(device.name)) ports.insert(device.name);
    }
    if (ports.size() > 1) processes.insert(said.process);
  });
  return processes;
}

FactValue one_socket_nic(const Job& job, const Instance&) {
  const std::set<int> several = with_several_ports(job);
  std::set<int> devices;
  Found found;
  for (const Edge& edge : edges_of(job)) {
    const bool socket = edge.path.network == "Socket" && edge.reach == EdgeReach::OtherHost;
    if (!socket || !several.contains(edge.process)) continue;
    devices.insert(edge.path.device);
    found.add(edge);
  }
  if (devices.size() > 1) return no();
  return found.answer(false);
}

/// Hosts of which four ranks or more use one NIC, the only one that they have.
FactValue one_nic_for_many(const Job& job, const Instance&) {
  constexpr size_t kMany = 4;
  std::map<std::string, size_t> listed;
  for (const HcaList& list : hca_lists(job)) {
    listed[list.host] = std::max(listed[list.host], list.hcas.size());
  }
  std::map<std::string, std::set<int>> users;
  for (const Edge& edge : edges_of(job)) {
    if (is_rdma_between_hosts(edge)) users[host_of(job, edge.process)].insert(edge.process);
  }
  bool known = false;
  for (const auto& [host, processes] : users) {
    const auto nics = listed.find(host);
    known |= nics != listed.end();
    if (nics == listed.end() || nics->second != 1 || processes.size() < kMany) continue;
    return yes(fmt::format("{} ranks of {} share one NIC", processes.size(), host));
  }
  return known ? no() : unknown();
}

constexpr std::array kFacts = {
    Fact{"job.channels_capped", Scope::Job, FactType::Bool,
         "A setting leaves at most half of the channels that NCCL would use.", channels_capped},
    Fact{"communicator.few_channels", Scope::Communicator, FactType::Bool,
         "A communicator inside one host with NVSwitch has two channels or one; unknown for all "
         "others.",
         few_channels},
    Fact{"job.one_nic_for_many", Scope::Job, FactType::Bool,
         "Four ranks or more of a host reach others through the only NIC that is listed there.",
         within_runs<one_nic_for_many>},
    Fact{"job.one_socket_nic", Scope::Job, FactType::Bool,
         "Hosts list several Ethernet ports, and all socket connections between hosts use one.",
         within_runs<one_socket_nic>},
    Fact{"job.shm_despite_nvlink", Scope::Job, FactType::Bool,
         "GPUs of a host with NVSwitch are connected through shared memory.",
         within_runs<shm_despite_nvlink>},
    Fact{"job.staged_net_within_host", Scope::Job, FactType::Bool,
         "Two ranks of one host are connected over the network, through host memory, without "
         "NCCL_HOSTID being set.",
         within_runs<staged_net_within_host>},
};

}  // namespace

std::span<const Fact> path_facts() { return kFacts; }

}  // namespace ncclog
