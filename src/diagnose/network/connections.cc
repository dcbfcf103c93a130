#include "diagnose/network/connections.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/outcome/progress.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/address.h"
#include "model/process_log.h"

namespace ncclog {
namespace {

bool names_hosts(const Job& job) {
  return std::ranges::count(job.environment, "NCCL_HOSTID", &EnvironmentSetting::name) > 0;
}

/// The process of that rank; -1: not seen; nullopt: the communicator has no such rank.
std::optional<int> process_in(const Communicator& comm, int rank) {
  const auto found = std::ranges::lower_bound(comm.ranks, rank, {}, &CommRank::rank);
  if (found != comm.ranks.end() && found->rank == rank) return found->process;
  const bool may_be = rank >= 0 && (comm.nranks < 0 || rank < comm.nranks);
  return may_be ? std::optional<int>(-1) : std::nullopt;
}

/// Seen from the process; unknown where hosts are not known, or are what users call so: NCCL refuses
/// two ranks on one GPU of a host, so that ranks of one bus id are on machines of one name, or were
/// told apart.
EdgeReach reach_of(const Job& job, int process, int peer, bool named_hosts) {
  if (peer < 0) return EdgeReach::Unknown;
  const std::string& own = nth_process(job, process).host;
  const std::string& other = nth_process(job, peer).host;
  if (own.empty() || other.empty()) return EdgeReach::Unknown;
  if (own != other) return EdgeReach::OtherHost;
  const std::string& bus_id = nth_process(job, process).bus_id;
  named_hosts |= peer != process && !bus_id.empty() && bus_id == nth_process(job, peer).bus_id;
  return named_hosts ? EdgeReach::Unknown : EdgeReach::SameHost;
}

/// Finds out where the other end of a connection is. Lines about connections number ranks within a
/// communicator that they do not name: `places`, the ranks of the process that announces it, are
/// what the numbers may mean.
void find_end(const Job& job, const std::vector<RankIn>& places, bool named_hosts, Edge& edge) {
  bool first = true;
  EdgeReach reach = EdgeReach::Unknown;
  for (const RankIn& own : places) {
    const int rank = own.rank->rank;
    if (rank < 0 || (rank != edge.src_rank && rank != edge.dst_rank)) continue;
    const bool sends = rank == edge.src_rank;
    const auto peer =
        process_in(nth_communicator(job, own.communicator), sends ? edge.dst_rank : edge.src_rank);
    if (!peer) continue;
    const EdgeReach there = reach_of(job, edge.process, *peer, named_hosts);
    edge.sends = sends;
    edge.peer = first || edge.peer == *peer ? *peer : -1;
    reach = first || reach == there ? there : EdgeReach::Unknown;
    first = false;
  }
  // Whoever uses such a path is on the same host.
  const bool is_local = edge.path->transport == Transport::SHM ||
                        (edge.path->transport == Transport::P2P && !edge.path->multi_node);
  edge.reach = is_local ? EdgeReach::SameHost : reach;
}

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

/// By what is printed: few paths are those of many connections.
std::unordered_map<std::string_view, PathParts> parse_paths(const Job& job) {
  std::unordered_map<std::string_view, PathParts> paths;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      const auto [path, is_new] = paths.try_emplace(key.path);
      if (is_new) path->second = parse_path(key.path);
    }
  }
  return paths;
}

std::vector<Edge> find_edges(const Job& job) {
  const std::vector<std::vector<RankIn>> places = ranks_by_process(job);
  const bool named_hosts = names_hosts(job);
  const auto& paths = job.answers.of<&parse_paths>(job);
  size_t total = 0;
  for (const SpeakerLog& log : job.logs) total += log.connections.all.size();
  std::vector<Edge> edges;
  edges.reserve(total);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    if (job.processes[p].torn) continue;
    for (const size_t log : job.processes[p].logs) {
      for (const auto& [key, use] : job.logs[log].connections.all) {
        Edge& edge = edges.emplace_back(Edge{.process = static_cast<int>(p),
                                             .src_rank = key.src_rank,
                                             .dst_rank = key.dst_rank,
                                             .path = &paths.at(key.path),
                                             .channels = use.channels,
                                             .where = use.first});
        find_end(job, places[p], named_hosts, edge);
      }
    }
  }
  return edges;
}

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

