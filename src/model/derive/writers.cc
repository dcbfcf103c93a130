#include "model/derive/writers.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/derive/steps.h"

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
  auto alone = learn_from(last_parts(path, 1), writer);
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

namespace {

/// Kinds of names that one folder has; more are no pattern.
constexpr size_t kMaxPatterns = 64;

/// By input: whom its lines name.
using NamedWriters = std::vector<FileWriter>;

NamedWriters writers_by_input(const Job& job, const std::map<uint64_t, FileWriter>& writers) {
  NamedWriters named(job.inputs.size());
  for (const auto& [unit, writer] : writers) {
    const int64_t input = input_of(job, {unit, 1});
    if (input < 0) continue;
    named[input].add(writer.host, writer.pid, writer.several);
  }
  return named;
}

/// The one process that they name; nullopt: none or several.
std::optional<FileWriter> only_one(const FileWriter& named) {
  return named.pid < 0 || named.several ? std::nullopt : std::optional(named);
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

void name_inputs(Job& job, const std::map<uint64_t, FileWriter>& writers) {
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

/// By input: the ranks that its lines name as their own, or srun as that of its only task.
std::map<int64_t, std::set<int>> ranks_by_input(const Job& job) {
  int world = 0;
  for (const SpeakerLog& log : job.logs) {
    for (const CommSegment& segment : log.comms.all) world = std::max(world, segment.nranks);
  }
  std::map<int64_t, std::set<int>> ranks;
  const bool has_ranks_as_tasks = tasks_are_ranks(job);
  for (const SpeakerLog& log : job.logs) {
    for (const SourceRef where : {log.first, log.last}) {
      std::set<int>& named = ranks[input_of(job, where)];
      if (log.speaker.rank >= 0) named.insert(log.speaker.rank);
      for_each_message<ProcessEnded>(log, [&](const ProcessEnded& task) {
        if (has_ranks_as_tasks && task.rank >= 0) named.insert(task.rank);
      });
      for (const CommSegment& segment : log.comms.all) {
        if (segment.nranks == world && segment.rank >= 0) named.insert(segment.rank);
      }
    }
  }
  return ranks;
}

/// A number in a path.
struct PathNumber {
  std::pair<std::string_view, std::string_view> around;  ///< What stands before and behind it.
  int64_t number = -1;
};

std::vector<PathNumber> numbers_in(std::string_view path) {
  constexpr size_t kMostDigits = 6;  // More are a pid, a date or a job.
  path = without_packing(path);
  std::vector<PathNumber> numbers;
  for (size_t at = 0; at < path.size(); ++at) {
    if (!is_digit(path[at])) continue;
    const size_t end = std::min(path.find_first_not_of("0123456789", at), path.size());
    const auto number = parse_int(path.substr(at, end - at));
    if (number && end - at <= kMostDigits) {
      numbers.push_back({{path.substr(0, at), path.substr(end)}, *number});
    }
    at = end;
  }
  return numbers;
}

/// "logs/rank_3.log": a word in front of the number says what it is.
bool says_rank(std::string_view before) {
  constexpr std::string_view kMarks = "_-.=";
  constexpr std::string_view kOthers[] = {"local_rank", "local-rank", "localrank",
                                          "node_rank",  "node-rank",  "noderank"};
  before = before.substr(0, before.find_last_not_of(kMarks) + 1);
  return before.ends_with("rank") && std::ranges::none_of(kOthers, [&](std::string_view other) {
           return before.ends_with(other);
         });
}

/// Inputs that hold the stacks of one process, whoever it is, and in which nobody else speaks.
std::set<int64_t> inputs_of_stacks(const Job& job) {
  std::set<int64_t> inputs;
  std::set<int64_t> others;
  for (const SpeakerLog& log : job.logs) {
    const bool is_nameless = log.speaker == Speaker{.input = log.speaker.input};
    (is_nameless && log.stack_lines ? inputs : others).insert(input_of(job, log.first));
  }
  std::erase_if(inputs, [&](int64_t input) { return others.contains(input); });
  return inputs;
}

/// "logs/worker2.stderr". Where a master has a file of its own, workers are counted behind it.
bool says_worker(std::string_view before) {
  before = before.substr(0, before.find_last_not_of("_-.=") + 1);
  return before.ends_with("worker") && before.find("local") == before.npos;
}

/// What stands around the number in names that say "rank", or "worker" where each holds the stacks
/// of one process, and count on from 0, one file each. Where several folders count so, their
/// numbers may be those of one host.
std::set<std::pair<std::string_view, std::string_view>> counted_names(const Job& job) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<int64_t>> numbers;
  const std::set<int64_t> of_stacks = inputs_of_stacks(job);
  const bool has_master = std::ranges::any_of(
      job.inputs, [](const auto& input) { return input.path.find("master") != input.path.npos; });
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    // Dumps say themselves whose they are, and have names of their own beside those of logs.
    if (job.inputs[i].is_archive || job.inputs[i].format == "flight_recorder") continue;
    const bool may_be_worker = !has_master && of_stacks.contains(static_cast<int64_t>(i));
    for (const auto& [around, number] : numbers_in(job.inputs[i].path)) {
      if (says_rank(around.first) || (may_be_worker && says_worker(around.first)))
        numbers[around].push_back(number);
    }
  }
  std::set<std::pair<std::string_view, std::string_view>> counted;
  for (auto& [around, found] : numbers) {
    std::ranges::sort(found);
    for (size_t i = 0; i < found.size(); ++i) {
      if (std::cmp_not_equal(found[i], i)) found.clear();
    }
    if (found.size() > 1) counted.insert(around);
  }
  return counted.size() == 1 ? counted : decltype(counted)();
}

/// Gives inputs whose lines name no rank the rank that their names have, where names of the same
/// kind have the numbers of the ranks that speak in those files: two of them, and never another. Of
/// names that say "rank" it is enough that no line tells otherwise.
void name_ranks(Job& job) {
  const auto counted = counted_names(job);
  const auto ranks = ranks_by_input(job);
  struct Agreement {
    std::set<int> ranks;
    bool is_broken = false;
  };
  std::map<std::pair<std::string_view, std::string_view>, Agreement> known;
  for (const auto& [input, named] : ranks) {
    if (input < 0 || named.empty()) continue;
    for (const auto& [around, number] : numbers_in(job.inputs[input].path)) {
      Agreement& agreement = known[around];
      agreement.is_broken |= named.size() > 1 || number != *named.begin();
      agreement.ranks.insert(*named.begin());
    }
  }
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const auto own = ranks.find(static_cast<int64_t>(i));
    const bool is_told_apart = own == ranks.end() || own->second.size() < 2;
    if (job.inputs[i].is_archive || job.inputs[i].format == "flight_recorder" || !is_told_apart) {
      continue;
    }
    for (const auto& [around, number] : numbers_in(job.inputs[i].path)) {
      const auto agreement = known.find(around);
      const bool is_told = agreement != known.end();
      if (is_told && agreement->second.is_broken) continue;
      const bool is_agreed = is_told && agreement->second.ranks.size() > 1;
      if (is_agreed || counted.contains(around)) job.inputs[i].rank = static_cast<int>(number);
    }
  }
}

}  // namespace

void build_writers(Job& job, const std::map<uint64_t, FileWriter>& writers) {
  name_inputs(job, writers);
  name_ranks(job);
  std::set<std::pair<std::string, int64_t>> spoken_for;
  for (const SpeakerLog& log : job.logs) spoken_for.emplace(log.speaker.host, log.speaker.pid);
  bool renamed = false;
  for (SpeakerLog& log : job.logs) {
    // Of those that name nobody.
    if (log.speaker != Speaker{.input = log.speaker.input} || log.speaker.input < 0) continue;
    const JobInput& input = job.inputs[log.speaker.input];
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

}  // namespace ncclog
