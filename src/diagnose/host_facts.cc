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
#include "diagnose/cumem_host_memory.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/host_addresses.h"
#include "diagnose/interface_classes.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

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

FactValue cumem_fallback_partial(const Job& job, const Instance& instance) {
  const CumemHostMemory memory = cumem_host_memory(job, instance);
  if (memory.fell_back > 0 && memory.kept > 0) return yes(counts_text(memory));
  const bool known = memory.too_old || (memory.complete && memory.uncertain == 0);
  return known ? no() : unknown();
}

FactValue text(std::string value, std::string what) {
  return {std::move(value), std::move(what), {}, {}, {}};
}

/// Two things are known to make a rank read a garbled name: neighbours that get host memory in
/// different ways, and a segment of an earlier run.
FactValue garbled_attach(const Job& job, const Instance& instance) {
  const CumemHostMemory memory = cumem_host_memory(job, instance);
  const bool counted = memory.fell_back + memory.switched_off + memory.kept > 0;
  const std::string counts = counted ? counts_text(memory) : "";
  if (memory.mixed()) {
    return text("host memory",
                fmt::format("neighbours on this host get host memory in different ways (falling "
                            "back from cuMem to /dev/shm: {}), and one read the other's cuMem "
                            "descriptor as a path",
                            counts));
  }
  if (memory.too_old) {
    return text("stale segment",
                "this release has no cuMem host memory by default, so a left-over of an ended run "
                "or another NCCL build on the host is likely");
  }
  if (memory.alike()) {
    return text("stale segment",
                fmt::format("all ranks of this host get host memory in one way (falling back from "
                            "cuMem: {}), so a left-over of an ended run or another NCCL build on "
                            "the host is likely",
                            counts));
  }
  return text("either",
              fmt::format("either neighbours get host memory in different ways (cuMem here, "
                          "/dev/shm there), or a left-over of an ended run was met; this log "
                          "cannot tell{}",
                          counts.empty() ? "" : " (falling back from cuMem: " + counts + ")"));
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
    Fact{"host.garbled_attach", Scope::Host, FactType::Text,
         "What a garbled segment name points to: \"host memory\" where ranks of the host get it in "
         "different ways, \"stale segment\" where all provably do the same, else \"either\".",
         garbled_attach},
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
