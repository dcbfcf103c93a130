// The job in a few words: settings, versions, hosts, size.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "model/build_steps.h"

namespace ncclog {
namespace {

/// Calls `use(message)` for every kept message of kind T in the job.
template <typename T, typename Use>
void for_each_message(const Job& job, Use use) {
  for (const SpeakerLog& log : job.logs) {
    const RecordList* list = log.records.find(kKindIndex<T>);
    if (list == nullptr) continue;
    for (const Record& record : list->kept) {
      const Event event = parse_record(record);
      use(read_message<T>(event.message));
    }
  }
}

/// Hundreds of rules and facts ask for kinds of which most logs hold none.
void build_processes_by_kind(Job& job) {
  job.processes_by_kind.assign(all_kinds().size(), {});
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      for (const auto& [kind, list] : job.logs[log].records) {
        std::vector<int>& processes = job.processes_by_kind[kind];
        const int process = static_cast<int>(p);
        if (processes.empty() || processes.back() != process) processes.push_back(process);
      }
    }
  }
}

void build_environment(Job& job) {
  std::map<std::pair<std::string, std::string>, std::set<int>> settings;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for_each_record(job, job.processes[p], kKindIndex<EnvSet>, [&](const Record& record) {
      const Event event = parse_record(record);
      const auto set = read_message<EnvSet>(event.message);
      settings[{std::string(set.name), std::string(set.value)}].insert(static_cast<int>(p));
    });
  }
  for (const auto& [setting, processes] : settings) {
    job.environment.push_back(
        {setting.first, setting.second, {processes.begin(), processes.end()}});
  }
}

/// "12.4"; what another process wrote into the line may stand in it.
bool is_release(std::string_view version) {
  return version.find_first_not_of("0123456789.") == version.npos;
}

void build_versions(Job& job) {
  std::set<std::string> nccl;
  std::set<std::string> cuda;
  std::set<std::string> pytorch;
  const auto add = [](std::set<std::string>& versions, std::string_view version) {
    if (!version.empty()) versions.emplace(version);
  };
  for_each_message<NcclVersion>(job, [&](const NcclVersion& message) {
    if (!is_release(message.cuda)) return;
    add(nccl, message.version);
    add(cuda, message.cuda);
  });
  for_each_message<NcclException>(job, [&](const auto& message) { add(nccl, message.version); });
  for_each_message<TorchVersionLine>(
      job, [&](const TorchVersionLine& message) { add(pytorch, message.version); });
  job.nccl_versions.assign(nccl.begin(), nccl.end());
  job.cuda_versions.assign(cuda.begin(), cuda.end());
  job.pytorch_versions.assign(pytorch.begin(), pytorch.end());
}

/// Hosts as NCCL names them. Launchers and collectors have names of their own for them (pods,
/// services), so theirs count only where NCCL names none.
void build_hosts(Job& job) {
  std::set<std::string> hosts;
  std::set<std::string> named_by_prefix;
  for (const Process& process : job.processes) {
    if (!process.host.empty()) (process.pid >= 0 ? hosts : named_by_prefix).insert(process.host);
  }
  for (const JobInput& input : job.inputs) {
    if (!input.host.empty()) hosts.insert(input.host);
  }
  if (hosts.empty()) hosts = std::move(named_by_prefix);
  job.hosts.assign(hosts.begin(), hosts.end());
  job.nhosts = static_cast<int>(hosts.size());
  // NCCL counts also the hosts of which there are no logs.
  const auto largest =
      std::max_element(job.communicators.begin(), job.communicators.end(),
                       [](const auto& a, const auto& b) { return a.nranks < b.nranks; });
  if (largest != job.communicators.end() && largest->nnodes > 0) job.nhosts = largest->nnodes;
}

/// "--world-size 8" on a command line; 0 if it does not say.
int asked_world_size(std::string_view command) {
  constexpr std::string_view kFlags[] = {"--world-size", "--world_size"};
  for (const std::string_view flag : kFlags) {
    const size_t at = command.find(flag);
    if (at == command.npos) continue;
    const std::string_view rest = command.substr(std::min(at + flag.size() + 1, command.size()));
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    return static_cast<int>(parse_int(rest.substr(0, digits)).value_or(0));
  }
  return 0;
}

/// Size that launchers, rings and old releases announce; 0 if none does.
int announced_nranks(const Job& job) {
  int nranks = 0;
  const auto at_least = [&](int n) { nranks = std::max(nranks, n); };
  for_each_message<NranksAnnounced>(job, [&](const auto& message) { at_least(message.nranks); });
  for_each_message<NcclTestsRank>(job, [&](const auto& message) { at_least(message.rank + 1); });
  for_each_message<ShellCommand>(
      job, [&](const auto& message) { at_least(asked_world_size(message.command)); });
  return nranks;
}

/// Size that the groups of Flight Recorder dumps speak of; 0: there are none.
int recorded_nranks(const Job& job) {
  int nranks = 0;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    for (const FlightRecorderGroup& group : dump.groups) {
      for (const int rank : group.ranks) nranks = std::max(nranks, rank + 1);
    }
  }
  return nranks;
}

/// Ranks that lines name: by prefix, or as the root that others wait for.
std::set<int> ranks_named(const Job& job) {
  std::set<int> ranks;
  for (const Process& process : job.processes) ranks.insert(process.rank);
  for_each_message<StoreWaitFailed>(job, [&](const auto& message) {
    ranks.insert(message.rank);
    ranks.insert(message.root);
  });
  ranks.erase(-1);
  return ranks;
}

std::optional<int> count_ranks(const Job& job) {
  int nranks = 0;
  for (const Communicator& comm : job.communicators) nranks = std::max(nranks, comm.nranks);
  if (nranks <= 0) nranks = std::max(announced_nranks(job), recorded_nranks(job));
  if (nranks > 0) return nranks;
  // Processes that speak in an excerpt do not tell how many there are. Ranks without a gap do,
  // unless it is one voice.
  const std::set<int> named = ranks_named(job);
  const bool is_whole = named.size() > 1 && *named.begin() == 0 &&
                        *named.rbegin() + 1 == static_cast<int>(named.size());
  return is_whole ? std::optional(*named.rbegin() + 1) : std::nullopt;
}

}  // namespace

void build_summary(Job& job) {
  build_environment(job);
  build_versions(job);
  build_hosts(job);
  job.nranks = count_ranks(job);
  build_processes_by_kind(job);
}

}  // namespace ncclog
