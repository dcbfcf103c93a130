
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
#include "model/derive/build_job.h"
#include "model/shard/shard.h"

namespace ncclog {
namespace {

constexpr std::string_view kPackings[] = {".gz", ".xz", ".zst", ".bz2"};

std::string_view without_packing(std::string_view path) {
  for (const std::string_view ending : kPackings) {
    if (path.ends_with(ending)) path.remove_suffix(ending.size());
  }
  return path;
}

/// The last `parts` parts of the path.
std::string_view last_parts(std::string_view path, int parts) {
  if (path.empty()) return path;
  size_t at = path.size();
  for (; parts > 0 && at != path.npos && at > 0; --parts) at = path.rfind('/', at - 1);
  return at == path.npos ? path : path.substr(path[at] == '/' ? at + 1 : at);
}

/// Where `word` stands as a word of its own; npos if nowhere or twice.
size_t only_place(std::string_view text, std::string_view word) {
  size_t found = text.npos;
  if (word.empty()) return found;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool joined = (at > 0 && is_word(text[at - 1]) && text[at - 1] != '_') ||
                        (end < text.size() && is_word(text[end]) && text[end] != '_');
    if (joined) continue;
    if (found != text.npos) return text.npos;
    found = at;
  }
  return found;
}

/// "gpu-node-#" for gpu-node-01 and gpu-node-17: names of one kind of machine.
std::string shape(std::string_view host) {
  std::string text;
  for (const char c : host) {
    if (!is_digit(c)) {
      text += c;
    } else if (text.empty() || text.back() != '#') {
      text += '#';
    }
  }
  return text;
}

std::optional<NamePattern> learn_from(std::string_view name, const FileWriter& writer) {
  const std::string number = std::to_string(writer.pid);
  const size_t host_at = only_place(name, writer.host);
  NamePattern pattern;
  pattern.has_host = host_at != name.npos;
  std::string rest(name);
  if (pattern.has_host) rest.replace(host_at, writer.host.size(), writer.host.size(), '/');
  const size_t pid_at = only_place(rest, number);
  if (pid_at == rest.npos) return std::nullopt;
  using Place = std::pair<size_t, size_t>;  // Begin and end.
  const Place pid(pid_at, pid_at + number.size());
  const Place host = pattern.has_host ? Place(host_at, host_at + writer.host.size()) : pid;
  const auto& [first, last] = std::minmax(host, pid);
  pattern.pid_first = pid < host;
  pattern.before = name.substr(0, first.first);
  pattern.after = name.substr(last.second);
  if (pattern.has_host) {
    pattern.between = name.substr(first.second, last.first - first.second);
    pattern.host_shape = shape(writer.host);
  }
  return pattern;
}

}  // namespace

std::optional<NamePattern> learn_pattern(std::string_view path, const FileWriter& writer) {
  if (writer.host.empty() || writer.pid < 0) return std::nullopt;
  path = without_packing(path);
  const auto alone = learn_from(last_parts(path, 1), writer);
  if (alone && alone->has_host) return alone;
  const auto both = learn_from(last_parts(path, 2), writer);
  return both && both->has_host ? both : alone;
}

std::optional<FileWriter> match_pattern(const NamePattern& pattern, std::string_view path) {
  const bool two =
      (pattern.before + pattern.between + pattern.after).find('/') != std::string::npos;
  std::string_view name = last_parts(without_packing(path), two ? 2 : 1);
  const size_t around = pattern.before.size() + pattern.after.size();
  const bool fits =
      name.size() > around && name.starts_with(pattern.before) && name.ends_with(pattern.after);
  if (!fits) return std::nullopt;
  name = name.substr(pattern.before.size(), name.size() - around);
  std::string_view host;
  if (pattern.has_host) {
    // Between the two stands no digit beside the pid (only_place).
    const size_t at = pattern.pid_first ? name.find(pattern.between) : name.rfind(pattern.between);
    if (at == name.npos) return std::nullopt;
    host = name.substr(0, at);
    name = name.substr(at + pattern.between.size());
    if (pattern.pid_first) std::swap(host, name);
  }
  const auto pid = std::ranges::all_of(name, is_digit) ? parse_int(name) : std::nullopt;
  if (!pid || shape(host) != pattern.host_shape) return std::nullopt;
  return FileWriter{std::string(host), *pid};
}