/// job.channels_capped: names the processes that read the setting.
FactValue channels_capped(const Job& job, const Instance&) {
  int channels = 0;  // Most of any communicator.
  std::vector<Evidence> lines;
  for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
    if (said.message.coll <= channels) return;
    channels = said.message.coll;
    lines = {evidence_of(said.record())};
  });
  constexpr int kRing = 4;
  constexpr int kBehindSwitches = 8;
  const bool has_switches = !nvswitch_hosts(job).empty();
  int usual = has_switches ? kBehindSwitches : 2;
  std::string_view why = has_switches ? "NVSwitches get at least" : "NCCL makes at least";
  for_each_said<GraphPattern>(job, [&](const Said<GraphPattern>& said) {
    if (said.message.pattern != kRing || said.message.channels <= usual) return;
    usual = said.message.channels;
    why = "NCCL's search found";
  });
  // Where no line counts them the setting itself does: NCCL obeys it.
  AnswerParts capped;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    const auto cap = parse_int(said.message.value);
    const bool is_cap = equals_one_of(said.message.name, kCaps);
    if (!is_cap || !cap || *cap < 1 || 2 * *cap > usual || channels > *cap) return;
    capped.processes.push_back(said.process);
    if (!capped.words.empty()) return;
    capped.add(fmt::format("{}={} leaves {} where {} {}", to_valid_utf8(said.message.name), *cap,
                           *cap == 1 ? "one channel" : plural(*cap, "channel"), why, usual),
               evidence_of(said.record()));
  });
  capped.evidence.insert(capped.evidence.end(), lines.begin(), lines.end());
  return capped.answer(unknown());
}

// Do data take the way that the hardware offers, or a slower one?
//
//   0 -> 1 via SHM/direct in a host with NVSwitch   → job.shm_despite_nvlink = yes, rank 0
//   2 coll channels in such a host                  → communicator.few_channels = yes
//
// What is judged is printed by NCCL itself: paths, links, numbers of channels. Where the hardware
// is not known to offer more, nothing is called slow.

constexpr size_t kMaxLines = 6;

/// The edges that `wanted` takes: the first in words, some lines, who announced them. Without any,
/// no, or unknown if the job is not `judged`.
template <typename Wanted>
FactValue edges_where(const Job& job, bool judged, Wanted wanted) {
  AnswerParts found;
  for (const Edge& edge : edges_of(job)) {
    if (!wanted(edge)) continue;
    if (found.words.empty()) found.words = {edge_phrase(edge)};
    if (found.evidence.size() < kMaxLines) found.evidence.push_back({edge.where, {}});
    found.processes.push_back(edge.process);
  }
  return found.answer(judged && !edges_of(job).empty() ? no() : unknown());
}

/// The process at the other end announces the network connection, too, as both ends do: else the
/// lines are an excerpt, in which numbers of ranks may be those of processes that are not there.
bool shows_both_ends(const Job& job, const Edge& edge) {
  const auto of_peer = std::ranges::equal_range(edges_of(job), edge.peer, {}, &Edge::process);
  return std::ranges::any_of(of_peer, [&](const Edge& other) {
    return other.src_rank == edge.src_rank && other.dst_rank == edge.dst_rank &&
           other.sends != edge.sends && other.path->transport == Transport::NET;
  });
}

/// Paths with GPU Direct RDMA do not count: NCCL may choose the NIC because it is faster.
FactValue staged_net_within_host(const Job& job, const Instance&) {
  return edges_where(job, true, [&](const Edge& edge) {
    return edge.path->transport == Transport::NET && edge.reach == EdgeReach::SameHost &&
           !edge.path->gpudirect && (edge.peer == edge.process || shows_both_ends(job, edge));
  });
}

