// Whose lines are those that name nobody? Those of the process that wrote the file, where its name
// and its neighbours make that certain.
//
//   nccl.node01.77.log   node01:77:80 [0] NCCL INFO …       its lines name node01:77, and so does
//   its
//                        a banner, a table                  name: the banner is node01:77's too
//   nccl.node02.91.log   NCCL INFO … without host           the same pattern: node02:91
//   attempt_0/3/stderr.log   beside stdout.log in which one process speaks: that one

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/build_steps.h"
#include "model/file_names.h"

namespace ncclog {
namespace {

/// Kinds of names that one folder has; more are no pattern.
constexpr size_t kMaxPatterns = 64;

/// By input: the one process that its lines name. Nothing where they name none or several.
struct NamedWriters {
  std::vector<std::optional<FileWriter>> only;
  std::vector<bool> any;  ///< Lines name somebody.
};

NamedWriters writers_by_input(const Job& job, const std::map<uint64_t, StretchWriter>& writers) {
  NamedWriters named{std::vector<std::optional<FileWriter>>(job.inputs.size()),
                     std::vector<bool>(job.inputs.size())};
  for (const auto& [unit, writer] : writers) {
    const JobUnit* place = unit_of(job, {unit, 1});
    if (place == nullptr) continue;
    const bool same =
        !writer.several && (!named.any[place->input] ||
                            named.only[place->input] == FileWriter{writer.host, writer.pid});
    named.only[place->input] =
        same ? std::optional(FileWriter{writer.host, writer.pid}) : std::nullopt;
    named.any[place->input] = true;
  }
  return named;
}

std::vector<NamePattern> learn_patterns(const Job& job, const NamedWriters& named) {
  std::vector<NamePattern> patterns;
  for (size_t i = 0; i < job.inputs.size() && patterns.size() < kMaxPatterns; ++i) {
    if (!named.only[i]) continue;
    auto pattern = learn_pattern(job.inputs[i].path, *named.only[i]);
    if (!pattern) continue;
    const bool known = std::find(patterns.begin(), patterns.end(), *pattern) != patterns.end();
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
    if (!file || !named.any[i]) continue;
    const auto [worker, is_new] = workers.try_emplace(file->folder, named.only[i]);
    if (!is_new && worker->second != named.only[i]) worker->second.reset();
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
    const bool many_speak = named.any[i] && !named.only[i];
    if (input.is_archive || many_speak) continue;
    const auto worker = file ? workers.find(file->folder) : workers.end();
    const auto by_name =
        worker != workers.end() ? worker->second : writer_by_pattern(patterns, input.path);
    const auto writer = by_name ? agree(*by_name, named.only[i], hosts) : std::nullopt;
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
  std::stable_sort(job.logs.begin(), job.logs.end(),
                   [](const SpeakerLog& a, const SpeakerLog& b) { return a.speaker < b.speaker; });
}

}  // namespace ncclog
