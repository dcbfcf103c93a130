#include "diagnose/network/connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/network/interfaces.h"
#include "log/address.h"
#include "log/messages.h"

namespace ncclog {
namespace {

bool names_hosts(const Job& job) {
  return std::ranges::count(job.environment, "NCCL_HOSTID", &EnvironmentSetting::name) > 0;
}

/// A process's place in a communicator.
struct RankIn {
  const Communicator* communicator = nullptr;
  int rank = -1;
};

/// By process, all its places that are numbered. Lines about connections number ranks within a
/// communicator that they do not name: this is what the numbers may mean.
std::vector<std::vector<RankIn>> ranks_in_communicators(const Job& job) {
  std::vector<std::vector<RankIn>> result(job.processes.size());
  for (const Communicator& communicator : job.communicators) {
    for (const CommRank& rank : communicator.ranks) {
      if (rank.process < 0 || rank.rank < 0) continue;
      result[static_cast<size_t>(rank.process)].push_back({&communicator, rank.rank});
    }
  }
  return result;
}

/// The process of that rank; -1: not seen; nullopt: the communicator has no such rank.
std::optional<int> process_in(const Communicator& comm, int rank) {
  const auto found = std::ranges::lower_bound(comm.ranks, rank, {}, &CommRank::rank);
  if (found != comm.ranks.end() && found->rank == rank) return found->process;
  const bool may_be = rank >= 0 && (comm.nranks < 0 || rank < comm.nranks);
  return may_be ? std::optional<int>(-1) : std::nullopt;
}

/// Where a peer is that uses this path, whoever it is; Unknown for networks.
EdgeReach reach_by_transport(const PathParts& path) {
  const bool local =
      path.transport == Transport::SHM || (path.transport == Transport::P2P && !path.multi_node);
  return local ? EdgeReach::SameHost : EdgeReach::Unknown;
}

/// Finds out where the ends of one process's connections are.
class EndFinder {
 public:
  explicit EndFinder(const Job& job)
      : job_(job), memberships_(ranks_in_communicators(job)), named_hosts_(names_hosts(job)) {}

  void place(Edge& edge) const {
    bool first = true;
    EdgeReach reach = EdgeReach::Unknown;
    for (const RankIn& own : memberships_[static_cast<size_t>(edge.process)]) {
      if (own.rank != edge.src_rank && own.rank != edge.dst_rank) continue;
      const bool sends = own.rank == edge.src_rank;
      const auto peer = process_in(*own.communicator, sends ? edge.dst_rank : edge.src_rank);
      if (!peer) continue;
      const EdgeReach there = reach_of(edge.process, *peer);
      edge.sends = sends;
      edge.peer = first || edge.peer == *peer ? *peer : -1;
      reach = first || reach == there ? there : EdgeReach::Unknown;
      first = false;
    }
    const EdgeReach certain = reach_by_transport(edge.path);
    edge.reach = certain == EdgeReach::Unknown ? reach : certain;
  }

 private:
  EdgeReach reach_of(int process, int peer) const {
    if (peer < 0) return EdgeReach::Unknown;
    const std::string& own = nth_process(job_, process).host;
    const std::string& other = nth_process(job_, peer).host;
    if (own.empty() || other.empty()) return EdgeReach::Unknown;
    if (own != other) return EdgeReach::OtherHost;
    return named_hosts_ ? EdgeReach::Unknown : EdgeReach::SameHost;
  }

  const Job& job_;
  std::vector<std::vector<RankIn>> memberships_;
  bool named_hosts_ = false;
};

/// Takes a number in front of `text`; -1: none stands there.
int take_number(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  const auto number = parse_int(text.substr(0, digits));
  text.remove_prefix(digits);
  constexpr int64_t kMax = 1 << 24;
  return number && *number <= kMax ? static_cast<int>(*number) : -1;
}

/// "IB/3(5)/GDRDMA": a network's name may hold blanks, and a number follows it.
void parse_net(std::string_view text, PathParts& parts) {
  const auto pieces = split(text, '/');
  size_t offset = 0;
  for (size_t i = 1; i < pieces.size(); ++i) {
    offset += pieces[i - 1].size() + 1;
    std::string_view rest = pieces[i];
    if (rest.empty() || !is_digit(rest[0])) continue;
    parts.network = text.substr(0, offset - 1);
    parts.device = take_number(rest);
    if (rest.starts_with('(')) {
      rest.remove_prefix(1);
      parts.proxy_rank = take_number(rest);
    }
    return;
  }
  parts.network = pieces[0];
}

std::vector<Edge> find_edges(const Job& job) {
  const EndFinder ends(job);
  std::vector<Edge> edges;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    if (job.processes[p].torn) continue;
    for (const size_t log : job.processes[p].logs) {
      for (const auto& [key, use] : job.logs[log].connections.all) {
        Edge edge;
        edge.process = static_cast<int>(p);
        edge.src_rank = key.src_rank;
        edge.dst_rank = key.dst_rank;
        edge.path = parse_path(key.path);
        edge.path_text = key.path;
        edge.channels = use.channels;
        edge.where = use.first;
        ends.place(edge);
        edges.push_back(edge);
      }
    }
  }
  return edges;
}

}  // namespace

