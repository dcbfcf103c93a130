#include "diagnose/perf/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/hardware/pci_links.h"
#include "diagnose/network/connections.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/settings/lint.h"
#include "diagnose/settings/nccl_variables.h"
#include "log/address.h"

namespace ncclog {
namespace {

// Whose lines are about a measurement?
//
//   a/env.txt  a/log.txt  b/env.txt  b/log.txt    a table in a/log.txt: not those of b
//
// A process is asked if its lines stand in the file of the table, or if it is of the same
// communicator or run; where no process of the file speaks for NCCL, all of its run are.

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash + 1);
}

/// The processes and files whose lines count.
struct MeasuredScope {
  const Job& job;
  std::vector<char> asked;  ///< By process.
  std::string_view folder;  ///< Of the measurement's file, with its slash; owned by the job.
  bool any_file = true;     ///< Nothing was measured: all files are asked.
  const Communicator* comm = nullptr;  ///< That was measured; nullptr: not known.

  bool asks(int process) const { return process >= 0 && asked[process] != 0; }

  /// A file that is beside the table's or above it.
  bool asks_file(std::string_view path) const {
    return any_file || folder.starts_with(folder_of(path));
  }

  /// The same of the file of a line.
  bool asks_file(SourceRef where) const {
    const int64_t input = input_number(job, where);
    return any_file || (input >= 0 && asks_file(job.inputs[input].path));
  }
};

/// Processes of the file, if they speak for NCCL; else those of the run.
void ask_processes(const Measurement& measurement, MeasuredScope& scope) {
  const Job& job = scope.job;
  const int64_t input = input_number(job, measurement.first);
  bool any = false;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    const bool in_file = input >= 0 && input_number(job, process.first) == input;
    scope.asked[p] = in_file;
    any |= in_file && process.has_nccl;
  }
  if (any) return;
  std::ranges::fill(scope.asked, 1);
  for (const int p : processes_of_other_runs(job, measurement.process)) scope.asked[p] = 0;
}

/// The communicator that was measured: of as many ranks, some of them asked.
const Communicator* communicator_of(const Measurement& measurement, const MeasuredScope& scope) {
  const Job& job = scope.job;
  if (measurement.communicator >= 0) return &nth_communicator(job, measurement.communicator);
  for (const Communicator& comm : job.communicators) {
    if (measurement.nranks > 0 && comm.nranks != measurement.nranks) continue;
    const bool is_asked = std::ranges::any_of(
        comm.ranks, [&](const CommRank& rank) { return scope.asks(rank.process); });
    if (is_asked) return &comm;
  }
  return nullptr;
}

/// Those of one measurement.
MeasuredScope scope_of(const Job& job, const Measurement& measurement) {
  const int64_t input = input_number(job, measurement.first);
  MeasuredScope scope = {
      .job = job, .asked = std::vector<char>(job.processes.size()), .any_file = input < 0};
  if (input >= 0) scope.folder = folder_of(job.inputs[input].path);
  ask_processes(measurement, scope);
  scope.comm = communicator_of(measurement, scope);
  if (scope.comm != nullptr) {
    for (const CommRank& rank : scope.comm->ranks) {
      if (rank.process >= 0) scope.asked[rank.process] = 1;
    }
  }
  return scope;
}

/// All of the job, and its largest communicator.
MeasuredScope scope_of(const Job& job) {
  MeasuredScope scope = {.job = job, .asked = std::vector<char>(job.processes.size(), 1)};
  if (!job.communicators.empty()) scope.comm = &job.communicators.front();
  return scope;
}

/// As for_each_said, of the processes that are asked. Where a folder holds thousands of tests, each
/// asks its own processes alone; where one is asked of thousands of ranks, their lines share texts.
template <typename T, typename Use>
void for_each_asked(const MeasuredScope& scope, Use use) {
  const Job& job = scope.job;
  const auto asked = static_cast<size_t>(std::ranges::count(scope.asked, 1));
  if (2 * asked > scope.asked.size()) {
    for_each_said<T>(job, [&](const Said<T>& said) {
      if (scope.asks(said.process)) use(said);
    });
    return;
  }
  for (size_t p = 0; p < scope.asked.size(); ++p) {
    if (!scope.asked[p]) continue;
    for (const size_t log : job.processes[p].logs) {
      const Records kept = job.logs[log].records.kept(kKindIndex<T>);
      for (size_t place = kept.first_place(); place < kept.end_place(); ++place) {
        const ReadRecord line{kept.all(), static_cast<uint32_t>(place)};
        const T message = read_message<T>(line.message());
        use(Said<T>{static_cast<int>(p), message, line});
      }
    }
  }
}

