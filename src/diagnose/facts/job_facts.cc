#include "diagnose/facts/job_facts.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/facts/same_host.h"
#include "model/derive/split_runs.h"

namespace ncclog {

bool is_same_host(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return false;
  const auto first = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const bool both_whole = a.find('.') != a.npos && b.find('.') != b.npos;
  return a == b || (!both_whole && first(a) == first(b));
}
namespace {

void take_earlier(const Record& record, std::optional<Evidence>& first) {
  if (!first || record.where < first->where) first = evidence_of(record);
}

constexpr std::string_view kGraphVariables[] = {"NCCL_GRAPH_MIXING_SUPPORT", "NCCL_GRAPH_REGISTER",
                                                "NCCL_GRAPH_STREAM_ORDERING"};

// Are these the logs of one run?
//
//   job.several_runs       = yes, "run 1: 4 ranks in a.log and 3 more files; run 2: 4 ranks in …"
//   job.pids_started_twice = yes, "pid 77 on worker-0"
//
// What is certain is found in what was read (model/derive/split_runs.h); here it gets its words.

/// By path, the first and last line of one run in the file.
using Files = std::map<std::string, std::pair<uint64_t, uint64_t>>;

/// The files in which the run's processes speak first.
Files files_of(const Job& job, const Run& run) {
  Files files;
  for (const int p : run.processes) {
    const Process& process = nth_process(job, p);
    const FileLine first = file_line(job, process.first);
    const FileLine last = file_line(job, process.last);
    auto& stretch = files.try_emplace(first.path, first.line, first.line).first->second;
    stretch.first = std::min(stretch.first, first.line);
    if (last.path == first.path) stretch.second = std::max(stretch.second, last.line);
  }
  return files;
}

/// "4 ranks in b/stdout.log lines 12-904 and 3 more files".
std::string run_phrase(const Run& run, const Files& files, const std::vector<Files>& all) {
  std::string text = fmt::format("{} ranks in {}", run.processes.size(), files.begin()->first);
  const bool is_shared = std::ranges::count_if(all, [&](const Files& other) {
                           return other.contains(files.begin()->first);
                         }) > 1;
  if (is_shared) {
    text += fmt::format(" lines {}-{}", files.begin()->second.first, files.begin()->second.second);
  }
  if (files.size() > 1) text += fmt::format(" and {}", plural(std::ssize(files) - 1, "more file"));
  if (run.attempt >= 0) text += fmt::format(" (attempt {})", run.attempt);
  return text;
}

FactValue pids_started_twice(const Job& job, const Instance&) {
  constexpr size_t kNamed = 3;
  AnswerParts twice;
  for (const Process& process : job.processes) {
    if (!process.restarted) continue;
    twice.words.push_back(fmt::format("pid {} on {}", process.pid, process.host));
    if (twice.words.size() > kNamed) continue;
    for_each_record(job, process, kKindIndex<CommInit>,
                    [&](const Record& record) { twice.evidence.push_back(evidence_of(record)); });
  }
  return twice.answer(no(), ", ", kNamed);
}

/// The first line of the process about that communicator; known by its place where it is not kept.
Evidence beginning_of(const Job& job, const CommRank& rank) {
  const SpeakerLog& log = job.logs[static_cast<size_t>(rank.log)];
  Evidence line{log.comms.all[static_cast<size_t>(rank.segment)].started, {}};
  for (const Record& record : log.records.kept(kKindIndex<CommInit>)) {
    if (record.where == line.where) line.text = record.text();
  }
  return line;
}

FactValue stale_unique_id(const Job& job, const Instance&) {
  const auto has_late = [&](const auto& comm) { return !latecomers(job, comm).empty(); };
  if (std::ranges::none_of(job.communicators, has_late)) return no();
  // By number of ranks and rank, the first and the last communicator in which it has an id.
  std::map<int, std::map<int, std::pair<const Communicator*, const Communicator*>>> with_id;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (comm.inferred || rank.process < 0 || rank.rank < 0) continue;
      with_id[comm.nranks].try_emplace(rank.rank, &comm, &comm).first->second.second = &comm;
    }
  }
  for (const Communicator& comm : job.communicators) {
    const std::vector<size_t> late = latecomers(job, comm);
    if (late.empty()) continue;
    std::set<int> ranks;
    for (const size_t r : late) ranks.insert(comm.ranks[r].rank);
    // Ranks that have ids of their own beside the late ones: what rank 0 made anew.
    const bool has_new_id = std::ranges::any_of(with_id[comm.nranks], [&](const auto& other) {
      const auto& [rank, in] = other;
      return !ranks.contains(rank) && (in.first != &comm || in.second != &comm);
    });
    // Who could close the communicator was in it: its lines stand in another order than printed.
    const bool was_in = std::ranges::any_of(
        late, [&](size_t r) { return segment_of(job, comm.ranks[r]).end == CommFate::Destroyed; });
    if (!has_new_id || was_in) continue;
    const std::vector<int> named(ranks.begin(), ranks.end());
    FactValue value = yes(fmt::format(
        "{} begin{} with commId {} of the attempt before, and other ranks have a new one",
        ranks_phrase(named), named.size() == 1 ? "s" : "", comm.id));
    for (const size_t r : late) {
      const CommRank& rank = comm.ranks[r];
      value.processes.push_back(rank.process);
      value.evidence.push_back(beginning_of(job, rank));
      for (const CommRank& before : comm.ranks) {
        const bool same = before.rank == rank.rank && before.process != rank.process;
        if (same && before.log >= 0) value.evidence.push_back(beginning_of(job, before));
      }
    }
    std::ranges::sort(value.processes);
    std::ranges::sort(value.evidence, {}, &Evidence::where);
    value.communicator = comm.id;
    return value;
  }
  return no();
}

