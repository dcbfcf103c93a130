// Interfaces, RDMA devices and what lets them reach GPU memory.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "host/read_host.h"

namespace ncclog {
namespace {

std::string kind_of_interface(HostTree& tree, const std::string& folder) {
  const HostAnswer& event = tree.ask("file", folder + "/uevent");
  for (const std::string_view line : lines_of(event)) {
    constexpr std::string_view kTypes[] = {"bond", "bridge", "vlan"};
    for (const std::string_view type : kTypes) {
      if (line == fmt::format("DEVTYPE={}", type)) return std::string(type);
    }
  }
  const HostAnswer& device = tree.ask("link", folder + "/device");
  if (device.is_here()) return "physical";
  return device.is_absent() ? "virtual" : "";
}

void read_interfaces(HostTree& tree, HostReport& report) {
  const HostAnswer& addresses = tree.ask("addresses");
  if (!addresses.is_here()) return;
  auto& interfaces = report.interfaces.emplace();
  for (const std::string_view line : lines_of(addresses)) {
    const auto words = split_blanks(line);
    if (words.size() < 2) continue;
    auto known = std::ranges::find(interfaces, words[0], &HostInterface::name);
    if (known == interfaces.end()) {
      HostInterface added{.name = std::string(words[0])};
      added.is_up = words.size() == 2;
      const std::string folder = "/sys/class/net/" + added.name;
      added.speed = number_of(tree.ask("file", folder + "/speed"));
      added.mtu = static_cast<int>(
          std::min<int64_t>(number_of(tree.ask("file", folder + "/mtu")), INT32_MAX));
      added.kind = added.name == "lo" ? "loopback" : kind_of_interface(tree, folder);
      if (added.kind == "bond") {
        for (const std::string_view below :
             split_blanks(tree.ask("file", folder + "/bonding/slaves").text)) {
          added.below.emplace_back(below);
        }
      }
      known = interfaces.insert(interfaces.end(), std::move(added));
    }
    known->addresses.emplace_back(words[1]);
  }
}

/// All zero but for the link-local prefix: an entry that nobody has filled.
bool is_empty_gid(std::string_view gid) {
  if (gid.starts_with("fe80:")) gid.remove_prefix(5);
  return gid.find_first_not_of("0:") == gid.npos;
}

void read_gids(HostTree& tree, const std::string& folder, RdmaPort& port) {
  constexpr size_t kMostGids = 256;
  std::vector<int> numbers;
  for (const std::string_view name : lines_of(tree.ask("list", folder + "/gid_attrs/types"))) {
    if (const auto number = parse_int(name)) numbers.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(numbers);
  if (numbers.size() > kMostGids) numbers.resize(kMostGids);
  for (const int number : numbers) {
    // Unfilled entries have no type to read; of a port all filled ones stand in front.
    const HostAnswer& type = tree.ask("file", fmt::format("{}/gid_attrs/types/{}", folder, number));
    if (!type.is_here()) break;
    const HostAnswer& gid = tree.ask("file", fmt::format("{}/gids/{}", folder, number));
    if (is_empty_gid(gid.text)) continue;
    port.gids.push_back({number, gid.text, type.text});
  }
}

void read_rdma(HostTree& tree, HostReport& report) {
  const std::string root = "/sys/class/infiniband";
  const HostAnswer& devices = tree.ask("list", root);
  if (devices.is_absent()) report.rdma.emplace();
  if (!devices.is_here()) return;
  auto& ports = report.rdma.emplace();
  for (const std::string_view device : lines_of(devices)) {
    const std::string folder = fmt::format("{}/{}", root, device);
    for (const std::string_view number : lines_of(tree.ask("list", folder + "/ports"))) {
      const std::string place = fmt::format("{}/ports/{}", folder, number);
      RdmaPort port{.device = std::string(device),
                    .port = static_cast<int>(parse_int(number).value_or(1))};
      const std::string link = tree.ask("file", place + "/link_layer").text;
      port.link = link == "InfiniBand" ? "IB" : link == "Ethernet" ? "RoCE" : "";
      // "4: ACTIVE"
      const std::string state = tree.ask("file", place + "/state").text;
      port.state =
          trim(std::string_view(state).substr(std::min(state.find(':') + 1, state.size())));
      // "400 Gb/sec (4X NDR)"
      const std::string rate = tree.ask("file", place + "/rate").text;
      port.rate = parse_decimal(rate.substr(0, rate.find(' '))).value_or(-1);
      port.board = tree.ask("file", folder + "/board_id").text;
      if (port.link == "RoCE" && port.state == "ACTIVE") read_gids(tree, place, port);
      ports.push_back(std::move(port));
    }
  }
  const HostAnswer& files = tree.ask("list", "/dev/infiniband/uverbs*");
  if (files.is_absent()) report.rdma_files = false;
  if (files.is_here()) report.rdma_files = !files.text.empty();
}

void read_peermem(HostTree& tree, HostReport& report) {
  constexpr std::string_view kModules[] = {"nvidia_peermem ", "nv_peer_mem ", "ib_peer_mem "};
  const HostAnswer& modules = tree.ask("file", "/proc/modules");
  if (!modules.is_here()) return;
  report.peermem = std::ranges::any_of(
      lines_of(modules), [&](std::string_view line) { return starts_with_one_of(line, kModules); });
}

}  // namespace

void read_network(HostTree& tree, HostReport& report) {
  read_interfaces(tree, report);
  read_rdma(tree, report);
  read_peermem(tree, report);
}

}  // namespace ncclog
