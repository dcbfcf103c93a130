#include "model/companions/pci_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ncclog {
namespace {

// Domain, bus, device and function, as bus_number() counts them.
constexpr int kBusBits = 12;
constexpr int kDomainBits = 20;

uint64_t domain_of(uint64_t bus_id) { return bus_id >> kDomainBits; }
int bus_of(uint64_t bus_id) { return static_cast<int>(bus_id >> kBusBits & 0xff); }

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

int pcie_generation(double speed) {
  constexpr double kSpeeds[] = {2.5, 5, 8, 16, 32, 64};
  const auto* const known = std::ranges::find(kSpeeds, speed);
  return known == std::end(kSpeeds) ? -1 : static_cast<int>(known - kSpeeds) + 1;
}

}  // namespace ncclog
