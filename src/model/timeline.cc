#include "model/timeline.h"

#include <fmt/format.h>

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/job.h"

namespace ncclog {

void CallMarks::append(const CallMark& mark) {
  const bool same_input = is_same_input(mark);
  CallMark next = mark;
  next.call = std::max(mark.call, last_.call);
  if (same_input) next.input = last_.input;
  append_varint(bytes_, next.input - last_.input);
  append_varint(bytes_, same_input ? next.markers - last_.markers : next.markers);
  append_varint(bytes_, next.call - last_.call);
  last_ = next;
}

void CallMarks::merge(const CallMarks& later, uint64_t calls) {
  for (CallMark mark : later.all()) {
    mark.call += calls;
    note(mark);
  }
}

std::vector<CallMark> CallMarks::all() const {
  std::vector<CallMark> marks;
  CallMark mark;
  for (std::string_view bytes = bytes_; !bytes.empty();) {
    const uint64_t inputs = take_varint(bytes);
    const uint64_t markers = take_varint(bytes);
    mark.markers = inputs > 0 ? markers : mark.markers + markers;
    mark.input += inputs;
    mark.call += take_varint(bytes);
    marks.push_back(mark);
  }
  return marks;
}

namespace {

/// Where times stand. Slurm prints its own at the end of a sentence.
constexpr size_t kMostBytes = 160;

/// The number in "step 5", "Step: 5/100", "iteration=5", "iter [5/100]"; -1 if there is none.
int64_t step_in(std::string_view line) {
  constexpr std::string_view kWords[] = {"tep", "iter", "Iter", "atch", "poch"};
  constexpr size_t kMostBetween = 12;
  for (const std::string_view word : kWords) {
    const size_t at = line.find(word);
    if (at == line.npos) continue;
    size_t behind = at + word.size();
    if (line.substr(behind).starts_with("ation")) behind += std::string_view("ation").size();
    const size_t begin = line.find_first_not_of("s \t:=#[", behind);
    if (begin == line.npos || begin - behind > kMostBetween) continue;
    size_t end = begin;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (const auto step = parse_int(line.substr(begin, end - begin))) return *step;
  }
  return -1;
}

/// What a job prints again and again while it gets on, without a number of steps.
bool shows_work(std::string_view line) {
  constexpr std::string_view kWords[] = {": opCount ", "NCCL CALL nccl", "loss",     "it/s",
                                         "s/it",       "throughput",     "tokens/s", "samples/s"};
  return holds_one_of(line, kWords);
}

}  // namespace

void Beats::add_pause(const Pause& pause) {
  const auto is_longer = [](const Pause& a, const Pause& b) { return a.length() > b.length(); };
  // Behind its equals: of several the first ones are kept.
  pauses.insert(std::ranges::upper_bound(pauses, pause, is_longer), pause);
  if (pauses.size() > kMaxPauses) pauses.pop_back();
}

bool Beats::add(const TimedLine& beat) {
  if (count > 0 && beat.nanoseconds <= last.nanoseconds) {
    if (beat.nanoseconds == last.nanoseconds) last.where = beat.where;
    return beat.nanoseconds == last.nanoseconds;
  }
  if (count++ == 0) {
    first = beat;
  } else {
    add_pause({last, beat});
  }
  last = beat;
  return true;
}

void Beats::merge(const Beats& later) {
  if (later.count == 0) return;
  if (count == 0) {
    *this = later;
    return;
  }
  const TimedLine here = last;
  count += later.count;
  if (later.first.nanoseconds > here.nanoseconds) add_pause({here, later.first});
  for (Pause pause : later.pauses) {
    // What is older than the last beat here would have been none.
    if (pause.before.nanoseconds < here.nanoseconds) pause.before = here;
    if (pause.length() > 0) add_pause(pause);
  }
  if (later.last.nanoseconds >= here.nanoseconds) last = later.last;
}

void StepGrowth::add(int64_t step) {
  if (step < 0) return;
  if (first < 0) first = step;
  if (step > last && last >= 0) steps += static_cast<uint64_t>(step - last);
  last = step;
}

void StepGrowth::merge(const StepGrowth& later) {
  add(later.first);
  steps += later.steps;
  if (later.last >= 0) last = later.last;
}

bool Pulse::is_dated_as_before(std::string_view line) const {
  return !stamp_.empty() && line.size() >= stamp_at_ + stamp_.size() &&
         std::memcmp(line.data() + stamp_at_, stamp_.data(), stamp_.size()) == 0;
}

void Pulse::add(SourceRef where, std::string_view line) {
  line = line.substr(0, kMostBytes);
  if (is_dated_as_before(line)) {
    now_.where = where;
    undated_ = 0;
    if (stamped_ < 0) return;
    PulseClock& clock = clocks_[stamped_];
    clock.all.last.where = where;
    note_work(clock, line);
    return;
  }
  const LineTime time = find_line_time(line);
  if (!time.known()) return add_undated(where, undated_ < kMostUndated && names_step(line));
  const int zone = time.has_zone ? 1 : 0;
  PulseClock& clock = clocks_[zone];
  now_ = {where, time.nanoseconds};
  undated_ = 0;
  stamped_ = clock.all.add(now_) ? zone : -1;
  stamp_.assign(time.text);
  stamp_at_ = static_cast<size_t>(time.text.data() - line.data());
  if (stamped_ >= 0) note_work(clock, line);
}

bool Pulse::names_step(std::string_view line) {
  line = line.substr(0, kMostBytes);
  return line.find("NCCL ") == line.npos && step_in(line) >= 0;
}

void Pulse::note_work(PulseClock& clock, std::string_view line) {
  // What came a moment after other work adds nothing.
  constexpr int64_t kMoment = 50'000'000;
  const int64_t since = now_.nanoseconds - clock.work.last.nanoseconds;
  if (clock.work.count > 0 && since < kMoment) {
    if (since == 0) clock.work.last.where = now_.where;
    return;
  }
  const int64_t step = step_in(line);
  if (step < 0 && !shows_work(line)) return;
  clock.work.add(now_);
  clock.steps.add(step);
}

void Pulse::add_work(SourceRef where) {
  if (now_.where != where) {
    undated_work_ = where;
  } else if (stamped_ >= 0) {
    clocks_[stamped_].work.add(now_);
  }
}

void Pulse::merge(const Pulse& later) {
  for (size_t zone = 0; zone < clocks_.size(); ++zone) {
    clocks_[zone].all.merge(later.clocks_[zone].all);
    clocks_[zone].work.merge(later.clocks_[zone].work);
    clocks_[zone].steps.merge(later.clocks_[zone].steps);
  }
  undated_work_ = std::max(undated_work_, later.undated_work_);
  stamp_.clear();
}

// What happened in each process.

namespace {

constexpr size_t kMaxWarnings = 10;  ///< Shown per process.
constexpr size_t kMaxOfAKind = 3;    ///< Other lines of one kind shown per process.

/// `head` is what stands in front of the message of its line.
Milestone milestone(SourceRef where, std::string_view what, std::string detail,
                    std::string_view head) {
  const LineTime time = find_line_time(head);
  Milestone made;
  made.where = where;
  made.time = time.text;
  made.has_zone = time.has_zone;
  made.year = time.year;
  made.nanoseconds = time.nanoseconds;
  made.what = what;
  made.detail = std::move(detail);
  return made;
}

/// Its head, and the message without blanks around it.
std::pair<std::string_view, std::string_view> halves_of(std::string_view line) {
  const std::string_view message = trim(parse_header(line).message);
  if (message.empty()) return {{}, line};
  return {line.substr(0, static_cast<size_t>(message.data() - line.data())), message};
}

Milestone milestone_of(SourceRef where, std::string_view what, std::string_view line) {
  const auto [head, message] = halves_of(line);
  return milestone(where, what, std::string(message), head);
}

/// Everything that one process says, as it is collected.
using Milestones = std::vector<Milestone>;

/// The kept record of each line of a log.
std::map<SourceRef, Record> records_by_line(const SpeakerLog& log) {
  std::map<SourceRef, Record> by_line;
  for (const auto& [kind, list] : log.records) {
    for (const Record& record : list.kept) by_line.emplace(record.where, record);
  }
  return by_line;
}

std::string text_of(const NcclVersion& version) {
  if (!version.cuda.empty())
    return fmt::format("NCCL {}, built for CUDA {}", version.version, version.cuda);
  return fmt::format("RCCL {}{}{}", version.version, version.hip.empty() ? "" : ", built for HIP ",
                     version.hip);
}

std::string text_of(const NetworkSelected& selected) { return std::string(selected.network); }

/// The first line of kind T in a log.
template <typename T>
void add_first(const SpeakerLog& log, std::string_view what, Milestones& all) {
  const Records kept = log.records.kept(kKindIndex<T>);
  if (kept.empty()) return;
  const Record first = kept.front();
  all.push_back(milestone(first.where, what, text_of(read_message<T>(parse_message(first))),
                          halves_of(first.text()).first));
}

/// The first lines of those kinds, under the name `what`.
void add_kinds(const SpeakerLog& log, std::string_view what,
               std::initializer_list<std::string_view> kinds, Milestones& all) {
  for (const std::string_view name : kinds) {
    const Kind* kind = find_kind(name);
    if (kind == nullptr) continue;
    const Records kept = log.records.kept(kind->index);
    for (size_t r = 0; r < std::min(kept.size(), kMaxOfAKind); ++r) {
      all.push_back(milestone_of(kept[r].where, what, kept[r].text()));
    }
  }
}

void add_shown_kinds(const SpeakerLog& log, Milestones& all) {
  add_kinds(log, "watchdog",
            {"watchdog_timeout", "blocking_wait_timeout", "heartbeat_timeout", "desync_timeout"},
            all);
  add_kinds(log, "barrier", {"monitored_barrier_failed"}, all);
  add_kinds(log, "store", {"store_wait_failed", "store_timeout"}, all);
  add_kinds(log, "exception",
            {"nccl_exception", "python_exception", "cuda_oom_exception", "fatal_python_error"},
            all);
  add_kinds(log, "ended", {"worker_failed", "process_ended", "oom_kill"}, all);
  add_kinds(log, "Xid", {"xid"}, all);
}

/// WARN lines of a log, wherever their kind put them; how many more there are.
uint64_t add_warnings(const SpeakerLog& log, Milestones& all) {
  std::map<SourceRef, Record> warnings;
  const auto collect = [&](const RecordList& list) {
    for (const Record& record : list.kept) {
      if (level_of(record) == Level::Warn) warnings.emplace(record.where, record);
    }
  };
  for (const auto& [kind, list] : log.records) collect(list);
  collect(log.unrecognised.find(Record::kNoKind));
  size_t shown = 0;
  for (const auto& [where, record] : warnings) {
    if (++shown > kMaxWarnings) break;
    all.push_back(milestone_of(where, "WARN", record.text()));
  }
  return warnings.size() - std::min(warnings.size(), kMaxWarnings);
}

/// The first and the last line of a process, if they stand in this log of it.
void add_ends(const Process& process, const SpeakerLog& log,
              const std::map<SourceRef, Record>& by_line, Milestones& all) {
  const auto first = by_line.find(process.first);
  if (first != by_line.end()) {
    all.push_back(milestone_of(process.first, "first line", first->second.text()));
  }
  if (log.lines < 2 || log.last != process.last) return;
  all.push_back(milestone_of(log.last, "last line", log.last_text));
}

std::string end_of_init_text(const Job& job, const Communicator& comm, const CommRank& rank) {
  const InitSection* section = init_section(job, rank);
  if (section == nullptr || section->timings_total.empty()) return comm.id;
  return fmt::format("{}, {} s ({})", comm.id, section->timings_total, section->timings);
}

/// The lines of a communicator's life; `by_line` finds the times of those that
/// were kept.
void add_life(const Job& job, const Communicator& comm, const CommRank& rank,
              const std::map<SourceRef, Record>& by_line, Milestones& all) {
  const CommSegment& segment = segment_of(job, rank);
  const auto add = [&](SourceRef where, std::string_view what, std::string detail) {
    if (where.line == 0) return;
    const auto record = by_line.find(where);
    const std::string line = record == by_line.end() ? std::string() : record->second.text();
    all.push_back(milestone(where, what, std::move(detail), halves_of(line).first));
  };
  add(segment.started, "init start",
      fmt::format("{}, rank {} of {}", comm.id, rank.rank, comm.nranks));
  add(segment.completed, "init end", end_of_init_text(job, comm, rank));
  const bool aborted = segment.end == CommFate::Aborted;
  add(segment.ended, aborted ? "aborted" : "destroyed", comm.id);
  const CollectiveCalls& calls = calls_of(segment);
  if (calls.total == 0) return;
  const CallSignature& call = calls.last_call;
  all.push_back(milestone(calls.first, "first call", comm.id, calls.first_stamp));
  all.push_back(milestone(calls.last, "last call",
                          fmt::format("{}, {} with count {}, call {}", comm.id, call.op.view(),
                                      call.count, calls.total),
                          calls.last_stamp));
}

/// Milestones by process.
std::vector<Milestones> collect(const Job& job, uint64_t& warnings_omitted) {
  std::vector<std::map<SourceRef, Record>> by_line;
  for (const SpeakerLog& log : job.logs) by_line.push_back(records_by_line(log));
  std::vector<Milestones> all(job.processes.size());
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl && process.rank < 0 && process.pid < 0) continue;
    for (const size_t l : process.logs) {
      const SpeakerLog& log = job.logs[l];
      add_first<NcclVersion>(log, "version", all[p]);
      add_first<NetworkSelected>(log, "network", all[p]);
      add_shown_kinds(log, all[p]);
      warnings_omitted += add_warnings(log, all[p]);
      add_ends(process, log, by_line[l], all[p]);
    }
  }
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.log < 0) continue;
      add_life(job, comm, rank, by_line[rank.log], all[rank.process]);
    }
  }
  return all;
}

/// A process whose milestones can be compared with others': all have a time,
/// all or none a zone.
bool is_timed(const Milestones& all, bool with_zone) {
  return std::ranges::all_of(
      all, [&](const Milestone& made) { return !made.time.empty() && made.has_zone == with_zone; });
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
    std::ranges::stable_sort(all, {}, &Milestone::where);
    drop_doubles(all);
    const bool timed = is_timed(all, zoned > local);
    ++(timed ? timeline.timed_processes : timeline.untimed_processes);
    Milestones& list = timed ? timeline.milestones : untimed;
    std::move(all.begin(), all.end(), std::back_inserter(list));
  }
  // Times without year stand in the year that others print.
  int year = 0;
  for (const Milestone& made : timeline.milestones) year = std::max(year, made.year);
  for (Milestone& made : timeline.milestones) {
    if (made.year == 0) made.year = year;
  }
  std::ranges::stable_sort(timeline.milestones, {}, [](const Milestone& made) {
    return std::tie(made.year, made.nanoseconds, made.process, made.where);
  });
  std::move(untimed.begin(), untimed.end(), std::back_inserter(timeline.milestones));
  return timeline;
}

}  // namespace ncclog
