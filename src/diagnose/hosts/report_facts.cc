// What do reports show of the shared memory, limits, NUMA nodes, GPUs, PCI paths and libraries of a
// host, and which hosts differ?

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/hosts/host_reports.h"
#include "diagnose/outcome/job_span.h"

namespace ncclog {

const HostReport* find_host_report(const Job& job, std::string_view host) {
  for (const HostReport& report : job.host_reports) {
    if (is_same_host(report.host, host)) return &report;
  }
  return nullptr;
}

std::vector<const HostReport*> reports_of_job(const Job& job) {
  std::vector<const HostReport*> reports;
  for (const HostReport& report : job.host_reports) {
    const bool is_of_job = std::ranges::any_of(
        job.hosts, [&](const std::string& host) { return is_same_host(host, report.host); });
    if (job.hosts.empty() || is_of_job) reports.push_back(&report);
  }
  return reports;
}

std::string host_bytes_text(int64_t bytes) {
  if (bytes == HostReport::kUnlimited) return "unlimited";
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const std::string number = fmt::format("{:.1f}", value);
  const bool is_whole = number.ends_with(".0");
  return fmt::format("{} {}", is_whole ? number.substr(0, number.size() - 2) : number,
                     kUnits[unit]);
}

std::string_view setting_of(const HostReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.settings, name, &HostSetting::name);
  return found == report.settings.end() ? std::string_view() : found->value;
}

/// By name, how many seconds before the report a segment was last written, as its record says:
/// "  nccl-q3Xz9b 9637888 nobody 11820".
static std::map<std::string_view, int64_t> segment_ages(const HostReport& report) {
  std::map<std::string_view, int64_t> ages;
  bool is_here = false;
  for (const std::string_view line : split(report.record, '\n')) {
    if (!line.starts_with(' ')) is_here = line == "segments /dev/shm";
    const auto words = split_blanks(line);
    if (!is_here || words.size() != 4) continue;
    if (const auto seconds = parse_int(words[3])) ages[words[0]] = *seconds;
  }
  return ages;
}

std::vector<std::string> stale_segments(const HostReport& report) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kLongest = int64_t{1} << 31;
  const auto ages = segment_ages(report);
  std::vector<std::string> stale;
  for (const ShmSegment& segment : report.shm.segments) {
    if (segment.is_held.value_or(true)) continue;
    std::string text = fmt::format("{} ({}", segment.name, host_bytes_text(segment.bytes));
    const auto age = ages.find(segment.name);
    if (age != ages.end() && age->second >= 0 && age->second < kLongest) {
      text += fmt::format(", last written {} before", duration_words(age->second * kSecond));
    }
    stale.push_back(text + ")");
  }
  return stale;
}