/// A few lines show it as well as a thousand.
void keep(std::vector<Evidence>& lines, Evidence line) {
  if (lines.size() < kMostNamed) lines.push_back(std::move(line));
}

// How many, of what.

void add_size(const Measurement& measurement, const MeasuredScope& scope, Machine& machine) {
  machine.nranks = measurement.nranks;
  machine.nhosts = measurement.nhosts;
  machine.shares_gpu = measurement.shares_gpu;
  // A quoted table names a few of many ranks, and so of their hosts.
  constexpr int kMostRanks = 16;
  if (machine.nhosts > 0 && machine.nranks > kMostRanks * machine.nhosts) machine.nhosts = -1;
  if (scope.comm == nullptr) return;
  const Communicator& comm = *scope.comm;
  if (machine.nranks < 0) machine.nranks = comm.nranks;
  const int hosts = static_cast<int>(comm.hosts.size());
  if (comm.nnodes > 0) {
    machine.nhosts = comm.nnodes;
  } else if (machine.nhosts < 0 && hosts > 0 && is_all_seen(comm)) {
    machine.nhosts = hosts;
  }
  machine.mnnvl = comm.mnnvl == 1;
}

std::vector<std::string> hosts_asked(const Measurement& measurement, const MeasuredScope& scope) {
  std::set<std::string> hosts(measurement.hosts.begin(), measurement.hosts.end());
  for (size_t p = 0; p < scope.asked.size(); ++p) {
    const Process& process = scope.job.processes[p];
    if (scope.asked[p] && !process.host.empty()) hosts.insert(process.host);
  }
  // A table that names a few of its ranks is not said to run on their hosts, but it does.
  if (measurement.hosts.empty()) {
    for_each_said<NcclTestsRank>(scope.job, [&](const Said<NcclTestsRank>& said) {
      if (scope.asks_file(said.where())) hosts.emplace(said.message.host);
    });
  }
  return {hosts.begin(), hosts.end()};
}

void add_gpu(const Measurement& measurement, const std::vector<std::string>& hosts,
             Machine& machine) {
  for (const std::string& name : measurement.gpus) {
    const GpuModel* model = find_gpu_model(name);
    // Of mixed ones the slower decides, and there is no telling which that is.
    if (model == nullptr || (machine.gpu != nullptr && machine.gpu != model)) {
      machine.gpu = nullptr;
      break;
    }
    machine.gpu = model;
  }
  for (size_t i = 0; i < hosts.size() && machine.gpu == nullptr; ++i) {
    machine.gpu = gpu_model_in_host_name(hosts[i]);
  }
}

void add_nvls(const MeasuredScope& scope, Machine& machine) {
  for (size_t p = 0; p < scope.asked.size(); ++p) {
    if (!scope.asked[p] || scope.job.processes[p].nvls < 0) continue;
    machine.nvls = machine.nvls.value_or(true) && scope.job.processes[p].nvls == 1;
  }
  for_each_asked<NvlsSupport>(
      scope, [&](const auto& said) { keep(machine.nvls_lines, evidence_of(said.record())); });
  for_each_asked<ChannelCounts>(scope, [&](const Said<ChannelCounts>& said) {
    if (machine.channels >= 0) return;
    machine.channels = said.message.coll;
    machine.channels_line = evidence_of(said.record());
    if (said.message.nvls < 0) return;
    machine.nvls = said.message.nvls > 0;
    keep(machine.nvls_lines, machine.channels_line);
  });
  for_each_asked<NvlsTreeConnected>(scope, [&](const Said<NvlsTreeConnected>& said) {
    machine.nvls_tree = true;
    machine.nvls = true;
    keep(machine.nvls_lines, evidence_of(said.record()));
  });
}

// Paths in use.

