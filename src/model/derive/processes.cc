// Who is who: the voices that speak for one process are joined, and the process gets its rank.
//
// A process speaks as NCCL (host and pid), as PyTorch ("[rank3]:"), through Ray ("pid=88213") or
// through a launcher's local rank. NCCL's own rank in the largest communicator wins over prefixes.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sorting.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/messages.h"
#include "model/derive/steps.h"

namespace ncclog {
namespace {

bool speaks_nccl(const SpeakerLog& log) {
  if (!log.comms.all.empty() || !log.connections.all.empty() || !log.unrecognised.empty()) {
    return true;
  }
  return std::any_of(log.records.begin(), log.records.end(), [](const auto& entry) {
    return all_kinds()[entry.first].source == Source::Nccl;
  });
}

void join_communicator(Job& job, Process& process, size_t index) {
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
    process.last_log = static_cast<int64_t>(index);
  }
  process.cut |= job.losses.count(Loss::LineLeftOut) > 0;
  const int64_t input = input_of(job, log.last);
  if (input >= 0) process.cut |= job.inputs[input].status == InputStatus::Cut;
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
  return std::ranges::any_of(log.comms.all, [&](const CommSegment& other) {
    return other.nranks == of.nranks && other.comm_id == of.comm_id && other.rank >= 0 &&
           other.rank != of.rank && other.comm != of.comm;
  });
}

// Which process is a rank, where a table tells?
//
//   #  Rank  7 Group  0 Pid 4177 on node-a device  7 [0xbd] NVIDIA A100   nccl-tests, at its start
//
//     host      : node-a.example                                          torchrun, of those that
//     rank      : 7 (local_rank: 7)                                       failed
//     exitcode  : -6 (pid: 4177)

/// Rows by the pid, and by the rank, that they name.
using ListedRanks = std::multimap<Speaker, ListedRank>;

ListedRanks by_name(const std::vector<ListedRank>& rows) {
  ListedRanks listed;
  for (const ListedRank& row : rows) {
    listed.emplace(Speaker{.pid = row.pid}, row);
    listed.emplace(Speaker{.rank = row.rank}, row);
  }
  return listed;
}

/// As NCCL prints hosts, up to the first dot; an address is no name, and "localhost" is everywhere.
std::string host_name(std::string_view host) {
  if (host.find_first_not_of("0123456789.:") == host.npos || host == "localhost") return {};
  return std::string(host.substr(0, host.find('.')));
}

/// Adds the rows of torchrun's tables. Host, rank and exit code come in this order, but of lines that
/// come again only the first is kept: a row without a host is of the only one that is named.
void add_failed_ranks(const SpeakerLog& log, std::vector<ListedRank>& listed) {
  std::vector<Record> lines;
  for (const uint16_t kind :
       {kKindIndex<FailureHost>, kKindIndex<FailureRank>, kKindIndex<FailureExitcode>}) {
    for (const Record& record : log.records.kept(kind)) lines.push_back(record);
  }
  std::ranges::sort(lines, {}, &Record::where);
  std::vector<ListedRank> rows;
  std::set<std::string> hosts;
  std::string host;
  bool is_open = false;
  for (const Record& line : lines) {
    const Message message = parse_message(line);
    if (line.kind() == kKindIndex<FailureHost>) {
      host = host_name(read_message<FailureHost>(message).host);
      hosts.insert(host);
    } else if (line.kind() == kKindIndex<FailureRank>) {
      rows.push_back({read_message<FailureRank>(message).rank, -1, std::exchange(host, {})});
      is_open = true;
    } else if (!rows.empty()) {
      // A second one: two tables were written into each other.
      rows.back().pid = is_open ? read_message<FailureExitcode>(message).pid : -1;
      is_open = false;
    }
  }
  for (ListedRank& row : rows) {
    if (row.host.empty() && hosts.size() == 1) row.host = *hosts.begin();
    if (row.rank >= 0) listed.push_back(std::move(row));
  }
}

std::vector<ListedRank> listed_ranks(const Job& job) {
  std::vector<ListedRank> listed;
  for_each_message<NcclTestsRank>(job, [&](const NcclTestsRank& row) {
    listed.push_back({row.rank, row.pid, host_name(row.host)});
  });
  for (const SpeakerLog& log : job.logs) add_failed_ranks(log, listed);
  return listed;
}

/// The rows about a process, by what is known of it.
std::vector<ListedRank> rows_about(const ListedRanks& listed, const Process& process) {
  std::vector<ListedRank> rows;
  if (process.pid < 0 && process.rank < 0) return rows;
  const auto name = process.pid >= 0 ? Speaker{.pid = process.pid} : Speaker{.rank = process.rank};
  for (auto [row, end] = listed.equal_range(name); row != end; ++row) {
    const std::string& host = row->second.host;
    if (process.host.empty() || host.empty() || host == process.host) rows.push_back(row->second);
  }
  return rows;
}

/// Gives the process what the tables know of it and its lines do not say. A process with several
/// ranks is none of them, and a rank with several pids had several lives.
void complete(Process& process, const ListedRanks& listed) {
  const std::vector<ListedRank> rows = rows_about(listed, process);
  const bool is_one = !rows.empty() && std::ranges::all_of(rows, [&](const ListedRank& row) {
    return row == rows.front();
  });
  if (!is_one) return;
  if (process.rank < 0) process.rank = rows.front().rank;
  if (process.pid < 0) process.pid = rows.front().pid;
  if (process.host.empty()) process.host = rows.front().host;
}

/// The rank that a process has in every tree and every local connection it announces; -1 if they
/// name several, as sub-communicators and several ranks in one process make them do.
int rank_of_paths(const SpeakerLog& log) {
  std::set<int> ranks;
  for_each_message<Trees>(log, [&](const Trees& trees) {
    const std::vector<TreePlace> places = parse_trees(trees.text, false);
    ranks.insert(places.empty() ? -1 : places.front().rank);
  });
  for (const auto& [connection, use] : log.connections.all) {
    const Transport transport = transport_of(connection.path);
    // Only the sender announces these.
    if (transport == Transport::P2P || transport == Transport::SHM)
      ranks.insert(connection.src_rank);
  }
  // A proxy that failed for another rank may stand in a process that has both.
  if (!ranks.empty()) {
    for_each_message<ProxyCallFailed>(log, [&](const ProxyCallFailed& call) {
      if (call.rank >= 0) ranks.insert(call.rank);
    });
  }
  return ranks.size() == 1 ? *ranks.begin() : -1;
}

/// The one rank by which NCCL or the framework calls who prints, in its own lines: "Duplicate GPU
/// detected : rank 6 and rank 0 …", "NCCL communicator was aborted on rank 2"; -1: none, or
/// several.
int rank_told(const SpeakerLog& log) {
  std::set<int> ranks;
  const auto add = [&](const auto& message) { ranks.insert(message.rank); };
  for_each_message<DuplicateGpu>(log, add);
  for_each_message<CommAborted>(log, add);
  return ranks.size() == 1 ? *ranks.begin() : -1;
}

void set_rank(Process& process, const SpeakerLog& log, const ListedRanks& listed) {
  const CommSegment* largest = largest_segment(log);
  if (largest != nullptr) {
    // A process with several ranks is none of them.
    if (has_other_rank(log, *largest)) return;
    process.rank = largest->rank;
    process.cuda_dev = largest->cuda_dev;
    process.bus_id = largest->bus_id;
    return;
  }
  if (!rows_about(listed, process).empty()) return complete(process, listed);
  process.rank = rank_of_paths(log);
  // It may be a rank of a part of the job, unless the launcher's number is the same.
  if (process.rank < 0 && rank_told(log) == log.task_rank) process.rank = rank_told(log);
}

/// What a voice without host and pid was told apart by: a number that its launcher gave, and
/// nothing that the framework says of itself.
bool is_label_only(const SpeakerLog& log) {
  const int rank = log.speaker.rank;
  if (rank < 0) return false;
  const auto is_stated = [&](const Header& header) {
    return header.prefix.task != rank || header.prefix.rank_is_stated ||
           header.level == Level::Framework;
  };
  if (is_stated(parse_header(log.last_text)) || rank_told(log) == rank) return false;
  // Lines before the last one may state it under the same number. Number 0 is that of the first node
  // as well, on which rank 0 is.
  bool is_told = false;
  for (const auto& [kind, list] : log.records) {
    for (const Record& record : log.records.kept(kind)) {
      const Header header = parse_record(record).header;
      const bool is_other = header.group_rank >= 0 && header.group_rank != rank;
      if (rank == 0 || is_other || header.prefix.task != rank) return true;
      is_told |= is_stated(header);
    }
  }
  return !is_told;
}

/// Of the processes of each host, the difference between the launcher's number and that of the GPU.
using Offsets = std::map<std::string, std::vector<int>>;

/// True if on some host the numbers of several tasks go up with those of their GPUs.
bool follow_gpus(const Offsets& offsets) {
  return std::ranges::any_of(offsets, [](const auto& host) {
    const std::vector<int>& all = host.second;
    return all.size() > 1 && std::ranges::count(all, all.front()) == std::ssize(all);
  });
}

/// True if srun, whose tasks are ranks, says how a task ended that has the number of some label.
bool numbered_by_srun(const Job& job) {
  if (!tasks_are_ranks(job)) return false;
  std::set<int> tasks;
  for_each_message<ProcessEnded>(job, [&](const ProcessEnded& task) { tasks.insert(task.rank); });
  return std::ranges::any_of(job.logs, [&](const SpeakerLog& log) {
    return log.speaker.rank >= 0 && tasks.contains(parse_prefix(log.last_text).task);
  });
}

/// A torchrun behind a label lists workers of other ranks: the labels number nodes.
bool labels_are_nodes(const Job& job) {
  return std::ranges::any_of(job.logs, [](const SpeakerLog& log) {
    const auto& rows = log.records.kept(kKindIndex<FailureRank>);
    return std::any_of(rows.begin(), rows.end(), [](const Record& record) {
      const Event row = parse_record(record);
      const int label = row.header.prefix.task;
      return label >= 0 && read_message<FailureRank>(row.message).rank != label;
    });
  });
}

/// True if the numbers that launchers put in front of lines are ranks: NCCL or the framework gives
/// somebody the same one, or they go up with the GPUs of a host, and nobody has another.
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
    // A rank in a part of the job is no rank of the job.
    if (process.rank < 0 || (largest != nullptr && largest->nranks < world)) continue;
    if (process.rank != log.task_rank) return false;
    is_confirmed = true;
  }
  for (const SpeakerLog& log : job.logs) {
    if (log.speaker.rank < 0) continue;
    const int task = parse_prefix(log.last_text).task;
    if (task < 0 || is_label_only(log)) continue;
    if (task != log.speaker.rank) return false;
    is_confirmed = true;
  }
  return is_confirmed || follow_gpus(offsets) || numbered_by_srun(job);
}

