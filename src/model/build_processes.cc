// Who is who: the voices that speak for one process are joined, and the process gets its rank.
//
// A process speaks as NCCL (host and pid), as PyTorch ("[rank3]:"), through Ray ("pid=88213") or
// through a launcher's local rank. NCCL's own rank in the largest communicator wins over prefixes.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "log/header.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "log/task_label.h"
#include "model/build_steps.h"

namespace ncclog {
namespace {

using HostPid = std::pair<std::string, int64_t>;

bool speaks_nccl(const SpeakerLog& log) {
  if (!log.comms.all.empty() || !log.connections.all.empty() || log.unrecognised.total > 0) {
    return true;
  }
  return std::any_of(log.records.begin(), log.records.end(), [](const auto& entry) {
    return all_kinds()[entry.first].source == Source::Nccl;
  });
}

/// Into Job::inputs; -1: not known.
int64_t input_of(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  return unit == nullptr ? -1 : unit->input;
}

void join(Job& job, Process& process, size_t index) {
  const SpeakerLog& log = job.logs[index];
  process.logs.push_back(index);
  process.subsystems |= log.subsystems;
  process.has_nccl |= speaks_nccl(log);
  process.torn |= log.torn;
  process.cut |= log.cut;
  if (process.logs.size() == 1 || log.first < process.first) process.first = log.first;
  // What another file says about the process later in the run is not the end of its own file.
  const bool same_input = input_of(job, log.last) == input_of(job, process.last);
  if (process.logs.size() == 1 || (same_input && process.last < log.last)) {
    process.last = log.last;
    process.last_text = log.last_text;
  }
  process.cut |= job.losses.count(Loss::LineLeftOut) > 0;
  const int64_t input = input_of(job, log.last);
  if (input >= 0) {
    process.cut |= job.inputs[static_cast<size_t>(input)].status == InputStatus::Cut;
  }
}

/// The segment of the largest communicator, the first one where several are as large.
const CommSegment* largest_segment(const SpeakerLog& log) {
  const CommSegment* largest = nullptr;
  for (const CommSegment& segment : log.comms.all) {
    if (segment.rank < 0) continue;
    if (largest == nullptr || segment.nranks > largest->nranks) largest = &segment;
  }
  return largest;
}

/// True if one process drives several ranks of the communicator, as nccl-tests -g does.
bool has_other_rank(const SpeakerLog& log, const CommSegment& of) {
  return std::any_of(log.comms.all.begin(), log.comms.all.end(), [&](const CommSegment& other) {
    return other.nranks == of.nranks && other.comm_id == of.comm_id && other.rank >= 0 &&
           other.rank != of.rank && other.comm != of.comm;
  });
}

/// Ranks as nccl-tests lists them at the start of its output.
std::map<HostPid, std::set<int>> listed_ranks(const Job& job) {
  std::map<HostPid, std::set<int>> listed;
  for (const SpeakerLog& log : job.logs) {
    const RecordList* list = log.records.find(kKindIndex<NcclTestsRank>);
    if (list == nullptr) continue;
    for (const Record& record : list->kept) {
      const auto row = read_message<NcclTestsRank>(parse_record(record).message);
      listed[{std::string(row.host), row.pid}].insert(row.rank);
    }
  }
  return listed;
}

/// "1/4/-1->0->-1|-1->0->1/4/-1 [1] …": the rank itself stands between the arrows.
int rank_in_tree(std::string_view trees) {
  const size_t first = trees.find("->");
  const size_t second = trees.find("->", first == trees.npos ? first : first + 2);
  if (second == trees.npos) return -1;
  const auto rank = parse_int(trees.substr(first + 2, second - first - 2));
  return rank && *rank >= 0 ? static_cast<int>(*rank) : -1;
}

/// The rank that a process has in every tree and every local connection it announces; -1 if they
/// name several, as sub-communicators and several ranks in one process make them do.
int rank_of_paths(const SpeakerLog& log) {
  std::set<int> ranks;
  const RecordList* trees = log.records.find(kKindIndex<Trees>);
  if (trees != nullptr) {
    for (const Record& record : trees->kept) {
      ranks.insert(rank_in_tree(read_message<Trees>(parse_record(record).message).text));
    }
  }
  for (const auto& [connection, use] : log.connections.all) {
    const Transport transport = transport_of(connection.path);
    // Only the sender announces these.
    if (transport == Transport::P2P || transport == Transport::SHM)
      ranks.insert(connection.src_rank);
  }
  return ranks.size() == 1 ? *ranks.begin() : -1;
}

/// The one rank by which NCCL or the framework calls who prints, in its own lines: "Duplicate GPU
/// detected : rank 6 and rank 0 …", "NCCL communicator was aborted on rank 2"; -1: none, or
/// several.
int rank_told(const SpeakerLog& log) {
  std::set<int> ranks;
  const auto add = [&]<typename T>(const T*) {
    const RecordList* list = log.records.find(kKindIndex<T>);
    if (list == nullptr) return;
    for (const Record& record : list->kept) {
      ranks.insert(read_message<T>(parse_record(record).message).rank);
    }
  };
  add(static_cast<const DuplicateGpu*>(nullptr));
  add(static_cast<const CommAborted*>(nullptr));
  return ranks.size() == 1 ? *ranks.begin() : -1;
}

void set_rank(Process& process, const SpeakerLog& log,
              const std::map<HostPid, std::set<int>>& listed) {
  const CommSegment* largest = largest_segment(log);
  if (largest != nullptr) {
    if (has_other_rank(log, *largest)) return;
    process.rank = largest->rank;
    process.cuda_dev = largest->cuda_dev;
    process.bus_id = largest->bus_id;
    return;
  }
  const auto row = listed.find({process.host, process.pid});
  if (row != listed.end()) {
    if (row->second.size() == 1) process.rank = *row->second.begin();
    return;
  }
  process.rank = rank_of_paths(log);
  // It may be a rank of a part of the job, unless the launcher's number is the same.
  if (process.rank < 0 && rank_told(log) == log.task_rank) process.rank = rank_told(log);
}

/// What a voice without host and pid was told apart by: a number that its launcher gave, and
/// nothing that the framework says of itself.
bool is_label_only(const SpeakerLog& log) {
  if (log.speaker.rank < 0) return false;
  const TaskLabel label = task_label(log.last_text);
  return label.task == log.speaker.rank && label.rank < 0 &&
         parse_header(log.last_text).level != Level::Framework &&
         rank_told(log) != log.speaker.rank;
}

/// Of the processes of each host, the difference between the launcher's number and that of the GPU.
using Offsets = std::map<std::string, std::vector<int>>;

/// True if on some host the numbers of several tasks go up with those of their GPUs.
bool follow_gpus(const Offsets& offsets) {
  return std::any_of(offsets.begin(), offsets.end(), [](const auto& host) {
    const std::vector<int>& all = host.second;
    return all.size() > 1 && std::count(all.begin(), all.end(), all.front()) == std::ssize(all);
  });
}

/// True if the numbers that launchers put in front of lines are ranks: NCCL or the framework gives
/// somebody the same one, or they go up with the GPUs of a host, and nobody has another. With one
/// task a node they are numbers of nodes.
bool labels_are_ranks(const Job& job) {
  int world = 0;
  for (const SpeakerLog& log : job.logs) {
    const CommSegment* largest = largest_segment(log);
    if (largest != nullptr) world = std::max(world, largest->nranks);
  }
  bool is_confirmed = false;
  Offsets offsets;
  std::set<std::pair<int64_t, int>> taken;
  for (const Process& process : job.processes) {
    const SpeakerLog& log = job.logs[process.logs.front()];
    if (log.task_rank < 0) continue;
    if (!taken.insert({input_of(job, log.first), log.task_rank}).second) return false;
    const int device = parse_header(log.last_text).cuda_dev;
    if (device >= 0) offsets[process.host].push_back(log.task_rank - device);
    const CommSegment* largest = largest_segment(log);
    if (process.rank < 0 || (largest != nullptr && largest->nranks < world)) continue;
    if (process.rank != log.task_rank) return false;
    is_confirmed = true;
  }
  for (const SpeakerLog& log : job.logs) {
    if (log.speaker.rank < 0) continue;
    const TaskLabel label = task_label(log.last_text);
    if (label.task < 0 || is_label_only(log)) continue;
    if (label.task != log.speaker.rank) return false;
    is_confirmed = true;
  }
  return is_confirmed || follow_gpus(offsets);
}

/// Processes that NCCL's own lines name, by host and pid.
void add_nccl_processes(Job& job) {
  const auto listed = listed_ranks(job);
  for (size_t i = 0; i < job.logs.size(); ++i) {
    const SpeakerLog& log = job.logs[i];
    if (log.speaker.host.empty() || log.speaker.pid < 0) continue;
    Process process;
    process.host = log.speaker.host;
    process.pid = log.speaker.pid;
    join(job, process, i);
    set_rank(process, log, listed);
    job.processes.push_back(std::move(process));
  }
}

/// Gives processes whose rank NCCL does not tell the one that their launcher gives them.
void add_labelled_ranks(Job& job) {
  for (Process& process : job.processes) {
    const SpeakerLog& log = job.logs[process.logs.front()];
    const CommSegment* largest = largest_segment(log);
    if (process.rank < 0 && largest == nullptr) process.rank = std::max(log.task_rank, -1);
  }
}

/// Who wrote the file in which a voice speaks that names nobody; no process if that is not certain.
HostPid writer_of(const Job& job, const Speaker& speaker) {
  if (speaker.input < 0 || !speaker.host.empty()) return {{}, -1};
  const JobInput& input = job.inputs[static_cast<size_t>(speaker.input)];
  return {input.host, input.pid};
}

/// The processes by what voices call them; -1 where several answer to a name. Torn lines invent
/// as many voices as processes, so none of them searches.
struct Directory {
  std::unordered_map<int, int> by_rank;
  std::unordered_map<int64_t, int> by_pid;
  std::map<HostPid, int> by_name;
  std::map<std::pair<int64_t, int>, int> by_local_rank;  ///< By input and torchrun's number.
  std::map<std::pair<int64_t, int>, int> by_label;       ///< By input and the launcher's number.