FactValue shm_despite_nvlink(const Job& job, const Instance&) {
  const std::set<std::string>& hosts = nvswitch_hosts(job);
  return edges_where(job, !hosts.empty(), [&](const Edge& edge) {
    return edge.path->transport == Transport::SHM &&
           hosts.contains(nth_process(job, edge.process).host);
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
      lines.push_back(evidence_of(said.record()));
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
    const bool socket = edge.path->network == "Socket" && edge.reach == EdgeReach::OtherHost;
    if (!socket || !several.contains(edge.process)) return false;
    devices.insert(edge.path->device);
    return true;
  });
  return devices.size() > 1 ? no() : value;
}

/// Hosts of which four ranks or more use one NIC, the only one that they have.
FactValue one_nic_for_many(const Job& job, const Instance&) {
  constexpr size_t kMany = 4;
  std::map<std::string_view, size_t> listed;
  for (const HcaList& list : hca_lists(job)) {
    listed[list.host] = std::max(listed[list.host], list.hcas.size());
  }
  std::map<std::string, std::set<int>> users;
  for (const Edge& edge : edges_of(job)) {
    if (edge.reach != EdgeReach::OtherHost || edge.path->transport != Transport::NET) continue;
    if (edge.path->network == "Socket" || edge.path->network == "FastSocket") continue;
    users[nth_process(job, edge.process).host].insert(edge.process);
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

// Did the first transfer between GPUs never end, and over what?
//
//   0[0] -> 1[1] via P2P/IPC; Pattern 4, … type PHB/PIX          → job.p2p_over_pcie
//   nccl-tests prints its settings and no row, then the job is cancelled
//   Watchdog caught collective operation timeout: SeqNum=1       → job.stalled_from_start
//
// P2P over PCIe passes switches and root ports whose access control, or an IOMMU, can send it
// astray: then nothing ever arrives. NVLink does not pass them.

/// Whether PCIe alone joins the GPUs of a host, as far as lines tell; in words, by which.
FactValue pcie_between_gpus(const Job& job) {
  bool nvlink = false;
  std::string pcie;  // "the ring's paths are PHB".
  const auto add = [&](std::string_view type, std::string_view whence) {
    constexpr std::string_view kPcie[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    nvlink |= type.starts_with("NV");
    if (pcie.empty() && equals_one_of(type, kPcie)) pcie = fmt::format("{} {}", whence, type);
  };
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      if (section == nullptr) continue;
      for (const SearchedGraph& graph : section->graphs) {
        // Of "PHB/PIX" the part inside a host.
        const std::string_view type = graph.type;
        if (graph.channels > 0) add(type.substr(0, type.find('/')), "NCCL's search says");
      }
    }
  }
  size_t gpus = 0;
  for_each_said<TopoMatrixRow>(job, [&](const auto&) { ++gpus; });
  for_each_said<TopoMatrixRow>(job, [&](const auto& said) {
    const auto cells = split_blanks(said.message.cells);
    for (size_t i = 0; i < std::min(gpus, cells.size()); ++i) {
      add(cells[i], "nvidia-smi topo -m says");
    }
  });
  for (const HostTopology& topology : job.topologies) {
    const auto is_gpu = [&](int node) { return topology.system.nodes[node].name.kind == "GPU"; };
    for (const SystemPath& path : topology.system.paths) {
      const bool joins_gpus = path.from != path.to && is_gpu(path.from) && is_gpu(path.to);
      if (joins_gpus) add(path.type, "the topology says");
    }
  }
  if (nvlink) return no();
  return pcie.empty() ? unknown() : yes(pcie);
}

/// The first connection whose path holds that text, with the path; nullopt if none is logged.
std::optional<Evidence> first_path(const Job& job, std::string_view text) {
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      if (key.path.find(text) != std::string::npos) return Evidence{use.first, key.path};
    }
  }
  return std::nullopt;
}