/// What launchers number in front of lines. With one task a node they are nodes.
enum class Labelled { Unknown, Ranks, Nodes };

Labelled what_labels_number(const Job& job) {
  if (labels_are_nodes(job)) return Labelled::Nodes;
  return labels_are_ranks(job) ? Labelled::Ranks : Labelled::Unknown;
}

/// Processes that NCCL's own lines name, by host and pid.
void add_nccl_processes(Job& job, const ListedRanks& listed) {
  job.processes.reserve(job.logs.size());
  for (size_t i = 0; i < job.logs.size(); ++i) {
    const SpeakerLog& log = job.logs[i];
    if (log.speaker.host.empty() || log.speaker.pid < 0) continue;
    Process process;
    process.host = log.speaker.host;
    process.pid = log.speaker.pid;
    join_communicator(job, process, i);
    set_rank(process, log, listed);
    job.processes.push_back(std::move(process));
  }
}

/// Inputs in which one process of NCCL and one rank of the framework speak: the file of a rank.
std::map<int64_t, int> files_of_one_process(const Job& job) {
  std::map<int64_t, std::set<int>> processes;
  std::map<int64_t, std::set<int>> ranks;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const SourceRef where : {job.processes[p].first, job.processes[p].last}) {
      processes[input_of(job, where)].insert(static_cast<int>(p));
    }
  }
  for (const SpeakerLog& log : job.logs) {
    if (log.speaker.rank >= 0) ranks[input_of(job, log.first)].insert(log.speaker.rank);
  }
  std::map<int64_t, int> files;
  for (const auto& [input, speaking] : processes) {
    if (speaking.size() == 1 && ranks[input].size() == 1) files[input] = *speaking.begin();
  }
  // One such file may be the output of a whole job in which only one process prints NCCL's lines.
  return files.size() > 1 ? files : std::map<int64_t, int>{};
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

