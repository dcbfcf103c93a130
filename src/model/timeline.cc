#include "model/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMaxWarnings = 10;  ///< Shown per process.
constexpr size_t kMaxOfAKind = 3;    ///< Other lines of one kind shown per process.

/// Kinds of which the first lines of a process are milestones, under the name
/// that they get.
struct KindShown {
  std::string_view kind;
  std::string_view what;
};
constexpr KindShown kKindsShown[] = {
    {"watchdog_timeout", "watchdog"},
    {"blocking_wait_timeout", "watchdog"},
    {"heartbeat_timeout", "watchdog"},
    {"desync_timeout", "watchdog"},
    {"monitored_barrier_failed", "barrier"},
    {"store_wait_failed", "store"},
    {"store_timeout", "store"},
    {"nccl_exception", "exception"},
    {"python_exception", "exception"},
    {"cuda_oom_exception", "exception"},
    {"fatal_python_error", "exception"},
    {"worker_failed", "ended"},
    {"process_ended", "ended"},
    {"oom_kill", "ended"},
    {"xid", "Xid"},
};

Milestone milestone(SourceRef where, std::string_view what, std::string detail) {
  Milestone made;
  made.where = where;
  made.what = what;
  made.detail = std::move(detail);
  return made;
}

void set_time(Milestone& made, std::string_view head) {
  const LineTime time = find_line_time(head);
  made.time = time.text;
  made.has_zone = time.has_zone;
  made.year = time.year;
  made.nanoseconds = time.nanoseconds;
}

/// What stands in front of the message of a line, and the message.
struct Halves {
  std::string_view head;
  std::string_view message;
};

Halves halves_of(std::string_view line) {
  const std::string_view message = trim(parse_header(line).message);
  if (message.empty()) return {{}, line};
  return {line.substr(0, static_cast<size_t>(message.data() - line.data())), message};
}

Milestone milestone_of(const Record& record, std::string_view what) {
  const Halves halves = halves_of(record.text);
  Milestone made = milestone(record.where, what, std::string(halves.message));
  set_time(made, halves.head);
  return made;
}

/// Everything that one process says, as it is collected.
using Milestones = std::vector<Milestone>;

/// The kept record of each line of a log.
std::map<SourceRef, const Record*> records_by_line(const SpeakerLog& log) {
  std::map<SourceRef, const Record*> by_line;
  for (const auto& [kind, list] : log.records) {
    for (const Record& record : list.kept) by_line.emplace(record.where, &record);
  }
  return by_line;
}

std::string version_text(const Record& record) {
  const Event event = parse_record(record);
  const auto version = read_message<NcclVersion>(event.message);
  if (!version.cuda.empty())
    return fmt::format("NCCL {}, built for CUDA {}", version.version, version.cuda);
  return fmt::format("RCCL {}{}{}", version.version, version.hip.empty() ? "" : ", built for HIP ",
                     version.hip);
}

std::string network_text(const Record& record) {
  const Event event = parse_record(record);
  return std::string(read_message<NetworkSelected>(event.message).network);
}

/// The first line of kind T in a log, with what `text_of` makes of it.
template <typename T, typename TextOf>
void add_first(const SpeakerLog& log, std::string_view what, TextOf text_of, Milestones& all) {
  const std::vector<Record>& kept = log.records.kept(kKindIndex<T>);
  if (kept.empty()) return;
  Milestone made = milestone_of(kept.front(), what);
  made.detail = text_of(kept.front());
  all.push_back(std::move(made));
}

void add_shown_kinds(const SpeakerLog& log, Milestones& all) {
  for (const KindShown& shown : kKindsShown) {
    const Kind* kind = find_kind(shown.kind);
    if (kind == nullptr) continue;
    const std::vector<Record>& kept = log.records.kept(kind->index);
    for (size_t r = 0; r < std::min(kept.size(), kMaxOfAKind); ++r) {
      all.push_back(milestone_of(kept[r], shown.what));
    }
  }
}

/// WARN lines of a log, wherever their kind put them; how many more there are.
uint64_t add_warnings(const SpeakerLog& log, Milestones& all) {
  std::map<SourceRef, const Record*> warnings;
  const auto collect = [&](const RecordList& list) {
    for (const Record& record : list.kept) {
      if (parse_header(record.text).level == Level::Warn) warnings.emplace(record.where, &record);
    }
  };
  for (const auto& [kind, list] : log.records) collect(list);
  collect(log.unrecognised);
  uint64_t omitted = 0;
  size_t shown = 0;
  for (const auto& [where, record] : warnings) {
    if (++shown > kMaxWarnings) {
      ++omitted;
      continue;
    }
    all.push_back(milestone_of(*record, "WARN"));
  }
  return omitted;
}

/// The first and the last line of a process, if they stand in this log of it.
void add_ends(const Process& process, const SpeakerLog& log,
              const std::map<SourceRef, const Record*>& by_line, Milestones& all) {
  const auto first = by_line.find(process.first);
  if (first != by_line.end()) all.push_back(milestone_of(*first->second, "first line"));
  if (log.lines < 2 || log.last != process.last) return;
  const Halves halves = halves_of(log.last_text);
  Milestone last = milestone(log.last, "last line", std::string(halves.message));
  set_time(last, halves.head);
  all.push_back(std::move(last));
}

std::string call_text(const std::string& id, const CollectiveCalls& calls) {
  const CallSignature& call = calls.last_call;
  return fmt::format("{}, {} with count {}, call {}", id, call.op.view(), call.count, calls.total);
}

