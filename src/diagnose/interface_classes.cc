#include "diagnose/interface_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/text.h"
#include "log/address.h"

namespace ncclog {
namespace {

constexpr std::string_view kHostBridges[] = {"docker", "virbr", "br-", "lxcbr", "lxdbr", "podman"};
constexpr std::string_view kVirtualNames[] = {"cni",       "flannel", "vxlan", "cali",  "veth",
                                              "tun",       "tap",     "wg",    "zt",    "weave",
                                              "tailscale", "kube-",   "dummy", "cilium"};

/// The first three bytes of libvirt's default network, 192.168.122.0/24.
constexpr uint32_t kLibvirt = 192 << 16 | 168 << 8 | 122;

bool starts_with_any(std::string_view name, std::span<const std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
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
  return host.size() == 12 && std::all_of(host.begin(), host.end(), is_hex_digit);
}

}  // namespace ncclog
