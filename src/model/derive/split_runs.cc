#include "model/derive/split_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "log/event.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/derive/steps.h"
#include "model/record_trie.h"

namespace ncclog {
namespace {

/// From the first to the last of some lines, or times.
template <typename T>
struct Range {
  T first = {};
  T last = {};
  bool known = false;

  void add(const T& value) {
    first = known ? std::min(first, value) : value;
    last = known ? std::max(last, value) : value;
    known = true;
  }
};

/// What a run's own processes show.
struct Shown {
  std::map<int64_t, Range<SourceRef>> by_input;
  Range<int64_t> times[2];  ///< Of lines, by whether they carry a zone.
  bool is_over = true;      ///< All have taken their largest communicators down.
  /// False if ranks of a communicator made unlike numbers of collectives: none finished like that.
  bool may_be_over = true;
};

void add_log(const Job& job, const SpeakerLog& log, Shown& shown) {
  const auto add = [&](SourceRef where) {
    const int64_t input = input_of(job, where);
    if (input >= 0) shown.by_input[input].add(where);
  };
  const auto add_time = [&](const LineTime& time) {
    if (time.known()) shown.times[time.has_zone ? 1 : 0].add(time.nanoseconds);
  };
  add(log.first);
  add(log.last);
  for (const auto& [kind, list] : log.records) {
    if (list.kept.empty()) continue;
    for (const Record& record : list.kept) add(record.where);
    add_time(time_of(list.kept.front()));
    add_time(time_of(list.kept.back()));
  }
  for (const CommSegment& segment : log.comms.all) {
    for (const SourceRef where : {segment.started, segment.completed, segment.ended,
                                  calls_of(segment).first, calls_of(segment).last}) {
      add(where);
    }
  }
  add_time(find_line_time(log.last_text));
  int largest = -1;
  for (const CommSegment& segment : log.comms.all) largest = std::max(largest, segment.nranks);
  shown.is_over &= std::ranges::all_of(log.comms.all, [&](const CommSegment& segment) {
    return segment.nranks != largest || segment.end != CommFate::None;
  });
}

/// All seen ranks of each communicator of the run show as many collectives.
bool calls_are_even(const Job& job, const Run& run) {
  return std::ranges::all_of(job.communicators, [&](const auto& comm) {
    std::set<uint64_t> counts;
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.log < 0) continue;
      const Process& process = nth_process(job, rank.process);
      const bool is_own = std::ranges::binary_search(run.processes, rank.process);
      // Of other runs, or with lines missing: it proves nothing.
      if (!is_own || process.torn || process.cut) return true;
      counts.insert(calls_of(segment_of(job, rank)).collectives.size());
    }
    return counts.size() < 2;
  });
}

std::vector<Shown> shown_by(const Job& job, const std::vector<Run>& runs) {
  std::vector<Shown> all;
  for (const Run& run : runs) {
    Shown& shown = all.emplace_back();
    shown.may_be_over = calls_are_even(job, run);
    for (const int p : run.processes) {
      for (const size_t log : nth_process(job, p).logs) {
        if (job.logs[log].speaker.pid >= 0) add_log(job, job.logs[log], shown);
      }
    }
  }
  return all;
}

/// What a line that names no process tells of where runs begin and end.
struct Sign {
  enum class Type { Work, Finish, Failure, Start };

  SourceRef where;
  Type type = Type::Work;
  int run = -1;       ///< By its pid or its time; -1: it names none.
  int64_t step = -1;  ///< Of a line that announces one.
};

/// A row of signs that may be of one run.
struct Piece {
  SourceRef from;
  SourceRef last;
  int run = -1;
  bool fails = false;
  bool finishes = false;  ///< And nothing of it stands behind that.
  int64_t first_step = -1;
  int64_t last_step = -1;
};

class RunDivider {
 public:
  RunDivider(const Job& job, const std::vector<Run>& runs)
      : job_(job), runs_(runs), shown_(shown_by(job, runs)) {
    for (size_t r = 0; r < runs.size(); ++r) {
      for (const int p : runs[r].processes) {
        const auto [known, is_new] =
            by_pid_.try_emplace(nth_process(job, p).pid, static_cast<int>(r));
        if (!is_new && known->second != static_cast<int>(r)) known->second = -1;
      }
    }
    add_signs();
  }

