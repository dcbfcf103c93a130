#include "diagnose/perf/machine/machine_links.h"

#include <algorithm>
#include <string_view>

#include "diagnose/hardware/pci_links.h"

namespace ncclog {
namespace {

/// Slowest of the PCI links above a node, GB/s; -1: none is known.
double slowest_pci(const SystemTopology& system, int node) {
  double slowest = -1;
  for (int at = node; at >= 0; at = system.nodes[static_cast<size_t>(at)].parent) {
    const SystemNode& here = system.nodes[static_cast<size_t>(at)];
    if (here.link != "PCI" || here.bw <= 0) continue;
    slowest = slowest < 0 ? here.bw : std::min(slowest, here.bw);
  }
  return slowest;
}

// Listings of lspci.

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
const GpuModel* model_listed(const PciListing& listing, std::string& name, int& gpus) {
  const GpuModel* model = nullptr;
  for (const PciDevice& device : listing.devices) {
    const GpuModel* own = device.kind == PciKind::GPU ? find_gpu_model(device.name) : nullptr;
    if (own == nullptr) continue;  // Of the console, or of the processor.
    if (model != nullptr && model != own) return nullptr;
    model = own;
    name = device.name;
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

}  // namespace

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
      const auto kind = [&](int node) -> std::string_view {
        return node < 0 ? std::string_view()
                        : topology.system.nodes[static_cast<size_t>(node)].name.kind;
      };
      if (kind(link.from) == "GPU" && kind(link.to) == "GPU") lower(machine.nvlink_peer, link.bw);
      const bool to_switch = kind(link.from) == "GPU" && kind(link.to) == "NVS";
      if (to_switch && machine.gpu == nullptr) {
        machine.gpu = gpu_model_by_nvlink(link.bw);
        if (machine.gpu != nullptr) machine.gpu_name = topology.host;
      }
    }
    if (nets == 0) continue;
    machine.nics = machine.nics < 0 ? nets : std::min(machine.nics, nets);
    if (slowest_net > 0 && machine.nic_gbits < 0) machine.nic_gbits = slowest_net * 8;
  }
}

void add_listed_links(const MeasuredScope& scope, const std::vector<std::string>& hosts,
                      Machine& machine) {
  int listings = 0;
  int gpus = 0;
  for (const PciListing& listing : scope.job.pci_devices) {
    if (!is_of_hosts(listing, scope, hosts)) continue;
    ++listings;
    gpus = 0;
    std::string name;
    const GpuModel* model = model_listed(listing, name, gpus);
    if (machine.gpu != nullptr || model == nullptr) continue;
    machine.gpu = model;
    machine.gpu_name = name;
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

}  // namespace ncclog
