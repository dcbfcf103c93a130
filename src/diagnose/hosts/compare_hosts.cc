// Which host differs from the others of the job, by their reports?
//
//   gpu-n41, gpu-n42, gpu-n43: MTU 9000   gpu-n44: 1500   → gpu-n44
//
// Only a clear majority names somebody; of two hosts that differ it is said that they do.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/hosts/host_reports.h"

namespace ncclog {
namespace {

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
    if (bridge.acs == HostBridge::Acs::Unknown) return {};
    on |= bridge.acs == HostBridge::Acs::On;
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
  constexpr int64_t kGiga = int64_t{1} << 30;
  return report.shm.size < 0 ? "" : report.shm.size < kGiga ? "below 1 GiB" : "1 GiB or more";
}

std::string memlock_of(const HostReport& report) {
  return report.memlock.soft < 0 ? "" : host_bytes_text(report.memlock.soft);
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
  constexpr int64_t kGiga = int64_t{1} << 30;
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

constexpr std::array kComparedHostFacts = {
    job_fact("job.hosts_differ", hosts_differ),
    job_fact("job.report_of_large_shm", report_of_large_shm),
    job_fact("job.report_of_rdma", report_of_rdma),
};

}  // namespace

std::span<const Fact> compared_host_facts() { return kComparedHostFacts; }

}  // namespace ncclog