  std::vector<std::vector<RunStretch>> divide() const {
    std::vector<std::vector<RunStretch>> by_input(job_.inputs.size());
    for (size_t i = 0; i < job_.inputs.size(); ++i) by_input[i] = by_speakers(i);
    const auto folders = folders_of(by_input);
    for (size_t i = 0; i < job_.inputs.size(); ++i) {
      if (!by_input[i].empty() || is_spoken_in(i)) continue;
      by_input[i] = by_signs(i, folders);
    }
    return by_input;
  }

 private:
  bool is_spoken_in(size_t input) const {
    return std::ranges::any_of(shown_, [&](const Shown& shown) {
      return shown.by_input.contains(static_cast<int64_t>(input));
    });
  }

  /// The stretches of an input into which processes of runs write; none where runs take turns.
  std::vector<RunStretch> by_speakers(size_t input) const {
    std::vector<std::pair<Range<SourceRef>, int>> spans;
    for (size_t r = 0; r < shown_.size(); ++r) {
      const auto span = shown_[r].by_input.find(static_cast<int64_t>(input));
      if (span != shown_[r].by_input.end()) spans.emplace_back(span->second, static_cast<int>(r));
    }
    std::ranges::sort(spans, {}, [](const auto& entry) { return entry.first.first; });
    std::vector<RunStretch> stretches;
    for (size_t s = 0; s < spans.size(); ++s) {
      // Runs that write into the file at the same time leave no stretch to one of them.
      if (s > 0 && !(spans[s - 1].first.last < spans[s].first.first)) return {};
      stretches.push_back({spans[s].first.first, spans[s].second});
    }
    // What stands before the first one leads to it; what stands behind one is about its end.
    if (!stretches.empty()) stretches.front().from = {};
    return stretches;
  }

  static std::string folder_of(const std::string& path) {
    return path.substr(0, path.find_last_of('/') + 1);
  }

  /// The folders in which one run alone speaks.
  std::map<std::string, int> folders_of(
      const std::vector<std::vector<RunStretch>>& by_input) const {
    std::map<std::string, int> folders;
    for (size_t i = 0; i < by_input.size(); ++i) {
      if (!is_spoken_in(i)) continue;
      const int run = by_input[i].size() == 1 ? by_input[i].front().run : -1;
      const auto [known, is_new] = folders.try_emplace(folder_of(job_.inputs[i].path), run);
      if (!is_new && known->second != run) known->second = -1;
    }
    return folders;
  }

  template <typename T>
  void add_signs_of(const SpeakerLog& log, Sign::Type type) {
    for (const Record& record : log.records.kept(kKindIndex<T>)) {
      const int64_t input = input_of(job_, record.where);
      if (input < 0) continue;
      Sign sign{record.where, type, run_at(record.text())};
      const T message = read_message<T>(parse_message(record));
      if constexpr (requires { message.pid; }) {
        const auto named = by_pid_.find(message.pid);
        if (named != by_pid_.end()) sign.run = named->second;
      }
      if constexpr (requires { message.iteration; }) sign.step = message.iteration;
      signs_[static_cast<size_t>(input)].push_back(sign);
    }
  }

  template <typename... T>
  void add_all(const SpeakerLog& log, Sign::Type type) {
    (add_signs_of<T>(log, type), ...);
  }

  void add_signs() {
    signs_.resize(job_.inputs.size());
    for (const SpeakerLog& log : job_.logs) {
      if (log.speaker.pid >= 0) continue;
      add_all<IterationLine, ProgressBar, EvalProgress>(log, Sign::Type::Work);
      add_all<WorkFinished, LaunchFinished, BenchHeading, MlperfRunStop, WorkerFinished>(
          log, Sign::Type::Finish);
      add_all<WatchdogTimeout, BlockingWaitTimeout, HeartbeatTimeout, WorkException, WorkStatus,
              WatchdogTerminated, CppTerminate, FatalPythonError, PythonException, NcclException,
              CudaOomException, StoreTimeout, StoreBarrierTimeout, WorkerFailed, WorkerClosing,
              AgentSignalled, WorkerGroupRestart, ChildFailed, FailureExitcode, FailureSignal,
              ProcessEnded, ProcessExited, JobCancelled, LaunchStopped, WorkStopped>(
          log, Sign::Type::Failure);
      add_all<RendezvousComplete>(log, Sign::Type::Start);
    }
    for (std::vector<Sign>& signs : signs_) std::ranges::stable_sort(signs, {}, &Sign::where);
  }

