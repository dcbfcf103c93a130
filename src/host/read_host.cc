#include "host/read_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace ncclog {

int64_t number_of(const HostAnswer& answer) {
  const std::string_view text = answer.text;
  return parse_int(text.substr(0, text.find_first_not_of("0123456789"))).value_or(-1);
}

std::vector<std::string_view> lines_of(const HostAnswer& answer) {
  if (!answer.is_here() || answer.text.empty()) return {};
  return split(answer.text, '\n');
}

namespace {

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
  if (text == "max" || text == "unlimited") return HostLimit::kUnlimited;
  const int64_t value = parse_int(trim(text)).value_or(-1);
  return value >= kNone || (value < 0 && text.size() > 18) ? HostLimit::kUnlimited : value;
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
    if (words.size() != 3) continue;
    shm.segments.push_back({std::string(words[0]), parse_int(words[1]).value_or(-1),
                            words[2] == "process"  ? ShmSegment::Holder::Process
                            : words[2] == "nobody" ? ShmSegment::Holder::Nobody
                                                   : ShmSegment::Holder::Unknown});
  }
}

// What may a process take here?

HostLimit limit_named(const HostAnswer& limits, std::string_view name) {
  const auto words = split_blanks(value_after(limits, name));
  if (words.size() < 2) return {};
  return {limit_of(words[0]), limit_of(words[1])};
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
  read_network(tree, report);
  read_devices(tree, report);
  read_libraries(tree, report);
  for (auto& [what, why] : tree.refused()) {
    // Other reasons are answers: the speed of an interface that is down is an invalid argument.
    if (why == std::strerror(EACCES) || why == std::strerror(EPERM) ||
        why.find("library") != why.npos || why.find("NVML") != why.npos) {
      report.unread.emplace_back(what, why);
    }
  }
  report.record = tree.record();
  return report;
}

}  // namespace ncclog