std::optional<TorchrunFile> parse_torchrun_file(std::string_view path) {
  constexpr std::string_view kAttempt = "attempt_";
  path = without_packing(path);
  const std::vector<std::string_view> parts = split(path, '/');
  if (parts.size() < 3) return std::nullopt;
  const std::string_view file = parts.back();
  const std::string_view rank = parts[parts.size() - 2];
  const std::string_view attempt = parts[parts.size() - 3];
  const auto number = [](std::string_view text) {
    const bool digits = !text.empty() && std::ranges::all_of(text, is_digit);
    return digits && text.size() < 7 ? parse_int(text) : std::nullopt;
  };
  if ((file != "stdout.log" && file != "stderr.log") || !attempt.starts_with(kAttempt)) {
    return std::nullopt;
  }
  const auto local_rank = number(rank);
  const auto count = number(attempt.substr(kAttempt.size()));
  if (!local_rank || !count) return std::nullopt;
  TorchrunFile result;
  result.folder = path.substr(0, path.size() - file.size() - 1);
  result.run = path.substr(0, static_cast<size_t>(attempt.data() - path.data()));
  result.attempt = static_cast<int>(*count);
  result.local_rank = static_cast<int>(*local_rank);
  return result;
}

// Whose lines are those that name nobody? Those of the process that wrote the file, where its name
// and its neighbours make that certain.
//
//   nccl.node01.77.log   node01:77:80 [0] NCCL INFO …   its lines name node01:77, and so does its
//                        a banner, a table              name: the banner is node01:77's, too
//   nccl.node02.91.log   NCCL INFO … without host       the same pattern: node02:91
//   attempt_0/3/stderr.log   beside stdout.log in which one process speaks: that one

namespace {

/// Kinds of names that one folder has; more are no pattern.
constexpr size_t kMaxPatterns = 64;

/// By input: whom its lines name.
using NamedWriters = std::vector<StretchWriter>;

NamedWriters writers_by_input(const Job& job, const std::map<uint64_t, StretchWriter>& writers) {
  NamedWriters named(job.inputs.size());
  for (const auto& [unit, writer] : writers) {
    const int64_t input = input_of(job, {unit, 1});
    if (input < 0) continue;
    named[static_cast<size_t>(input)].add(writer.host, writer.pid, writer.several);
  }
  return named;
}

/// The one process that they name; nullopt: none or several.
std::optional<FileWriter> only_one(const StretchWriter& named) {
  return named.pid < 0 || named.several ? std::nullopt
                                        : std::optional(FileWriter{named.host, named.pid});
}

std::vector<NamePattern> learn_patterns(const Job& job, const NamedWriters& named) {
  std::vector<NamePattern> patterns;
  for (size_t i = 0; i < job.inputs.size() && patterns.size() < kMaxPatterns; ++i) {
    const auto writer = only_one(named[i]);
    auto pattern = writer ? learn_pattern(job.inputs[i].path, *writer) : std::nullopt;
    if (!pattern) continue;
    const bool known = std::ranges::find(patterns, *pattern) != patterns.end();
    if (!known) patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

/// Who wrote `path`, if the patterns agree.
std::optional<FileWriter> writer_by_pattern(const std::vector<NamePattern>& patterns,
                                            std::string_view path) {
  std::optional<FileWriter> writer;
  for (const NamePattern& pattern : patterns) {
    const auto match = match_pattern(pattern, path);
    if (!match) continue;
    // Patterns of two folders may both fit and mean different digits.
    if (writer && *writer != *match) return std::nullopt;
    writer = match;
  }
  return writer;
}

/// The one process that speaks in the two files of a torchrun worker, by folder.
std::map<std::string_view, std::optional<FileWriter>> torchrun_workers(const Job& job,
                                                                       const NamedWriters& named) {
  std::map<std::string_view, std::optional<FileWriter>> workers;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const auto file = parse_torchrun_file(job.inputs[i].path);
    if (!file || named[i].pid < 0) continue;
    const auto writer = only_one(named[i]);
    const auto [worker, is_new] = workers.try_emplace(file->folder, writer);
    if (!is_new && worker->second != writer) worker->second.reset();
  }
  return workers;
}

/// The host of each pid; empty where several have it.
std::map<int64_t, std::string> hosts_by_pid(const Job& job) {
  std::map<int64_t, std::string> hosts;
  for (const SpeakerLog& log : job.logs) {
    if (log.speaker.host.empty() || log.speaker.pid < 0) continue;
    const auto [host, is_new] = hosts.try_emplace(log.speaker.pid, log.speaker.host);
    if (!is_new) host->second.clear();
  }
  return hosts;
}

/// Joins what the name says with what the lines say; nullopt if they do not agree or leave open who
/// it is.
std::optional<FileWriter> agree(FileWriter by_name, const std::optional<FileWriter>& by_lines,
                                const std::map<int64_t, std::string>& hosts) {
  if (by_name.host.empty() && by_lines && by_lines->pid == by_name.pid) return by_lines;
  if (by_lines) return *by_lines == by_name ? by_lines : std::nullopt;
  const auto host = hosts.find(by_name.pid);
  if (by_name.host.empty() && host != hosts.end()) by_name.host = host->second;
  return by_name.host.empty() ? std::nullopt : std::optional(std::move(by_name));
}

void name_inputs(Job& job, const std::map<uint64_t, StretchWriter>& writers) {
  const NamedWriters named = writers_by_input(job, writers);
  const std::vector<NamePattern> patterns = learn_patterns(job, named);
  const auto workers = torchrun_workers(job, named);
  const auto hosts = hosts_by_pid(job);
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    JobInput& input = job.inputs[i];
    const auto file = parse_torchrun_file(input.path);
    if (file) input.attempt = file->attempt;
    if (input.is_archive || named[i].several) continue;
    const auto worker = file ? workers.find(file->folder) : workers.end();
    const auto by_name =
        worker != workers.end() ? worker->second : writer_by_pattern(patterns, input.path);
    const auto writer = by_name ? agree(*by_name, only_one(named[i]), hosts) : std::nullopt;
    if (!writer) continue;
    input.host = writer->host;
    input.pid = writer->pid;
  }
}

bool names_nobody(const Speaker& speaker) {
  return speaker.host.empty() && speaker.pid < 0 && speaker.rank < 0 && speaker.local_rank < 0;
}

}  // namespace