  /// The run that was going on at the time of a line; -1 where times do not tell.
  int run_at(std::string_view line) const {
    const LineTime time = find_line_time(line);
    if (!time.known()) return -1;
    std::vector<std::pair<Range<int64_t>, int>> ranges;
    for (size_t r = 0; r < shown_.size(); ++r) {
      ranges.emplace_back(shown_[r].times[time.has_zone ? 1 : 0], static_cast<int>(r));
      if (!ranges.back().first.known) return -1;
    }
    std::ranges::sort(ranges, {}, [](const auto& entry) { return entry.first.first; });
    int found = -1;
    for (size_t i = 0; i < ranges.size(); ++i) {
      // Where the times of two runs overlap, a time proves nothing.
      if (i > 0 && ranges[i].first.first <= ranges[i - 1].first.last) return -1;
      if (ranges[i].first.first <= time.nanoseconds) found = ranges[i].second;
    }
    return found;
  }

  static bool begins_anew(const Piece& piece, const Sign& sign) {
    if (piece.run >= 0 && sign.run >= 0) return piece.run != sign.run;
    // A failure is told many times over; only what comes behind it is new.
    if (sign.type == Sign::Type::Failure) return false;
    if (piece.fails || piece.finishes || sign.type == Sign::Type::Start) return true;
    return sign.step >= 0 && sign.step <= piece.first_step && sign.step < piece.last_step;
  }

  static void add(const Sign& sign, Piece& piece) {
    piece.last = sign.where;
    if (piece.run < 0) piece.run = sign.run;
    piece.fails |= sign.type == Sign::Type::Failure;
    piece.finishes = sign.type == Sign::Type::Finish;
    if (sign.step < 0) return;
    if (piece.first_step < 0) piece.first_step = sign.step;
    piece.last_step = std::max(piece.last_step, sign.step);
  }

  std::vector<Piece> pieces_of(size_t input) const {
    std::vector<Piece> pieces;
    for (const Sign& sign : signs_[input]) {
      const bool same_finish = !pieces.empty() && pieces.back().finishes &&
                               sign.type == Sign::Type::Finish && sign.run == pieces.back().run;
      if (pieces.empty() || (!same_finish && begins_anew(pieces.back(), sign))) {
        pieces.push_back({.from = sign.where});
      }
      add(sign, pieces.back());
    }
    return pieces;
  }

  /// The only run whose end goes with what the piece says; -1: none or several.
  int only_fitting(const Piece& piece) const {
    if (!piece.fails && !piece.finishes) return -1;
    const bool any_over =
        std::ranges::any_of(shown_, [](const Shown& shown) { return shown.is_over; });
    int found = -1;
    for (size_t r = 0; r < runs_.size(); ++r) {
      const bool finished = any_over ? shown_[r].is_over : shown_[r].may_be_over;
      const bool fits = piece.finishes ? finished : !shown_[r].is_over;
      if (!fits) continue;
      if (found >= 0) return -1;
      found = static_cast<int>(r);
    }
    return found;
  }

  /// How often NCCL says its version in an input without naming a process: once a run, by rank 0.
  uint64_t banners(size_t input) const {
    uint64_t banners = 0;
    for (const SpeakerLog& log : job_.logs) {
      const RecordList list = log.records.find(kKindIndex<NcclVersion>);
      if (log.speaker.pid >= 0) continue;
      const bool is_here = std::ranges::all_of(list.kept, [&](const Record& record) {
        return std::cmp_equal(input_of(job_, record.where), input);
      });
      if (is_here) banners += list.total;
    }
    return banners;
  }