PathParts parse_path(std::string_view path) {
  PathParts parts;
  parts.transport = transport_of(path);
  parts.gpudirect = path.find("/GDRDMA") != path.npos;
  parts.multi_node = path.starts_with("P2P/MNNVL");
  if (parts.transport == Transport::NET && path.starts_with("NET/")) {
    parse_net(path.substr(4), parts);
  }
  return parts;
}

const std::vector<Edge>& edges_of(const Job& job) { return job.answers.of<&find_edges>(job); }

std::vector<Instance> rank_pairs(const Job& job) {
  std::map<std::pair<int, int>, std::set<std::string>> pairs;
  for (const Edge& edge : edges_of(job)) {
    if (edge.peer < 0 || edge.peer == edge.process) continue;
    pairs[std::minmax(edge.process, edge.peer)].emplace(edge.path_text);
  }
  std::vector<Instance> result;
  for (const auto& [ends, paths] : pairs) {
    result.push_back({.scope = Scope::RankPair,
                      .processes = {ends.first, ends.second},
                      .paths = {paths.begin(), paths.end()}});
  }
  std::ranges::stable_sort(result, {}, [&](const Instance& pair) {
    const auto [low, high] = std::minmax(nth_process(job, pair.processes[0]).rank,
                                         nth_process(job, pair.processes[1]).rank);
    return std::pair(static_cast<unsigned>(low), static_cast<unsigned>(high));
  });
  return result;
}

std::string edge_phrase(const Edge& edge) {
  return fmt::format("rank {} -> rank {} via {}", edge.src_rank, edge.dst_rank, edge.path_text);
}

std::set<std::string> nvswitch_hosts(const Job& job) {
  std::set<std::string> hosts;
  for (const Process& process : job.processes) {
    if (process.nvls == 1 && !process.host.empty()) hosts.insert(process.host);
  }
  for (const HostTopology& topology : job.topologies) {
    const bool has_switch = std::ranges::any_of(
        topology.system.nodes, [](const SystemNode& node) { return node.name.kind == "NVS"; });
    if (has_switch && !topology.host.empty()) hosts.insert(topology.host);
  }
  return hosts;
}

namespace {

// Does a setting keep NCCL from using the channels that it would?
//
//   NCCL_MAX_NCHANNELS set by environment to 1.
//   1 coll channels, 1 collnet channels, 0 nvls channels, 1 p2p channels, 1 p2p channels per peer
//       → job.channels_capped = yes, "NCCL_MAX_NCHANNELS=1 leaves 1 channel where NCCL makes at
//         least 2"
//
// NCCL doubles its channels, so that it never makes fewer than two; behind NVSwitches it makes
// eight or more, and what its search found is printed with GRAPH. A cap costs something only where
// the channels are as few as it says and NCCL would have made more.

constexpr std::string_view kCaps[] = {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS"};

/// Channels that NCCL makes at least, and how that is known.
struct Usual {
  int channels = 2;
  std::string_view why = "NCCL makes at least";
};

Usual usual_channels(const Job& job) {
  constexpr int kRing = 4;
  constexpr int kBehindSwitches = 8;
  Usual usual;
  if (!nvswitch_hosts(job).empty()) usual = {kBehindSwitches, "NVSwitches get at least"};
  for_each_said<GraphPattern>(job, [&](const Said<GraphPattern>& said) {
    if (said.message.pattern != kRing || said.message.channels <= usual.channels) return;
    usual = {said.message.channels, "NCCL's search found"};
  });
  return usual;
}

/// job.channels_capped: names the processes that read the setting.
FactValue channels_capped(const Job& job, const Instance&) {
  int channels = 0;  // Most of any communicator.
  std::vector<Evidence> lines;
  for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
    if (said.message.coll <= channels) return;
    channels = said.message.coll;
    lines = {evidence_of(said.record)};
  });
  const Usual usual = usual_channels(job);
  // Where no line counts them the setting itself does: NCCL obeys it.
  FactValue value;
  std::set<int> processes;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    const auto cap = parse_int(said.message.value);
    const bool is_cap = std::ranges::find(kCaps, said.message.name) != std::end(kCaps);
    if (!is_cap || !cap || *cap < 1 || 2 * *cap > usual.channels || channels > *cap) return;
    processes.insert(said.process);
    if (value.known()) return;
    value = yes(fmt::format("{}={} leaves {} where {} {}", to_valid_utf8(said.message.name), *cap,
                            *cap == 1 ? "one channel" : fmt::format("{} channels", *cap), usual.why,
                            usual.channels),
                {evidence_of(said.record)});
  });
  if (!value.known()) return unknown();
  value.evidence.insert(value.evidence.end(), lines.begin(), lines.end());
  value.processes.assign(processes.begin(), processes.end());
  return value;
}