namespace {

constexpr int64_t kMega = int64_t{1} << 20;
constexpr int64_t kGiga = int64_t{1} << 30;

// Is there room in /dev/shm?

std::string shm_words(const SharedMemory& shm) {
  if (shm.available < 0) return fmt::format("/dev/shm has {}", host_bytes_text(shm.size));
  return fmt::format("/dev/shm has {}, of which {} are free", host_bytes_text(shm.size),
                     host_bytes_text(shm.available));
}

FactValue shm_small(const HostReport& report) {
  if (report.shm.size < 0) return unknown();
  // Docker's 64 MiB hold the segments of two or three GPUs.
  return yes_or_no(report.shm.size < kGiga, shm_words(report.shm));
}

FactValue shm_full(const HostReport& report) {
  const SharedMemory& shm = report.shm;
  // A small mount is told as such; some 10 MB for each pair of GPUs are asked for at a time.
  const bool is_full = shm.available < 128 * kMega;
  const bool is_clear = is_full || shm.available > kGiga;
  if (shm.available < 0 || shm.size < kGiga || !is_clear) return unknown();
  return yes_or_no(is_full, shm_words(shm));
}

FactValue shm_stale(const HostReport& report) {
  int64_t bytes = 0;
  bool all_known = true;
  for (const ShmSegment& segment : report.shm.segments) {
    all_known &= segment.is_held.has_value();
    if (!segment.is_held.value_or(true)) bytes += std::max<int64_t>(segment.bytes, 0);
  }
  const std::vector<std::string> stale = stale_segments(report);
  if (!stale.empty()) {
    return yes(fmt::format("{} in /dev/shm that no process holds, {}: {}",
                           plural(std::ssize(stale), "segment"), host_bytes_text(bytes),
                           few_of(stale, 3, ", ")));
  }
  if (report.shm.size < 0 || !all_known) return unknown();
  return no_because("no segment in /dev/shm is without a process");
}

FactValue shm_not_writable(const HostReport& report) {
  const SharedMemory& shm = report.shm;
  if (!shm.is_asked) return unknown();
  if (shm.refused.empty()) return no_because("/dev/shm can be written to");
  return yes(fmt::format("no file can be made in /dev/shm: {} (mode {}, {})", shm.refused,
                         shm.mode.empty() ? "unknown" : shm.mode,
                         shm.options.empty() ? "no mount of its own" : shm.options));
}

// What makes neighbours get host memory in different ways?

FactValue numa_memoryless(const HostReport& report) {
  if (report.numa_nodes.empty()) return unknown();
  std::vector<std::string> nodes;
  for (const auto& [number, bytes] : report.numa_nodes) {
    if (bytes == 0) nodes.push_back(std::to_string(number));
  }
  if (!nodes.empty()) {
    return yes(fmt::format("NUMA node {} of {} has no memory", join(nodes, ", "),
                           report.numa_nodes.size()));
  }
  return no_because(report.numa_nodes.size() == 1 ? "its one NUMA node has memory"
                                                  : "every NUMA node has memory");
}

FactValue numa_refused(const HostReport& report) {
  if (report.numa_call == "ok") return no_because("NUMA calls are allowed");
  if (report.numa_call != "Operation not permitted") return unknown();
  return yes(fmt::format("get_mempolicy: {}{}", report.numa_call,
                         report.seccomp == "2" ? ", under a seccomp filter" : ""));
}

FactValue garbled_reason(const HostReport& report) {
  std::vector<std::string> reasons;
  std::vector<std::string> against;
  bool all_known = true;
  for (const auto judge : {numa_memoryless, numa_refused, shm_stale}) {
    const FactValue value = judge(report);
    if (is_yes(value)) reasons.push_back(value.what);
    if (value.known() && !is_yes(value)) against.push_back(value.what);
    all_known &= value.known();
  }
  if (!reasons.empty()) return yes(join(reasons, "; "));
  return all_known ? no_because(join(against, ", ")) : unknown();
}

// May ranks lock memory, open files, start threads?

FactValue memlock_small(const HostReport& report) {
  const int64_t limit = report.memlock;
  const bool has_rdma = report.rdma && !report.rdma->empty();
  // NCCL registers some 4 MB for each channel and connection.
  if (limit >= kGiga) {
    return no_because(limit == HostReport::kUnlimited
                          ? "any amount of memory may be locked"
                          : fmt::format("{} may be locked", host_bytes_text(limit)));
  }
  if (limit < 0 || limit >= 64 * kMega || !has_rdma) return unknown();
  return yes(
      fmt::format("only {} may be locked, and there are RDMA devices", host_bytes_text(limit)));
}

FactValue open_files_low(const HostReport& report) {
  // Most systems start with 1024, which does for a host or two.
  constexpr int64_t kVeryFew = 1024;
  constexpr int64_t kMany = 65536;
  const int64_t limit = report.open_files;
  if (limit < 0 || (limit >= kVeryFew && limit < kMany)) return unknown();
  return yes_or_no(limit < kVeryFew, fmt::format("a process may open {} files", limit));
}

FactValue threads_low(const HostReport& report) {
  constexpr int64_t kFew = 1024;
  constexpr int64_t kMany = 16384;
  const int64_t pids = report.pids_limit;
  const int64_t processes = report.processes;
  if (pids < 0 && processes < 0) return unknown();
  if (pids >= 0 && pids < kFew) {
    return yes(fmt::format("the control group allows {} processes and threads", pids));
  }
  if (processes >= 0 && processes < kFew) {
    return yes(fmt::format("a user may have {} processes and threads", processes));
  }
  const bool are_many = (pids < 0 || pids >= kMany) && (processes < 0 || processes >= kMany);
  return are_many ? no_because("the limits of processes and threads are high") : unknown();
}

size_t count_gpus(const HostReport& report) {
  const auto on_bus = static_cast<size_t>(
      std::ranges::count_if(report.devices, [](const HostPciDevice& each) { return each.is_gpu; }));
  return std::max(on_bus, report.gpus ? report.gpus->size() : 0);
}

// Can GPUs and adapters reach each other over PCIe?

/// ACS of the bridges: yes with those that have it on, no where all have it off.
FactValue acs_of(const HostReport& report) {
  if (!report.bridges) return unknown();
  std::vector<std::string> on;
  size_t off = 0;
  for (const HostBridge& bridge : *report.bridges) {
    if (bridge.acs == true) on.push_back(bridge.address);
    if (bridge.acs == false) ++off;
  }
  if (!on.empty()) {
    return yes(fmt::format("ACS is on in {} above GPUs and adapters ({})",
                           plural(std::ssize(on), "PCI bridge"), few_of(on, kMostNamed, ", ")));
  }
  if (off == 0 || off < report.bridges->size()) return unknown();  // Root alone reads it.
  return no_because(fmt::format("ACS is off in all {} PCI bridges above GPUs and adapters", off));
}

FactValue acs_on(const HostReport& report) {
  const bool has_both = count_gpus(report) > 0 && report.rdma && !report.rdma->empty();
  return has_both ? acs_of(report) : unknown();
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
  if (!may_use_pcie(report)) return unknown();
  FactValue acs = acs_of(report);
  if (is_yes(acs)) return acs;
  if (report.iommu.value_or(false)) {
    return yes("the IOMMU translates what GPUs send (their groups are not of type identity)");
  }
  if (!acs.known() || !report.iommu) return unknown();
  return no_because(acs.what + ", and no IOMMU translates what GPUs send");
}

FactValue p2p_refused(const HostReport& report) {
  std::vector<std::string> pairs;
  for (const RefusedPeers& peers : report.refused_peers) {
    if (peers.why != "CNS") continue;
    pairs.push_back(fmt::format("{} and {}", peers.first, peers.second));
  }
  if (pairs.empty()) return unknown();
  return yes(fmt::format("NVML reports CNS (chipset not supported) between GPUs {}",
                         few_of(pairs, kMostNamed, ", ")));
}

FactValue gdr_missing(const HostReport& report) {
  const bool has_both = count_gpus(report) > 0 && !taken_ports(report).empty();
  if (!has_both || !report.peermem || report.driver.empty()) return unknown();
  if (*report.peermem) return no_because("a peer memory module is loaded");
  // From 5.12 on the kernel hands memory on by DMA-BUF, where the driver's open modules do.
  const auto kernel = version_parts(report.kernel);
  const bool is_old = kernel.size() >= 2 && compare_releases(report.kernel, "5.12") < 0;
  if (!is_old) return unknown();
  return yes(
      fmt::format("no peer memory module is loaded, and Linux {} has no DMA-BUF", report.kernel));
}

FactValue pcie_narrow(const HostReport& report) {
  std::vector<std::string> narrow;
  for (const HostPciDevice& device : report.devices) {
    if (device.width <= 0 || device.max_width <= 0 || device.width >= device.max_width) continue;
    narrow.push_back(fmt::format("{} {} has {} of {} lanes", device.is_gpu ? "GPU" : "adapter",
                                 device.address, device.width, device.max_width));
  }
  if (!narrow.empty()) return yes(few_of(narrow, kMostNamed, ", "));
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
  if (!words.empty()) return yes("the fabric's state is " + few_of(words, kMostNamed, ", "));
  if (complete == 0) return unknown();
  return no_because(fmt::format("the fabric's state of {} is completed",
                                plural(std::ssize(*report.gpus), "GPU")));
}

/// Lines of the kernel's log that report the code.
template <int wanted>
FactValue xid(const HostReport& report) {
  std::vector<std::string> lines;
  for (const std::string& line : report.xids) {
    // "NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, …"
    const size_t at = line.find("): ");
    if (at == line.npos) continue;
    const std::string_view rest = std::string_view(line).substr(at + 3);
    const auto code = parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (code != wanted) continue;
    lines.push_back(line.substr(0, line.find_last_not_of(". ") + 1));
  }
  return lines.empty() ? unknown() : yes("the kernel's log has " + few_of(lines, 2, "; "));
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
    versions.insert(copy.version);
    words.push_back(fmt::format("{} ({})", copy.path, copy.version));
  }
  if (versions.size() > 1) return yes(join(words, ", "));
  if (report.nccls.size() == 1) return no_because(report.nccls.front().path + " is the only copy");
  return unknown();
}