  /// How often the steps that an input prints begin again.
  size_t restarts_of_steps(size_t input) const {
    // A version line for each run: so many of them stand in this input.
    if (banners(input) == runs_.size()) return runs_.size() - 1;
    size_t restarts = 0;
    for (const InputClock& clock : job_.clocks) {
      if (clock.input != input) continue;
      int64_t last = -1;
      for (const Marker& marker : clock.markers) {
        if (clock.markers.size() < clock.total || marker.step < 0) continue;
        if (marker.step < last) ++restarts;
        last = marker.step;
      }
      for (const bool has_zone : {false, true}) {
        const StepGrowth& steps = clock.pulse.clock(has_zone).steps;
        // They grew by more than from the first to the last.
        const bool grew_again =
            steps.first >= 0 && static_cast<int64_t>(steps.steps) > steps.last - steps.first;
        if (grew_again && restarts == 0) restarts = 1;
      }
    }
    return restarts;
  }

  /// Work stands behind that line in the input, as far as its lines tell.
  bool works_after(size_t input, SourceRef where) const {
    return std::ranges::any_of(job_.clocks, [&](const InputClock& clock) {
      return clock.input == input && (where < clock.pulse.undated_work() ||
                                      where < clock.pulse.clock(false).work.last.where ||
                                      where < clock.pulse.clock(true).work.last.where);
    });
  }

  /// The stretches of an input in which no process of a run speaks.
  std::vector<RunStretch> by_signs(size_t input, const std::map<std::string, int>& folders) const {
    const auto folder = folders.find(folder_of(job_.inputs[input].path));
    if (folder != folders.end() && folder->second >= 0) return {{{}, folder->second}};
    for (size_t r = 0; r < runs_.size(); ++r) {
      const int attempt = job_.inputs[input].attempt;
      if (attempt >= 0 && runs_[r].name == fmt::format("attempt {}", attempt)) {
        return {{{}, static_cast<int>(r)}};
      }
    }
    std::vector<Piece> pieces = pieces_of(input);
    if (pieces.empty() && job_.inputs[input].format == "flight_recorder") {
      // Dumps are written where something stands still.
      pieces.push_back({.fails = true});
    }
    name_pieces(pieces);
    part_last_finish(input, pieces);
    std::vector<RunStretch> stretches;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool is_next = i > 0 && pieces[i].run != pieces[i - 1].run;
      const SourceRef from =
          is_next ? beginning_between(input, pieces[i - 1].last, pieces[i].from) : pieces[i].from;
      stretches.push_back({from, pieces[i].run});
    }
    if (!stretches.empty()) stretches.front().from = {};
    return stretches;
  }

  /// Where a run began between the last sign of the run before and its own first one: behind the
  /// longest pause, because starting again takes longer than anything a program prints at its end.
  SourceRef beginning_between(size_t input, SourceRef last, SourceRef first) const {
    SourceRef beginning = first;
    int64_t longest = 0;
    for (const InputClock& clock : job_.clocks) {
      if (clock.input != input) continue;
      for (const bool has_zone : {false, true}) {
        for (const Pause& pause : clock.pulse.clock(has_zone).all.pauses) {
          const bool between = last < pause.after.where && pause.after.where < first;
          if (!between || pause.length() <= longest) continue;
          longest = pause.length();
          beginning = pause.after.where;
        }
      }
    }
    return beginning;
  }

  /// Every run printed its steps into the file, and no line says where one ends: but the end of the
  /// work behind all steps is that of the last one.
  void part_last_finish(size_t input, std::vector<Piece>& pieces) const {
    const bool is_open = pieces.size() == 1 && pieces[0].run < 0 && pieces[0].finishes;
    if (!is_open || restarts_of_steps(input) + 1 != runs_.size()) return;
    const SourceRef finish = signs_[input].back().where;
    if (works_after(input, finish)) return;
    pieces.push_back({.from = finish, .run = static_cast<int>(runs_.size()) - 1});
  }

  void name_pieces(std::vector<Piece>& pieces) const {
    const bool one_each = pieces.size() == runs_.size();
    bool in_order = one_each;
    for (size_t i = 0; i < pieces.size(); ++i) {
      in_order &= pieces[i].run < 0 || pieces[i].run == static_cast<int>(i);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].run >= 0) continue;
      pieces[i].run = in_order ? static_cast<int>(i) : only_fitting(pieces[i]);
    }
  }

  const Job& job_;
  const std::vector<Run>& runs_;
  std::vector<Shown> shown_;
  std::map<int64_t, int> by_pid_;         ///< -1: of several runs.
  std::vector<std::vector<Sign>> signs_;  ///< By input, in its order.
};