  void add(const Job& job, size_t index) {
    const auto enter = [&](auto& names, const auto& name) {
      const auto [entry, is_new] = names.try_emplace(name, static_cast<int>(index));
      if (!is_new) entry->second = -1;
    };
    const Process& process = job.processes[index];
    const SpeakerLog& log = job.logs[process.logs.front()];
    if (process.rank >= 0) enter(by_rank, process.rank);
    if (process.pid >= 0) enter(by_pid, process.pid);
    if (process.pid >= 0) enter(by_name, HostPid(process.host, process.pid));
    const int64_t input = input_of(job, log.first);
    if (input < 0) return;
    if (log.task_rank >= 0) enter(by_label, std::pair(input, log.task_rank));
    if (log.task_local_rank < 0) return;
    enter(by_local_rank, std::pair(input, log.task_local_rank));
  }

  template <typename Names, typename Name>
  static int look_up(const Names& names, const Name& name) {
    const auto entry = names.find(name);
    return entry == names.end() ? -1 : entry->second;
  }

  /// The process that `speaker` speaks for; -1 if none or several.
  int find(const Job& job, const Speaker& speaker) const {
    if (speaker.rank >= 0) return look_up(by_rank, speaker.rank);
    if (speaker.pid >= 0) return look_up(by_pid, speaker.pid);
    if (speaker.local_rank < 0) return look_up(by_name, writer_of(job, speaker));
    return look_up(by_local_rank, std::pair(speaker.input, speaker.local_rank));
  }

