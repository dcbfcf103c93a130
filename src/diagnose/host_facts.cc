// What surrounds the ranks on their hosts: containers, /dev/shm, neighbours that differ.
//
//   shm              64M   64M     0 100% /dev/shm         job.shm_mount_small
//   rank 1: cuMem host allocations do not appear to be …   host.cumem_fallback_partial
//   rank 0 of the same host: nothing of the kind

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/host_addresses.h"
#include "diagnose/interface_classes.h"
#include "diagnose/within_runs.h"

namespace ncclog {
namespace {

constexpr std::string_view kContainerCommands[] = {"docker run",  "docker exec", "podman ",
                                                   "nerdctl ",    "kubectl ",    "enroot ",
                                                   "--container", "apptainer ",  "singularity "};

bool is_container_command(std::string_view command) {
  return std::any_of(
      std::begin(kContainerCommands), std::end(kContainerCommands),
      [&](std::string_view word) { return command.find(word) != std::string_view::npos; });
}

/// "root@c5ab17e0d2f4:/workspace# df": the host of a prompt; empty if the text has none.
std::string_view prompt_host(std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + 1);
  return rest.substr(0, rest.find_first_of(": \t"));
}

/// A line as container runtimes and kubectl hand it on: "2024-05-01T10:00:00.1Z stdout F …",
/// "[pod/worker-3/pytorch] …".
bool is_container_output(std::string_view line) {
  if (line.starts_with("[pod/")) return true;
  const auto words = split_blanks(line.substr(0, line.find("NCCL")));
  return words.size() > 2 && words[0].find('T') == 10 &&
         (words[1] == "stdout" || words[1] == "stderr") && (words[2] == "F" || words[2] == "P");
}

/// A line of the job that came through a container runtime; nullptr if there is none.
const Record* container_line(const Job& job) {
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (!list.kept.empty() && is_container_output(list.kept.front().text)) {
        return &list.kept.front();
      }
    }
  }
  return nullptr;
}

FactValue container(const Job& job, const Instance&) {
  for (const Process& process : job.processes) {
    if (is_container_host(process.host)) {
      return yes(fmt::format("the host name {} is a container's", process.host));
    }
  }
  if (const Record* line = container_line(job)) {
    return yes("a container runtime wrote the log", {evidence_of(*line)});
  }
  FactValue answer = no();
  for_each_said<ShellCommand>(job, [&](const Said<ShellCommand>& said) {
    if (!is_container_command(said.message.command) &&
        !is_container_host(prompt_host(said.record.text))) {
      return;
    }
    answer = yes("commands in the log run in a container", {evidence_of(said.record)});
  });
  for (const HostAddress& address : all_addresses(job)) {
    if (bridge_range(address.ip, false) == "172.17.0.0/16" && address.name == "eth0") {
      return yes(fmt::format("eth0 has Docker's address {}", address.ip), {address.line});
    }
  }
  return answer;
}

/// Bytes of df's "64M", "1.5G", or of 1024-byte blocks without unit.
std::optional<double> parse_size(std::string_view text) {
  const std::string number(text.substr(0, text.find_first_not_of("0123456789.")));
  if (number.empty()) return std::nullopt;
  static constexpr std::string_view kUnits = "KMGTP";
  const size_t unit = text.size() > number.size() ? kUnits.find(text[number.size()]) : 0;
  if (unit == std::string_view::npos) return std::nullopt;
  double bytes = std::strtod(number.c_str(), nullptr);
  for (size_t i = 0; i <= unit; ++i) bytes *= 1024;
  return bytes;
}

/// Asks df's rows about /dev/shm. Without df nothing is known, and rules ask only for a sign.
template <typename Test>
FactValue shm_mount(const Job& job, Test test) {
  FactValue answer = no();
  for_each_said<ShmUsage>(job, [&](const Said<ShmUsage>& said) {
    const auto size = parse_size(said.message.size);
    if (!size || !test(*size)) return;
    answer = yes(fmt::format("/dev/shm has {}", said.message.size), {evidence_of(said.record)});
  });
  return answer;
}

constexpr double kSmallMount = 1024.0 * 1024 * 1024;

FactValue shm_mount_small(const Job& job, const Instance&) {
  return shm_mount(job, [](double size) { return size < kSmallMount; });
}

FactValue shm_mount_large(const Job& job, const Instance&) {
  return shm_mount(job, [](double size) { return size >= kSmallMount; });
}

std::set<int> processes_that_fell_back(const Job& job) {
  std::set<int> processes;
  for_each_said<CumemHostFallback>(
      job, [&](const Said<CumemHostFallback>& said) { processes.insert(said.process); });
  return processes;
}

/// Processes that came past the probe, which is made before a network is chosen.
std::set<int> processes_past_probe(const Job& job) {
  std::set<int> processes;
  for_each_said<NetworkSelected>(
      job, [&](const Said<NetworkSelected>& said) { processes.insert(said.process); });
  for_each_said<CommInit>(job, [&](const Said<CommInit>& said) { processes.insert(said.process); });
  return processes;
}

FactValue cumem_fallback_partial(const Job& job, const Instance& instance) {
  const auto fell_back = processes_that_fell_back(job);
  const auto past = processes_past_probe(job);
  int fallen = 0;
  int well = 0;
  for (const int process : instance.processes) {
    if (fell_back.contains(process)) {
      ++fallen;
    } else if (past.contains(process) && !job.processes[static_cast<size_t>(process)].torn) {
      ++well;
    }
  }
  if (fallen == 0 || well == 0) return no();
  return yes(fmt::format("{} did, {} did not", fallen, well));
}

FactValue uneven_ranks_per_host(const Job& job, const Instance&) {
  for (const Communicator& comm : job.communicators) {
    std::map<std::string, int> ranks;
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) return unknown();
      ++ranks[job.processes[static_cast<size_t>(rank.process)].host];
    }
    std::set<int> sizes;
    std::vector<std::string> parts;
    for (const auto& [host, count] : ranks) {
      sizes.insert(count);
      parts.push_back(fmt::format("{} on {}", count, host));
    }
    if (sizes.size() > 1) return yes(join(parts, ", "));
  }
  return no();
}

constexpr std::array kFacts = {
    Fact{"host.cumem_fallback_partial", Scope::Host, FactType::Bool,
         "Some processes of the host fell back from cuMem host memory, and others provably not.",
         cumem_fallback_partial},
    Fact{"job.container", Scope::Job, FactType::Bool,
         "Host names, commands or addresses show a container; no means nothing does.", container},
    Fact{"job.shm_mount_large", Scope::Job, FactType::Bool,
         "df shows a /dev/shm of 1 GB or more; no also where df is not in the log.",
         shm_mount_large},
    Fact{"job.shm_mount_small", Scope::Job, FactType::Bool,
         "df shows a /dev/shm below 1 GB; no also where df is not in the log.", shm_mount_small},
    Fact{"job.uneven_ranks_per_host", Scope::Job, FactType::Bool,
         "Hosts of one communicator run different numbers of ranks.",
         within_runs<uneven_ranks_per_host>},
};

}  // namespace

std::span<const Fact> host_facts() { return kFacts; }

}  // namespace ncclog