std::vector<Run> certain_runs(std::vector<Run> runs) {
  std::erase_if(runs, [](const Run& run) { return !run.certain; });
  std::set<int> attempts;
  for (const Run& run : runs) attempts.insert(run.attempt);
  const bool are_attempts = !attempts.contains(-1) && attempts.size() == runs.size();
  for (size_t r = 0; r < runs.size(); ++r) {
    runs[r].name =
        are_attempts ? fmt::format("attempt {}", runs[r].attempt) : fmt::format("run {}", r + 1);
  }
  return runs;
}

/// Processes of no certain run go where their lines stand.
void add_others(const Job& job, RunParts& parts) {
  std::set<int> known;
  for (const Run& run : parts.runs) known.insert(run.processes.begin(), run.processes.end());
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (process.pid < 0 || known.contains(static_cast<int>(p))) continue;
    const int owner = parts.owner(job, process.first);
    if (owner < 0 || owner != parts.owner(job, process.last)) continue;
    parts.runs[static_cast<size_t>(owner)].processes.push_back(static_cast<int>(p));
  }
  for (Run& run : parts.runs) std::ranges::sort(run.processes);
}

// The job of each.

/// Adds a line that is kept of a run to what its part of a log says in all.
void note_line(const Record& record, SpeakerLog& part) {
  ++part.lines;
  if (part.first.line == 0 || record.where < part.first) part.first = record.where;
  if (part.last < record.where) {
    part.last = record.where;
    part.last_text = record.text();
  }
}

/// The speaker is whom the line names, or nobody and so does it.
bool is_said_by(const Speaker& speaker, const Record& line) {
  const Prefix prefix = parse_record(line).header.prefix;
  if (prefix.rank >= 0) return speaker.rank == prefix.rank;
  return speaker.rank < 0 && speaker.pid < 0 && speaker.local_rank == prefix.local_rank;
}

/// Of endings in the same words the first alone is kept: brings back those of the run.
template <typename IsOwn>
void restore_endings(std::span<const OwnedRecord> endings, SharedTrie& trie, IsOwn is_own,
                     SpeakerLog& part) {
  std::map<uint16_t, std::vector<OwnedRecord>> lost;
  for (const OwnedRecord& ending : endings) {
    const Record line = ending;
    if (!is_own(line.where) || !is_said_by(part.speaker, line)) continue;
    const auto kept = part.records.kept(line.kind());
    const bool is_there = std::any_of(
        kept.begin(), kept.end(), [&](const Record& record) { return record.where == line.where; });
    if (is_there) continue;
    lost[line.kind()].push_back(ending);
    note_line(line, part);
  }
  for (auto& [kind, records] : lost) {
    for (const Record& record : part.records.kept(kind)) records.push_back(keep(record));
    std::ranges::sort(records, {}, &OwnedRecord::where);
    part.records.keep_only(trie, [&](uint16_t each, const Record&) { return each != kind; });
    for (const OwnedRecord& record : records)
      part.records.add(trie, kind, record, record.rest->hash, [&] { return record; });
    part.records.settle();
  }
}