/// "run 1: …; run 2: …; apart from these, 2 ranks in c.log": certain ones first.
FactValue several_runs(const Job& job, const Instance&) {
  if (job.runs < 2) return no();
  constexpr size_t kNamed = 4;
  const std::vector<Run>& runs = job.answers.of<&find_runs>(job);
  std::vector<Files> files;
  for (const Run& run : runs) files.push_back(files_of(job, run));
  AnswerParts parts;
  for (const bool certain : {true, false}) {
    for (size_t r = 0; r < runs.size() && parts.words.size() < kNamed; ++r) {
      const Run& run = runs[r];
      if (run.certain != certain) continue;
      const std::string name =
          certain ? fmt::format("run {}:", parts.words.size() + 1) : "apart from these,";
      parts.words.push_back(fmt::format("{} {}", name, run_phrase(run, files[r], files)));
      std::optional<Evidence> first;  // With it the run's first communicator begins.
      for (const int p : run.processes) {
        for_each_record(job, nth_process(job, p), kKindIndex<CommInit>,
                        [&](const Record& record) { take_earlier(record, first); });
      }
      if (first) parts.evidence.push_back(std::move(*first));
    }
  }
  if (runs.size() > kNamed) parts.words.push_back(fmt::format("and {} more", runs.size() - kNamed));
  return parts.answer(no());
}

// How large is the job, how far did it come, and does one NCCL run in it?
//
//   job.nranks = 8   communicator.host_count = 2   job.mixed_nccl_versions = yes, "…"
//
// Sizes come from what NCCL prints about its communicators; where nothing is printed the answer is
// unknown, never zero.

FactValue host_count(const Job& job, const Instance&) {
  return job.nhosts > 0 ? number(job.nhosts) : unknown();
}

/// A line with an NCCL header was kept; text quoted by a framework is not one.
bool prints_nccl(const SpeakerLog& log) {
  if (!log.unrecognised.empty() || !log.comms.all.empty()) return true;
  for (const auto& [kind, list] : log.records) {
    if (all_kinds()[kind].source != Source::Nccl || list.kept.empty()) continue;
    const Level level = level_of(list.kept.front());
    if (level == Level::Info || level == Level::Warn || level == Level::Trace) return true;
  }
  return false;
}

FactValue has_nccl_lines(const Job& job, const Instance&) {
  return std::ranges::any_of(job.logs, prints_nccl) ? yes({}) : is_torn(job) ? unknown() : no();
}

/// Known to be so: whoever is not seen may share a host.
FactValue one_rank_per_host(const Job& job, const Instance&) {
  if (job.communicators.empty()) return no();
  const Communicator& largest = job.communicators.front();
  return is_all_seen(largest) && largest.ranks.size() > 1 &&
                 largest.hosts.size() == largest.ranks.size()
             ? yes({})
             : no();
}

/// What banners say: by version, the processes that print it.
using Banners = std::map<std::string, std::vector<int>>;

/// The versions that the ranks of one communicator print. Without any communicator, those of the
/// whole log, if its processes misunderstand each other: else they may be two runs.
std::set<std::string> mixed_versions(const Job& job, const Banners& banners) {
  std::set<std::string> mixed;
  std::map<int, std::vector<std::string_view>> by_process;
  for (const auto& [version, processes] : banners) {
    for (const int process : processes) by_process[process].push_back(version);
  }
  for (const Communicator& comm : job.communicators) {
    std::set<std::string> versions;
    for (const CommRank& rank : comm.ranks) {
      const auto own = rank.process < 0 ? by_process.end() : by_process.find(rank.process);
      if (own != by_process.end()) versions.insert(own->second.begin(), own->second.end());
    }
    if (versions.size() > 1) mixed.merge(versions);
  }
  // Errors of processes that do not speak the same wire format.
  const bool misunderstand =
      any_said<BadAddressFamily, BootstrapMessageTruncated, SocketHandshakeMismatch,
               SocketMessageTruncated, VersionMismatch>(job);
  if (job.communicators.empty() && banners.size() > 1 && misunderstand) {
    for (const auto& [version, processes] : banners) mixed.insert(version);
  }
  return mixed;
}