/// The WARNs in a log, its own or such as "Last error: …" quotes.
std::set<std::string> warnings_in(const SpeakerLog& log) {
  std::set<std::string> texts;
  for (const auto& [kind, list] : log.records) {
    if (all_kinds()[kind].source != Source::Nccl) continue;
    for (const Record& record : log.records.kept(kind)) {
      const Header header = parse_record(record).header;
      if (header.level == Level::Warn) texts.emplace(trim(header.message));
    }
  }
  return texts;
}

/// The one process that printed a WARN which one rank of the framework alone quotes, by that rank's
/// log: "[rank3]: Last error: Call to connect to 10.0.0.7<4711> failed : …". Of processes whose rank
/// nothing else tells.
std::map<size_t, int> quoted_processes(const Job& job) {
  struct Told {
    std::set<size_t> voices;
    std::set<int> processes;
  };
  std::map<std::string, Told> told;
  for (size_t i = 0; i < job.logs.size(); ++i) {
    if (job.logs[i].speaker.rank < 0) continue;
    for (const std::string& text : warnings_in(job.logs[i])) told[text].voices.insert(i);
  }
  for (size_t p = 0; p < job.processes.size() && !told.empty(); ++p) {
    const SpeakerLog& log = job.logs[job.processes[p].logs.front()];
    for (const std::string& text : warnings_in(log)) {
      const auto quoted = told.find(text);
      if (quoted != told.end()) quoted->second.processes.insert(static_cast<int>(p));
    }
  }
  std::map<size_t, int> owners;
  for (const auto& [text, who] : told) {
    if (who.voices.size() != 1 || who.processes.size() != 1) continue;
    const Process& process = nth_process(job, *who.processes.begin());
    const bool is_open =
        process.rank < 0 && largest_segment(job.logs[process.logs.front()]) == nullptr;
    if (is_open) owners.emplace(*who.voices.begin(), *who.processes.begin());
  }
  return owners;
}