  /// The process whose pid, or whose number at its launcher, stands in front of what a rank says.
  int find_by_prefix(const Job& job, const SpeakerLog& log) const {
    const int64_t pid = parse_header(log.last_text).prefix.pid;
    if (pid >= 0) return look_up(by_pid, pid);
    if (log.task_local_rank < 0) return -1;
    const auto input = static_cast<int64_t>(input_of(job, log.first));
    return look_up(by_local_rank, std::pair(input, log.task_local_rank));
  }
};

/// Inputs in which one process of NCCL and one rank of the framework speak: the file of a rank.
std::map<uint32_t, int> files_of_one_process(const Job& job) {
  std::map<uint32_t, std::set<int>> processes;
  std::map<uint32_t, std::set<int>> ranks;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    processes[input_of(job, job.processes[p].first)].insert(static_cast<int>(p));
    processes[input_of(job, job.processes[p].last)].insert(static_cast<int>(p));
  }
  for (const SpeakerLog& log : job.logs) {
    if (log.speaker.rank >= 0) ranks[input_of(job, log.first)].insert(log.speaker.rank);
  }
  std::map<uint32_t, int> files;
  for (const auto& [input, speaking] : processes) {
    if (speaking.size() == 1 && ranks[input].size() == 1) files[input] = *speaking.begin();
  }
  // One such file may be the output of a whole job in which only one process prints NCCL's lines.
  return files.size() > 1 ? files : std::map<uint32_t, int>{};
}

/// Size of the communicator of all ranks; -1 if the largest one that is logged cannot be it.
int world_size(const Job& job) {
  int nranks = -1;
  int highest = -1;
  for (const SpeakerLog& log : job.logs) {
    const CommSegment* largest = largest_segment(log);
    if (largest != nullptr) nranks = std::max(nranks, largest->nranks);
    highest = std::max(highest, log.speaker.rank);
  }
  const bool holds_all = highest < nranks && std::cmp_less_equal(job.processes.size(), nranks);
  return holds_all ? nranks : -1;
}

/// Which process says what a framework's "[rank3]" says, by other signs than that number: the
/// number may be wrong, and then NCCL's own rank wins.
class Owners {
 public:
  Owners(const Job& job, const Directory& directory)
      : directory_(directory), world_(world_size(job)), files_(files_of_one_process(job)) {}

