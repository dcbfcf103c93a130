// GPUs, PCI paths and libraries of a host.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/hosts/host_reports.h"

namespace ncclog {
namespace {

size_t count_gpus(const HostReport& report) {
  const auto on_bus = static_cast<size_t>(
      std::ranges::count_if(report.devices, [](const HostPciDevice& each) { return each.is_gpu; }));
  return std::max(on_bus, report.gpus ? report.gpus->size() : 0);
}

// Can GPUs and adapters reach each other over PCIe?

/// ACS of the bridges: yes with those that have it on, no where all have it off.
FactValue acs_of(const HostReport& report) {
  if (!report.bridges) return unknown("there are neither GPUs nor RDMA devices");
  constexpr size_t kMost = 4;
  std::vector<std::string> on;
  size_t off = 0;
  for (const HostBridge& bridge : *report.bridges) {
    if (bridge.acs == HostBridge::Acs::On) on.push_back(bridge.address);
    if (bridge.acs == HostBridge::Acs::Off) ++off;
  }
  if (!on.empty()) {
    return yes(fmt::format("ACS is on in {} above GPUs and adapters ({})",
                           plural(std::ssize(on), "PCI bridge"), few_of(on, kMost, ", ")));
  }
  if (off == 0 || off < report.bridges->size()) return unknown("ACS can be read by root only");
  return no_because(fmt::format("ACS is off in all {} PCI bridges above GPUs and adapters", off));
}

FactValue acs_on(const HostReport& report) {
  const bool has_both = count_gpus(report) > 0 && report.rdma && !report.rdma->empty();
  return has_both ? acs_of(report) : unknown("it matters between GPUs and RDMA devices");
}

/// NVLink, where there is any, carries what GPUs send each other.
bool may_use_pcie(const HostReport& report) {
  if (!report.gpus || count_gpus(report) < 2) return false;
  return std::ranges::none_of(*report.gpus, [](const HostGpu& gpu) {
    return gpu.links > 0 || gpu.name.find("SXM") != gpu.name.npos ||
           gpu.name.find("HBM3") != gpu.name.npos;
  });
}

FactValue p2p_path(const HostReport& report) {
  if (!may_use_pcie(report)) return unknown("it matters between GPUs without NVLink");
  const FactValue acs = acs_of(report);
  if (is_yes(acs)) return acs;
  if (report.iommu.value_or(false)) {
    return yes("the IOMMU translates what GPUs send (their groups are not of type identity)");
  }
  if (!acs.known() || !report.iommu) return unknown(acs.known() ? "the IOMMU" : acs.why);
  return no_because(acs.what + ", and no IOMMU translates what GPUs send");
}

FactValue p2p_refused(const HostReport& report) {
  constexpr size_t kMost = 4;
  std::vector<std::string> pairs;
  for (const RefusedPeers& peers : report.refused_peers) {
    if (peers.why != "CNS") continue;
    pairs.push_back(fmt::format("{} and {}", peers.first, peers.second));
  }
  if (pairs.empty()) return unknown();
  return yes(fmt::format("NVML reports CNS (chipset not supported) between GPUs {}",
                         few_of(pairs, kMost, ", ")));
}

FactValue gdr_missing(const HostReport& report) {
  const bool has_both = count_gpus(report) > 0 && !taken_ports(report).empty();
  if (!has_both || !report.peermem || report.driver.empty()) return unknown();
  if (*report.peermem) return no_because("a peer memory module is loaded");
  // From 5.12 on the kernel hands memory on by DMA-BUF, where the driver's open modules do.
  const auto kernel = version_parts(report.kernel);
  const bool is_old = kernel.size() >= 2 && compare_releases(report.kernel, "5.12") < 0;
  if (!is_old) return unknown("DMA-BUF may do without a peer memory module");
  return yes(
      fmt::format("no peer memory module is loaded, and Linux {} has no DMA-BUF", report.kernel));
}

FactValue pcie_narrow(const HostReport& report) {
  constexpr size_t kMost = 4;
  std::vector<std::string> narrow;
  for (const HostPciDevice& device : report.devices) {
    if (device.width <= 0 || device.max_width <= 0 || device.width >= device.max_width) continue;
    narrow.push_back(fmt::format("{} {} has {} of {} lanes", device.is_gpu ? "GPU" : "adapter",
                                 device.address, device.width, device.max_width));
  }
  if (!narrow.empty()) return yes(few_of(narrow, kMost, ", "));
  return report.devices.empty() ? unknown() : no_because("all links have their full width");
}

// What do the GPUs say of themselves?

FactValue memory_errors(const HostReport& report) {
  if (!report.gpus || report.gpus->empty()) return unknown();
  bool all_known = true;
  std::vector<std::string> words;
  for (const HostGpu& gpu : *report.gpus) {
    all_known &= gpu.memory_errors >= 0;
    if (gpu.memory_errors <= 0) continue;
    words.push_back(fmt::format("GPU {} has {} since the driver was loaded", gpu.bus_id,
                                plural(gpu.memory_errors, "uncorrectable memory error")));
  }
  if (!words.empty()) return yes(join(words, ", "));
  return all_known ? no_because("no GPU counts an uncorrectable memory error") : unknown();
}

FactValue fabric_incomplete(const HostReport& report) {
  if (!report.gpus) return unknown();
  size_t complete = 0;
  std::vector<std::string> words;
  for (const HostGpu& gpu : *report.gpus) {
    if (gpu.fabric == "completed") ++complete;
    if (gpu.fabric.empty() || gpu.fabric == "completed") continue;
    words.push_back(fmt::format("GPU {}: {}", gpu.bus_id, gpu.fabric));
  }
  constexpr size_t kMost = 4;
  if (!words.empty()) return yes("the fabric's state is " + few_of(words, kMost, ", "));
  if (complete == 0) return unknown();
  return no_because(fmt::format("the fabric's state of {} is completed",
                                plural(std::ssize(*report.gpus), "GPU")));
}

/// Lines of the kernel's log that report one of the codes.
template <int... codes>
FactValue xid(const HostReport& report) {
  constexpr size_t kMost = 2;
  std::vector<std::string> lines;
  for (const std::string& line : report.xids) {
    // "NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, …"
    const size_t at = line.find("): ");
    if (at == line.npos) continue;
    const std::string_view rest = std::string_view(line).substr(at + 3);
    const auto code = parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (!code || !((*code == codes) || ...)) continue;
    lines.push_back(line.substr(0, line.find_last_not_of(". ") + 1));
  }
  return lines.empty() ? unknown() : yes("the kernel's log has " + few_of(lines, kMost, "; "));
}

// Would the libraries load?

FactValue plugin_broken(const HostReport& report) {
  bool any = false;
  for (const HostLibrary& library : report.libraries) {
    if (!library.name.starts_with("libnccl-") || library.path.empty()) continue;
    any = true;
    if (library.missing.empty()) continue;
    return yes(fmt::format("{} needs {}, which the loader does not find", library.path,
                           join(library.missing, ", ")));
  }
  return any ? no_because("all that NCCL's plug-ins need is there") : unknown();
}

bool is_net_plugin(const HostLibrary& library) {
  return library.name.starts_with("libnccl-net") || library.name.find('/') != library.name.npos;
}

/// The network plug-ins that NCCL looks for; none with NCCL_NET_PLUGIN=none.
template <bool asked_for>
FactValue plugin_absent(const HostReport& report) {
  if (asked_for && setting_of(report, "NCCL_NET_PLUGIN").empty()) return unknown();
  const auto library = std::ranges::find_if(report.libraries, is_net_plugin);
  if (library == report.libraries.end()) return unknown();
  if (library->path.empty()) {
    return yes(fmt::format("{} is in none of the loader's folders", library->name));
  }
  return no_because(fmt::format("{} is there", library->path));
}

FactValue two_nccls(const HostReport& report) {
  std::set<std::string> versions;
  std::vector<std::string> words;
  for (const HostLibrary& copy : report.nccls) {
    if (copy.version.empty()) continue;
    versions.insert(join(std::vector<std::string>{copy.version}, ""));
    words.push_back(fmt::format("{} ({})", copy.path, copy.version));
  }
  if (versions.size() > 1) return yes(join(words, ", "));
  if (report.nccls.size() == 1) return no_because(report.nccls.front().path + " is the only copy");
  return unknown();
}

constexpr std::array kHostDeviceFacts = {
    host_fact<acs_on>("host.acs_on"),
    host_fact<fabric_incomplete>("host.fabric_incomplete"),
    host_fact<gdr_missing>("host.gdr_missing"),
    host_fact<memory_errors>("host.memory_errors"),
    host_fact<p2p_path>("host.p2p_path"),
    host_fact<p2p_refused>("host.p2p_refused"),
    host_fact<pcie_narrow>("host.pcie_narrow"),
    host_fact<plugin_absent<false>>("host.plugin_absent"),
    host_fact<plugin_absent<true>>("host.plugin_asked_absent"),
    host_fact<plugin_broken>("host.plugin_broken"),
    host_fact<two_nccls>("host.two_nccls"),
    host_fact<xid<74>>("host.xid_nvlink"),
    host_fact<xid<79>>("host.xid_off_bus"),
};

}  // namespace

std::span<const Fact> host_device_facts() { return kHostDeviceFacts; }

}  // namespace ncclog
