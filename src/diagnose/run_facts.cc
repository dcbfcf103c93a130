// Are these the logs of one run?
//
//   job.several_runs       = yes, "run 1: 4 ranks in a.log and 3 more files; run 2: 4 ranks in …"
//   job.pids_started_twice = yes, "pid 77 on worker-0"
//
// What is certain is found when the job is built (model/build/runs.cc); here it gets its words.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"
#include "model/build/run_parts.h"

namespace ncclog {
namespace {

/// The lines of one run in one file, first and last.
struct Stretch {
  uint64_t first = 0;
  uint64_t last = 0;
};

using Files = std::map<std::string, Stretch>;  ///< By path.

/// The files in which the run's processes speak first.
Files files_of(const Job& job, const Run& run) {
  Files files;
  for (const int p : run.processes) {
    const Process& process = job.processes[static_cast<size_t>(p)];
    const FileLine first = file_line(job, process.first);
    const FileLine last = file_line(job, process.last);
    Stretch& stretch = files.try_emplace(first.path, Stretch{first.line, first.line}).first->second;
    stretch.first = std::min(stretch.first, first.line);
    if (last.path == first.path) stretch.last = std::max(stretch.last, last.line);
  }
  return files;
}

bool is_shared(const std::vector<Files>& all, const std::string& path) {
  return std::count_if(all.begin(), all.end(),
                       [&](const Files& files) { return files.contains(path); }) > 1;
}

/// "4 ranks in b/stdout.log lines 12-904 and 3 more files".
std::string run_phrase(const Run& run, const Files& files, const std::vector<Files>& all) {
  std::string text = fmt::format("{} ranks in {}", run.processes.size(), files.begin()->first);
  if (is_shared(all, files.begin()->first)) {
    text += fmt::format(" lines {}-{}", files.begin()->second.first, files.begin()->second.last);
  }
  if (files.size() > 1) {
    text += fmt::format(" and {} more file{}", files.size() - 1, files.size() == 2 ? "" : "s");
  }
  if (run.attempt >= 0) text += fmt::format(" (attempt {})", run.attempt);
  return text;
}

/// The line with which the run's first communicator begins.
std::vector<Evidence> first_line(const Job& job, const Run& run) {
  std::vector<Evidence> lines;
  for (const int p : run.processes) {
    for_each_record(job, job.processes[static_cast<size_t>(p)], kKindIndex<CommInit>,
                    [&](const Record& record) {
                      if (lines.empty() || record.where < lines[0].where) {
                        lines = {evidence_of(record)};
                      }
                    });
  }
  return lines;
}

FactValue pids_started_twice(const Job& job, const Instance&) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  std::vector<Evidence> evidence;
  size_t count = 0;
  for (const Process& process : job.processes) {
    if (!process.restarted) continue;
    if (++count > kNamed) continue;
    names.push_back(fmt::format("pid {} on {}", process.pid, process.host));
    for_each_record(job, process, kKindIndex<CommInit>,
                    [&](const Record& record) { evidence.push_back(evidence_of(record)); });
  }
  if (count == 0) return no();
  const std::string more = count > kNamed ? fmt::format(" and {} more", count - kNamed) : "";
  return yes(join(names, ", ") + more, std::move(evidence));
}

/// The first line of the process about that communicator; known by its place where it is not kept.
Evidence beginning_of(const Job& job, const CommRank& rank) {
  const SpeakerLog& log = job.logs[static_cast<size_t>(rank.log)];
  Evidence line{log.comms.all[static_cast<size_t>(rank.segment)].started, {}};
  const RecordList* starts = log.records.find(kKindIndex<CommInit>);
  if (starts == nullptr) return line;
  for (const Record& record : starts->kept) {
    if (record.where == line.where) line.text = record.text;
  }
  return line;
}

/// Ranks that have ids of their own beside the late ones: what rank 0 made anew.
bool has_new_id(const Job& job, const Communicator& used_up, const std::set<int>& late) {
  return std::any_of(job.communicators.begin(), job.communicators.end(), [&](const auto& comm) {
    if (&comm == &used_up || comm.nranks != used_up.nranks || comm.inferred) return false;
    return std::any_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
      return rank.process >= 0 && rank.rank >= 0 && !late.contains(rank.rank);
    });
  });
}

