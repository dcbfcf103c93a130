#include "log/address.h"

#include <array>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr std::string_view kMappedIpv4 = "::ffff:";

bool in_range(std::string_view ip, std::string_view network, int prefix_length) {
  return same_subnet(ip, network, prefix_length);
}

/// Takes "<port>" off the end of `text`.
int take_port(std::string_view& text) {
  const size_t open = text.rfind('<');
  if (open == text.npos) return -1;
  std::string_view digits = text.substr(open + 1);
  if (digits.ends_with('>')) digits.remove_suffix(1);
  text = text.substr(0, open);
  const auto port = parse_int(digits);
  return port && *port >= 0 && *port <= 65535 ? static_cast<int>(*port) : -1;
}

}  // namespace

Address parse_address(std::string_view text) {
  Address address;
  text = trim(text);
  address.port = take_port(text);
  const size_t percent = text.find('%');
  address.ip = text.substr(0, percent);
  if (percent != text.npos) address.scope = text.substr(percent + 1);
  return address;
}

std::optional<uint32_t> parse_ipv4(std::string_view ip) {
  if (ip.starts_with(kMappedIpv4)) ip.remove_prefix(kMappedIpv4.size());
  uint32_t value = 0;
  for (int part = 0; part < 4; ++part) {
    const size_t dot = part < 3 ? ip.find('.') : ip.size();
    if (dot == ip.npos || dot == 0 || dot > 3 || !is_digit(ip[0])) return std::nullopt;
    const auto byte = parse_int(ip.substr(0, dot));
    if (!byte || *byte > 255) return std::nullopt;
    value = value << 8 | static_cast<uint32_t>(*byte);
    ip.remove_prefix(part < 3 ? dot + 1 : dot);
  }
  return value;
}

bool is_loopback(std::string_view ip) { return ip == "::1" || in_range(ip, "127.0.0.0", 8); }

bool is_link_local(std::string_view ip) {
  if (in_range(ip, "169.254.0.0", 16)) return true;
  const auto group = parse_hex(ip.substr(0, ip.find(':')));
  return ip.find(':') == 4 && group && (*group & 0xFFC0) == 0xFE80;
}

bool is_docker_bridge(std::string_view ip) {
  return in_range(ip, "172.17.0.0", 16) || in_range(ip, "10.88.0.0", 16) ||
         in_range(ip, "192.168.122.0", 24);
}

bool is_bridge_interface(std::string_view name) {
  constexpr std::array<std::string_view, 8> kStarts{"docker", "virbr",  "br-", "veth",
                                                    "cni",    "podman", "lxc", "flannel"};
  for (const std::string_view start : kStarts) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

bool same_subnet(std::string_view a, std::string_view b, int prefix_length) {
  const auto first = parse_ipv4(a);
  const auto second = parse_ipv4(b);
  if (!first || !second || prefix_length < 0 || prefix_length > 32) return false;
  const uint64_t mask = ~((uint64_t{1} << (32 - prefix_length)) - 1);
  return ((*first ^ *second) & mask) == 0;
}

}  // namespace ncclog