// Which host differs from the others of the job, by their reports?
//
//   gpu-n41, gpu-n42, gpu-n43: MTU 9000   gpu-n44: 1500   → gpu-n44
//
// Only a clear majority names somebody; of two hosts that differ it is said that they do.

/// Something in which hosts of a job should be alike; `value` is empty where it is not known.
struct Trait {
  std::string_view name;
  std::string (*value)(const HostReport& report);
};

std::string mtu_of(const HostReport& report) {
  const auto taken = taken_interfaces(report);
  return taken.empty() || taken.front().mtu < 0 ? "" : std::to_string(taken.front().mtu);
}

std::string plugin_of(const HostReport& report) {
  for (const HostLibrary& library : report.libraries) {
    if (!library.name.starts_with("libnccl-net")) continue;
    return library.path.empty() ? "none" : library.path.substr(library.path.rfind('/') + 1);
  }
  return {};
}

std::string acs_of_host(const HostReport& report) {
  if (!report.bridges || report.bridges->empty()) return {};
  bool on = false;
  for (const HostBridge& bridge : *report.bridges) {
    if (!bridge.acs) return {};
    on |= *bridge.acs;
  }
  return on ? "on" : "off";
}

std::string gpus_of(const HostReport& report) {
  return report.gpus ? std::to_string(report.gpus->size()) : "";
}