void add_edges(const MeasuredScope& scope, Machine& machine) {
  bool with_gdr = false;
  std::vector<Evidence> without;
  const std::vector<Edge>& edges = edges_of(scope.job);
  for (size_t e = 0; e < edges.size(); ++e) {
    const Edge& edge = edges[e];
    if (!scope.asks(edge.process)) {
      // They stand process by process.
      const auto behind = std::ranges::upper_bound(edges.begin() + static_cast<std::ptrdiff_t>(e),
                                                   edges.end(), edge.process, {}, &Edge::process);
      e = static_cast<size_t>(behind - edges.begin()) - 1;
      continue;
    }
    const Evidence line = {edge.where, {}};  // Its text is read again where it is quoted.
    if (edge.path->transport == Transport::P2P) machine.has_p2p = true;
    if (edge.path->transport == Transport::SHM) {
      machine.has_shm = true;
      keep(machine.shm_lines, line);
    }
    if (edge.path->transport != Transport::NET) continue;
    machine.has_net = true;
    if (machine.net_name.empty()) machine.net_name = edge.path->network;
    if (edge.reach == EdgeReach::SameHost) {
      machine.has_net_within = true;
      keep(machine.net_within_lines, line);
    }
    with_gdr |= edge.path->gpudirect;
    if (!edge.path->gpudirect) keep(without, line);
    if (edge.path->gpudirect) keep(machine.gdr_lines, line);
  }
  // Before Volta, and where reads are off, only one direction has it.
  if (machine.has_net) machine.gdr = with_gdr;
  if (machine.has_net && !with_gdr) machine.gdr_lines = std::move(without);
}

// The network.

void add_nics(const MeasuredScope& scope, Machine& machine) {
  std::map<std::string_view, std::set<std::string_view>> by_host;
  double named_rate = -1;
  for (const HcaList& list : hca_lists(scope.job)) {
    if (!scope.asks(list.process)) continue;
    machine.has_rdma_nics = true;
    keep(machine.nic_lines, evidence_of(list.line));
    // A storage port of another link type beside the fabric's carries nothing.
    const auto of_ib = std::ranges::count(list.hcas, "IB", &NetDevice::link);
    const bool both = of_ib > 0 && of_ib < std::ssize(list.hcas);
    const std::string_view kept = 2 * of_ib >= std::ssize(list.hcas) ? "IB" : "RoCE";
    for (const NetDevice& hca : list.hcas) {
      if (both && hca.link != kept) continue;
      by_host[list.host].insert(hca.name);
      machine.over_ethernet |= hca.link == "RoCE" || hca.name.find("bond") != hca.name.npos;
      named_rate = std::max(named_rate, rate_of_device(hca.name));
    }
  }
  for (const auto& [host, names] : by_host) {
    const int count = static_cast<int>(names.size());
    machine.nics = machine.nics < 0 ? count : std::min(machine.nics, count);
  }
  machine.nic_gbits = named_rate;
  machine.rate_by_name = named_rate > 0;
}

/// Rates as lines say them: of RDMA ports, of ibstat.
void add_rates(const MeasuredScope& scope, Machine& machine) {
  const auto say = [&](double gbits, Evidence line) {
    if (gbits <= 0) return;
    machine.nic_gbits = machine.nic_gbits < 0 ? gbits : std::min(machine.nic_gbits, gbits);
    keep(machine.nic_lines, std::move(line));
  };
  bool by_port = false;
  for_each_asked<IbDevice>(scope, [&](const Said<IbDevice>& said) {
    by_port = true;
    say(said.message.speed / 1000.0, evidence_of(said.record()));
  });
  if (!by_port) {
    // A file of its own, or pasted: no process printed it.
    for_each_said<IbstatRate>(scope.job, [&](const Said<IbstatRate>& said) {
      if (scope.asks_file(said.where())) say(said.message.rate, evidence_of(said.record()));
    });
  }
}

void add_network(const MeasuredScope& scope, Machine& machine) {
  for_each_asked<NetworkSelected>(scope, [&](const Said<NetworkSelected>& said) {
    if (machine.net_lines.empty()) machine.net_name = said.message.network;
    keep(machine.net_lines, evidence_of(said.record()));
  });
  for_each_asked<OfiProvider>(scope, [&](const Said<OfiProvider>& said) {
    machine.provider = said.message.provider;
    machine.nics = std::max(machine.nics, said.message.nics);
    keep(machine.nic_lines, evidence_of(said.record()));
  });
  // Where no path is printed, what NCCL says of each GPU and NIC tells.
  int with = 0;
  std::vector<Evidence> without;
  for_each_asked<GpuDirect>(scope, [&](const Said<GpuDirect>& said) {
    with += said.message.state == "Enabled";
    if (said.message.state == "Disabled") keep(without, evidence_of(said.record()));
  });
  if (!machine.gdr.has_value() && (with > 0 || !without.empty())) {
    machine.gdr = with > 0;
    machine.gdr_lines = std::move(without);
  }
}

