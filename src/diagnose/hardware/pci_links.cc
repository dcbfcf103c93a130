#include "diagnose/hardware/pci_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "base/text.h"
#include "diagnose/facts/fact.h"

namespace ncclog {
namespace {

// Domain, bus, device and function, as bus_number() counts them.
constexpr int kBusBits = 12;
constexpr int kDomainBits = 20;

uint64_t domain_of(uint64_t bus_id) { return bus_id >> kDomainBits; }
int bus_of(uint64_t bus_id) { return static_cast<int>(bus_id >> kBusBits & 0xff); }

/// The generation of PCIe with that speed of a lane: 5 of 32 GT/s; -1: there is none.
int pcie_generation(double speed) {
  constexpr double kSpeeds[] = {2.5, 5, 8, 16, 32, 64};
  const auto* const known = std::ranges::find(kSpeeds, speed);
  return known == std::end(kSpeeds) ? -1 : static_cast<int>(known - kSpeeds) + 1;
}

/// Both ends can do what the lower one can; -1 stands for an end that is not known.
double lower_of(double device, double port) {
  return device < 0 || port < 0 ? std::max(device, port) : std::min(device, port);
}

/// GT/s of links that save power.
constexpr double kIdle = 2.5;

PciLinkState state_of(const PciListing& host, const PciDevice& device) {
  const PciDevice* port = port_above(host, device);
  PciLinkState state = {.host = &host, .device = &device, .lanes = device.runs.width};
  const double possible = lower_of(device.can.speed, port == nullptr ? -1 : port->can.speed);
  const bool keeps_speed = device.kind == PciKind::NIC && device.runs.speed > kIdle;
  state.generation = pcie_generation(keeps_speed || possible < 0 ? device.runs.speed : possible);
  const bool knows_both = port != nullptr && port->can.width > 0 && device.can.width > 0;
  if (knows_both) state.most_lanes = std::min(device.can.width, port->can.width);
  return state;
}

/// What all others of its name have, the only odd one could have: slots of a host are mostly alike.
void compare_alike(std::vector<PciLinkState>& links) {
  constexpr int kFewest = 3;
  for (PciLinkState& link : links) {
    if (link.most_lanes > 0) continue;
    std::map<int, int> others;  // How many have so many lanes.
    for (const PciLinkState& other : links) {
      if (other.device->name == link.device->name && &other != &link) ++others[other.lanes];
    }
    if (others.size() != 1) continue;
    const auto [lanes, count] = *others.begin();
    if (count >= kFewest && lanes <= link.device->can.width) link.most_lanes = lanes;
  }
}

/// Speed by lanes, to tell the NICs of the fabric from others.
double capacity(const PciDevice& device) {
  return std::max(0.0, device.can.speed) * std::max(0, device.can.width);
}

/// The links of one host.
std::vector<PciLinkState> links_of(const PciListing& host) {
  double best_nic = 0;
  for (const PciDevice& device : host.devices) {
    if (device.is_fabric) best_nic = std::max(best_nic, capacity(device));
  }
  std::vector<PciLinkState> links;
  for (const PciDevice& device : host.devices) {
    const bool counts =
        device.kind == PciKind::GPU || (device.is_fabric && capacity(device) >= best_nic);
    // GPUs of AMD give up lanes, too, while they idle.
    const bool may_save_lanes = device.kind == PciKind::GPU && device.runs.speed <= kIdle &&
                                device.name.find("NVIDIA") == device.name.npos &&
                                !device.name.starts_with("10de:");
    // Virtual functions, and devices inside a processor, have no lanes.
    if (!counts || device.runs.width < 0 || may_save_lanes) continue;
    links.push_back(state_of(host, device));
  }
  compare_alike(links);
  return links;
}

std::vector<PciLinkState> derive_links(const Job& job) {
  std::vector<PciLinkState> all;
  for (const PciListing& host : job.pci_devices) {
    std::vector<PciLinkState> links = links_of(host);
    all.insert(all.end(), links.begin(), links.end());
  }
  std::ranges::stable_sort(
      all, {}, [](const PciLinkState& link) { return std::string_view(link.host->host); });
  return all;
}

FactValue narrow_pci_link(const Job& job, const Instance&) {
  const std::vector<PciLinkState>& links = pci_links(job);
  if (std::ranges::none_of(links, [](const auto& link) { return link.most_lanes > 0; })) {
    return unknown();
  }
  AnswerParts parts;
  std::vector<std::string> hosts;
  for (const PciLinkState& link : links) {
    if (!link.is_narrow()) continue;
    parts.add(narrow_link_text(link), {link.device->where, link.device->text});
    parts.evidence.push_back({link.device->runs.where, link.device->runs.text});
    if (!link.host->host.empty()) hosts.push_back(link.host->host);
  }
  FactValue answer = parts.answer(no(), "; ", kMostNamed);
  answer.hosts = std::move(hosts);
  return answer;
}

constexpr std::array kPciFacts = {
    // Some GPU's or NIC's link has fewer lanes than both of its ends have.
    job_fact("job.narrow_pci_link", narrow_pci_link),
};

}  // namespace

const PciDevice* port_above(const PciListing& host, const PciDevice& device) {
  const auto port = std::ranges::find_if(host.devices, [&](const PciDevice& other) {
    return other.kind == PciKind::Bridge && other.bus_below == bus_of(device.bus_id) &&
           domain_of(other.bus_id) == domain_of(device.bus_id);
  });
  return port == host.devices.end() ? nullptr : &*port;
}

std::string pci_address(uint64_t bus_id) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain_of(bus_id), bus_of(bus_id),
                     bus_id >> 4 & 0xff, bus_id & 0xf);
}

const std::vector<PciLinkState>& pci_links(const Job& job) {
  return job.answers.of<&derive_links>(job);
}

std::string narrow_link_text(const PciLinkState& link) {
  return fmt::format("{} {}{} has {} of {} lanes",
                     link.device->kind == PciKind::GPU ? "GPU" : "NIC",
                     pci_address(link.device->bus_id),
                     link.host->host.empty() ? "" : " on " + printable(link.host->host), link.lanes,
                     link.most_lanes);
}

std::span<const Fact> pci_facts() { return kPciFacts; }

}  // namespace ncclog