void build_writers(Job& job, const std::map<uint64_t, StretchWriter>& writers) {
  name_inputs(job, writers);
  std::set<std::pair<std::string, int64_t>> spoken_for;
  for (const SpeakerLog& log : job.logs) spoken_for.emplace(log.speaker.host, log.speaker.pid);
  bool renamed = false;
  for (SpeakerLog& log : job.logs) {
    if (!names_nobody(log.speaker) || log.speaker.input < 0) continue;
    const JobInput& input = job.inputs[static_cast<size_t>(log.speaker.input)];
    // A process that speaks itself is joined with this voice later.
    if (input.pid < 0 || !spoken_for.emplace(input.host, input.pid).second) continue;
    log.speaker.host = input.host;
    log.speaker.pid = input.pid;
    log.speaker.input = -1;
    renamed = true;
  }
  if (!renamed) return;
  std::ranges::stable_sort(job.logs, {}, &SpeakerLog::speaker);
}

// Who is who: the voices that speak for one process are joined, and the process gets its rank.
//
// A process speaks as NCCL (host and pid), as PyTorch ("[rank3]:"), through Ray ("pid=88213") or
// through a launcher's local rank. NCCL's own rank in the largest communicator wins over prefixes.

namespace {

using HostPid = std::pair<std::string, int64_t>;

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
  return std::ranges::any_of(log.comms.all, [&](const CommSegment& other) {
    return other.nranks == of.nranks && other.comm_id == of.comm_id && other.rank >= 0 &&
           other.rank != of.rank && other.comm != of.comm;
  });
}