/// Where no line lists NICs, those that a setting names are all that NCCL may use.
void add_named_hcas(Machine& machine) {
  const SettingInForce* setting = machine.setting("NCCL_IB_HCA");
  const int named = setting == nullptr ? 0 : devices_named_in(setting->value);
  if (machine.nics > 0 || named == 0 || machine.net == NetKind::TCP) return;
  machine.nics = named;
  machine.nic_lines = {setting->line};
  machine.net = NetKind::RDMA;
}

/// By the network's name, its provider, or a setting that leaves no choice.
void decide_network(Machine& machine) {
  const SettingInForce* asked = machine.setting("NCCL_NET");
  std::string_view name = machine.net_name;
  if (name.empty() && asked != nullptr) {
    name = asked->value;
    machine.net_name = asked->value;
    machine.net_lines = {asked->line};
  }
  constexpr std::string_view kTcp[] = {"Socket", "socket", "SOCKET", "FastSocket"};
  if (equals_one_of(name, kTcp) || machine.provider.starts_with("tcp") ||
      machine.provider.starts_with("sockets")) {
    machine.net = NetKind::TCP;
  } else if (!name.empty() || machine.has_rdma_nics) {
    machine.net = NetKind::RDMA;
  } else if (machine.is_on("NCCL_IB_DISABLE")) {
    machine.net = NetKind::TCP;
    machine.net_lines = {machine.setting("NCCL_IB_DISABLE")->line};
  }
}

// Settings.

void add_settings(const Measurement& measurement, const MeasuredScope& scope, Machine& machine) {
  const auto add = [&](std::string_view name, std::string_view value, Evidence line) {
    machine.settings_told = true;
    // The first source that names a setting counts, so what NCCL printed is asked before what
    // commands and listings say.
    machine.settings.try_emplace(std::string(name),
                                 SettingInForce{std::string(value), std::move(line)});
  };
  for_each_asked<EnvSet>(scope, [&](const Said<EnvSet>& said) {
    add(said.message.name, said.message.value, evidence_of(said.record()));
  });
  for (const auto& [name, value] : measurement.settings) add(name, value, {measurement.first, {}});
  for (const CommandSettings& command : command_settings(scope.job)) {
    for (const Setting& setting : command.found.settings) {
      if (!setting.literal || setting.line == 0) continue;
      const Evidence& line = command.lines[setting.line - 1];
      if (scope.asks_file(line.where)) add(setting.name, setting.value, line);
    }
  }
  for_each_said<ListedSetting>(scope.job, [&](const Said<ListedSetting>& said) {
    if (!scope.asks_file(said.where())) return;
    add(said.message.name, said.message.value, evidence_of(said.record()));
  });
}

// Links of GPUs and NICs, as topologies and listings of lspci tell. Of all hosts the slowest counts: a
// rank that exchanges data waits for it.
//
//   <pci busid="0000:3c:00.0" … link_speed="8.0 GT/s PCIe" link_width="8"> <nic> …   NIC: 6 GB/s
//   17:00.0 3D controller: NVIDIA … [A100 PCIe 40GB], LnkSta: … Width x8             GPU: 12 GB/s

/// Slowest of the PCI links above a node, GB/s; -1: none is known.
double slowest_pci(const SystemTopology& system, int node) {
  double slowest = -1;
  for (int at = node; at >= 0; at = system.nodes[at].parent) {
    const SystemNode& here = system.nodes[at];
    if (here.link != "PCI" || here.bw <= 0) continue;
    slowest = slowest < 0 ? here.bw : std::min(slowest, here.bw);
  }
  return slowest;
}

std::string_view first_label(std::string_view host) { return host.substr(0, host.find('.')); }

/// The listing is of one of the hosts that were measured, or of nobody's that is known.
bool is_of_hosts(const PciListing& listing, const MeasuredScope& scope,
                 const std::vector<std::string>& hosts) {
  if (listing.host.empty() || hosts.empty()) return scope.asks_file(listing.source);
  return std::ranges::any_of(hosts, [&](const std::string& host) {
    return first_label(host) == first_label(listing.host);
  });
}

