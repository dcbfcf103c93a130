#include "diagnose/cumem_host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/nccl_version.h"
#include "log/messages.h"

namespace ncclog {
namespace {

struct Release {
  int minor = -1;
  int patch = -1;
  auto operator<=>(const Release&) const = default;
};

constexpr Release kFirstWithMemory{24, 0};
constexpr Release kFirstWithLine{26, 3};

/// "2.26.3" as {26, 3}; nothing for what is no release of NCCL 2.
std::optional<Release> release_of(std::string_view version) {
  const std::vector<int> parts = version_parts(version);
  if (parts.size() < 3 || parts[0] != 2) return std::nullopt;
  return Release{parts[1], parts[2]};
}

/// True if the log names releases and all of them pass.
template <typename Test>
bool all_releases(const Job& job, Test test) {
  const auto passes = [&](const std::string& version) {
    const auto release = release_of(version);
    return release && test(*release);
  };
  return !job.nccl_versions.empty() &&
         std::all_of(job.nccl_versions.begin(), job.nccl_versions.end(), passes);
}

template <typename... T>
std::set<int> speakers(const Job& job) {
  std::set<int> processes;
  const auto add = [&](const auto& said) { processes.insert(said.process); };
  (for_each_said<T>(job, add), ...);
  return processes;
}

std::set<int> switched_off(const Job& job) {
  std::set<int> processes;
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_CUMEM_HOST_ENABLE" || setting.value != "0") continue;
    processes.insert(setting.processes.begin(), setting.processes.end());
  }
  return processes;
}

/// Ray prints one line for several processes; the others' are silent without having been quiet.
bool speaks_for_others(const Job& job) {
  bool repeated = false;
  for_each_said<CumemHostFallback>(job, [&](const Said<CumemHostFallback>& said) {
    repeated = repeated || said.header.repeated > 1;
  });
  return repeated;
}

/// Processes shown from their first lines to past the probe, which comes before a network is
/// chosen.
std::set<int> shown_past_probe(const Job& job) {
  const std::set<int> head = speakers<BootstrapInterface, CudaDriverVersion, NcclVersion>(job);
  std::set<int> past;
  for (const int process : speakers<NetworkSelected, CommInit>(job)) {
    const bool torn = job.processes[static_cast<size_t>(process)].torn;
    if (head.contains(process) && !torn) past.insert(process);
  }
  return past;
}

int ranks_there(const Communicator& comm, const std::vector<int>& processes) {
  return static_cast<int>(
      std::count_if(comm.ranks.begin(), comm.ranks.end(), [&](const auto& rank) {
        return std::binary_search(processes.begin(), processes.end(), rank.process);
      }));
}

/// How many ranks a communicator has on the host, as its processes say; 0: none says it.
int announced_ranks(const Job& job, const std::vector<int>& processes) {
  int most = 0;
  for_each_said<CommLayout>(job, [&](const Said<CommLayout>& said) {
    if (!std::binary_search(processes.begin(), processes.end(), said.process)) return;
    most = std::max(most, said.message.local_ranks);
  });
  return most;
}

bool all_seen(const Communicator& comm) {
  return static_cast<int>(comm.ranks.size()) == comm.nranks &&
         std::all_of(comm.ranks.begin(), comm.ranks.end(),
                     [](const CommRank& rank) { return rank.process >= 0; });
}

bool is_complete(const Job& job, const std::vector<int>& processes) {
  int most = 0;
  bool all = true;
  for (const Communicator& comm : job.communicators) {
    const int there = ranks_there(comm, processes);
    most = std::max(most, there);
    all = all && (there == 0 || all_seen(comm));
  }
  const int announced = announced_ranks(job, processes);
  return most > 0 && (announced > 0 ? most >= announced : all);
}

}  // namespace

CumemHostMemory cumem_host_memory(const Job& job, const Instance& host) {
  CumemHostMemory memory;
  const auto fell_back = speakers<CumemHostFallback>(job);
  const auto off = switched_off(job);
  const auto past = shown_past_probe(job);
  const bool has_line =
      all_releases(job, [](Release release) { return release >= kFirstWithLine; }) ||
      (job.nccl_versions.empty() && !fell_back.empty());
  const bool silence_counts = has_line && !speaks_for_others(job);
  for (const int process : host.processes) {
    if (!job.processes[static_cast<size_t>(process)].has_nccl) continue;
    int& count = fell_back.contains(process)                ? memory.fell_back
                 : off.contains(process)                    ? memory.switched_off
                 : silence_counts && past.contains(process) ? memory.kept
                                                            : memory.uncertain;
    ++count;
  }
  memory.complete = is_complete(job, host.processes);
  memory.too_old = fell_back.empty() &&
                   all_releases(job, [](Release release) { return release < kFirstWithMemory; });
  return memory;
}

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

}  // namespace ncclog