// Do data take the way that the hardware offers, or a slower one?
//
//   0 -> 1 via SHM/direct in a host with NVSwitch   → job.shm_despite_nvlink = yes, rank 0
//   2 coll channels in such a host                  → communicator.few_channels = yes
//
// What is judged is printed by NCCL itself: paths, links, numbers of channels. Where the hardware
// is not known to offer more, nothing is called slow.

constexpr size_t kMaxLines = 6;

const std::string& host_of(const Job& job, int process) { return nth_process(job, process).host; }

/// The edges that `wanted` takes: the first in words, some lines, who announced them. Without any,
/// no, or unknown if the job is not `judged`.
template <typename Wanted>
FactValue edges_where(const Job& job, bool judged, Wanted wanted) {
  FactValue value = yes({});
  std::set<int> processes;
  for (const Edge& edge : edges_of(job)) {
    if (!wanted(edge)) continue;
    if (processes.empty()) value.what = edge_phrase(edge);
    if (value.evidence.size() < kMaxLines) value.evidence.push_back({edge.where, {}});
    processes.insert(edge.process);
  }
  if (processes.empty()) return judged && !edges_of(job).empty() ? no() : unknown();
  value.processes.assign(processes.begin(), processes.end());
  return value;
}

bool is_rdma_between_hosts(const Edge& edge) {
  return edge.reach == EdgeReach::OtherHost && edge.path.transport == Transport::NET &&
         edge.path.network != "Socket" && edge.path.network != "FastSocket";
}

/// Paths with GPU Direct RDMA do not count: NCCL may choose the NIC because it is faster.
FactValue staged_net_within_host(const Job& job, const Instance&) {
  return edges_where(job, true, [](const Edge& edge) {
    return edge.path.transport == Transport::NET && edge.reach == EdgeReach::SameHost &&
           !edge.path.gpudirect;
  });
}

FactValue shm_despite_nvlink(const Job& job, const Instance&) {
  const std::set<std::string> hosts = nvswitch_hosts(job);
  return edges_where(job, !hosts.empty(), [&](const Edge& edge) {
    return hosts.contains(host_of(job, edge.process)) && edge.path.transport == Transport::SHM;
  });
}