/// Whether GPUs of a host are connected by P2P although no NVLink is between them; unknown where
/// the log shows no such connection, or nothing of the links.
FactValue p2p_over_pcie(const Job& job, const Instance&) {
  const auto connection = first_path(job, "P2P");
  if (!connection) return unknown();
  FactValue answer = pcie_between_gpus(job);
  if (is_yes(answer)) answer.evidence = {{connection->where, {}}};
  return answer;
}

/// Whether the job stopped and not one transfer is known to have ended: nccl-tests has no row, or
/// the first two calls of groups timed out.
FactValue stalled_from_start(const Job& job, const Instance&) {
  const NcclTestsRun* test = job.nccl_tests.empty() ? nullptr : &job.nccl_tests.back();
  if (test != nullptr && test->rows.empty() && test->busbw.empty()) {
    const auto& stop = stop_evidence(job);
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
    lines.push_back(evidence_of(said.record()));
  });
  if (lines.empty()) return unknown();
  if (later) return no();
  return yes("the first calls timed out", {lines.front()});
}

// Which network carries the data, and is it the one that the hardware offers?
//
//   job.rdma_evidence = yes, "gpu-a lists mlx5_0 (NET/IB)"
//   job.networks_differ = yes, "(IB in 8 processes on gpu-a, Socket in 8 processes on gpu-b)"

/// Adds a sign of something; the first two make the answer. Empty words are none.
void add_sign(AnswerParts& signs, std::string words, Evidence line) {
  if (signs.words.size() < 2 && !words.empty()) signs.add_new(std::move(words), std::move(line));
}

/// The lines of kind T for which `words_of` has words.
template <typename T, typename WordsOf>
void add_signs(const Job& job, AnswerParts& signs, WordsOf words_of) {
  for_each_said<T>(job, [&](const Said<T>& said) {
    add_sign(signs, words_of(said), evidence_of(said.record()));
  });
}

std::string on_host(const Job& job, int process) {
  const std::string& host = nth_process(job, process).host;
  return host.empty() ? std::string() : " on " + host;
}

/// Pasted output of commands, then what NCCL lists, then what names suggest.
FactValue rdma_evidence(const Job& job, const Instance&) {
  AnswerParts signs;
  add_signs<IbPort>(job, signs, [](const auto& said) {
    return said.message.state == "Up" ? "ibdev2netdev shows RDMA ports that are up" : "";
  });
  add_signs<IbstatCa>(job, signs, [](const auto& said) {
    return fmt::format("ibstat shows {}", said.message.device);
  });
  add_signs<GidRow>(job, signs, [](const auto& said) {
    return fmt::format("show_gids lists {}", said.message.device);
  });
  for (const HcaList& list : hca_lists(job)) {
    add_sign(signs,
             fmt::format("NET/IB lists {}{}", list.hcas.front().name, on_host(job, list.process)),
             evidence_of(list.line));
  }
  add_signs<IbDevice>(job, signs, [&](const auto& said) {
    return fmt::format("NET/IB found {}{}", said.message.name, on_host(job, said.process));
  });
  add_signs<EnvSet>(job, signs, [](const auto& said) {
    const bool names = said.message.name == "NCCL_IB_HCA" && !said.message.value.starts_with('^');
    return names ? fmt::format("NCCL_IB_HCA names {}", said.message.value) : std::string();
  });
  for (const HostAddress& address : all_addresses(job)) {
    if (!is_infiniband_interface(address.name)) continue;
    add_sign(signs, fmt::format("{} is an InfiniBand interface by its name", address.name),
             evidence_of(address.line));
    break;
  }
  return signs.answer(no(), " and ");
}