/// The one model of all GPUs that are listed; nullptr: none, or several.
const GpuModel* model_listed(const PciListing& listing, int& gpus) {
  const GpuModel* model = nullptr;
  for (const PciDevice& device : listing.devices) {
    const GpuModel* own = device.kind == PciKind::GPU ? find_gpu_model(device.name) : nullptr;
    if (own == nullptr) continue;  // Of the console, or of the processor.
    if (model != nullptr && model != own) return nullptr;
    model = own;
    ++gpus;
  }
  return model;
}

void lower_link(const PciLinkState& listed, PcieLink& link) {
  const double bw = pcie_slot(listed.generation, listed.lanes);
  if (bw <= 0 || (link.bw > 0 && link.bw < bw)) return;
  link.bw = bw;
  link.lines = {{listed.device->where, listed.device->text},
                {listed.device->runs.where, listed.device->runs.text}};
  link.narrow = listed.is_narrow() ? narrow_link_text(listed) : std::string();
}

/// Of that model, or one of which lspci, whose list of names is older, says "Device 2684" alone.
bool may_be_of(const PciDevice& device, const GpuModel* model) {
  const GpuModel* own = find_gpu_model(device.name);
  return own != nullptr ? own == model : device.name.find(" Device ") != std::string::npos;
}

/// Adds what the topologies of `hosts`, in logs and files, tell: PCIe and NVLink, NICs and their
/// rates, and the model of GPUs where nothing else names it.
void add_topology_links(const MeasuredScope& scope, const std::vector<std::string>& hosts,
                        Machine& machine) {
  const auto lower = [](double& known, double bw) {
    if (bw > 0) known = known < 0 ? bw : std::min(known, bw);
  };
  for (const HostTopology& topology : scope.job.topologies) {
    const bool is_of_it =
        topology.host.empty() || std::ranges::find(hosts, topology.host) != hosts.end();
    if (!is_of_it) continue;
    int nets = 0;
    double slowest_net = -1;
    for (size_t n = 0; n < topology.system.nodes.size(); ++n) {
      const SystemNode& node = topology.system.nodes[n];
      const double pci = slowest_pci(topology.system, static_cast<int>(n));
      if (node.name.kind == "GPU") lower(machine.gpu_pcie.bw, pci);
      if (node.name.kind == "NVS") machine.has_nvswitch = true;
      // Ports of Ethernet that sockets use, whose rate NCCL may have assumed.
      if (node.name.kind != "NET" || machine.net == NetKind::TCP) continue;
      ++nets;
      lower(machine.nic_pcie.bw, pci);
      lower(slowest_net, node.speed);
    }
    for (const SystemLink& link : topology.system.links) {
      if (link.type != "NVL" && link.type != "XGMI") continue;
      const auto is_a = [&](int node, std::string_view kind) {
        return node >= 0 && topology.system.nodes[node].name.kind == kind;
      };
      if (!is_a(link.from, "GPU")) continue;
      if (is_a(link.to, "GPU")) lower(machine.nvlink_peer, link.bw);
      const bool to_switch = is_a(link.to, "NVS");
      if (to_switch && machine.gpu == nullptr) machine.gpu = gpu_model_by_nvlink(link.bw);
    }
    if (nets == 0) continue;
    machine.nics = machine.nics < 0 ? nets : std::min(machine.nics, nets);
    if (slowest_net > 0 && machine.nic_gbits < 0) machine.nic_gbits = slowest_net * 8;
  }
}

/// Adds what lspci lists of `hosts`: PCIe links, and the model of GPUs where nothing else names it.
void add_listed_links(const MeasuredScope& scope, const std::vector<std::string>& hosts,
                      Machine& machine) {
  int listings = 0;
  int gpus = 0;
  for (const PciListing& listing : scope.job.pci_devices) {
    if (!is_of_hosts(listing, scope, hosts)) continue;
    ++listings;
    gpus = 0;
    const GpuModel* model = model_listed(listing, gpus);
    if (machine.gpu == nullptr) machine.gpu = model;
  }
  for (const PciLinkState& link : pci_links(scope.job)) {
    if (!is_of_hosts(*link.host, scope, hosts)) continue;
    const bool is_gpu = link.device->kind == PciKind::GPU;
    if (is_gpu && may_be_of(*link.device, machine.gpu)) lower_link(link, machine.gpu_pcie);
    if (!is_gpu && machine.net != NetKind::TCP) lower_link(link, machine.nic_pcie);
  }
  // A quoted table, and the listing of a host that has a GPU for each of its ranks.
  const bool is_one_host = listings == 1 && gpus == machine.nranks && gpus > 1 && !machine.has_net;
  if (is_one_host && machine.nhosts < 0 && machine.hosts_seen == 0) machine.nhosts = 1;
}