/// Whoever ends all its communicators in order waited in none of them until a limit: a rank that says
/// so is one of another job.
bool may_speak_for(const SpeakerLog& voice, const SpeakerLog& process) {
  const auto& all = process.comms.all;
  const auto ended = std::ranges::count(all, CommFate::Destroyed, &CommSegment::end);
  return ended == 0 || ended < std::ssize(all) ||
         !voice.records.contains(kKindIndex<WatchdogTimeout>);
}

template <typename Names, typename Name>
int look_up(const Names& names, const Name& name) {
  const auto entry = names.find(name);
  return entry == names.end() ? -1 : entry->second;
}

/// The processes by the names that voices have for them, of which a Speaker holds the parts; -1
/// where several answer to a name. Torn lines invent as many voices as processes, so none of them
/// searches.
class Directory {
 public:
  /// Of NCCL's processes, which the job has to hold already.
  Directory(const Job& job, const ListedRanks& listed)
      : job_(job),
        listed_(listed),
        world_(world_size(job)),
        files_(files_of_one_process(job)),
        quoted_(quoted_processes(job)) {
    for (size_t p = 0; p < job.processes.size(); ++p) add(p);
  }

  void add(size_t index) {
    const auto enter = [&](auto& names, const auto& name) {
      const auto [entry, is_new] = names.try_emplace(name, static_cast<int>(index));
      if (!is_new && entry->second != static_cast<int>(index)) entry->second = -1;
    };
    const Process& process = job_.processes[index];
    const SpeakerLog& log = job_.logs[process.logs.front()];
    const int64_t input = input_of(job_, log.first);
    if (process.rank >= 0) enter(by_name_, Speaker{.rank = process.rank});
    if (process.pid >= 0) enter(by_name_, Speaker{.pid = process.pid});
    if (process.pid >= 0 && !process.host.empty()) {
      enter(by_name_, Speaker{.host = process.host, .pid = process.pid});
    }
    if (input < 0) return;
    if (log.task_rank >= 0) enter(by_label_, std::pair(input, log.task_rank));
    if (log.task_local_rank < 0) return;
    enter(by_name_, Speaker{.local_rank = log.task_local_rank, .input = input});
  }