std::string ports_of(const HostReport& report) {
  if (!report.rdma) return {};
  std::map<std::string, int> counts;
  for (const RdmaPort* port : taken_ports(report)) {
    ++counts[fmt::format("{} of {:g} Gb/s", port->link, port->rate)];
  }
  std::vector<std::string> words;
  for (const auto& [what, count] : counts) words.push_back(fmt::format("{} {}", count, what));
  return words.empty() ? "none" : join(words, ", ");
}

std::string shm_of(const HostReport& report) {
  // Mounts are a share of memory: hosts with a little more differ by a little.
  return report.shm.size < 0 ? "" : report.shm.size < kGiga ? "below 1 GiB" : "1 GiB or more";
}

std::string memlock_of(const HostReport& report) {
  return report.memlock < 0 ? "" : host_bytes_text(report.memlock);
}

std::string nccl_of(const HostReport& report) {
  return report.nccls.empty() ? "" : report.nccls.front().version;
}

constexpr Trait kTraits[] = {
    {"driver", [](const HostReport& report) { return report.driver; }},
    {"kernel", [](const HostReport& report) { return report.kernel; }},
    {"MTU of the bootstrap's interface", mtu_of},
    {"network plug-in", plugin_of},
    {"NCCL", nccl_of},
    {"ACS", acs_of_host},
    {"GPUs", gpus_of},
    {"active RDMA ports", ports_of},
    {"/dev/shm", shm_of},
    {"locked memory", memlock_of},
};

/// "MTU …: 1500 on gpu-n44, 9000 on the other 3".
std::string odd_words(const Trait& trait, const std::map<std::string, std::set<std::string>>& hosts,
                      const std::string& usual) {
  std::vector<std::string> words;
  for (const auto& [value, names] : hosts) {
    if (value == usual) continue;
    words.push_back(
        fmt::format("{} on {}", value, few_of({names.begin(), names.end()}, kMostNamed, ", ")));
  }
  return fmt::format("{}: {}, {} on the other {}", trait.name, join(words, ", "), usual,
                     hosts.at(usual).size());
}