/// Takes the lines of one run, those at places that are its own, out of a log that names no process.
/// Nothing of it is left if `lines` is 0. All of it if its lines stand in stretches of this run
/// only, as far as it keeps any.
/// `endings` are those of its input.
template <typename IsOwn>
SpeakerLog own_part(const SpeakerLog& whole, SharedTrie& trie, IsOwn is_own,
                    std::span<const OwnedRecord> endings) {
  const auto are_own = [&](const RecordLists& lists) {
    return std::all_of(lists.begin(), lists.end(), [&](const auto& entry) {
      return std::ranges::all_of(entry.second.kept,
                                 [&](const auto& record) { return is_own(record.where); });
    });
  };
  const auto is_own_line = [&](const OwnedRecord& line) { return is_own(line.where); };
  const bool is_all_own = is_own(whole.first) && is_own(whole.last) &&
                          are_own(whole.unrecognised) && are_own(whole.records) &&
                          are_own(whole.line_matches) &&
                          std::ranges::all_of(*whole.stack_lines, is_own_line);
  if (is_all_own) return whole;
  SpeakerLog part;
  const auto own_of = [&](const RecordLists& lists) {
    RecordLists own = lists;
    own.keep_only(trie, [&](uint16_t, const Record& record) {
      const bool is_ours = is_own(record.where);
      if (is_ours) note_line(record, part);
      return is_ours;
    });
    // Of lines that came again only the first is kept, so how many are this run's is not known.
    own.forget_repeats();
    return own;
  };
  part.unrecognised = own_of(whole.unrecognised);
  part.records = own_of(whole.records);
  part.line_matches = own_of(whole.line_matches);
  part.speaker = whole.speaker;
  restore_endings(endings, trie, is_own, part);
  part.torn = whole.torn;
  part.task_rank = whole.task_rank;
  part.task_local_rank = whole.task_local_rank;
  part.subsystems = whole.subsystems;
  for (auto list : {&SpeakerLog::benchmarks, &SpeakerLog::proxy_dumps}) {
    for (const OwnedRecord& record : (whole.*list)->kept) {
      if (!is_own(record.where)) continue;
      (part.*list).change().add(Record(record).kind(), [&] { return record; });
      note_line(record, part);
    }
  }
  for (const OwnedRecord& line : *whole.stack_lines) {
    if (is_own_line(line)) part.stack_lines.change().push_back(line);
  }
  if (whole.last_failure && is_own(whole.last_failure->where)) {
    part.last_failure = whole.last_failure;
  }
  if (is_own(whole.last)) {
    part.cut = whole.cut;
    part.last = whole.last;
    part.last_text = whole.last_text;
    if (part.lines == 0) part.first = whole.last;
    part.lines = std::max<uint64_t>(part.lines, 1);
  }
  return part;
}

/// The run of each log that names a process; -1: of nobody's.
std::map<size_t, int> runs_of_speakers(const Job& job, const RunParts& parts) {
  std::vector<int> run_of(job.processes.size(), -1);
  for (size_t r = 0; r < parts.runs.size(); ++r) {
    for (const int p : parts.runs[r].processes) {
      run_of[static_cast<size_t>(p)] = static_cast<int>(r);
    }
  }
  std::map<size_t, int> runs;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      if (job.logs[log].speaker.pid >= 0) runs[log] = run_of[p];
    }
  }
  return runs;
}

/// The lines of a stretch: its first, and the first behind it.
std::pair<uint64_t, uint64_t> lines_of(const Job& job, const RunParts& parts, size_t input,
                                       size_t stretch) {
  const std::vector<RunStretch>& all = parts.by_input[input];
  const uint64_t from = stretch == 0 ? 1 : file_line(job, all[stretch].from).line;
  const bool is_last = stretch + 1 == all.size();
  const uint64_t next =
      is_last ? job.inputs[input].lines + 1 : file_line(job, all[stretch + 1].from).line;
  return {from, std::max(from, next)};
}

/// In an input that goes on with another run, the run ends at its last line. Gives the number of
/// lines in the stretches of the run: what its verdict says that it covers.
uint64_t end_inputs(const Job& job, const RunParts& parts, int run, std::vector<JobInput>& inputs) {
  uint64_t lines = 0;
  for (size_t i = 0; i < parts.by_input.size(); ++i) {
    for (size_t s = 0; s < parts.by_input[i].size(); ++s) {
      if (parts.by_input[i][s].run != run) continue;
      const auto [from, next] = lines_of(job, parts, i, s);
      lines += next - from;
      if (s + 1 < parts.by_input[i].size()) inputs[i].lines = next - 1;
    }
  }
  return lines;
}