FactValue networks_differ(const Job& job, const Instance&) {
  // NCCL's own complaint, which exists since 2.30.3.
  FactValue counts = said_answer<DeviceCountsMixed>(job, [](const auto& said) -> std::string {
    if (said.header().level != Level::Warn) return {};
    return fmt::format("({} to {} devices for each rank)", said.message.min, said.message.max);
  });
  if (!counts.evidence.empty()) return counts;
  std::map<std::string_view, std::vector<int>> groups;
  std::map<std::string_view, Record> lines;  // The last one of its first process.
  bool several = false;
  std::pair<int, std::string_view> last = {-1, {}};
  for_each_said<NetworkSelected>(job, [&](const Said<NetworkSelected>& said) {
    const std::string_view network = said.message.network;
    std::vector<int>& members = groups[network];
    if (members.empty() || members.back() != said.process) members.push_back(said.process);
    if (members.size() == 1) lines[network] = said.record();
    // A process that uses several networks is a program that asks for them.
    several |= last.first == said.process && last.second != network;
    last = {said.process, network};
  });
  if (several) return no();
  // What only the beginning of another name stands for, "Socke", is a cut line and no network.
  std::erase_if(groups, [&](const auto& cut) {
    return std::ranges::any_of(groups, [&](const auto& whole) {
      return whole.first.size() > cut.first.size() && whole.first.starts_with(cut.first);
    });
  });
  if (groups.size() < 2) return groups.empty() ? unknown() : no();
  // Two jobs, or parts of one that connect to each other nowhere, may have each its own; so may a whole
  // job and processes that are none of its ranks.
  std::map<int, size_t> networks_of;
  for (const auto& [name, members] : groups) {
    std::set<int> worlds;
    for (const int p : members) worlds.insert(nth_process(job, p).world);
    for (const int world : worlds) ++networks_of[world];
  }
  const bool meet =
      std::ranges::any_of(networks_of, [](const auto& one) { return one.second > 1; });
  if (!meet) return no();
  AnswerParts parts{.processes = minority(groups)};
  for (const auto& [name, members] : groups) {
    parts.add(fmt::format("{} in {}{}", name, plural(std::ssize(members), "process"),
                          on_host(job, members.front())),
              evidence_of(lines[name]));
  }
  parts.words = {fmt::format("({})", join(parts.words, ", "))};
  return parts.answer(no());
}

FactValue gpudirect(const Job& job, const Instance&) {
  if (const auto path = first_path(job, "GDRDMA")) {
    return yes("channels use " + path->text, {{path->where, {}}});
  }
  AnswerParts signs;
  add_signs<RingsConnected>(job, signs, [](const auto& said) {
    return said.message.text.ends_with("GDR 1") ? "the rings use GPU Direct RDMA" : "";
  });
  add_signs<GpuDirect>(job, signs, [](const auto& said) {
    const bool is_on = said.message.state == "Enabled" && !said.message.device.empty();
    return is_on ? fmt::format("GPU Direct RDMA is enabled for {}", said.message.device)
                 : std::string();
  });
  return signs.answer(no(), " and ");
}

FactValue socket_between_hosts(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  for (const Edge& edge : edges) {
    if (edge.path->network != "Socket" || edge.reach != EdgeReach::OtherHost) continue;
    return yes(edge_phrase(edge), {{edge.where, {}}});
  }
  return edges.empty() ? unknown() : no();
}

// What is known of a connection between two ranks?
//
//   Channel 00/0 : 1[1] -> 2[2] [send] via NET/IB/0/GDRDMA   rank_pair.transport = NET/IB

FactValue pair_transport(const Job&, const Instance& pair) {
  std::set<std::string> transports;
  for (const std::string& path : pair.paths) {
    // "NET/IB" for "NET/IB/0/GDRDMA", "P2P" for "P2P/CUMEM".
    std::string text(to_string(transport_of(path)));
    const auto parts = split(path, '/');
    const bool is_net = transport_of(path) == Transport::NET && parts.size() > 1;
    if (is_net) text.append("/").append(parts[1].substr(0, parts[1].find_first_of("( ")));
    transports.insert(std::move(text));
  }
  return {.value = fmt::format("{}", fmt::join(transports, "+"))};
}

