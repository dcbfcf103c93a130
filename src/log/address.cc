#include "log/address.h"

#include <algorithm>

#include "base/text.h"
#include "log/line/scanner.h"

namespace ncclog {

// Addresses of sockets.

namespace {

constexpr std::string_view kMappedIpv4 = "::ffff:";

}  // namespace

std::string_view ip_of(std::string_view text) {
  text = trim(text);
  text = text.substr(0, text.rfind('<'));
  return text.substr(0, text.find('%'));
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

bool is_loopback(std::string_view ip) {
  constexpr uint32_t kLoopback = 127;
  const auto number = parse_ipv4(ip);
  return ip == "::1" || (number && *number >> 24 == kLoopback);
}

bool is_link_local(std::string_view ip) {
  if (ip.starts_with("169.254.")) return parse_ipv4(ip).has_value();
  const auto group = ip.find(':') == 4 ? parse_hex(ip.substr(0, 4)) : std::nullopt;
  return group && (*group & 0xFFC0) == 0xFE80;
}

// Bus ids.

namespace {

/// Takes 1 to `most` hexadecimal digits and adds them behind `number`, `bits` wide.
bool take_hex(Scanner& scan, size_t most, int bits, uint64_t& number) {
  const auto value = parse_hex(scan.take_while(is_hex_digit, most));
  if (!value || (*value >> bits) != 0) return false;
  number = (number << bits) | *value;
  return true;
}

}  // namespace

std::optional<uint64_t> bus_number(std::string_view printed) {
  if (printed.find(':') == printed.npos) {
    return printed.starts_with("0x") ? std::nullopt : parse_hex(printed);
  }
  Scanner scan(printed);
  uint64_t number = 0;
  const bool device = take_hex(scan, 8, 32, number) && scan.skip(':') &&
                      take_hex(scan, 2, 8, number) && scan.skip(':') &&
                      take_hex(scan, 2, 8, number);
  if (!device) return std::nullopt;
  if (!scan.skip('.')) {
    number <<= 4;
  } else if (!take_hex(scan, 1, 4, number)) {
    return std::nullopt;
  }
  return scan.done() ? std::optional(number) : std::nullopt;
}

// Lists of devices.

namespace {

/// "1/IB" or "1:0:1/RoCE" behind a device's name; cut words of the link are dropped.
bool read_rdma_port(std::string_view text, NetDevice& device) {
  Scanner scan(text);
  if (!scan.number(device.port)) return false;
  const size_t slash = text.find('/');
  if (slash == text.npos) return scan.done();
  const std::string_view link = text.substr(slash + 1);
  if (link == "IB" || link == "RoCE") device.link = link;
  return true;
}

/// Interface and HCA names as kernels and drivers make them: "mlx5_bond_0", "enp1s0f0.100",
/// "br-1f".
bool is_device_name(std::string_view name) {
  return !name.empty() && is_word(name.front()) && std::ranges::all_of(name, [](char c) {
    return is_word(c) || c == '-' || c == '.' || c == '@' || c == '+';
  });
}

/// "mlx5_0:1/IB" or "eth0:10.2.2.3<0>". The name is empty where the entry is none of the two.
NetDevice read_device(std::string_view text, int index) {
  NetDevice device;
  device.index = index;
  const size_t colon = text.find(':');
  if (colon == text.npos || !is_device_name(text.substr(0, colon))) return device;
  device.name = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  if (rest.find('<') == rest.npos && read_rdma_port(rest, device)) return device;
  device.port = -1;
  device.address = ip_of(rest);
  // "10.2.2.3", "fe80::1c5e:86ff:fee4:151", or the beginning of one where NCCL cut the list; not
  // another process's words.
  const bool is_ip =
      !device.address.empty() &&
      device.address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
  return is_ip ? device : NetDevice{.index = index};
}

/// "[3]" at the start of `scan`; `index` keeps its value if there is none.
void take_index(Scanner& scan, int& index) {
  std::string_view inside;
  Scanner ahead = scan;
  if (!ahead.skip('[') || !ahead.until(']', inside, 12)) return;
  const auto number = parse_int(inside);
  if (!number || *number < 0 || *number > 1'000'000) return;
  index = static_cast<int>(*number);
  scan = ahead;
}

constexpr bool is_entry_char(char c) { return !is_blank(c) && c != ',' && c != '}'; }

/// "{[0] mlx5_1:1/IB,[1] mlx5_2:1/IB}", from behind the brace.
void read_fused(Scanner& scan, int index, std::vector<NetDevice>& devices) {
  while (!scan.done() && !scan.skip('}')) {
    int member = 0;
    take_index(scan, member);
    scan.blanks();
    const std::string_view entry = scan.take_while(is_entry_char);
    const NetDevice device = read_device(entry, index);
    if (!device.name.empty()) devices.push_back(device);
    if (!scan.skip(',') && entry.empty() && scan.blanks() == 0 && scan.peek() != '}') return;
  }
}

}  // namespace

std::vector<NetDevice> parse_device_list(std::string_view devices) {
  std::vector<NetDevice> result;
  Scanner scan(devices);
  while (true) {
    scan.blanks();
    if (scan.done()) return result;
    int index = -1;
    take_index(scan, index);
    if (scan.skip("={")) {
      read_fused(scan, index, result);
      continue;
    }
    scan.blanks();
    const std::string_view entry = scan.take_while([](char c) { return !is_blank(c); });
    const NetDevice device = read_device(entry, index);
    if (!device.name.empty()) result.push_back(device);
  }
}

}  // namespace ncclog