FactValue hosts_differ(const Job& job, const Instance&) {
  const auto reports = reports_of_job(job);
  if (reports.size() < 2) return unknown();
  std::vector<std::string> words;
  std::set<std::string> odd;
  for (const Trait& trait : kTraits) {
    std::map<std::string, std::set<std::string>> hosts;
    size_t known = 0;
    for (const HostReport* report : reports) {
      std::string value = trait.value(*report);
      if (value.empty()) continue;
      hosts[std::move(value)].insert(report->host);
      ++known;
    }
    if (hosts.size() < 2) continue;
    const auto usual =
        std::ranges::max_element(hosts, {}, [](const auto& entry) { return entry.second.size(); });
    if (is_majority(usual->second.size(), known)) {
      words.push_back(odd_words(trait, hosts, usual->first));
      for (const auto& [value, names] : hosts) {
        if (value != usual->first) odd.insert(names.begin(), names.end());
      }
      continue;
    }
    std::vector<std::string> values;
    for (const auto& [value, names] : hosts) {
      values.push_back(fmt::format("{} on {}", value, *names.begin()));
    }
    words.push_back(fmt::format("{}: {}", trait.name, few_of(values, 4, ", ")));
  }
  if (words.empty()) return no();
  FactValue answer = yes(join(words, "; "));
  answer.hosts.assign(odd.begin(), odd.end());
  return answer;
}

// What reports show beside logs. Without reports the answer is no: only they are asked.

/// A report of a host of the job shows a /dev/shm of 1 GiB or more.
FactValue report_of_large_shm(const Job& job, const Instance&) {
  for (const HostReport* report : reports_of_job(job)) {
    if (report->shm.size >= kGiga) {
      return yes(
          fmt::format("{} has {} in /dev/shm", report->host, host_bytes_text(report->shm.size)));
    }
  }
  return no();
}

/// A report of a host shows RDMA ports that NCCL would use, and no line of the logs does.
FactValue report_of_rdma(const Job& job, const Instance& the_job) {
  if (job.host_reports.empty()) return no();
  if (is_yes(find_fact("job.rdma_evidence")->ask(job, the_job))) return no();
  for (const HostReport* report : reports_of_job(job)) {
    const auto ports = taken_ports(*report);
    if (ports.empty()) continue;
    return yes(fmt::format("the report of {} has {}", report->host,
                           plural(std::ssize(ports), "active RDMA port")));
  }
  return no();
}

constexpr std::array kReportFacts = {
    host_fact<acs_on>("host.acs_on"),
    host_fact<fabric_incomplete>("host.fabric_incomplete"),
    host_fact<garbled_reason>("host.garbled_reason"),
    host_fact<gdr_missing>("host.gdr_missing"),
    host_fact<memlock_small>("host.memlock_small"),
    host_fact<memory_errors>("host.memory_errors"),
    host_fact<numa_memoryless>("host.numa_memoryless"),
    host_fact<numa_refused>("host.numa_refused"),
    host_fact<open_files_low>("host.open_files_low"),
    host_fact<p2p_path>("host.p2p_path"),
    host_fact<p2p_refused>("host.p2p_refused"),
    host_fact<pcie_narrow>("host.pcie_narrow"),
    host_fact<plugin_absent<false>>("host.plugin_absent"),
    host_fact<plugin_absent<true>>("host.plugin_asked_absent"),
    host_fact<plugin_broken>("host.plugin_broken"),
    host_fact<shm_full>("host.shm_full"),
    host_fact<shm_not_writable>("host.shm_not_writable"),
    host_fact<shm_small>("host.shm_small"),
    host_fact<shm_stale>("host.shm_stale"),
    host_fact<threads_low>("host.threads_low"),
    host_fact<two_nccls>("host.two_nccls"),
    host_fact<xid<74>>("host.xid_nvlink"),
    host_fact<xid<79>>("host.xid_off_bus"),
    job_fact("job.hosts_differ", hosts_differ),
    job_fact("job.report_of_large_shm", report_of_large_shm),
    job_fact("job.report_of_rdma", report_of_rdma),
};

}  // namespace

std::span<const Fact> report_facts() { return kReportFacts; }

}  // namespace ncclog