/// The steps that were printed into an input until the run ended, where those of each run show in
/// that they begin again. Calls count the steps before them, so earlier ones stay.
InputClock own_clock(const InputClock& whole, const std::vector<RunStretch>& stretches, int run) {
  std::vector<size_t> ends;  // Of each row of steps that grow.
  for (size_t m = 1; m < whole.markers.size(); ++m) {
    if (whole.markers[m].step < whole.markers[m - 1].step) ends.push_back(m);
  }
  if (ends.size() + 1 != stretches.size() || whole.markers.size() != whole.total) return whole;
  InputClock own = whole;
  for (size_t s = 0; s < ends.size(); ++s) {
    if (stretches[s].run == run) own.markers.resize(std::min(own.markers.size(), ends[s]));
  }
  own.total = own.markers.size();
  return own;
}

/// Where calls begin to differ was found by reading lines again; it stays what it is in the run.
/// `logs` are those of the run, as numbers of those of the whole job.
void copy_differences(const Job& whole, const std::vector<size_t>& logs, Job& job) {
  using Members = std::vector<std::pair<int64_t, int>>;  // Log in the whole job, and segment.
  std::map<Members, const Communicator*> known;
  for (const Communicator& comm : whole.communicators) {
    if (comm.gaps.empty() && !(comm.difference && comm.difference->is_exact())) continue;
    Members members;
    for (const CommRank& rank : comm.ranks) members.emplace_back(rank.log, rank.segment);
    known[members] = &comm;
  }
  for (Communicator& comm : job.communicators) {
    if (!comm.difference && comm.gaps.empty()) continue;
    Members members;
    for (const CommRank& rank : comm.ranks) {
      const int64_t log =
          rank.log < 0 ? -1 : static_cast<int64_t>(logs[static_cast<size_t>(rank.log)]);
      members.emplace_back(log, rank.segment);
    }
    const auto same = known.find(members);
    if (same == known.end()) continue;
    comm.difference = same->second->difference;
    comm.gaps = same->second->gaps;
  }
}

/// Gives the part what stands beside the logs and is the run's own, or is of hosts and so of all.
template <typename IsOwn>
void take_companions(const Job& job, const IsOwn& is_own, Job& part) {
  for (const RasReport& report : job.ras_reports) {
    if (is_own({report.where.unit, std::max<uint64_t>(report.where.line, 1)}))
      part.ras_reports.push_back(report);
  }
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (is_own({dump.where.unit, 1})) part.flight_recorders.push_back(dump);
  }
  for (const NcclTestsRun& run_of_file : job.nccl_tests) {
    const bool is_of_file = run_of_file.process < 0;
    if (is_of_file && is_own(run_of_file.first)) part.nccl_tests.push_back(run_of_file);
  }
  part.host_reports = job.host_reports;
  part.call_stamps = job.call_stamps;  // By place; whose they are, the calls say.
  for (const InspectedRank& rank : job.inspected) {
    if (is_own({rank.where.unit, 1})) part.inspected.push_back(rank);
  }
  for (const HostTopology& topology : job.topologies) {
    if (!topology.source.empty()) part.topologies.push_back(topology);
  }
  part.pci_devices = job.pci_devices;
  part.port_counters = job.port_counters;
}

/// The endings that the input tells.
std::span<const OwnedRecord> endings_in(const Job& job, int64_t input) {
  const auto clock = std::ranges::find(job.clocks, input, &InputClock::input);
  if (clock == job.clocks.end()) return {};
  return clock->starts.endings();
}

