// What surrounds the ranks on their hosts: containers, /dev/shm, host memory, what the kernel
// reports?
//
//   /dev/shm of 64 MB in a container      cuMem host memory that one rank has and its neighbour not
//   NVRM: Xid (PCI:0000:1b:00): 79        GPU has fallen off the bus

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
#include "log/messages.h"
#include "model/job.h"

namespace ncclog {
namespace {

// Do the ranks of one host get their host memory in one way?
//
//   dev-7 pid 4101: cuMem host allocations do not appear to be working; falling back to …
//   dev-7 pid 4100: Bootstrap: Using …, Using network Socket, and no such line: no fall-back
//
// From 2.24 on NCCL takes host memory through cuMem where it can, and each process probes that by
// itself. A process that could not reads a neighbour's cuMem descriptor as the name and size of a
// file in /dev/shm: a garbled name, size 0. The line above exists since 2.26.3; before, and where
// a log does not show a process from its beginning, silence proves nothing.

/// The processes of one host, counted by how they get host memory.
struct CumemHostMemory {
  int fell_back = 0;      ///< Said that they fell back to /dev/shm.
  int switched_off = 0;   ///< NCCL_CUMEM_HOST_ENABLE=0 is set for them.
  int kept = 0;           ///< Provably did not fall back.
  int uncertain = 0;      ///< Their lines do not tell.
  bool complete = false;  ///< Every rank of the host has a process in the log.
  bool too_old = false;   ///< The release is before 2.24, which has no such memory by default.