FactValue pair_path(const Job&, const Instance& pair) { return {.value = join(pair.paths, ", ")}; }

FactValue pair_same_host(const Job& job, const Instance& pair) {
  const std::string& a = nth_process(job, pair.processes[0]).host;
  const std::string& b = nth_process(job, pair.processes[1]).host;
  if (a.empty() || b.empty()) return unknown();
  return a == b ? yes({}) : no();
}

constexpr std::array kConnectionFacts = {
    // A setting leaves at most half of the channels that NCCL would use.
    job_fact("job.channels_capped", channels_capped),
    // A communicator inside one host with NVSwitch has two channels or one; unknown for all others.
    Fact{"communicator.few_channels", Scope::Communicator, FactType::Bool, {}, few_channels},
    // Four ranks or more of a host reach others through the only NIC that is listed there.
    comparing_fact("job.one_nic_for_many", one_nic_for_many),
    // Hosts list several Ethernet ports, and all socket connections between hosts use one.
    comparing_fact("job.one_socket_nic", one_socket_nic),
    // GPUs of a host with NVSwitch are connected through shared memory.
    comparing_fact("job.shm_despite_nvlink", shm_despite_nvlink),
    // Two ranks of one host are connected over the network, through host memory, without
    // NCCL_HOSTID being set.
    comparing_fact("job.staged_net_within_host", staged_net_within_host),
    // NICs read or write GPU memory: GDRDMA paths, or GPU Direct RDMA enabled.
    job_fact("job.gpudirect", gpudirect),
    // Processes selected different networks, one each, or see different numbers of devices.
    comparing_fact("job.networks_differ", networks_differ),
    // GPUs of a host are connected by P2P, and no NVLink is between them.
    job_fact("job.p2p_over_pcie", p2p_over_pcie),
    // Something in the log shows InfiniBand or RoCE hardware; no means nothing does.
    job_fact("job.rdma_evidence", rdma_evidence),
    // Ranks of different hosts are connected via NET/Socket.
    job_fact("job.socket_between_hosts", socket_between_hosts),
    // The job stopped, and not one transfer is known to have ended: nccl-tests has no row, or the
    // first two calls of groups timed out.
    job_fact("job.stalled_from_start", stalled_from_start),
    // The paths between the two as printed, joined by commas.
    Fact{"rank_pair.path", Scope::RankPair, FactType::Text, {}, pair_path},
    // Both run on one host.
    Fact{"rank_pair.same_host", Scope::RankPair, FactType::Bool, {}, pair_same_host},
    // P2P, SHM, NET/IB, NET/Socket, …; several are joined by +.
    Fact{"rank_pair.transport", Scope::RankPair, FactType::Text, {}, pair_transport},
};

}  // namespace

std::vector<std::vector<RankIn>> ranks_by_process(const Job& job) {
  std::vector<std::vector<RankIn>> all(job.processes.size());
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (rank.process < 0) continue;
      all[rank.process].push_back({static_cast<int>(c), &rank});
    }
  }
  return all;
}

PathParts parse_path(std::string_view path) {
  PathParts parts;
  parts.text = path;
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
    pairs[std::minmax(edge.process, edge.peer)].emplace(edge.path->text);
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
  return fmt::format("rank {} -> rank {} via {}", edge.src_rank, edge.dst_rank, edge.path->text);
}

static std::set<std::string> find_nvswitch_hosts(const Job& job) {
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

const std::set<std::string>& nvswitch_hosts(const Job& job) {
  return job.answers.of<&find_nvswitch_hosts>(job);
}

std::span<const Fact> connection_facts() { return kConnectionFacts; }

}  // namespace ncclog
