// GPUs, the PCI bridges above them and above adapters, the IOMMU.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "host/read_host.h"

namespace ncclog {
namespace {

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
    if (acs.is_here()) bridge.acs = redirects ? HostBridge::Acs::On : HostBridge::Acs::Off;
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

void read_devices(HostTree& tree, HostReport& report) {
  read_pci(tree, report);
  read_iommu(tree, report);
  read_gpus(tree, report);
  for (const std::string_view line : lines_of(tree.ask("xids"))) report.xids.emplace_back(line);
}

}  // namespace ncclog