/// The job of one run; -1: of what belongs to nobody. Built like any other, of the logs that are
/// its own.
Job job_of_run(const Job& job, const RunParts& parts, int run) {
  // Of what has no place, none is.
  const auto is_own = [&](SourceRef where) {
    return where.line > 0 && parts.owner(job, where) == run;
  };
  SharedTrie trie;
  Job part;
  part.inputs = job.inputs;
  part.units = job.units;
  part.losses = job.losses;
  part.losses.lines = end_inputs(job, parts, run, part.inputs);
  for (const auto& [shape, lines] : job.unknown.all) {
    const bool is_last_own = is_own(lines.last);
    if (!is_own(lines.first) && !is_last_own) continue;
    UnknownLines& own = part.unknown.all.emplace(shape, lines).first->second;
    if (!is_own(lines.first)) {
      own = {1, lines.levels, lines.last, lines.latest, {}, {}};
    } else if (!is_last_own) {
      own.last = {};
      own.latest.clear();
    }
  }
  for (const InputClock& clock : job.clocks) {
    InputClock& own = part.clocks.emplace_back(own_clock(clock, parts.by_input[clock.input], run));
    if (!parts.has_stretch(clock.input, run)) own.pulse = {};
    own.starts.keep_endings(is_own);  // One run does not begin again.
    for (SourceRef& step : own.last) {
      if (!is_own(step)) step = {};
    }
  }
  take_companions(job, is_own, part);
  const std::map<size_t, int> speakers = runs_of_speakers(job, parts);
  std::vector<size_t> logs;
  for (size_t i = 0; i < job.logs.size(); ++i) {
    const auto speaker = speakers.find(i);
    if (speaker != speakers.end() && speaker->second != run) continue;
    const SpeakerLog& whole = job.logs[i];
    SpeakerLog log =
        speaker != speakers.end()
            ? whole
            : own_part(whole, trie, is_own, endings_in(job, input_of(job, whole.first)));
    if (log.lines == 0) continue;
    part.logs.push_back(std::move(log));
    logs.push_back(i);
  }
  build_parts(part);
  copy_differences(job, logs, part);
  return part;
}

}  // namespace

bool RunParts::has_stretch(size_t input, int run) const {
  return std::ranges::find(by_input[input], run, &RunStretch::run) != by_input[input].end();
}

int RunParts::owner(const Job& job, SourceRef where) const {
  const int64_t input = input_of(job, where);
  if (input < 0) return -1;
  const std::vector<RunStretch>& stretches = by_input[static_cast<size_t>(input)];
  const auto after = std::ranges::upper_bound(stretches, where, {}, &RunStretch::from);
  return after == stretches.begin() ? -1 : std::prev(after)->run;
}

RunParts run_parts(const Job& job) {
  if (job.runs < 2) return {};
  RunParts parts;
  std::vector<Run> runs = find_runs(job);
  if (runs.size() < 2) {
    parts = appended_runs(job);
  } else {
    parts.runs = certain_runs(std::move(runs));
  }
  if (parts.runs.size() > RunParts::kMaxRuns) return {};
  if (!parts.are_appended) parts.by_input = RunDivider(job, parts.runs).divide();
  add_others(job, parts);
  return parts;
}

std::string place_of_run(const Job& job, const RunParts& parts, int run) {
  std::vector<Shown> shown = shown_by(job, parts.runs);
  const Shown& own = shown[static_cast<size_t>(run)];
  std::vector<size_t> inputs;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    if (parts.has_stretch(i, run) || own.by_input.contains(static_cast<int64_t>(i)))
      inputs.push_back(i);
  }
  if (inputs.empty()) return {};
  std::string text = job.inputs[inputs.front()].path;
  const auto& stretches = parts.by_input[inputs.front()];
  const auto span = own.by_input.find(static_cast<int64_t>(inputs.front()));
  if (stretches.size() != 1 && span != own.by_input.end()) {
    text += fmt::format(" lines {}-{}", file_line(job, span->second.first).line,
                        file_line(job, span->second.last).line);
  } else if (parts.are_appended) {
    const auto own_stretch = std::ranges::find(stretches, run, &RunStretch::run);
    const auto stretch = static_cast<size_t>(own_stretch - stretches.begin());
    const auto [from, next] = lines_of(job, parts, inputs.front(), stretch);
    text += fmt::format(" lines {}-{}", from, next - 1);
  }
  if (inputs.size() > 1) {
    text += fmt::format(" and {} more file{}", inputs.size() - 1, inputs.size() == 2 ? "" : "s");
  }
  return text;
}

SplitRuns split_runs(const Job& read) {
  SplitRuns split{.parts = run_parts(read)};
  const std::vector<Run>& runs = split.parts.runs;
  if (runs.empty()) return split;
  for (size_t r = 0; r < runs.size(); ++r) {
    split.runs.push_back(job_of_run(read, split.parts, static_cast<int>(r)));
    split.runs.back().is_last_run = r + 1 == runs.size();
  }
  split.runs.back().stated = read.stated;  // What the user saw is how the logs end.
  split.rest = job_of_run(read, split.parts, -1);
  return split;
}

}  // namespace ncclog
