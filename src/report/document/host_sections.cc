// What was read of hosts, for people: /dev/shm, limits, interfaces, RDMA ports, GPUs, libraries.
//
//   Host gpu-n41
//     shm         64 MiB, 60.2 MiB free, mode 1777
//     limits      locked memory 64 KiB; 1024 open files
//     sockets     NCCL takes eth0 (10.4.4.1), then ib0 (10.9.4.1)

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "diagnose/hosts/host_reports.h"
#include "report/document/report_document.h"

namespace ncclog {
namespace {

constexpr size_t kMostNamed = 8;

std::string limit_text(int64_t limit) {
  return limit == HostReport::kUnlimited ? "unlimited" : std::to_string(limit);
}

std::string shm_text(const HostReport& report) {
  const SharedMemory& shm = report.shm;
  if (shm.size < 0) return {};
  std::string text = host_bytes_text(shm.size);
  if (shm.available >= 0) text += fmt::format(", {} free", host_bytes_text(shm.available));
  if (!shm.mode.empty()) text += ", mode " + shm.mode;
  if (!shm.refused.empty()) text += ", not writable: " + shm.refused;
  if (shm.segments.empty()) return text;
  const auto with = [&](std::optional<bool> held) {
    return std::ranges::count(shm.segments, held, &ShmSegment::is_held);
  };
  text += fmt::format("; {} of NCCL", plural(std::ssize(shm.segments), "segment"));
  if (with(true) > 0) text += fmt::format(", {} in use", with(true));
  if (with(std::nullopt) > 0) text += fmt::format(", {} perhaps in use", with(std::nullopt));
  const std::vector<std::string> stale = stale_segments(report);
  if (stale.empty()) return text;
  return text +
         fmt::format(", {} held by no process: {}", stale.size(), few_of(stale, kMostNamed, ", "));
}

std::string memory_text(const HostReport& report) {
  if (report.memory < 0) return {};
  std::string text = host_bytes_text(report.memory);
  if (report.memory_limit >= 0 && report.memory_limit != HostReport::kUnlimited) {
    text += fmt::format(", of which the control group may use {}",
                        host_bytes_text(report.memory_limit));
  }
  return text;
}

std::string limits_text(const HostReport& report) {
  std::vector<std::string> parts;
  if (report.memlock >= 0) parts.push_back("locked memory " + host_bytes_text(report.memlock));
  if (report.open_files >= 0) parts.push_back("open files " + limit_text(report.open_files));
  if (report.processes >= 0) {
    parts.push_back("processes and threads " + limit_text(report.processes));
  }
  if (report.pids_limit >= 0 && report.pids_limit != HostReport::kUnlimited) {
    parts.push_back("of the control group " + limit_text(report.pids_limit));
  }
  return join(parts, "; ");
}

std::string numa_text(const HostReport& report) {
  if (report.numa_nodes.empty()) return {};
  std::string text = plural(std::ssize(report.numa_nodes), "node");
  const auto empty =
      std::ranges::count_if(report.numa_nodes, [](const auto& node) { return node.second == 0; });
  if (empty > 0) text += fmt::format(", {} without memory", empty);
  if (!report.numa_call.empty()) {
    text += report.numa_call == "ok" ? "; calls allowed" : "; get_mempolicy: " + report.numa_call;
  }
  return text;
}

std::string interface_text(const HostInterface& interface) {
  std::string text = interface.name + (interface.is_up ? " up" : " down");
  if (!interface.kind.empty()) text += " " + interface.kind;
  if (interface.speed > 0) text += fmt::format(" {} Mbit/s", interface.speed);
  if (interface.mtu > 0) text += fmt::format(" MTU {}", interface.mtu);
  if (!interface.below.empty()) text += " of " + join(interface.below, "+");
  return text + fmt::format(" ({})", few_of(interface.addresses, 2, ", "));
}

std::string sockets_text(const HostReport& report) {
  if (!report.interfaces) return {};
  std::vector<std::string> names;
  for (const HostInterface& taken : taken_interfaces(report)) {
    names.push_back(fmt::format("{} ({})", taken.name, taken.addresses.front()));
  }
  const std::string_view filter = setting_of(report, "NCCL_SOCKET_IFNAME");
  const std::string why =
      filter.empty() ? "by default" : fmt::format("by NCCL_SOCKET_IFNAME={}", filter);
  return fmt::format("NCCL takes {} {}",
                     names.empty() ? "none" : few_of(names, kMostNamed, ", then "), why);
}

std::string rdma_text(const HostReport& report) {
  if (!report.rdma) return {};
  if (report.rdma->empty()) return "no device";
  const auto taken = taken_ports(report);
  // "8 ports InfiniBand ACTIVE 400 Gb/s" instead of eight lines alike.
  std::map<std::string, std::vector<std::string>> alike;
  for (const RdmaPort& port : *report.rdma) {
    const bool is_taken = std::ranges::find(taken, &port) != taken.end();
    alike[fmt::format("{} {} {:g} Gb/s{}", port.link, port.state, port.rate,
                      is_taken ? "" : ", which NCCL leaves out")]
        .push_back(fmt::format("{}:{}", port.device, port.port));
  }
  std::vector<std::string> parts;
  for (const auto& [what, ports] : alike) {
    parts.push_back(fmt::format("{}: {}", few_of(ports, kMostNamed, " "), what));
  }
  return join(parts, "; ");
}

std::string gpus_text(const HostReport& report) {
  if (!report.gpus) return {};
  if (report.gpus->empty()) return "none of NVIDIA";
  std::map<std::string, int> names;
  size_t mig = 0;
  for (const HostGpu& gpu : *report.gpus) {
    ++names[gpu.name.empty() ? "GPU" : gpu.name];
    mig += gpu.mig ? 1 : 0;
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : names) parts.push_back(fmt::format("{} x {}", count, name));
  std::string text = join(parts, ", ");
  if (!report.driver.empty()) text += ", driver " + report.driver;
  const HostGpu& first = report.gpus->front();
  if (first.all_links > 0) text += fmt::format("; NVLinks {} of {}", first.links, first.all_links);
  if (!first.fabric.empty()) text += "; fabric " + first.fabric;
  // MIG instances have no P2P; NCCL takes each for a GPU.
  if (mig > 0) text += fmt::format("; MIG is on in {}", mig);
  return text;
}

std::string pcie_text(const HostReport& report) {
  std::vector<std::string> parts;
  if (report.bridges && !report.bridges->empty()) {
    const auto count = [&](std::optional<bool> acs) {
      return std::ranges::count(*report.bridges, acs, &HostBridge::acs);
    };
    parts.push_back(
        fmt::format("ACS on in {}, off in {}, unknown in {} bridges above GPUs and "
                    "adapters",
                    count(true), count(false), count(std::nullopt)));
  }
  if (report.iommu) {
    parts.push_back(*report.iommu ? "the IOMMU translates addresses of GPUs"
                                  : "no IOMMU translates addresses of GPUs");
  }
  return join(parts, "; ");
}

std::string libraries_text(const std::vector<HostLibrary>& libraries) {
  std::vector<std::string> parts;
  for (const HostLibrary& library : libraries) {
    std::string text = library.path.empty() ? library.name + " not found" : library.path;
    if (!library.version.empty()) text += " (" + library.version + ")";
    if (!library.missing.empty()) text += " lacks " + join(library.missing, ", ");
    parts.push_back(std::move(text));
  }
  return join(parts, "; ");
}

std::string settings_text(const HostReport& report) {
  std::vector<std::string> parts;
  for (const HostSetting& setting : report.settings) {
    parts.push_back(fmt::format("{}={}{}", setting.name, setting.value,
                                setting.file.empty() ? "" : " (" + setting.file + ")"));
  }
  return few_of(parts, 12, ", ");
}

/// "/sys/…/config: Operation not permitted (and 11 like it)".
std::string unread_text(const HostReport& report) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [what, why] : report.unread) by_reason[why].push_back(what);
  std::vector<std::string> parts;
  for (const auto& [why, places] : by_reason) {
    parts.push_back(fmt::format("{}: {}", few_of(places, 3, ", "), why));
  }
  return join(parts, "; ");
}