  /// The process that the log's speaker speaks for; -1 if none or several. Without `has_rank` its
  /// rank is a launcher's number.
  int find(const SpeakerLog& log, bool has_rank) const {
    const Speaker& speaker = log.speaker;
    if (!has_rank) return look_up(by_label_, std::pair(input_of(job_, log.first), speaker.rank));
    if (const int owner = owner_of(log); owner >= 0) return owner;
    if (speaker.rank >= 0) {
      const int named = look_up(by_name_, Speaker{.rank = speaker.rank});
      if (named < 0) return -1;
      const Process& process = nth_process(job_, named);
      const bool is_own = may_speak_for(log, job_.logs[process.logs.front()]) &&
                          !is_listed_elsewhere(process, speaker.rank);
      return is_own ? named : -1;
    }
    if (speaker.pid >= 0) return look_up(by_name_, Speaker{.pid = speaker.pid});
    if (speaker.local_rank >= 0) {
      return look_up(by_name_, Speaker{.local_rank = speaker.local_rank, .input = speaker.input});
    }
    // A voice that names nobody is that of the process that wrote its file, if that is certain.
    if (speaker.input < 0 || !speaker.host.empty()) return -1;
    const JobInput& input = job_.inputs[speaker.input];
    if (input.rank >= 0) return look_up(by_name_, Speaker{.rank = input.rank});
    return look_up(by_name_, Speaker{.host = input.host, .pid = input.pid});
  }

 private:
  /// A table of failures lists a rank of that number on another host, as where two jobs write into
  /// one stream.
  bool is_listed_elsewhere(const Process& process, int rank) const {
    const auto [begin, end] = listed_.equal_range(Speaker{.rank = rank});
    return std::any_of(begin, end, [&](const auto& entry) {
      const ListedRank& row = entry.second;
      return !row.host.empty() && !process.host.empty() && row.host != process.host &&
             row.pid >= 0 && process.pid >= 0 && row.pid != process.pid;
    });
  }

  /// The process whose pid, or whose number at its launcher, stands in front of what a rank says.
  int find_by_prefix(const SpeakerLog& log) const {
    const int64_t pid = parse_header(log.last_text).prefix.pid;
    if (pid >= 0) return look_up(by_name_, Speaker{.pid = pid});
    if (log.task_local_rank < 0) return -1;
    return look_up(by_name_,
                   Speaker{.local_rank = log.task_local_rank, .input = input_of(job_, log.first)});
  }

  /// Which process says what a framework's "[rank3]" says, by other signs than that number: the
  /// number may be wrong, and then NCCL's own rank wins. -1 if nothing but the number tells.
  int owner_of(const SpeakerLog& log) const {
    if (log.speaker.rank < 0) return -1;
    int owner = find_by_prefix(log);
    if (owner < 0) owner = look_up(files_, input_of(job_, log.first));
    if (owner < 0) owner = look_up(quoted_, static_cast<size_t>(&log - job_.logs.data()));
    if (owner < 0) return -1;
    const Process& process = nth_process(job_, owner);
    const CommSegment* largest = largest_segment(job_.logs[process.logs.front()]);
    if (process.rank < 0 && largest == nullptr) return owner;
    if (world_ < 0) return -1;
    const bool is_global = largest != nullptr && largest->nranks == world_ && process.rank >= 0;
    return is_global ? owner : -1;
  }

  const Job& job_;
  const ListedRanks& listed_;
  int world_;
  std::map<int64_t, int> files_;
  std::map<size_t, int> quoted_;  ///< By log.
  std::map<Speaker, int> by_name_;
  std::map<std::pair<int64_t, int>, int> by_label_;  ///< By input and the launcher's number.
};