/// Ranks as nccl-tests lists them at the start of its output.
std::map<HostPid, std::set<int>> listed_ranks(const Job& job) {
  std::map<HostPid, std::set<int>> listed;
  for_each_message<NcclTestsRank>(job, [&](const NcclTestsRank& row) {
    listed[{std::string(row.host), row.pid}].insert(row.rank);
  });
  return listed;
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

void set_rank(Process& process, const SpeakerLog& log,
              const std::map<HostPid, std::set<int>>& listed) {
  const CommSegment* largest = largest_segment(log);
  if (largest != nullptr) {
    // A process with several ranks is none of them.
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
  const Prefix prefix = parse_prefix(log.last_text);
  return prefix.task == log.speaker.rank && !prefix.rank_is_stated &&
         parse_header(log.last_text).level != Level::Framework &&
         rank_told(log) != log.speaker.rank;
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
  return is_confirmed || follow_gpus(offsets);
}

/// Processes that NCCL's own lines name, by host and pid.
void add_nccl_processes(Job& job) {
  const auto listed = listed_ranks(job);
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

/// Gives processes whose rank NCCL does not tell the one that their launcher gives them.
void add_labelled_ranks(Job& job) {
  for (Process& process : job.processes) {
    const SpeakerLog& log = job.logs[process.logs.front()];
    const CommSegment* largest = largest_segment(log);
    if (process.rank < 0 && largest == nullptr) process.rank = std::max(log.task_rank, -1);
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
  explicit Directory(const Job& job)
      : job_(job), world_(world_size(job)), files_(files_of_one_process(job)) {
    for (size_t p = 0; p < job.processes.size(); ++p) add(p);
  }

  void add(size_t index) {
    const auto enter = [&](auto& names, const auto& name) {
      const auto [entry, is_new] = names.try_emplace(name, static_cast<int>(index));
      if (!is_new) entry->second = -1;
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
    if (speaker.rank >= 0) return look_up(by_name_, Speaker{.rank = speaker.rank});
    if (speaker.pid >= 0) return look_up(by_name_, Speaker{.pid = speaker.pid});
    if (speaker.local_rank >= 0) {
      return look_up(by_name_, Speaker{.local_rank = speaker.local_rank, .input = speaker.input});
    }
    // A voice that names nobody is that of the process that wrote its file, if that is certain.
    if (speaker.input < 0 || !speaker.host.empty()) return -1;
    const JobInput& input = job_.inputs[static_cast<size_t>(speaker.input)];
    return look_up(by_name_, Speaker{.host = input.host, .pid = input.pid});
  }

 private:
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
    if (log.speaker.rank < 0 || world_ < 0) return -1;
    int owner = find_by_prefix(log);
    if (owner < 0) owner = look_up(files_, input_of(job_, log.first));
    if (owner < 0) return -1;
    const Process& process = nth_process(job_, owner);
    const CommSegment* largest = largest_segment(job_.logs[process.logs.front()]);
    const bool is_global = largest != nullptr && largest->nranks == world_ && process.rank >= 0;
    return is_global ? owner : -1;
  }

  const Job& job_;
  int world_;
  std::map<int64_t, int> files_;
  std::map<Speaker, int> by_name_;
  std::map<std::pair<int64_t, int>, int> by_label_;  ///< By input and the launcher's number.
};

/// Joins the remaining voices to the processes they name; those that name none stand alone. What a
/// launcher numbers is one of NCCL's processes, if it numbers them all differently.
void add_other_speakers(Job& job, bool has_labelled_ranks) {
  const auto is_process = [](const SpeakerLog& log) {
    return !log.speaker.host.empty() && log.speaker.pid >= 0;
  };
  if (std::ranges::all_of(job.logs, is_process)) return;
  Directory directory(job);
  for (size_t i = 0; i < job.logs.size(); ++i) {
    if (is_process(job.logs[i])) continue;
    const Speaker& speaker = job.logs[i].speaker;
    const bool has_rank = has_labelled_ranks || !is_label_only(job.logs[i]);
    const int known = directory.find(job.logs[i], has_rank);
    if (known >= 0) {
      join_communicator(job, job.processes[static_cast<size_t>(known)], i);
      continue;
    }
    Process process;
    process.host = speaker.host;
    process.pid = speaker.pid;
    process.rank = has_rank ? speaker.rank : -1;
    join_communicator(job, process, i);
    job.processes.push_back(std::move(process));
    directory.add(job.processes.size() - 1);
  }
}

/// Known ranks first, in order; then by host and pid; those that name nobody by place in the input.
bool before(const Process& a, const Process& b) {
  const auto key = [](const Process& process) {
    const bool named = process.rank >= 0 || process.pid >= 0;
    return std::tuple(!named, process.rank < 0, process.rank, std::string_view(process.host),
                      process.pid, process.first);
  };
  return key(a) < key(b);
}

}  // namespace

void build_processes(Job& job) {
  add_nccl_processes(job);
  const bool has_labelled_ranks = labels_are_ranks(job);
  if (has_labelled_ranks) add_labelled_ranks(job);
  add_other_speakers(job, has_labelled_ranks);
  sort_unless_sorted(job.processes, before);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      job.logs[log].records.set_process(static_cast<int>(p));
      job.logs[log].line_matches.set_process(static_cast<int>(p));
    }
  }
}

}  // namespace ncclog