std::string system_text(const HostReport& report) {
  std::string text = report.kernel.empty() ? "" : "Linux " + report.kernel;
  if (!report.machine.empty()) text += (text.empty() ? "" : ", ") + report.machine;
  if (!report.container.empty()) {
    text += fmt::format("{}in a container ({})", text.empty() ? "" : ", ", report.container);
  }
  return text;
}

Section section_of(const HostReport& report) {
  KeyValues values;
  const auto add = [&](std::string label, std::string text) {
    if (!text.empty()) values.rows.push_back({std::move(label), std::move(text)});
  };
  add("system", system_text(report));
  add("shm", shm_text(report));
  add("memory", memory_text(report));
  add("limits", limits_text(report));
  add("NUMA", numa_text(report));
  add("sockets", sockets_text(report));
  if (report.interfaces) {
    std::vector<std::string> parts;
    for (const HostInterface& each : *report.interfaces) parts.push_back(interface_text(each));
    add("net", few_of(parts, kMostNamed, "; "));
  }
  add("RDMA", rdma_text(report));
  add("GPUs", gpus_text(report));
  add("PCIe", pcie_text(report));
  add("NCCL", libraries_text(report.nccls));
  add("plugins", libraries_text(report.libraries));
  add("settings", settings_text(report));
  add("unread", unread_text(report));
  return {.heading = "Host " + report.host, .blocks = {std::move(values)}};
}

}  // namespace

std::vector<Section> host_sections(const Job& job, bool whole) {
  std::vector<Section> sections;
  if (job.host_reports.empty()) return sections;
  if (whole) {
    for (const HostReport& report : job.host_reports) sections.push_back(section_of(report));
    return sections;
  }
  std::vector<std::string> points;
  for (const HostReport& report : job.host_reports) {
    const bool is_known =
        job.hosts.empty() || std::ranges::any_of(job.hosts, [&](const auto& host) {
          return is_same_host(host, report.host);
        });
    points.push_back(fmt::format("{} ({}){}", report.host, report.source,
                                 is_known ? "" : ": no host of these logs has that name"));
  }
  sections.push_back(
      {.heading = "Reports of hosts", .blocks = {Items{"", std::move(points)}}, .id = "hosts"});
  return sections;
}

}  // namespace ncclog
