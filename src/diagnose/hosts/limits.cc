// Shared memory, limits and NUMA of a host.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/hosts/host_reports.h"

namespace ncclog {

bool is_same_host(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return false;
  const auto first = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const bool both_whole = a.find('.') != a.npos && b.find('.') != b.npos;
  return a == b || (!both_whole && first(a) == first(b));
}

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
  if (bytes == HostLimit::kUnlimited) return "unlimited";
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
  if (report.shm.size < 0) return unknown("the size of /dev/shm could not be read");
  // Docker's 64 MiB hold the segments of two or three GPUs.
  return report.shm.size < kGiga ? yes(shm_words(report.shm)) : no_because(shm_words(report.shm));
}

FactValue shm_full(const HostReport& report) {
  const SharedMemory& shm = report.shm;
  if (shm.size < 0 || shm.available < 0) return unknown("the space in /dev/shm could not be read");
  // A small mount is told as such; some 10 MB for each pair of GPUs are asked for at a time.
  if (shm.size < kGiga) return unknown();
  if (shm.available < 128 * kMega) return yes(shm_words(shm));
  return shm.available > kGiga ? no_because(shm_words(shm)) : unknown();
}

FactValue shm_stale(const HostReport& report) {
  int64_t bytes = 0;
  int64_t count = 0;
  bool all_known = true;
  std::string first;
  for (const ShmSegment& segment : report.shm.segments) {
    all_known &= segment.holder != ShmSegment::Holder::Unknown;
    if (segment.holder != ShmSegment::Holder::Nobody) continue;
    if (count++ == 0) first = segment.name;
    bytes += std::max<int64_t>(segment.bytes, 0);
  }
  if (count > 0) {
    return yes(fmt::format("{} in /dev/shm that no process holds ({}, {})",
                           plural(count, "segment"), first, host_bytes_text(bytes)));
  }
  if (report.shm.size < 0 || !all_known) return unknown("who holds the segments is not known");
  return no_because("no segment in /dev/shm is without a process");
}

FactValue shm_not_writable(const HostReport& report) {
  const SharedMemory& shm = report.shm;
  if (!shm.is_asked) return unknown("whether /dev/shm can be written to is not known");
  if (shm.refused.empty()) return no_because("/dev/shm can be written to");
  return yes(fmt::format("no file can be made in /dev/shm: {} (mode {}, {})", shm.refused,
                         shm.mode.empty() ? "unknown" : shm.mode,
                         shm.options.empty() ? "no mount of its own" : shm.options));
}

// What makes neighbours get host memory in different ways?

std::string nodes_without_memory(const HostReport& report) {
  std::vector<std::string> nodes;
  for (const auto& [number, bytes] : report.numa_nodes) {
    if (bytes == 0) nodes.push_back(std::to_string(number));
  }
  return join(nodes, ", ");
}

FactValue numa_memoryless(const HostReport& report) {
  if (report.numa_nodes.empty()) return unknown("the NUMA nodes could not be read");
  const std::string nodes = nodes_without_memory(report);
  if (!nodes.empty()) {
    return yes(fmt::format("NUMA node {} of {} has no memory", nodes, report.numa_nodes.size()));
  }
  return no_because(report.numa_nodes.size() == 1 ? "its one NUMA node has memory"
                                                  : "every NUMA node has memory");
}

FactValue numa_refused(const HostReport& report) {
  if (report.numa_call.empty()) return unknown("NUMA calls were not tried");
  if (report.numa_call == "ok") return no_because("NUMA calls are allowed");
  if (report.numa_call != "Operation not permitted") return unknown(report.numa_call);
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
  return all_known ? no_because(join(against, ", "))
                   : unknown("not all reasons could be looked at");
}

// May ranks lock memory, open files, start threads?

FactValue memlock_small(const HostReport& report) {
  const int64_t limit = report.memlock.soft;
  if (limit < 0) return unknown("the limit of locked memory could not be read");
  const bool has_rdma = report.rdma && !report.rdma->empty();
  // NCCL registers some 4 MB for each channel and connection.
  if (limit >= kGiga) {
    return no_because(limit == HostLimit::kUnlimited
                          ? "any amount of memory may be locked"
                          : fmt::format("{} may be locked", host_bytes_text(limit)));
  }
  if (limit < 64 * kMega && has_rdma) {
    return yes(
        fmt::format("only {} may be locked, and there are RDMA devices", host_bytes_text(limit)));
  }
  return unknown("the limit matters where there are RDMA devices");
}

FactValue open_files_low(const HostReport& report) {
  // Most systems start with 1024, which does for a host or two.
  constexpr int64_t kVeryFew = 1024;
  constexpr int64_t kMany = 65536;
  const int64_t limit = report.open_files.soft;
  if (limit < 0) return unknown("the limit of open files could not be read");
  if (limit < kVeryFew) return yes(fmt::format("a process may open {} files", limit));
  return limit >= kMany ? no_because(fmt::format("a process may open {} files", limit)) : unknown();
}

FactValue threads_low(const HostReport& report) {
  constexpr int64_t kFew = 1024;
  constexpr int64_t kMany = 16384;
  const int64_t pids = report.pids_limit;
  const int64_t processes = report.processes.soft;
  if (pids < 0 && processes < 0) return unknown("the limits of threads could not be read");
  if (pids >= 0 && pids < kFew) {
    return yes(fmt::format("the control group allows {} processes and threads", pids));
  }
  if (processes >= 0 && processes < kFew) {
    return yes(fmt::format("a user may have {} processes and threads", processes));
  }
  const bool are_many = (pids < 0 || pids >= kMany) && (processes < 0 || processes >= kMany);
  return are_many ? no_because("the limits of processes and threads are high") : unknown();
}

constexpr std::array kHostLimitFacts = {
    host_fact<garbled_reason>("host.garbled_reason"),
    host_fact<memlock_small>("host.memlock_small"),
    host_fact<numa_memoryless>("host.numa_memoryless"),
    host_fact<numa_refused>("host.numa_refused"),
    host_fact<open_files_low>("host.open_files_low"),
    host_fact<shm_full>("host.shm_full"),
    host_fact<shm_not_writable>("host.shm_not_writable"),
    host_fact<shm_small>("host.shm_small"),
    host_fact<shm_stale>("host.shm_stale"),
    host_fact<threads_low>("host.threads_low"),
};

}  // namespace

std::span<const Fact> host_limit_facts() { return kHostLimitFacts; }

}  // namespace ncclog