/// A host that joins all its GPUs by NVSwitch gives every communicator inside it more than two.
FactValue few_channels(const Job& job, const Instance& instance) {
  const Communicator& comm = nth_communicator(job, instance.communicator);
  const int channels = comm.graphs.channels.coll;
  if (channels < 0 || comm.hosts.size() != 1 || comm.nnodes > 1) return unknown();
  if (comm.nranks < 2 || !nvswitch_hosts(job).contains(comm.hosts.front())) return unknown();
  if (names_hosts(job)) return unknown();
  if (channels > 2) return no();
  std::vector<Evidence> lines;
  for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
    const bool own = std::ranges::binary_search(instance.processes, said.process);
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
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
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
  FactValue value = edges_where(job, false, [&](const Edge& edge) {
    const bool socket = edge.path.network == "Socket" && edge.reach == EdgeReach::OtherHost;
    if (!socket || !several.contains(edge.process)) return false;
    devices.insert(edge.path.device);
    return true;
  });
  return devices.size() > 1 ? no() : value;
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

// Do the RDMA devices in use belong together?
//
//   job.hca_link_mix    = yes, "(mlx5_bond_0/RoCE beside 8 of the other kind)"
//   job.hca_sets_differ = yes, "8 InfiniBand and 0 RoCE devices on gpu-a, 7 InfiniBand and …"
//
// Names may differ between hosts; numbers and link layers should not.

/// How many devices of the list have that link layer.
int count_link(const HcaList& list, std::string_view link) {
  return static_cast<int>(
      std::ranges::count_if(list.hcas, [&](const Hca& hca) { return hca.link == link; }));
}

/// Devices of a host if all its processes list the same; nullptr if each has its own.
const HcaList* common_list(const std::vector<const HcaList*>& lists) {
  for (const HcaList* list : lists) {
    if (list->hcas.size() != lists.front()->hcas.size()) return nullptr;
  }
  return lists.front();
}

FactValue hca_sets_differ(const Job& job, const Instance&) {
  const auto lists = hca_lists(job);
  std::map<std::string, std::vector<const HcaList*>> by_host;
  for (const HcaList& list : lists) by_host[list.host].push_back(&list);
  by_host.erase("");
  if (by_host.size() < 2) return unknown();
  std::map<std::string, std::vector<int>> groups;
  std::vector<Evidence> evidence;
  for (const auto& [host, members] : by_host) {
    const HcaList* list = common_list(members);
    if (list == nullptr) return unknown();
    const std::string kinds = fmt::format("{} InfiniBand and {} RoCE devices",
                                          count_link(*list, "IB"), count_link(*list, "RoCE"));
    if (groups[kinds].empty()) evidence.push_back(list->line);
    for (const HcaList* member : members) groups[kinds].push_back(member->process);
  }
  if (groups.size() < 2) return no();
  std::vector<std::string> parts;
  for (const auto& [kinds, members] : groups) {
    parts.push_back(kinds + " on " + host_of(job, members.front()));
  }
  return yes(join(parts, ", "), std::move(evidence), minority(groups));
}

/// A device over which connections run, and the list of a process that names it.
struct UsedHca {
  const HcaList* list = nullptr;
  const Hca* hca = nullptr;
};

/// Of each list the devices over which connections of its process run; nullopt: no line of a
/// connection names a device.
std::optional<std::vector<UsedHca>> used_hcas(const Job& job) {
  std::map<int, std::set<int>> used;
  for (const Edge& edge : edges_of(job)) {
    if (edge.path.network == "IB" && edge.path.device >= 0) {
      used[edge.process].insert(edge.path.device);
    }
  }
  if (used.empty()) return std::nullopt;
  std::vector<UsedHca> found;
  for (const HcaList& list : hca_lists(job)) {
    for (const int device : used[list.process]) {
      // Numbers after the list are fused devices, of which nothing is known here.
      const auto place = static_cast<size_t>(device);
      if (place < list.hcas.size()) found.push_back({&list, &list.hcas[place]});
    }
  }
  return found;
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

/// Used devices of that link layer, each name once.
std::vector<UsedHca> used_of_link(const std::vector<UsedHca>& used, std::string_view link) {
  std::vector<UsedHca> found;
  std::set<std::string_view> names;
  for (const UsedHca& each : used) {
    if (each.hca->link == link && names.insert(each.hca->name).second) found.push_back(each);
  }
  return found;
}

/// Where lines of connections show which devices carry data: whether both kinds do.
FactValue used_link_mix(const std::vector<UsedHca>& used) {
  const std::vector<UsedHca> ib = used_of_link(used, "IB");
  const std::vector<UsedHca> roce = used_of_link(used, "RoCE");
  if (ib.empty() || roce.empty()) return no();
  std::vector<std::string> names;
  FactValue value = yes({});
  for (const UsedHca& each : roce.size() <= ib.size() ? roce : ib) {
    names.push_back(fmt::format("{}/{}", each.hca->name, each.hca->link));
    value.evidence.push_back(each.list->line);
  }
  value.what = fmt::format("(connections run over {} beside {} of the other kind)",
                           join(names, ", "), std::max(ib.size(), roce.size()));
  return value;
}

FactValue hca_link_mix(const Job& job, const Instance&) {
  FactValue answer = no();
  for_each_said<IbDevicesIncompatible>(job, [&](const Said<IbDevicesIncompatible>& said) {
    answer = yes("(NCCL refuses to connect them)", {evidence_of(said.record)});
  });
  if (is_yes(answer)) return answer;
  if (const auto used = used_hcas(job)) return used_link_mix(*used);
  if (stays_on_one_host(job)) return no();
  for (const HcaList& list : hca_lists(job)) {
    const int ib = count_link(list, "IB");
    const int roce = count_link(list, "RoCE");
    if (ib == 0 || roce == 0) continue;
    const std::string_view odd = roce <= ib ? "RoCE" : "IB";
    const auto hca =
        std::ranges::find_if(list.hcas, [&](const Hca& each) { return each.link == odd; });
    return yes(
        fmt::format("({}/{} beside {} of the other kind)", hca->name, odd, std::max(ib, roce)),
        {list.line});
  }
  return answer;
}

/// Which devices the ranks use whose transfers got no answer: "rank 10 sends and receives over
/// mlx5_3 (RoCE)".
FactValue unanswered_hca(const Job& job, const Instance&) {
  constexpr int kRetriesExceeded = 12;
  constexpr size_t kMost = 4;
  const auto used = used_hcas(job);
  if (!used) return unknown();
  std::set<int> failed;
  for_each_said<IbCompletion>(job, [&](const Said<IbCompletion>& said) {
    if (said.message.status == kRetriesExceeded) failed.insert(said.process);
  });
  std::vector<std::string> parts;
  FactValue value = yes({});
  for (const HcaList& list : hca_lists(job)) {
    if (failed.erase(list.process) == 0) continue;
    std::vector<std::string> names;
    for (const auto& [own, hca] : *used) {
      if (own != &list) continue;
      names.push_back(hca->link.empty() ? hca->name : fmt::format("{} ({})", hca->name, hca->link));
    }
    if (names.empty() || parts.size() == kMost) continue;
    const Process& process = nth_process(job, list.process);
    parts.push_back(fmt::format(
        "{} uses {}", process.rank >= 0 ? fmt::format("rank {}", process.rank) : process.host,
        join(names, ", ")));
    value.evidence.push_back(list.line);
  }
  if (parts.empty()) return unknown();
  value.what = " Of its devices, " + join(parts, "; ") + ".";
  return value;
}

template <typename Test>
FactValue every_hca(const Job& job, Test test) {
  const auto lists = hca_lists(job);
  if (lists.empty()) return unknown();
  const bool all = std::ranges::all_of(
      lists, [&](const HcaList& list) { return std::ranges::all_of(list.hcas, test); });
  return all ? yes({}, {lists.front().line}) : no();
}

FactValue all_roce(const Job& job, const Instance&) {
  return every_hca(job, [](const Hca& hca) { return hca.link == "RoCE"; });
}

FactValue hca_bonds_only(const Job& job, const Instance&) {
  return every_hca(job, [](const Hca& hca) {
    return hca.link == "RoCE" && hca.name.find("bond") != std::string::npos;
  });
}

FactValue slow_hca(const Job& job, const Instance&) {
  std::map<int, std::pair<std::string, Evidence>> by_speed;
  for_each_said<IbDevice>(job, [&](const Said<IbDevice>& said) {
    if (said.message.speed <= 0) return;
    by_speed.try_emplace(said.message.speed, said.message.name, evidence_of(said.record));
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

constexpr std::array kFacts = {
    job_fact("job.channels_capped", channels_capped,
             "A setting leaves at most half of the channels that NCCL would use."),
    Fact{"communicator.few_channels", Scope::Communicator, FactType::Bool,
         "A communicator inside one host with NVSwitch has two channels or one; unknown for all "
         "others.",
         few_channels},
    job_fact(
        "job.one_nic_for_many", within_runs<one_nic_for_many>,
        "Four ranks or more of a host reach others through the only NIC that is listed there."),
    job_fact(
        "job.one_socket_nic", within_runs<one_socket_nic>,
        "Hosts list several Ethernet ports, and all socket connections between hosts use one."),
    job_fact("job.shm_despite_nvlink", within_runs<shm_despite_nvlink>,
             "GPUs of a host with NVSwitch are connected through shared memory."),
    job_fact("job.staged_net_within_host", within_runs<staged_net_within_host>,
             "Two ranks of one host are connected over the network, through host memory, without "
             "NCCL_HOSTID being set."),
    job_fact("job.unanswered_hca", unanswered_hca,
             "Lines of connections show the RDMA devices of a rank whose transfers got no answer."),
    job_fact("job.all_roce", all_roce, "Every listed RDMA device is RoCE."),
    job_fact("job.hca_bonds_only", hca_bonds_only, "Every listed RDMA device is a RoCE bond."),
    job_fact(
        "job.hca_link_mix", hca_link_mix,
        "Connections run over InfiniBand and RoCE devices; or one list holds both, and nothing "
        "shows which carry data; or NCCL refuses to connect two."),
    job_fact("job.hca_sets_differ", within_runs<hca_sets_differ>,
             "Hosts list different numbers of InfiniBand or RoCE devices."),
    job_fact("job.slow_hca", slow_hca, "One RDMA device has at most a quarter of another's speed."),
};

}  // namespace

std::span<const Fact> connection_facts() { return kFacts; }

}  // namespace ncclog