FactValue stale_unique_id(const Job& job, const Instance&) {
  for (const Communicator& comm : job.communicators) {
    const std::vector<size_t> late = latecomers(job, comm);
    if (late.empty()) continue;
    std::set<int> ranks;
    for (const size_t r : late) ranks.insert(comm.ranks[r].rank);
    if (!has_new_id(job, comm, ranks)) continue;
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
    std::sort(value.processes.begin(), value.processes.end());
    std::sort(value.evidence.begin(), value.evidence.end(),
              [](const Evidence& a, const Evidence& b) { return a.where < b.where; });
    value.communicator = comm.id;
    return value;
  }
  return no();
}

/// "run 1: …; run 2: …; apart from these, 2 ranks in c.log": certain ones first.
FactValue several_runs(const Job& job, const Instance&) {
  if (job.runs.empty()) return no();
  constexpr size_t kNamed = 4;
  std::vector<Files> files;
  for (const Run& run : job.runs) files.push_back(files_of(job, run));
  std::vector<std::string> parts;
  std::vector<Evidence> evidence;
  for (const bool certain : {true, false}) {
    for (size_t r = 0; r < job.runs.size() && parts.size() < kNamed; ++r) {
      const Run& run = job.runs[r];
      if (run.certain != certain) continue;
      const std::string name =
          certain ? fmt::format("run {}:", parts.size() + 1) : "apart from these,";
      parts.push_back(fmt::format("{} {}", name, run_phrase(run, files[r], files)));
      for (Evidence& line : first_line(job, run)) evidence.push_back(std::move(line));
    }
  }
  if (job.runs.size() > kNamed) {
    parts.push_back(fmt::format("and {} more", job.runs.size() - kNamed));
  }
  return yes(join(parts, "; "), std::move(evidence));
}

constexpr std::array kFacts = {
    Fact{"job.pids_started_twice", Scope::Job, FactType::Bool,
         "A process begins to use NCCL twice, each time with communicators of its own: its pid was "
         "used again, or it has two copies of NCCL.",
         pids_started_twice},
    Fact{"job.several_runs", Scope::Job, FactType::Bool,
         "Other processes had the same ranks on the same GPUs, or torchrun's folders name several "
         "attempts: the logs are of several runs.",
         several_runs},
    Fact{"job.stale_unique_id", Scope::Job, FactType::Bool,
         "Ranks begin with the id of a communicator that other processes of the same ranks had "
         "used up, while other ranks have a new one.",
         stale_unique_id},
};

}  // namespace

Job only_run(const Job& job, int run) {
  Job view = job;
  std::vector<bool> kept(view.logs.size());
  for (Process& process : view.processes) {
    if (process.run != run) {
      process.logs.clear();
      process.rank = -1;
    }
    for (const size_t log : process.logs) kept[log] = true;
  }
  for (size_t log = 0; log < kept.size(); ++log) {
    if (!kept[log]) view.logs[log] = {};
  }
  for (Communicator& comm : view.communicators) {
    // An id that two runs use, or one that was guessed, may join processes of both.
    std::erase_if(comm.ranks, [&](const CommRank& rank) {
      return rank.process >= 0 && view.processes[static_cast<size_t>(rank.process)].run != run;
    });
  }
  std::erase_if(view.communicators, [&](const Communicator& comm) {
    return std::none_of(comm.ranks.begin(), comm.ranks.end(),
                        [](const CommRank& rank) { return rank.process >= 0; });
  });
  return view;
}

std::span<const Fact> run_facts() { return kFacts; }

}  // namespace ncclog
