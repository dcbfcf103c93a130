// Which host, GPU and rank does a kernel line concern?

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "log/bus_id.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "model/build_steps.h"
#include "model/kernel_events.h"

namespace ncclog {
namespace {

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

constexpr bool is_name_char(char c) { return is_word(c) || c == '-'; }

/// Words that people put in front of a host when they name a file: "dmesg-node-a.txt".
constexpr std::string_view kFileWords[] = {"dmesg",    "kern", "kernel", "syslog", "journal",
                                           "messages", "log",  "logs",   "xid",    "nvidia"};

bool ends_with_file_word(std::string_view text) {
  return std::any_of(std::begin(kFileWords), std::end(kFileWords),
                     [&](std::string_view word) { return text.ends_with(word); });
}

bool begins_with_file_word(std::string_view text) {
  return std::any_of(std::begin(kFileWords), std::end(kFileWords),
                     [&](std::string_view word) { return text.starts_with(word); });
}

/// A name may begin behind `before`: "logs/", "dmesg-", "kern_"; not behind "gpu-".
bool begins_name(std::string_view before) {
  if (before.empty() || !is_name_char(before.back())) return true;
  const bool joined = before.back() == '-' || before.back() == '_';
  return joined && ends_with_file_word(before.substr(0, before.size() - 1));
}

/// A name may end before `behind`: ".dmesg", "/kern.log", "-dmesg.txt"; not before "-2".
bool ends_name(std::string_view behind) {
  if (behind.empty() || !is_name_char(behind.front())) return true;
  const bool joined = behind.front() == '-' || behind.front() == '_';
  return joined && begins_with_file_word(behind.substr(1));
}

/// `host` stands in `path` as a name of its own, not as a part of another name.
bool names_host(std::string_view path, std::string_view host) {
  for (size_t at = path.find(host); at != path.npos; at = path.find(host, at + 1)) {
    const std::string_view before = path.substr(0, at);
    const std::string_view behind = path.substr(at + host.size());
    if (begins_name(before) && ends_name(behind)) return true;
  }
  return false;
}

/// A GPU that a rank of the job uses.
struct UsedGpu {
  std::string host;
  uint64_t bus = 0;
  int process = -1;
  int rank = -1;
};

/// What the job's own lines say about hosts, pids and GPUs.
struct Places {
  std::set<std::string> hosts;
  std::vector<UsedGpu> gpus;
  bool all_gpus_known = true;  ///< Every process of NCCL named its GPU.
};

Places places_of(const Job& job) {
  Places places;
  std::set<int> with_gpu;
  const auto add = [&](int process, int rank, const std::string& bus_id) {
    const auto bus = bus_number(bus_id);
    if (process < 0 || !bus) return;
    with_gpu.insert(process);
    places.gpus.push_back({job.processes[static_cast<size_t>(process)].host, *bus, process, rank});
  };
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl || process.host.empty()) continue;
    places.hosts.insert(process.host);
    add(static_cast<int>(p), process.rank, process.bus_id);
  }
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      // A process with several GPUs has no global rank of its own.
      const int own = job.processes[static_cast<size_t>(rank.process)].rank;
      add(rank.process, own >= 0 || &comm != &job.communicators.front() ? own : rank.rank,
          rank.bus_id);
    }
  }
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const bool silent = job.processes[p].has_nccl && !with_gpu.contains(static_cast<int>(p));
    places.all_gpus_known &= !silent;
  }
  return places;
}

std::string host_of_file(const Job& job, SourceRef where, const Places& places) {
  const std::string path = file_line(job, where).path;
  std::string longest;
  for (const std::string& host : places.hosts) {
    if (host.size() > longest.size() && names_host(path, host)) longest = host;
  }
  const bool several = std::any_of(places.hosts.begin(), places.hosts.end(), [&](const auto& host) {
    return host != longest && longest.find(host) == longest.npos && names_host(path, host);
  });
  return several ? std::string() : longest;
}

bool same_host(const std::string& known, std::string_view of_process) {
  return known.empty() || of_process.empty() || short_name(known) == short_name(of_process);
}

/// The process with the event's pid; -1 if none or several, or if it uses another GPU.
int process_with_pid(const Job& job, const KernelEvent& event) {
  if (event.pid < 0) return -1;
  int found = -1;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (process.pid != event.pid || !same_host(event.host, process.host)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(p);
  }
  if (found < 0) return -1;
  const auto own = bus_number(job.processes[static_cast<size_t>(found)].bus_id);
  const auto named = bus_number(event.bus_id);
  // In a container the same number may be somebody else's.
  return own && named && *own != *named ? -1 : found;
}

KernelRelation relation_to_gpus(const Places& places, KernelEvent& event) {
  const bool known = !event.host.empty();
  const bool here = std::any_of(places.hosts.begin(), places.hosts.end(), [&](const auto& host) {
    return known && same_host(event.host, host);
  });
  if (known && !here && !places.hosts.empty()) return KernelRelation::OtherHost;
  const KernelRelation otherwise = here ? KernelRelation::Host : KernelRelation::Unknown;
  const auto bus = bus_number(event.bus_id);
  if (event.kind != kKindIndex<Xid> || !bus) return otherwise;
  bool used_elsewhere = false;
  for (const UsedGpu& gpu : places.gpus) {
    if (gpu.bus != *bus || !same_host(event.host, gpu.host)) continue;
    used_elsewhere = true;
    if (!here) continue;
    event.process = gpu.process;
    event.rank = gpu.rank;
    return KernelRelation::Gpu;
  }
  const bool other = !used_elsewhere && !places.gpus.empty() && places.all_gpus_known;
  return other ? KernelRelation::OtherGpu : otherwise;
}

void relate(const Job& job, const Places& places, KernelEvent& event) {
  const int process = process_with_pid(job, event);
  if (process < 0) {
    event.relation = relation_to_gpus(places, event);
    return;
  }
  event.relation = KernelRelation::Process;
  event.process = process;
  event.rank = job.processes[static_cast<size_t>(process)].rank;
  if (event.host.empty()) event.host = job.processes[static_cast<size_t>(process)].host;
}

template <typename T>
void fill(const T& said, KernelEvent& event) {
  if constexpr (requires { said.bus_id; }) event.bus_id = said.bus_id;
  if constexpr (requires { said.code; }) event.code = said.code;
  if constexpr (requires { said.pid; }) event.pid = said.pid;
  if constexpr (requires { said.name; }) event.name = said.name;
  if constexpr (requires { said.host; }) event.host = said.host;
}

template <typename T>
void add_events(Job& job, const Places& places) {
  for (const SpeakerLog& log : job.logs) {
    const RecordList* list = log.records.find(kKindIndex<T>);
    if (list == nullptr) continue;
    for (const Record& record : list->kept) {
      const Event line = parse_record(record);
      KernelEvent event{.kind = kKindIndex<T>, .where = record.where, .text = record.text};
      fill(read_message<T>(line.message), event);
      if (event.host.empty()) event.host = short_name(line.header.prefix.host);
      if (event.host.empty()) event.host = host_of_file(job, record.where, places);
      relate(job, places, event);
      job.kernel_events.push_back(std::move(event));
    }
  }
}

}  // namespace

void build_kernel_events(Job& job) {
  const Places places = places_of(job);
  add_events<Xid>(job, places);
  add_events<Sxid>(job, places);
  add_events<PcieError>(job, places);
  add_events<HcaFault>(job, places);
  add_events<OomKill>(job, places);
  add_events<KernelSegfault>(job, places);
  std::stable_sort(job.kernel_events.begin(), job.kernel_events.end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.where < b.where; });
}

}  // namespace ncclog
