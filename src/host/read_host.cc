#include "host/read_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/text.h"

namespace ncclog {

std::vector<std::string_view> lines_of(const HostAnswer& answer) {
  if (!answer.is_here() || answer.text.empty()) return {};
  return split(answer.text, '\n');
}

namespace {

/// The number that an answer begins with; -1 for none.
int64_t number_of(const HostAnswer& answer) {
  const std::string_view text = answer.text;
  return parse_int(text.substr(0, text.find_first_not_of("0123456789"))).value_or(-1);
}

/// What stands behind `key` at the front of a line; empty: there is no such line.
std::string_view value_after(const HostAnswer& answer, std::string_view key) {
  for (const std::string_view line : lines_of(answer)) {
    if (line.starts_with(key)) return trim(line.substr(key.size()));
  }
  return {};
}

/// "max" and what is larger than any memory are no limits.
int64_t limit_of(std::string_view text) {
  constexpr int64_t kNone = int64_t{1} << 60;
  if (text == "max" || text == "unlimited") return HostReport::kUnlimited;
  const int64_t value = parse_int(trim(text)).value_or(-1);
  return value >= kNone || (value < 0 && text.size() > 18) ? HostReport::kUnlimited : value;
}

// What is mounted at /dev/shm?

void read_shm(HostTree& tree, SharedMemory& shm) {
  const HostAnswer& space = tree.ask("space", "/dev/shm");
  shm.size = parse_int(value_after(space, "size ")).value_or(-1);
  shm.available = parse_int(value_after(space, "available ")).value_or(-1);
  for (const std::string_view line : lines_of(tree.ask("mount", "/proc/self/mountinfo"))) {
    // "34 25 0:29 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw,size=65536k"
    const auto words = split_blanks(line);
    if (words.size() > 5 && words[4] == "/dev/shm") {
      shm.options = fmt::format("{},{}", words[5], words.back());
    }
  }
  const HostAnswer& mode = tree.ask("mode", "/dev/shm");
  shm.mode = mode.text.substr(0, mode.text.find(' '));
  const HostAnswer& access = tree.ask("access", "/dev/shm");
  shm.is_asked = access.is_here() || access.is_absent();
  if (access.is_here() && access.text != "writable") shm.refused = access.text;
  if (access.is_absent()) shm.refused = access.why;
  for (const std::string_view line : lines_of(tree.ask("segments", "/dev/shm"))) {
    const auto words = split_blanks(line);
    if (words.size() < 3) continue;
    shm.segments.push_back({std::string(words[0]), parse_int(words[1]).value_or(-1),
                            words[2] == "process" || words[2] == "nobody"
                                ? std::optional(words[2] == "process")
                                : std::nullopt});
  }
}

// What may a process take here?

/// The soft one of the two that a line names.
int64_t limit_named(const HostAnswer& limits, std::string_view name) {
  const auto words = split_blanks(value_after(limits, name));
  return words.size() < 2 ? -1 : limit_of(words[0]);
}

/// The smallest limit of the cgroup and those around it; kUnlimited where none of them has one, -1
/// where none could be read.
int64_t cgroup_limit(HostTree& tree, std::string folder, const std::string& path,
                     const char* file) {
  int64_t least = -1;
  std::string place = path == "/" ? "" : path;
  while (true) {
    const HostAnswer& answer = tree.ask("file", fmt::format("{}{}/{}", folder, place, file));
    if (answer.is_here()) {
      const int64_t limit = limit_of(answer.text);
      if (limit >= 0 && (least < 0 || limit < least)) least = limit;
    }
    if (place.empty()) return least;
    place.resize(std::min(place.rfind('/'), place.size()));
  }
}

void read_cgroup(HostTree& tree, HostReport& report) {
  for (const std::string_view line : lines_of(tree.ask("file", "/proc/self/cgroup"))) {
    // "0::/system.slice/slurmd.service", "5:memory:/docker/4be0…"
    const auto parts = split(line, ':');
    if (parts.size() != 3 || !parts[2].starts_with('/')) continue;
    const std::string path(parts[2]);
    if (holds_one_of(path,
                     std::initializer_list<std::string_view>{"/docker", "/kubepods", "/containerd",
                                                             "/libpod", "/lxc", "/crio"})) {
      if (report.container.empty()) report.container = "its control group " + path;
    }
    // Systems with both versions limit by one of them.
    const auto take = [](int64_t& limit, int64_t found) {
      if (found >= 0 && (limit < 0 || found < limit)) limit = found;
    };
    if (parts[1].empty()) {
      take(report.memory_limit, cgroup_limit(tree, "/sys/fs/cgroup", path, "memory.max"));
      take(report.pids_limit, cgroup_limit(tree, "/sys/fs/cgroup", path, "pids.max"));
    } else if (parts[1] == "memory") {
      take(report.memory_limit,
           cgroup_limit(tree, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    } else if (parts[1] == "pids") {
      take(report.pids_limit, cgroup_limit(tree, "/sys/fs/cgroup/pids", path, "pids.max"));
    }
  }
}

void read_limits(HostTree& tree, HostReport& report) {
  const HostAnswer& limits = tree.ask("file", "/proc/self/limits");
  report.memlock = limit_named(limits, "Max locked memory");
  report.open_files = limit_named(limits, "Max open files");
  report.processes = limit_named(limits, "Max processes");
  constexpr int64_t kKilo = 1024;
  const auto memory = split_blanks(value_after(tree.ask("file", "/proc/meminfo"), "MemTotal:"));
  if (!memory.empty()) report.memory = parse_int(memory[0]).value_or(-1) * kKilo;
  read_cgroup(tree, report);
  report.seccomp = value_after(tree.ask("file", "/proc/self/status"), "Seccomp:");
  report.numa_call = tree.ask("mempolicy").text;
}

void read_numa(HostTree& tree, HostReport& report) {
  constexpr int64_t kKilo = 1024;
  const std::string folder = "/sys/devices/system/node";
  for (const std::string_view name : lines_of(tree.ask("list", folder + "/node*"))) {
    const auto number = parse_int(name.substr(std::min<size_t>(name.size(), 4)));
    if (!number) continue;
    const HostAnswer& memory = tree.ask("file", fmt::format("{}/{}/meminfo", folder, name));
    // "Node 0 MemTotal:       131890240 kB"
    const auto words = split_blanks(value_after(memory, fmt::format("Node {} MemTotal:", *number)));
    if (words.empty()) continue;
    report.numa_nodes.emplace_back(static_cast<int>(*number),
                                   parse_int(words[0]).value_or(-1) * kKilo);
  }
  std::ranges::sort(report.numa_nodes);
}

void read_container(HostTree& tree, HostReport& report) {
  for (const char* sign : {"/.dockerenv", "/run/.containerenv"}) {
    if (tree.ask("mode", sign).is_here()) report.container = sign;
  }
  for (const std::string_view line : lines_of(tree.ask("environment"))) {
    if (line.starts_with("KUBERNETES_SERVICE_HOST=")) report.container = "a pod's environment";
    if (line.starts_with("container=")) report.container = "the variable " + std::string(line);
  }
}

// Interfaces, RDMA devices and what lets them reach GPU memory.

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

// GPUs, the PCI bridges above them and above adapters, the IOMMU.

constexpr const char* kPci = "/sys/bus/pci/devices/";

/// "0000:17:00.0"
bool is_pci_address(std::string_view text) {
  return text.size() == 12 && text[4] == ':' && text[7] == ':' && text[10] == '.';
}

/// The last part of a path.
std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::set<std::string> gpu_addresses(HostTree& tree) {
  std::set<std::string> gpus;
  for (const char* driver : {"nvidia", "amdgpu"}) {
    for (const std::string_view name :
         lines_of(tree.ask("list", fmt::format("/sys/bus/pci/drivers/{}", driver)))) {
      if (is_pci_address(name)) gpus.emplace(name);
    }
  }
  return gpus;
}

std::set<std::string> adapter_addresses(HostTree& tree) {
  std::set<std::string> adapters;
  for (const std::string_view device : lines_of(tree.ask("list", "/sys/class/infiniband"))) {
    const HostAnswer& link =
        tree.ask("link", fmt::format("/sys/class/infiniband/{}/device", device));
    if (is_pci_address(name_in(link.text))) adapters.emplace(name_in(link.text));
  }
  return adapters;
}

void read_pci(HostTree& tree, HostReport& report) {
  const std::set<std::string> gpus = gpu_addresses(tree);
  std::set<std::string> all = adapter_addresses(tree);
  all.insert(gpus.begin(), gpus.end());
  std::set<std::string> above;
  for (const std::string& address : all) {
    HostPciDevice device{.address = address, .is_gpu = gpus.contains(address)};
    const auto width = [&](const char* file) {
      return static_cast<int>(
          std::min<int64_t>(number_of(tree.ask("file", kPci + address + "/" + file)), 64));
    };
    device.width = width("current_link_width");
    device.max_width = width("max_link_width");
    report.devices.push_back(device);
    // "../../../devices/pci0000:16/0000:16:01.0/0000:17:00.0"
    for (const std::string_view part : split(tree.ask("link", kPci + address).text, '/')) {
      if (is_pci_address(part) && part != address) above.emplace(part);
    }
  }
  if (!all.empty()) report.bridges.emplace();
  for (const std::string& address : above) {
    const HostAnswer& acs = tree.ask("acs", kPci + address);
    HostBridge bridge{.address = address};
    // Validation of sources alone sends nothing on other ways.
    const bool redirects = acs.text.find("Redir") != acs.text.npos;
    if (acs.is_here()) bridge.acs = redirects;
    report.bridges->push_back(bridge);
  }
}

/// Whether the IOMMU translates what GPUs send: known from the groups that they are in.
void read_iommu(HostTree& tree, HostReport& report) {
  const HostAnswer& units = tree.ask("list", "/sys/class/iommu");
  if (units.is_absent() || (units.is_here() && units.text.empty())) report.iommu = false;
  for (const HostPciDevice& device : report.devices) {
    if (!device.is_gpu) continue;
    const HostAnswer& type = tree.ask("file", kPci + device.address + "/iommu_group/type");
    if (type.is_here()) report.iommu = report.iommu.value_or(false) || type.text != "identity";
  }
}

/// "gpu 0 00000000:1B:00.0 mig=0 errors=0 links=18/18 fabric=completed NVIDIA H100"
HostGpu gpu_of_line(const std::vector<std::string_view>& words) {
  HostGpu gpu{.bus_id = lower_case(words[2])};
  // NVML prints the domain with 8 digits.
  if (gpu.bus_id.starts_with("0000") && gpu.bus_id.size() == 16) gpu.bus_id.erase(0, 4);
  for (size_t i = 3; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const size_t equals = word.find('=');
    if (equals == word.npos || !gpu.name.empty()) {
      gpu.name += (gpu.name.empty() ? "" : " ") + std::string(word);
      continue;
    }
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (key == "mig") gpu.mig = value == "1";
    if (key == "errors") gpu.memory_errors = parse_int(value).value_or(-1);
    if (key == "fabric") gpu.fabric = value;
    if (key != "links") continue;
    const size_t slash = std::min(value.find('/'), value.size());
    gpu.links = static_cast<int>(parse_int(value.substr(0, slash)).value_or(-1));
    gpu.all_links =
        static_cast<int>(parse_int(value.substr(std::min(slash + 1, value.size()))).value_or(-1));
  }
  std::ranges::replace(gpu.fabric, '-', ' ');
  return gpu;
}

void read_gpus(HostTree& tree, HostReport& report) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 …"
  const HostAnswer& version = tree.ask("file", "/proc/driver/nvidia/version");
  for (const std::string_view word : split_blanks(version.text)) {
    const auto parts = split(word, '.');
    const bool is_version = parts.size() >= 2 && std::ranges::all_of(parts, [](auto part) {
                              return parse_int(part).has_value();
                            });
    if (is_version && report.driver.empty()) report.driver = word;
  }
  const HostAnswer& nvml = tree.ask("nvml");
  if (nvml.is_here()) report.gpus.emplace();
  for (const std::string_view line : lines_of(nvml)) {
    const auto words = split_blanks(line);
    if (words.size() >= 2 && words[0] == "driver") report.driver = words[1];
    if (words.size() >= 3 && words[0] == "gpu") report.gpus->push_back(gpu_of_line(words));
    if (words.size() == 4 && words[0] == "p2p") {
      report.refused_peers.push_back({static_cast<int>(parse_int(words[1]).value_or(-1)),
                                      static_cast<int>(parse_int(words[2]).value_or(-1)),
                                      std::string(words[3])});
    }
  }
  if (report.gpus) return;
  const HostAnswer& folders = tree.ask("list", "/proc/driver/nvidia/gpus");
  if (folders.is_here()) report.gpus.emplace();
  if (folders.is_absent() && version.is_absent()) report.gpus.emplace();
  for (const std::string_view address : lines_of(folders)) {
    HostGpu gpu{.bus_id = std::string(address)};
    for (const std::string_view line : lines_of(
             tree.ask("file", fmt::format("/proc/driver/nvidia/gpus/{}/information", address)))) {
      if (line.starts_with("Model:")) gpu.name = trim(line.substr(6));
    }
    report.gpus->push_back(std::move(gpu));
  }
}

}  // namespace

HostReport read_host(HostTree& tree, const std::string& source) {
  HostReport report;
  report.source = source;
  report.host = tree.ask("file", "/proc/sys/kernel/hostname").text;
  report.kernel = tree.ask("file", "/proc/sys/kernel/osrelease").text;
  report.machine = tree.ask("file", "/sys/class/dmi/id/product_name").text;
  read_container(tree, report);
  read_shm(tree, report.shm);
  read_limits(tree, report);
  read_numa(tree, report);
  read_interfaces(tree, report);
  read_rdma(tree, report);
  read_peermem(tree, report);
  read_pci(tree, report);
  read_iommu(tree, report);
  read_gpus(tree, report);
  for (const std::string_view line : lines_of(tree.ask("xids"))) report.xids.emplace_back(line);
  read_libraries(tree, report);
  std::set<std::string> hidden;
  for (auto& [what, why] : tree.refused()) {
    if (why.ends_with(kNotThere)) hidden.insert(why.substr(0, why.size() - kNotThere.size()));
    // Other reasons are answers: the speed of an interface that is down is an invalid argument.
    if (why == std::strerror(EACCES) || why == std::strerror(EPERM) ||
        why.find("library") != why.npos || why.find("NVML") != why.npos) {
      report.unread.emplace_back(what, why);
    }
  }
  for (const std::string& folder : hidden) report.unread.emplace_back(folder, "not there");
  report.record = tree.record();
  return report;
}

}  // namespace ncclog