/// " (ranks 0-7)", or " (n1, n2)" where not all ranks are known; empty where no host is either.
std::string printed_by(const Job& job, const std::vector<int>& processes) {
  std::set<int> ranks;
  std::set<std::string> hosts;
  bool all_known = true;
  for (const int number : processes) {
    const Process& process = nth_process(job, number);
    all_known &= process.rank >= 0;
    if (process.rank >= 0) ranks.insert(process.rank);
    if (!process.host.empty()) hosts.insert(process.host);
  }
  if (all_known) return fmt::format(" ({})", ranks_phrase({ranks.begin(), ranks.end()}));
  const std::vector<std::string> names(hosts.begin(), hosts.end());
  return names.empty() ? std::string() : fmt::format(" ({})", few_of(names, kMostNamed, ", "));
}

/// "2.23.4" of 22304, "2.8.4" of 2804, as nccl.h counts.
std::string release_of_code(int64_t code) {
  const int64_t major = code < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", code / major, code % major / 100, code % 100);
}

/// What NCCL itself says of two ranks, where no banners tell more.
FactValue mismatch_told(const Job& job) {
  FactValue told = no();
  for_each_said<VersionMismatch>(job, [&](const Said<VersionMismatch>& said) {
    const VersionMismatch& mismatch = said.message;
    if (is_yes(told) || mismatch.rank < 0 || mismatch.other_version <= 0) return;
    told = yes(fmt::format("Rank {} runs {}, rank {} runs {}.", mismatch.rank,
                           release_of_code(mismatch.version), mismatch.other_rank,
                           release_of_code(mismatch.other_version)),
               {evidence_of(said.record())});
  });
  return told;
}

FactValue mixed_nccl_versions(const Job& job, const Instance&) {
  Banners banners;
  std::map<std::string, Record> lines;
  for_each_said<NcclVersion>(job, [&](const Said<NcclVersion>& said) {
    const std::string version(said.message.version);
    banners[version].push_back(said.process);
    lines.try_emplace(version, said.record());
  });
  const std::set<std::string> mixed = mixed_versions(job, banners);
  if (mixed.empty()) {
    FactValue told = mismatch_told(job);
    return banners.empty() && !is_yes(told) ? unknown() : told;
  }
  std::vector<Evidence> evidence;
  for (const std::string& version : mixed) evidence.push_back(evidence_of(lines.at(version)));
  std::vector<std::string> names;
  for (const std::string& version : mixed) {
    names.push_back(version + printed_by(job, banners.at(version)));
  }
  return yes("They print " + join(names, " and ") + ".", std::move(evidence), minority(banners));
}

// Do the framework and NCCL call a process by the same rank?
//
//   [default1]:node-a:88:91 [1] NCCL INFO ncclCommInitRank comm 0x5a rank 1 nranks 4 …
//   [default1]:[rank3]:[E105 09:14:02.007718211 ProcessGroupNCCL.cpp:632] …
//       → rank_conflict: host node-a, pid 88, framework 3, nccl 1
//
// The two are joined by pid, by the launcher's number or by the file of a rank (model's work), so a
// process that has a voice of another rank is one of which both cannot be right.

std::vector<TableRow> rank_conflicts(const Job& job) {
  std::vector<TableRow> rows;
  for (const Process& process : job.processes) {
    if (process.rank < 0 || process.pid < 0) continue;
    for (const size_t log : process.logs) {
      const SpeakerLog& voice = job.logs[log];
      if (voice.speaker.rank < 0 || voice.speaker.rank == process.rank) continue;
      rows.push_back({{process.host, std::to_string(process.pid),
                       std::to_string(voice.speaker.rank), std::to_string(process.rank)},
                      {voice.last, voice.last_text}});
    }
  }
  return rows;
}

constexpr Field kRankConflictFields[] = {
    {"host"},
    {"pid", FieldType::Integer},
    {"framework", FieldType::Integer, "The rank that the framework prints."},
    {"nccl", FieldType::Integer, "The rank that NCCL's lines give it."}};