// The kind of host.

/// "x3006c0s1b1n0": cabinet, chassis, slot, board, node, as HPE Cray systems name them.
bool is_cray_x_name(std::string_view host) {
  constexpr std::string_view kParts = "xcsbn";
  size_t at = 0;
  for (const char part : kParts) {
    if (at >= host.size() || host[at] != part) return false;
    const size_t digits = ++at;
    while (at < host.size() && is_digit(host[at])) ++at;
    if (at == digits) return false;
  }
  return at == host.size();
}

/// "nid005597": the other way in which they do.
bool is_cray_nid_name(std::string_view host) {
  constexpr size_t kLetters = 3;
  return host.starts_with("nid") && host.size() >= kLetters + 4 &&
         std::ranges::all_of(host.substr(kLetters), is_digit);
}

void add_type(const MeasuredScope& scope, const std::vector<std::string>& hosts, Machine& machine) {
  HostHints hints;
  for_each_asked<OfiNote>(
      scope, [&](const Said<OfiNote>& said) { hints.names.emplace_back(said.message.text); });
  for_each_asked<OfiTunerFallback>(scope, [&](const Said<OfiTunerFallback>& said) {
    hints.names.emplace_back(said.message.platform);
  });
  if (const SettingInForce* file = machine.setting("NCCL_TOPO_FILE")) {
    hints.names.push_back(file->value);
  }
  hints.names.insert(hints.names.end(), hosts.begin(), hosts.end());
  hints.gpu = machine.gpu;
  hints.gpus_per_host = machine.per_host();
  hints.cray_x = std::ranges::any_of(hosts, is_cray_x_name);
  hints.slingshot = machine.provider.find("cxi") != std::string::npos ||
                    std::ranges::any_of(hosts, is_cray_nid_name) ||
                    std::ranges::any_of(machine.settings, [](const auto& setting) {
                      return setting.first.starts_with("FI_CXI_");
                    });
  for (const HostAddress& address : socket_addresses(scope.job)) {
    hints.slingshot |= scope.asks(address.process) && address.name.starts_with("hsn");
  }
  const bool is_shown = hints.slingshot && std::ranges::none_of(hosts, is_cray_nid_name);
  machine.slingshot = hints.slingshot || hints.cray_x;
  hints.efa =
      machine.provider == "efa" ||
      (machine.provider.empty() && machine.net_name == "AWS Libfabric" && !machine.slingshot);
  machine.type = find_host_type(hints);
  if (machine.type == nullptr) return;
  machine.type_by =
      machine.type->named.empty()
          ? fmt::format("{} x {} a host, {}", machine.type->gpus, upper_case(machine.type->gpu),
                        hints.efa  ? "EFA"
                        : is_shown ? "Slingshot"
                                   : "Slingshot by the names of its hosts")
          : std::string(machine.type->named);
  if (machine.gpu == nullptr) machine.gpu = find_gpu_model(machine.type->gpu);
}

// What NCCL reckons with.

void add_search(const MeasuredScope& scope, Machine& machine) {
  constexpr int kRing = 4;
  bool is_assumed = false;
  for_each_asked<NetSpeedUnknown>(scope, [&](const auto&) { is_assumed = true; });
  for_each_asked<GraphPattern>(scope, [&](const Said<GraphPattern>& said) {
    if (said.message.pattern != kRing || said.message.channels <= 0) return;
    if (machine.searched_within > 0) return;
    const std::string_view bw = said.message.bw;
    const size_t slash = std::min(bw.find('/'), bw.size());
    const double within = parse_decimal(bw.substr(0, slash)).value_or(-1);
    const double between =
        slash < bw.size() ? parse_decimal(bw.substr(slash + 1)).value_or(-1) : within;
    if (within <= 0) return;
    machine.searched_within = said.message.channels * within;
    machine.searched_between = is_assumed || between <= 0 ? -1 : said.message.channels * between;
    machine.searched_paths = said.message.type;
    machine.searched_line = evidence_of(said.record());
  });
}