  /// -1 if nothing but the number tells.
  int find(const Job& job, const SpeakerLog& log) const {
    if (log.speaker.rank < 0 || world_ < 0) return -1;
    int owner = directory_.find_by_prefix(job, log);
    if (owner < 0) owner = Directory::look_up(files_, input_of(job, log.first));
    if (owner < 0) return -1;
    const SpeakerLog& own = job.logs[job.processes[static_cast<size_t>(owner)].logs.front()];
    const CommSegment* largest = largest_segment(own);
    const bool has_global_rank = largest != nullptr && largest->nranks == world_ &&
                                 job.processes[static_cast<size_t>(owner)].rank >= 0;
    return has_global_rank ? owner : -1;
  }

 private:
  const Directory& directory_;
  int world_;
  std::map<uint32_t, int> files_;
};

/// Joins the remaining voices to the processes they name; those that name none stand alone. What a
/// launcher numbers is one of NCCL's processes, if it numbers them all differently.
void add_other_speakers(Job& job, bool has_labelled_ranks) {
  Directory directory;
  for (size_t p = 0; p < job.processes.size(); ++p) directory.add(job, p);
  const Owners owners(job, directory);
  for (size_t i = 0; i < job.logs.size(); ++i) {
    const Speaker& speaker = job.logs[i].speaker;
    if (!speaker.host.empty() && speaker.pid >= 0) continue;
    const bool has_rank = has_labelled_ranks || !is_label_only(job.logs[i]);
    const int owner = has_rank ? owners.find(job, job.logs[i]) : -1;
    const int known =
        owner >= 0 ? owner
        : has_rank ? directory.find(job, speaker)
                   : Directory::look_up(directory.by_label,
                                        std::pair(input_of(job, job.logs[i].first), speaker.rank));
    if (known >= 0) {
      join(job, job.processes[static_cast<size_t>(known)], i);
      continue;
    }
    Process process;
    process.host = speaker.host;
    process.pid = speaker.pid;
    process.rank = has_rank ? speaker.rank : -1;
    join(job, process, i);
    job.processes.push_back(std::move(process));
    directory.add(job, job.processes.size() - 1);
  }
}

/// Known ranks first, in order; then by host and pid; those that name nobody by place in the input.
bool before(const Process& a, const Process& b) {
  const auto key = [](const Process& process) {
    const bool named = process.rank >= 0 || process.pid >= 0;
    return std::tuple(!named, process.rank < 0, process.rank, process.host, process.pid,
                      process.first);
  };
  return key(a) < key(b);
}

}  // namespace

void build_processes(Job& job) {
  add_nccl_processes(job);
  const bool has_labelled_ranks = labels_are_ranks(job);
  if (has_labelled_ranks) add_labelled_ranks(job);
  add_other_speakers(job, has_labelled_ranks);
  std::stable_sort(job.processes.begin(), job.processes.end(), before);
}

}  // namespace ncclog