constexpr std::array kJobFacts = {
    // A process begins to use NCCL twice, each time with communicators of its own: its pid was
    // used again, or it has two copies of NCCL.
    job_fact("job.pids_started_twice", pids_started_twice),
    // Other processes had the same ranks on the same GPUs, or torchrun's folders name several
    // attempts: the logs are of several runs.
    job_fact("job.several_runs", several_runs),
    // Ranks begin with the id of a communicator that other processes of the same ranks had used
    // up, while other ranks have a new one.
    job_fact("job.stale_unique_id", stale_unique_id),
    // The log holds lines that NCCL itself printed at INFO, WARN or TRACE.
    job_fact("job.has_nccl_lines", has_nccl_lines),
    // Distinct host names in the log.
    job_fact("job.host_count", host_count, FactType::Integer),
    // Ranks of one job print different NCCL versions.
    comparing_fact("job.mixed_nccl_versions", mixed_nccl_versions),
    // Every rank is known to run on a host of its own.
    job_fact("job.one_rank_per_host", one_rank_per_host),
};

}  // namespace

std::vector<int> version_parts(std::string_view version) {
  constexpr size_t kMaxDigits = 6;
  std::vector<int> parts;
  for (const std::string_view part : split(version, '.')) {
    const size_t digits = std::min(part.find_first_not_of("0123456789"), part.size());
    const auto number = parse_int(part.substr(0, digits));
    if (!number || digits > kMaxDigits) break;
    parts.push_back(static_cast<int>(*number));
    if (digits < part.size()) break;
  }
  return parts;
}

int compare_releases(std::string_view a, std::string_view b) {
  std::vector<int> left = version_parts(a);
  std::vector<int> right = version_parts(b);
  const size_t parts = std::max(left.size(), right.size());
  left.resize(parts);
  right.resize(parts);
  return left < right ? -1 : left > right ? 1 : 0;
}

std::string cuda_release(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

bool is_release(std::string_view text) {
  constexpr size_t kMostParts = 4;
  const auto parts = split(text, '.');
  return parts.size() >= 2 && parts.size() <= kMostParts &&
         std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= 4 && std::ranges::all_of(part, is_digit);
         });
}

std::vector<std::string> driver_versions(const Job& job) {
  std::set<int> found;
  for_each_said<CudaDriverVersion>(job, [&](const Said<CudaDriverVersion>& said) {
    if (said.message.version > 0) found.insert(said.message.version);
  });
  std::vector<std::string> versions;
  for (const int version : found) versions.push_back(cuda_release(version));
  return versions;
}

std::optional<Evidence> cuda_graph_evidence(const Job& job) {
  std::optional<Evidence> first;
  for_each_said<CallsCaptured, GraphUsageViolated, GraphCaptureFailed, ModelCaptured>(
      job, [&](const auto& said) { take_earlier(said.record(), first); });
  for_each_said<NcclTestsConfig>(job, [&](const Said<NcclTestsConfig>& said) {
    if (said.message.graph > 0) take_earlier(said.record(), first);
  });
  if (first) return first;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    if (equals_one_of(said.message.name, kGraphVariables)) take_earlier(said.record(), first);
  });
  return first;
}

std::vector<int> processes_of_other_runs(const Job& job, int process) {
  if (job.runs < 2) return {};
  const std::vector<Run>& runs = job.answers.of<&find_runs>(job);
  const auto own = std::ranges::find_if(
      runs, [&](const Run& run) { return std::ranges::binary_search(run.processes, process); });
  std::vector<int> others;
  for (auto run = runs.begin(); own != runs.end() && run != runs.end(); ++run) {
    if (run != own) others.insert(others.end(), run->processes.begin(), run->processes.end());
  }
  return others;
}

SourceRef first_complete(const Job& job, const Process& process) {
  SourceRef first;
  for (const size_t log : process.logs) {
    for (const CommSegment& segment : job.logs[log].comms.all) {
      if (segment.completed.line == 0) continue;
      if (first.line == 0 || segment.completed < first) first = segment.completed;
    }
  }
  return first;
}

std::span<const Fact> job_facts() { return kJobFacts; }

JobTable rank_conflict_table() { return {"rank_conflict", kRankConflictFields, rank_conflicts}; }

bool is_before(const Job& job, SourceRef line, SourceRef other) {
  return line.line != 0 && line < other && are_ordered(job, line, other);
}

std::vector<const CommSegment*> segments_of(const Job& job, const Process& process) {
  std::vector<const CommSegment*> segments;
  for (const size_t log : process.logs) {
    for (const CommSegment& segment : job.logs[log].comms.all) segments.push_back(&segment);
  }
  return segments;
}

int process_of(const Job& job, int64_t pid, int rank) {
  const int by_pid = process_of_pid(job, pid);
  return by_pid >= 0 ? by_pid : process_of_rank(job, rank);
}

}  // namespace ncclog