  /// Some neighbours use cuMem memory and others provably do not.
  bool mixed() const { return kept > 0 && fell_back + switched_off > 0; }
  /// All neighbours provably do the same.
  bool alike() const {
    return too_old ||
           (complete && !mixed() && uncertain == 0 && fell_back + switched_off + kept > 0);
  }
};

constexpr std::string_view kFirstWithMemory = "2.24.0";
constexpr std::string_view kFirstWithLine = "2.26.3";

/// True if the log names releases, and all of them are of NCCL 2 and pass.
template <typename Test>
bool all_releases(const Job& job, Test test) {
  const auto passes = [&](const std::string& version) {
    return version.starts_with("2.") && version_parts(version).size() >= 3 && test(version);
  };
  return !job.nccl_versions.empty() && std::ranges::all_of(job.nccl_versions, passes);
}

template <typename... T>
std::set<int> processes_that_print(const Job& job) {
  std::set<int> processes;
  for_each_said_of<T...>(job, [&](const auto& said) { processes.insert(said.process); });
  return processes;
}

/// Processes shown from their first lines to past the probe, which comes before a network is
/// chosen.
std::set<int> shown_past_probe(const Job& job) {
  const std::set<int> head =
      processes_that_print<BootstrapInterface, CudaDriverVersion, NcclVersion>(job);
  std::set<int> past;
  for (const int process : processes_that_print<NetworkSelected, CommInit>(job)) {
    const bool torn = nth_process(job, process).torn;
    if (head.contains(process) && !torn) past.insert(process);
  }
  return past;
}

/// Every rank that a communicator has on the host, as far as its processes and ranks tell, is there.
bool is_complete(const Job& job, const std::vector<int>& processes) {
  const auto is_here = [&](int process) { return std::ranges::binary_search(processes, process); };
  int most = 0;
  bool all_seen = true;
  for (const Communicator& comm : job.communicators) {
    const auto there = std::ranges::count_if(
        comm.ranks, [&](const CommRank& rank) { return is_here(rank.process); });
    if (there == 0) continue;
    most = std::max(most, static_cast<int>(there));
    all_seen &=
        static_cast<int>(comm.ranks.size()) == comm.nranks &&
        std::ranges::all_of(comm.ranks, [](const CommRank& rank) { return rank.process >= 0; });
  }
  int announced = 0;
  for_each_said<CommLayout>(job, [&](const Said<CommLayout>& said) {
    if (is_here(said.process)) announced = std::max(announced, said.message.local_ranks);
  });
  return most > 0 && (announced > 0 ? most >= announced : all_seen);
}

/// Counts the processes of `host`, an instance of Scope::Host.
CumemHostMemory cumem_host_memory(const Job& job, const Instance& host) {
  CumemHostMemory memory;
  const auto fell_back = processes_that_print<CumemHostFallback>(job);
  std::set<int> off;
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_CUMEM_HOST_ENABLE" || setting.value != "0") continue;
    off.insert(setting.processes.begin(), setting.processes.end());
  }
  // Ray prints one line for several processes; the others are silent without having been quiet.
  bool repeated = false;
  for_each_said<CumemHostFallback>(job, [&](const Said<CumemHostFallback>& said) {
    repeated = repeated || said.header.repeated > 1;
  });
  const auto past = shown_past_probe(job);
  const bool has_line =
      all_releases(job,
                   [](auto& version) { return compare_releases(version, kFirstWithLine) >= 0; }) ||
      (job.nccl_versions.empty() && !fell_back.empty());
  const bool silence_counts = has_line && !repeated;
  for (const int process : host.processes) {
    if (!nth_process(job, process).has_nccl) continue;
    int& count = fell_back.contains(process)                ? memory.fell_back
                 : off.contains(process)                    ? memory.switched_off
                 : silence_counts && past.contains(process) ? memory.kept
                                                            : memory.uncertain;
    ++count;
  }
  memory.complete = is_complete(job, host.processes);
  memory.too_old = fell_back.empty() && all_releases(job, [](auto& version) {
                     return compare_releases(version, kFirstWithMemory) < 0;
                   });
  return memory;
}

/// "1 fell back from cuMem host memory, 1 did not": whatever is not zero.
std::string counts_text(const CumemHostMemory& memory) {
  std::vector<std::string> parts;
  if (memory.fell_back > 0) parts.push_back(fmt::format("{} did", memory.fell_back));
  if (memory.switched_off > 0) {
    parts.push_back(fmt::format("{} with NCCL_CUMEM_HOST_ENABLE=0", memory.switched_off));
  }
  if (memory.kept > 0) parts.push_back(fmt::format("{} did not", memory.kept));
  if (memory.uncertain > 0) parts.push_back(fmt::format("of {} it is not shown", memory.uncertain));
  return join(parts, ", ");
}

// What surrounds the ranks on their hosts: containers, /dev/shm, neighbours that differ.
//
//   shm              64M   64M     0 100% /dev/shm         job.shm_mount_small
//   rank 1: cuMem host allocations do not appear to be …   host.cumem_fallback_partial
//   rank 0 of the same host: nothing of the kind

constexpr std::string_view kContainerCommands[] = {"docker run",  "docker exec", "podman ",
                                                   "nerdctl ",    "kubectl ",    "enroot ",
                                                   "--container", "apptainer ",  "singularity "};

bool is_container_command(std::string_view command) {
  return std::ranges::any_of(kContainerCommands, [&](std::string_view word) {
    return command.find(word) != std::string_view::npos;
  });
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

/// Asks df's rows for a /dev/shm of 1 GB or more, or a smaller one. Without df nothing is known, and
/// rules ask only for a sign.
template <bool large>
FactValue shm_mount(const Job& job, const Instance&) {
  constexpr double kSmall = 1024.0 * 1024 * 1024;
  FactValue answer = no();
  for_each_said<ShmUsage>(job, [&](const Said<ShmUsage>& said) {
    const auto size = parse_size(said.message.size);
    if (!size || (*size >= kSmall) != large) return;
    answer = yes(fmt::format("/dev/shm has {}", said.message.size), {evidence_of(said.record)});
  });
  return answer;
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
      ++ranks[nth_process(job, rank.process).host];
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

// What do the kernels' logs say about the GPUs, switches, adapters and processes of the job?
//
//   node-a.dmesg: NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off the
//   bus.
//       → job.xid_off_bus = yes, rank 2, "Xid 79 on node-a, GPU 0000:1b:00 (rank 2, pid 4242)"
//
// Xid codes are sorted by what they mean as NVIDIA's "XID Errors" lists them. An event of a GPU or
// host that the job does not use answers none of these but job.xid_elsewhere. Nothing here compares
// times: dmesg counts from boot, so an event may be older than the job.

bool concerns_job(const KernelEvent& event) {
  return event.relation != KernelRelation::OtherGpu && event.relation != KernelRelation::OtherHost;
}

bool is_in(std::span<const int> codes, int code) {
  return std::ranges::find(codes, code) != codes.end();
}

/// 45: the driver tears a channel down, after another Xid or after the process was killed. Newer
/// drivers name the other one, and its own line may be missing: "Ch 00000001 caused by previous
/// Xid 149".
constexpr int kConsequence[] = {45};

/// The Xid that an event is about.
int cause_code(const KernelEvent& event) {
  constexpr std::string_view kCause = "caused by previous Xid ";
  const size_t at = event.text.find(kCause);
  if (!is_in(kConsequence, event.code) || at == std::string::npos) return event.code;
  const std::string_view rest = std::string_view(event.text).substr(at + kCause.size());
  const auto code = parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
  return code ? static_cast<int>(*code) : event.code;
}

/// "Xid 79 on node-a, GPU 0000:1b:00 (rank 2, pid 4242)", as far as known.
std::string event_phrase(std::string_view what, const KernelEvent& event) {
  std::string phrase(what);
  if (event.code >= 0) phrase += fmt::format(" {}", cause_code(event));
  if (!event.host.empty()) phrase += " on " + event.host;
  if (!event.bus_id.empty()) phrase += ", " + event.bus_id;
  std::vector<std::string> who;
  if (event.rank >= 0) who.push_back(fmt::format("rank {}", event.rank));
  if (event.pid >= 0) who.push_back(fmt::format("pid {}", event.pid));
  if (!who.empty()) phrase += " (" + join(who, ", ") + ")";
  return phrase;
}

/// Yes with the events of kind T for which `wanted` holds; no if there is none.
template <typename T, typename Wanted>
FactValue events_answer(const Job& job, std::string_view what, Wanted&& wanted) {
  constexpr size_t kMostNames = 4;
  std::vector<std::string> phrases;
  FactValue value = yes({});
  for (const KernelEvent& event : job.kernel_events) {
    if (event.kind != kKindIndex<T> || !wanted(event)) continue;
    value.evidence.push_back({event.where, event.text});
    if (event.process >= 0) value.processes.push_back(event.process);
    std::string phrase = event_phrase(what, event);
    const auto named =
        phrases.begin() + static_cast<std::ptrdiff_t>(std::min(phrases.size(), kMostNames));
    if (std::find(phrases.begin(), named, phrase) == named) phrases.push_back(std::move(phrase));
  }
  if (value.evidence.empty()) return no();
  value.what = few_of(phrases, kMostNames, "; ");
  return value;
}

constexpr int kOffBus[] = {79};
constexpr int kNvlink[] = {74, 144, 145, 146, 147, 148, 149, 150};
constexpr int kMemory[] = {48, 63, 64, 94, 95, 140};
constexpr int kDriver[] = {38, 61, 62, 109, 119, 120};
constexpr int kProgram[] = {13, 31, 43};

template <const auto& codes>
FactValue xid(const Job& job, const Instance&) {
  return events_answer<Xid>(job, "Xid", [](const KernelEvent& event) {
    return concerns_job(event) && is_in(codes, cause_code(event));
  });
}

FactValue xid_other(const Job& job, const Instance&) {
  return events_answer<Xid>(job, "Xid", [](const KernelEvent& event) {
    const std::initializer_list<std::span<const int>> known = {kOffBus, kNvlink,  kMemory,
                                                               kDriver, kProgram, kConsequence};
    return concerns_job(event) &&
           std::ranges::none_of(known, [&](auto codes) { return is_in(codes, cause_code(event)); });
  });
}

FactValue xid_elsewhere(const Job& job, const Instance&) {
  return events_answer<Xid>(job, "Xid",
                            [](const KernelEvent& event) { return !concerns_job(event); });
}

FactValue sxid_fatal(const Job& job, const Instance&) {
  return events_answer<Sxid>(job, "SXid", [](const KernelEvent& event) {
    return concerns_job(event) && event.text.find(", Fatal, ") != std::string::npos;
  });
}

FactValue hca_fault(const Job& job, const Instance&) {
  return events_answer<HcaFault>(job, "A fault of an adapter", concerns_job);
}

/// The kernel's out-of-memory killer ended a process that is not known to belong to the job.
FactValue oom_kill_unplaced(const Job& job, const Instance&) {
  const std::vector<Death> known = deaths(job);
  return events_answer<OomKill>(job, "The kernel killed a process", [&](const KernelEvent& event) {
    return event.pid >= 0 && concerns_job(event) &&
           std::ranges::none_of(known, [&](const Death& death) { return death.pid == event.pid; });
  });
}

constexpr std::array kFacts = {
    Fact{"host.cumem_fallback_partial", Scope::Host, FactType::Bool,
         "Some processes of the host fell back from cuMem host memory, and others provably not.",
         cumem_fallback_partial},
    Fact{"host.garbled_attach", Scope::Host, FactType::Text,
         "What a garbled segment name points to: \"host memory\" where ranks of the host get it in "
         "different ways, \"stale segment\" where all provably do the same, else \"either\".",
         garbled_attach},
    job_fact("job.container", container,
             "Host names, commands or addresses show a container; no means nothing does."),
    job_fact("job.shm_mount_large", shm_mount<true>,
             "df shows a /dev/shm of 1 GB or more; no also where df is not in the log."),
    job_fact("job.shm_mount_small", shm_mount<false>,
             "df shows a /dev/shm below 1 GB; no also where df is not in the log."),
    job_fact("job.uneven_ranks_per_host", within_runs<uneven_ranks_per_host>,
             "Hosts of one communicator run different numbers of ranks."),
    job_fact("job.hca_fault", hca_fault,
             "A kernel of the job's hosts reports a fault of a network adapter."),
    job_fact("job.oom_kill_unplaced", oom_kill_unplaced,
             "The out-of-memory killer ended a process that no line of the job names."),
    job_fact("job.sxid_fatal", sxid_fatal, "An NVSwitch reports a fatal error."),
    job_fact("job.xid_driver", xid<kDriver>,
             "Xid 38, 61, 62, 109, 119 or 120: a GPU's firmware or its driver stopped working."),
    job_fact("job.xid_elsewhere", xid_elsewhere,
             "Xids only of GPUs or hosts that the job does not use."),
    job_fact("job.xid_memory", xid<kMemory>,
             "Xid 48, 63, 64, 94, 95 or 140: errors of a GPU's memory."),
    job_fact("job.xid_nvlink", xid<kNvlink>, "Xid 74 or 144 to 150: errors of NVLink."),
    job_fact("job.xid_off_bus", xid<kOffBus>, "Xid 79: a GPU no longer answers on the PCI bus."),
    job_fact("job.xid_other", xid_other, "An Xid of a class that no other fact covers."),
    job_fact("job.xid_program", xid<kProgram>,
             "Xid 13, 31 or 43: a kernel on the GPU faulted, mostly the program's."),
};

}  // namespace

std::span<const Fact> host_facts() { return kFacts; }

}  // namespace ncclog
