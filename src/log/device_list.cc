#include "log/device_list.h"

#include <algorithm>

#include "base/text.h"
#include "log/address.h"
#include "log/scanner.h"

namespace ncclog {
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
  return !name.empty() && is_word(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_word(c) || c == '-' || c == '.' || c == '@' || c == '+';
         });
}

/// "10.2.2.3", "fe80::1c5e:86ff:fee4:151", or the beginning of one where NCCL cut the list; not
/// another process's words.
bool is_ip_address(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos;
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
  const Address address = parse_address(rest);
  if (!is_ip_address(address.ip)) {
    device.name = {};
    return device;
  }
  device.address = address.ip;
  device.socket_port = address.port;
  return device;
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