std::string init_text(const Communicator& comm, const CommRank& rank) {
  return fmt::format("{}, rank {} of {}", comm.id, rank.rank, comm.nranks);
}

std::string end_of_init_text(const Job& job, const Communicator& comm, const CommRank& rank) {
  const InitSection* section = init_section(job, rank);
  if (section == nullptr || section->timings_total.empty()) return comm.id;
  return fmt::format("{}, {} s ({})", comm.id, section->timings_total, section->timings);
}

/// The lines of a communicator's life; `by_line` finds the times of those that
/// were kept.
void add_life(const Job& job, const Communicator& comm, const CommRank& rank,
              const std::map<SourceRef, const Record*>& by_line, Milestones& all) {
  const SpeakerLog& log = job.logs[static_cast<size_t>(rank.log)];
  const CommSegment& segment = log.comms.all[static_cast<size_t>(rank.segment)];
  const auto add = [&](SourceRef where, std::string_view what, std::string detail) {
    if (where.line == 0) return;
    Milestone made = milestone(where, what, std::move(detail));
    const auto record = by_line.find(where);
    if (record != by_line.end()) set_time(made, halves_of(record->second->text).head);
    all.push_back(std::move(made));
  };
  add(segment.started, "init start", init_text(comm, rank));
  add(segment.completed, "init end", end_of_init_text(job, comm, rank));
  const bool aborted = segment.end == CommFate::Aborted;
  add(segment.ended, aborted ? "aborted" : "destroyed", comm.id);
  if (calls_of(segment).total == 0) return;
  Milestone first = milestone(calls_of(segment).first, "first call", comm.id);
  set_time(first, calls_of(segment).first_stamp);
  all.push_back(std::move(first));
  Milestone last =
      milestone(calls_of(segment).last, "last call", call_text(comm.id, calls_of(segment)));
  set_time(last, calls_of(segment).last_stamp);
  all.push_back(std::move(last));
}

/// Milestones by process.
std::vector<Milestones> collect(const Job& job, uint64_t& warnings_omitted) {
  std::vector<std::map<SourceRef, const Record*>> by_line;
  for (const SpeakerLog& log : job.logs) by_line.push_back(records_by_line(log));
  std::vector<Milestones> all(job.processes.size());
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl && process.rank < 0 && process.pid < 0) continue;
    for (const size_t l : process.logs) {
      const SpeakerLog& log = job.logs[l];
      add_first<NcclVersion>(log, "version", version_text, all[p]);
      add_first<NetworkSelected>(log, "network", network_text, all[p]);
      add_shown_kinds(log, all[p]);
      warnings_omitted += add_warnings(log, all[p]);
      add_ends(process, log, by_line[l], all[p]);
    }
  }
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.log < 0) continue;
      add_life(job, comm, rank, by_line[static_cast<size_t>(rank.log)],
               all[static_cast<size_t>(rank.process)]);
    }
  }
  return all;
}

/// A process whose milestones can be compared with others': all have a time,
/// all or none a zone.
bool is_timed(const Milestones& all, bool with_zone) {
  return std::all_of(all.begin(), all.end(), [&](const Milestone& made) {
    return !made.time.empty() && made.has_zone == with_zone;
  });
}

/// Times without year stand in the year that others print.
void fill_years(Milestones& timed) {
  int year = 0;
  for (const Milestone& made : timed) year = std::max(year, made.year);
  for (Milestone& made : timed) {
    if (made.year == 0) made.year = year;
  }
}

/// Drops the ends of a file where the line says something better already.
void drop_doubles(Milestones& sorted) {
  const auto is_end = [](const Milestone& made) {
    return made.what == "first line" || made.what == "last line";
  };
  std::set<SourceRef> told;
  for (const Milestone& made : sorted) {
    if (!is_end(made)) told.insert(made.where);
  }
  std::erase_if(sorted,
                [&](const Milestone& made) { return is_end(made) && told.contains(made.where); });
}

}  // namespace

Timeline build_timeline(const Job& job) {
  Timeline timeline;
  std::vector<Milestones> by_process = collect(job, timeline.warnings_omitted);
  size_t zoned = 0;
  size_t local = 0;
  for (const Milestones& all : by_process) {
    zoned += !all.empty() && is_timed(all, true) ? 1 : 0;
    local += !all.empty() && is_timed(all, false) ? 1 : 0;
  }
  Milestones untimed;
  for (size_t p = 0; p < by_process.size(); ++p) {
    Milestones& all = by_process[p];
    if (all.empty()) continue;
    for (Milestone& made : all) made.process = static_cast<int>(p);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.where < b.where; });
    drop_doubles(all);
    const bool timed = is_timed(all, zoned > local);
    ++(timed ? timeline.timed_processes : timeline.untimed_processes);
    Milestones& list = timed ? timeline.milestones : untimed;
    std::move(all.begin(), all.end(), std::back_inserter(list));
  }
  fill_years(timeline.milestones);
  std::stable_sort(timeline.milestones.begin(), timeline.milestones.end(),
                   [](const Milestone& a, const Milestone& b) {
                     return std::tie(a.year, a.nanoseconds, a.process, a.where) <
                            std::tie(b.year, b.nanoseconds, b.process, b.where);
                   });
  std::move(untimed.begin(), untimed.end(), std::back_inserter(timeline.milestones));
  return timeline;
}

}  // namespace ncclog