void add_model(const Measurement& measurement, const MeasuredScope& scope, Machine& machine) {
  if (scope.comm == nullptr) return;
  for (const TuningCell& cell : scope.comm->graphs.tuning) {
    if (cell.function != name_of(measurement.op)) continue;
    const double busbw = cell.bw * bus_factor(measurement.op, machine.nranks);
    if (busbw <= machine.modelled) continue;
    machine.modelled = busbw;
    machine.modelled_by = fmt::format("{}, {}", cell.algorithm, cell.protocol);
  }
}

/// "AllReduce: 67108864 Bytes -> Algo RING proto LL": the name from 2.24 on, 0 before.
void add_choices(const MeasuredScope& scope, Machine& machine) {
  constexpr int64_t kLarge = int64_t{64} << 20;
  bool others = false;
  for_each_asked<TuningChoice>(scope, [&](const Said<TuningChoice>& said) {
    if (said.message.bytes < kLarge) return;
    const bool by_ll = said.message.protocol == "LL" || said.message.protocol == "0";
    others |= !by_ll;
    if (by_ll) keep(machine.ll_lines, evidence_of(said.record()));
  });
  if (others) machine.ll_lines.clear();
}

Machine machine_in(const Measurement& measurement, const MeasuredScope& scope) {
  Machine machine;
  add_size(measurement, scope, machine);
  const std::vector<std::string> hosts = hosts_asked(measurement, scope);
  machine.hosts_seen = static_cast<int>(hosts.size());
  if (machine.nhosts < 0 && machine.hosts_seen > 1) machine.nhosts = machine.hosts_seen;
  // Names that lines of other runs, or of renamed pods, have.
  if (machine.nranks > 0 && machine.nhosts > machine.nranks) machine.nhosts = -1;
  add_gpu(measurement, hosts, machine);
  add_settings(measurement, scope, machine);
  // NCCL takes for hosts what a setting tells apart, or what neither P2P nor SHM joins.
  const bool has_hostid = machine.setting("NCCL_HOSTID") != nullptr;
  const bool is_apart = machine.is_on("NCCL_P2P_DISABLE") && machine.is_on("NCCL_SHM_DISABLE");
  if ((has_hostid || is_apart) && machine.hosts_seen > 0 && machine.hosts_seen < machine.nhosts &&
      scope.comm != nullptr && is_all_seen(*scope.comm)) {
    machine.pseudo_hosts = has_hostid;
    machine.nhosts = machine.hosts_seen;
  }
  add_nvls(scope, machine);
  add_edges(scope, machine);
  add_nics(scope, machine);
  add_rates(scope, machine);
  add_network(scope, machine);
  decide_network(machine);
  add_named_hcas(machine);
  add_topology_links(scope, hosts, machine);
  add_listed_links(scope, hosts, machine);
  add_type(scope, hosts, machine);
  add_search(scope, machine);
  add_model(measurement, scope, machine);
  add_choices(scope, machine);
  return machine;
}

}  // namespace

const SettingInForce* Machine::setting(std::string_view name) const {
  const auto found = settings.find(std::string(name));
  return found == settings.end() || found->second.value.empty() ? nullptr : &found->second;
}

bool Machine::is_on(std::string_view name) const {
  const SettingInForce* found = setting(name);
  return found != nullptr && read_number(found->value) != 0;
}

int devices_named_in(std::string_view hcas) {
  if (hcas.starts_with('^')) return 0;
  if (hcas.starts_with('=')) hcas.remove_prefix(1);
  std::set<std::string_view> devices;
  while (!hcas.empty()) {
    const size_t comma = std::min(hcas.find(','), hcas.size());
    const std::string_view device = trim(hcas.substr(0, std::min(hcas.find(':'), comma)));
    if (device.find('_') == device.npos || !is_digit(device.back())) return 0;
    devices.insert(device);
    hcas.remove_prefix(std::min(comma + 1, hcas.size()));
  }
  return static_cast<int>(devices.size());
}

Machine machine_of(const Job& job, const Measurement& measurement) {
  return machine_in(measurement, scope_of(job, measurement));
}

Machine machine_of(const Job& job) { return machine_in({}, scope_of(job)); }

}  // namespace ncclog