/// Joins the remaining voices to the processes they name; those that name none stand alone. What a
/// launcher numbers is one of NCCL's processes, if it numbers them all differently.
void add_other_speakers(Job& job, const ListedRanks& listed, Labelled labels) {
  const auto is_process = [](const SpeakerLog& log) {
    return !log.speaker.host.empty() && log.speaker.pid >= 0;
  };
  if (std::ranges::all_of(job.logs, is_process)) return;
  Directory directory(job, listed);
  for (size_t i = 0; i < job.logs.size(); ++i) {
    if (is_process(job.logs[i])) continue;
    const Speaker& speaker = job.logs[i].speaker;
    const Prefix prefix = parse_prefix(job.logs[i].last_text);
    const bool is_node = labels == Labelled::Nodes && prefix.task == speaker.rank &&
                         !prefix.rank_is_stated && speaker.rank >= 0;
    const bool has_rank = labels == Labelled::Ranks || (!is_node && !is_label_only(job.logs[i]));
    const int known = directory.find(job.logs[i], has_rank);
    if (known >= 0) {
      Process& process = job.processes[known];
      join_communicator(job, process, i);
      // Nothing but this voice says which rank it is.
      if (process.rank < 0 && has_rank && speaker.rank >= 0) {
        process.rank = speaker.rank;
        directory.add(static_cast<size_t>(known));
      }
      continue;
    }
    Process process;
    process.host = speaker.host;
    process.pid = speaker.pid;
    process.rank = has_rank ? speaker.rank : -1;
    const bool is_nameless = speaker.input >= 0 && process.host.empty() && process.pid < 0;
    if (is_nameless) process.rank = job.inputs[speaker.input].rank;
    // "(Worker pid=4242) [rank3]: …": other lines of that process have the pid alone.
    if (process.rank >= 0 && process.pid < 0) {
      process.pid = parse_header(job.logs[i].last_text).prefix.pid;
    }
    complete(process, listed);
    join_communicator(job, process, i);
    job.processes.push_back(std::move(process));
    directory.add(job.processes.size() - 1);
  }
}

/// Known ranks first, in order; then by host and pid; those that name nobody by place in the input.
auto order_of(const Process& process) {
  const bool named = process.rank >= 0 || process.pid >= 0;
  return std::tuple(!named, process.rank < 0, process.rank, std::string_view(process.host),
                    process.pid, process.first);
}

}  // namespace

bool tasks_are_ranks(const Job& job) {
  return std::ranges::none_of(job.logs, [](const SpeakerLog& log) {
    return !log.records.kept(kKindIndex<WorkerFailed>).empty() ||
           !log.records.kept(kKindIndex<FailureExitcode>).empty() ||
           !log.records.kept(kKindIndex<ChildFailed>).empty();
  });
}

void build_processes(Job& job) {
  job.listed_ranks = listed_ranks(job);
  const ListedRanks listed = by_name(job.listed_ranks);
  add_nccl_processes(job, listed);
  const Labelled labels = what_labels_number(job);
  for (Process& process : job.processes) {
    // Whose rank NCCL does not tell has the one that its framework or its launcher gives it.
    const SpeakerLog& log = job.logs[process.logs.front()];
    const bool is_told = process.rank >= 0 || largest_segment(log) != nullptr;
    const bool is_labelled =
        labels == Labelled::Ranks || parse_prefix(log.last_text).rank_is_stated;
    if (is_labelled && !is_told) process.rank = std::max(log.task_rank, -1);
  }
  add_other_speakers(job, listed, labels);
  // Of workers on other nodes Ray's labels tell the address, where nothing tells a host.
  const auto has_host = [](const Process& process) { return !process.host.empty(); };
  if (std::ranges::none_of(job.processes, has_host)) {
    for (Process& process : job.processes) {
      for (const size_t log : process.logs) {
        if (process.host.empty()) process.host = parse_prefix(job.logs[log].last_text).address;
      }
    }
  }
  sort_unless_sorted(job.processes, {}, order_of);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      job.logs[log].records.set_process(static_cast<int>(p));
      job.logs[log].line_matches.set_process(static_cast<int>(p));
    }
  }
}

}  // namespace ncclog
