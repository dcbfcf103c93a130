#include "diagnose/outcome/end_marks.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "base/sorting.h"
#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/facts/line_places.h"
#include "diagnose/outcome/first_failure.h"
#include "log/event.h"

namespace ncclog {
namespace {

/// A row of torchrun's tables of failures that names a rank.
struct FailureRow {
  SourceRef where;
  size_t number = 0;  ///< Among all rows, process by process.
  int rank = -1;
};

std::vector<FailureRow> find_rank_rows(const Job& job) {
  std::vector<FailureRow> rows;
  for_each_said<FailureRank>(job, [&](const Said<FailureRank>& row) {
    rows.push_back({row.where(), rows.size(), row.message.rank});
  });
  std::ranges::sort(rows, {},
                    [](const FailureRow& row) { return std::pair(row.where, row.number); });
  return rows;
}

/// The rank in torchrun's table of failures, which stands above the exit code; -1: none does.
int rank_above(const std::vector<FailureRow>& rows, SourceRef where) {
  constexpr uint64_t kRowsAbove = 3;
  const FailureRow* last = nullptr;
  for (auto row = std::ranges::lower_bound(rows, where, {}, &FailureRow::where);
       row != rows.begin();) {
    const SourceRef at = (--row)->where;
    if (at.unit != where.unit || where.line - at.line > kRowsAbove) break;
    if (last == nullptr || last->number < row->number) last = &*row;
  }
  return last == nullptr ? -1 : last->rank;
}

/// The last line of kind T that is kept.
template <typename T>
Record last_of(const Job& job) {
  Record last;
  for_each_said<T>(job, [&](const Said<T>& said) {
    if (!last || last.where < said.where()) last = said.record();
  });
  return last;
}

bool shows_work(const Job& job) {
  return shows_progress(job) || std::ranges::any_of(job.logs, [](const SpeakerLog& log) {
           return std::ranges::any_of(log.comms.all, [](const CommSegment& segment) {
             return calls_of(segment).total > 0;
           });
         });
}

class MarkCollector {
 public:
  explicit MarkCollector(const Job& job) : job_(job) {}

  std::vector<EndOf> collect() {
    add_programs();
    add_nccl_tests();
    add_launchers();
    add_schedulers();
    add_last_words();
    add_ranks_that_are_done();
    sort_unless_sorted(marks_, {}, [](const EndOf& mark) { return mark.line().where; });
    return std::move(marks_);
  }

 private:
  void add(EndState state, int process, std::string what, const Record& record) {
    marks_.push_back({state, std::move(what), {evidence_of(record)}, process});
  }

  /// What programs print on whatever rank: it is about the job.
  template <typename T>
  void add_all(EndState state, std::string_view what) {
    for_each_said<T>(
        job_, [&](const Said<T>& said) { add(state, -1, std::string(what), said.record()); });
  }

  void add_programs() {
    for_each_said<WorkFinished>(job_, [&](const auto& said) {
      add(EndState::Finished, -1, "the program says that its work is done", said.record());
      marks_.back().is_own = true;
    });
    add_all<LaunchFinished>(EndState::Finished, "who started the job says that it is done");
    for_each_said<WorkStopped>(job_, [&](const Said<WorkStopped>& said) {
      const std::string_view signal = said.message.signal;
      add(EndState::Stopped, -1,
          fmt::format("the job was told to end{}",
                      signal.empty() ? "" : fmt::format(" ({})", signal)),
          said.record());
    });
    for_each_said<LaunchStopped>(job_, [&](const auto& said) {
      const std::string limit = to_valid_utf8(said.message.limit.substr(0, 64));
      add(EndState::Stopped, -1,
          limit.empty() ? "somebody ended the job" : "the scheduler ended the job: " + limit,
          said.record());
    });
    for_each_said<MlperfRunStop>(job_, [&](const auto& said) {
      // "aborted": the target was not reached in the epochs that were allowed.
      const std::string status = to_valid_utf8(said.message.status.substr(0, 32));
      add(EndState::Finished, -1, fmt::format("the benchmark's run_stop says {}", status),
          said.record());
    });
    add_bench_results();
    add_all<BenchHeading>(EndState::Finished, "the benchmark printed its results");
    for_each_said<ProcessGroupNotDestroyed>(job_, [&](const auto& said) {
      add(EndState::Finished, said.process, "the process left by itself", said.record());
    });
    std::vector<bool> leaves;  // By text.
    for_each_said<PluginNote>(job_, [&](const auto& said) {
      // Printed by a destructor of the library, so not where a signal ends the process.
      if (said.line.text == leaves.size()) {
        const std::string_view text = said.record().rest->text();
        leaves.push_back(text.find("Plugin: Closing env ") != text.npos);
      }
      if (leaves[said.line.text])
        add(EndState::Finished, said.process, "the process left by itself", said.record());
    });
  }

  /// Of nobody knows whom, so something has to show that there was work.
  void add_weak(std::string what, const Record& record) {
    if (!job_.answers.of<&shows_work>(job_)) return;
    add(EndState::Finished, -1, std::move(what), record);
    marks_.back().is_own = marks_.back().is_weak = true;
  }

  /// A rank says them of itself, and alone says nothing of the job. What is said several times is
  /// said of parts.
  void add_last_words() {
    std::map<std::pair<int, const Wording*>, int> times;
    const auto times_of = [&](const auto& said) -> int& {
      return times[{said.process, parse_message(said.record()).wording}];
    };
    for_each_said<LastWords>(job_, [&](const auto& said) { ++times_of(said); });
    for_each_said<LastWords>(job_, [&](const auto& said) {
      if (times_of(said) > 1) return;
      if (nth_process(job_, said.process).rank >= 0) return note_done(said);
      add_weak("its last words say that it is done", said.record());
    });
  }

  template <typename T>
  void note_done(const Said<T>& said) {
    const bool has_rank = nth_process(job_, said.process).rank >= 0;
    if (has_rank && !work_follows(job_, said.where())) done_[said.process] = said.record();
  }

  /// "done" alone says little: it counts of ranks after which nobody works, where all that are known
  /// say it, or of one that had worked.
  void add_ranks_that_are_done() {
    for_each_said<RankDone>(job_, [&](const auto& said) { note_done(said); });
    const auto known = std::ranges::count_if(
        job_.processes, [](const Process& process) { return process.rank >= 0; });
    const bool ends_otherwise = std::ranges::any_of(
        marks_, [](const EndOf& mark) { return mark.state != EndState::Finished; });
    if (done_.size() > 1 && std::cmp_equal(done_.size(), known) && !ends_otherwise) {
      add(EndState::Finished, -1, "all ranks say that they are done", done_.rbegin()->second);
      marks_.back().is_own = true;
      marks_.back().is_weak = std::ranges::any_of(
          done_, [](const auto& said) { return said.second.kind() == kKindIndex<LastWords>; });
      return;
    }
    for (const auto& [process, record] : done_) {
      // Rank 0 alone saves the model, and the others may hang.
      if (record.kind() == kKindIndex<LastWords>) continue;
      const auto segments = segments_of(job_, nth_process(job_, process));
      const bool worked =
          prints_steps(job_) || std::ranges::any_of(segments, [](const CommSegment* segment) {
            return calls_of(*segment).total > 0;
          });
      if (worked) add(EndState::Finished, process, "it says that it is done", record);
    }
  }

  /// Only where all ranks printed as many: else some of them are still measuring.
  void add_bench_results() {
    const uint64_t results = count_lines<BenchResult>(job_);
    const auto ranks = static_cast<uint64_t>(job_.nranks.value_or(0));
    if (results == 0 || ranks < 2 || results % ranks != 0) return;
    add(EndState::Finished, -1, "all ranks printed what they measured", last_of<BenchResult>(job_));
  }

  void add_nccl_tests() {
    for (const SpeakerLog& log : job_.logs) {
      for (const Record record : log.benchmarks->kept) {
        const bool sums_up = record.kind() == kKindIndex<NcclTestsOutOfBounds> ||
                             record.kind() == kKindIndex<NcclTestsBandwidth>;
        if (sums_up) add(EndState::Finished, -1, "nccl-tests printed its summary", record);
      }
    }
  }

  void add_process(int process, EndState state, const std::string& what, const Record& record) {
    if (process >= 0) {
      const Process& known = nth_process(job_, process);
      const std::string who = known.rank >= 0  ? fmt::format("rank {}", known.rank)
                              : known.pid >= 0 ? fmt::format("the process with pid {}", known.pid)
                                               : "a process";
      return add(state, process, who + " " + what, record);
    }
    // A process that nothing else is known of: its failure is the job's, its good end is not.
    if (state != EndState::Finished) add(state, -1, "a process " + what, record);
  }

  /// Of many processes not all lines are kept, but all are counted.
  void add_all_exits() {
    const uint64_t exits = count_lines<WorkerFinished>(job_);
    const auto processes = std::ranges::count_if(job_.processes, [](const Process& process) {
      return process.has_nccl && process.pid >= 0;
    });
    const size_t kept = records_of_kind(job_, kKindIndex<WorkerFinished>).records.size();
    if (exits == kept || std::cmp_not_equal(exits, processes)) return;
    add(EndState::Finished, -1,
        fmt::format("all {} processes exit successfully, says the launcher", exits),
        last_of<WorkerFinished>(job_));
  }

  void add_launchers() {
    add_all_exits();
    for_each_said<WorkerFinished>(job_, [&](const auto& said) {
      add_process(process_of_pid(job_, said.message.pid), EndState::Finished,
                  "exits successfully, says the launcher", said.record());
    });
    for (const ExitReport& exit : exit_reports(job_)) add_exit(exit);
    for_each_said<RunEnded>(job_, [&](const auto& said) { add_run(said.message, said.record()); });
    add_all<ChildFailed>(EndState::Failed, "torchrun ends because a worker failed");
    const bool saw_failure = any_said<WorkerFailed>(job_);
    for_each_said<WorkerClosing>(job_, [&](const auto& said) {
      const int process = process_of_pid(job_, said.message.pid);
      // What the launcher does because a worker failed is no end of the job.
      if (process < 0 && saw_failure) return;
      add_process(process, EndState::Stopped, "was ended by its launcher", said.record());
    });
    add_all<AgentSignalled>(EndState::Stopped, "the launcher was told to end");
    for_each_said<PythonException>(job_, [&](const auto& said) {
      if (!said.message.type.ends_with("KeyboardInterrupt")) return;
      add_process(said.process, EndState::Stopped, "was interrupted (SIGINT)", said.record());
    });
    add_all<NodeFailed>(EndState::Failed, "the scheduler lost one of its nodes");
    add_all<TreeKilled>(EndState::Failed, "a process failed, and the others were ended");
    add_all<EngineWatchdogTimeout>(EndState::Failed, "the server's own watchdog ended it");
    add_all<JaxTasksLost>(EndState::Failed, "the coordination service lost a task");
    add_all<JaxTasksMissing>(EndState::Failed, "tasks did not come to a barrier");
    add_all<LauncherDaemonLost>(EndState::Failed, "mpirun lost its daemon on a host");
    add_all<RayNodeDied>(EndState::Failed, "Ray lost a node");
    for_each_said<MpiAbort>(job_, [&](const auto& said) {
      add(EndState::Failed, -1, fmt::format("rank {} called MPI_Abort", said.message.rank),
          said.record());
    });
  }

  void add_exit(const ExitReport& exit) {
    const std::string words = exit.words();
    if (words.empty()) return;
    const EndState state = exit.exitcode == 0    ? EndState::Finished
                           : exit.is_requested() ? EndState::Stopped
                                                 : EndState::Failed;
    const bool is_nameless = exit.ended.pid < 0 && exit.ended.rank < 0;
    if (is_nameless && exit.exitcode == 0) return add_weak("a command " + words, exit.record);
    add_process(process_of(job_, exit.ended.pid, exit.ended.rank), state, words, exit.record);
  }

  /// Of one task alone it is the job's end, else that of the rank of the same number.
  void add_run(const RunEnded& run, const Record& record) {
    const EndState state = !run.request.empty() ? EndState::Stopped
                           : run.exitcode == 0  ? EndState::Finished
                                                : EndState::Failed;
    std::string words = run.signal > 0 ? fmt::format("was ended by signal {}", run.signal)
                                       : fmt::format("exited with status {}", run.exitcode);
    if (!run.request.empty()) {
      words += " after " + to_valid_utf8(run.request.substr(0, 16)) + " was sent to it";
    }
    if (run.tasks <= 1) return add(state, -1, "the command " + words, record);
    add_process(process_of(job_, run.pid, run.task), state, words, record);
  }

  /// Of a job that its operator calls by its state that is told; else of pods, where all that are of
  /// its sort ("trainer-0", "trainer-1") are at their end.
  void add_pods() {
    const auto sort_of = [](std::string_view pod) {
      return pod.substr(0, pod.find_last_not_of("0123456789") + 1);
    };
    struct Pod {
      std::string name;
      std::string status;
      int exitcode;
      Record line;
    };
    std::vector<Pod> pods;
    std::set<std::string_view> sorts;  // Of those whose hosts the log knows.
    for (const ReadRecord& read : records_of_kind(job_, find_kind("pod_listed")->index).records) {
      const Message row = read.message();
      const std::string_view state = row.field("state");
      if (!state.empty()) {
        add(state == "Succeeded" ? EndState::Finished : EndState::Failed, -1,
            fmt::format("Kubernetes calls the job {}", state), read.record());
        continue;
      }
      const std::string_view status = row.field("status");
      const std::string_view pod = row.field("pod");
      pods.push_back({to_valid_utf8(pod.substr(pod.rfind('/') + 1)),
                      to_valid_utf8(status.empty() ? row.field("reason") : status),
                      static_cast<int>(parse_int(row.field("exitcode")).value_or(-1)),
                      read.record()});
    }
    for (const std::string& host : job_.hosts) {
      if (std::ranges::find(pods, host, &Pod::name) != pods.end()) sorts.insert(sort_of(host));
    }
    std::erase_if(
        pods, [&](const Pod& pod) { return !sorts.empty() && !sorts.contains(sort_of(pod.name)); });
    const auto failed = std::ranges::find_if(pods, [](const Pod& pod) {
      constexpr std::string_view kFailed[] = {"Error", "OOMKilled", "Failed", "Evicted"};
      return equals_one_of(pod.status, kFailed);
    });
    if (failed != pods.end()) {
      const std::string code =
          failed->exitcode > 0 ? fmt::format(" (exit code {})", failed->exitcode) : "";
      add(EndState::Failed, -1,
          fmt::format("Kubernetes lists pod {} as {}{}", failed->name, failed->status, code),
          failed->line);
      return;
    }
    const bool are_done = std::ranges::all_of(pods, [](const Pod& pod) {
      return pod.status == "Completed" || pod.status == "Succeeded";
    });
    if (are_done && !pods.empty() && !sorts.empty())
      add(EndState::Finished, -1, "Kubernetes lists its pods as Completed", pods.back().line);
  }

  void add_schedulers() {
    add_pods();
    for_each_said<JobCancelled>(job_, [&](const auto& said) {
      const auto says = [&](std::string_view why) {
        return said.message.text.find(why) != std::string_view::npos;
      };
      if (says("DUE TO NODE FAIL"))
        return add(EndState::Failed, -1, "the scheduler lost one of its nodes", said.record());
      add(EndState::Stopped, -1,
          says("DUE TO TIME LIMIT")    ? "the scheduler ended the job at its time limit"
          : says("DUE TO PREEMPTION")  ? "the scheduler took the job's hosts for another one"
          : says("DUE TO JOB REQUEUE") ? "the scheduler put the job back into its queue"
                                       : "the scheduler cancelled the job",
          said.record());
    });
    for_each_said<BatchState>(job_, [&](const auto& said) {
      const BatchState& batch = said.message;
      const bool stopped = batch.state == "TIMEOUT" || batch.state == "CANCELLED";
      const bool finished =
          batch.state == "COMPLETED" || (batch.state.empty() && batch.exitcode == 0);
      add(stopped    ? EndState::Stopped
          : finished ? EndState::Finished
                     : EndState::Failed,
          -1, "the scheduler reports its end", said.record());
    });
  }

  const Job& job_;
  std::vector<EndOf> marks_;
  std::map<int, Record> done_;  ///< By process: its last words, where it is a rank.
};

/// Some calls follow a program's last words: a barrier, a checkpoint that is gathered.
constexpr uint64_t kFarewellCalls = 64;

/// Adds places before which lines have work behind them.
void add_work(const Job& job, const CommSegment& segment, LinePlaces& places) {
  places.add(job, segment.started);
  const CollectiveCalls& calls = calls_of(segment);
  if (calls.total <= kFarewellCalls) return;
  places.add(job, calls.first);
  if (calls.collectives.size() < kFarewellCalls) return;
  const PlacedCall* call = calls.collectives.call(calls.collectives.size() - kFarewellCalls);
  if (call != nullptr) places.add(job, call->where);
}

constexpr int64_t kSecond = 1'000'000'000;

/// Launchers, schedulers and the processes themselves report an end within so many seconds of each
/// other, and clocks of hosts differ by some.
constexpr int64_t kSameMoment = 5 * kSecond;

/// A shorter silence says nothing: garbage collection, a checkpoint, a slow file system.
constexpr int64_t kShortest = 10 * kSecond;

/// How many times the usual pause a silence has to last. Steps of training are even; what takes
/// longer now and then, a checkpoint or an evaluation, is usually seen once before.
constexpr int64_t kTimesUsual = 5;

/// The first line that says that somebody ended the job from outside, of those with a time. Where
/// only a process is said to have been ended, its launcher ends the others.
std::optional<EndOf> find_end(const Job& job) {
  std::vector<EndOf> marks;
  std::ranges::copy_if(end_marks(job), std::back_inserter(marks),
                       [](const EndOf& mark) { return mark.state == EndState::Stopped; });
  const auto is_of_job = [](const EndOf& mark) { return mark.process < 0; };
  if (std::ranges::any_of(marks, is_of_job)) std::erase_if(marks, std::not_fn(is_of_job));
  const auto time_of = [](const EndOf& mark) { return find_line_time(mark.line().text); };
  std::erase_if(marks, [&](const EndOf& mark) { return !time_of(mark).known(); });
  const auto first = std::ranges::min_element(
      marks, {}, [&](const EndOf& mark) { return time_of(mark).nanoseconds; });
  return first == marks.end() ? std::nullopt : std::optional(std::move(*first));
}

/// Whoever goes on working calls NCCL, and the lines of all calls have times. A captured graph
/// calls without a line: then there are more steps than calls.
bool calls_show_work(const Job& job) {
  if (cuda_graph_evidence(job)) return false;
  uint64_t steps = 0;
  for (const InputClock& clock : job.clocks) steps += clock.total;
  bool has_calls = false;
  for (const Process& process : job.processes) {
    if (!process.has_nccl || process.pid < 0) continue;
    uint64_t calls = 0;
    for (const CommSegment* segment : segments_of(job, process)) {
      const CollectiveCalls& of = calls_of(*segment);
      calls += of.total;
      if (of.total > 0 && !find_line_time(of.last_stamp).known()) return false;
    }
    if (calls == 0) continue;  // Not logged, perhaps.
    if (calls < 2 * steps) return false;
    has_calls = true;
  }
  return has_calls;
}

/// The beats of an input up to its last line; of a run in a file of several, those after it are
/// another run's. nullopt: which one is the last is not known.
std::optional<Beats> own_beats(const Job& job, uint32_t input, Beats beats) {
  const auto is_own = [&](const TimedLine& beat) {
    return file_line(job, beat.where).line <= job.inputs[input].lines;
  };
  if (beats.count == 0 || is_own(beats.last)) return beats;
  if (!is_own(beats.first)) return Beats{};
  TimedLine last;
  for (const Pause& pause : beats.pauses) {
    if (is_own(pause.before) && !is_own(pause.after)) last = pause.before;
  }
  if (last.where.line == 0) return std::nullopt;
  beats.last = last;
  std::erase_if(beats.pauses, [&](const Pause& pause) { return !is_own(pause.after); });
  // How many are left is known only as far as their pauses are kept.
  beats.count = beats.pauses.size() + 1;
  return beats;
}

/// The last beat of an input that is older than the moment of the end; line 0: nothing is. nullopt:
/// work may have gone on unseen.
std::optional<TimedLine> last_before(const Job& job, const InputClock& input, const LineTime& end,
                                     bool calls_are_dated) {
  const Pulse& pulse = input.pulse;
  const auto own = own_beats(job, input.input, pulse.clock(end.has_zone).all);
  const auto own_work = own_beats(job, input.input, pulse.clock(end.has_zone).work);
  if (!own || !own_work) return std::nullopt;
  const Beats& beats = *own;
  const int64_t moment = end.nanoseconds - kSameMoment;
  std::optional<TimedLine> before = TimedLine{};
  if (beats.count > 0 && beats.last.nanoseconds < moment) {
    before = beats.last;
  } else if (beats.count > 0 && beats.first.nanoseconds < moment) {
    // Of the pauses only the longest are kept; where none of them reaches up to the end, it was not
    // silent for long.
    before.reset();
    for (const Pause& pause : beats.pauses) {
      const bool reaches = pause.before.nanoseconds < moment && pause.after.nanoseconds >= moment;
      if (reaches) before = pause.before;
    }
  }
  // Work within the last moment is work: only what reports the end is left out.
  const Beats& work = *own_work;
  // Schedulers print whole seconds, so the end may have come up to one later.
  const bool worked = work.count > 0 && work.last.nanoseconds >= moment &&
                      work.last.nanoseconds < end.nanoseconds + kSecond;
  if (worked) before = work.last;
  const SourceRef undated = pulse.undated_work();
  const bool is_older = before && undated.line != 0 && before->where < undated;
  return is_older && !calls_are_dated ? std::nullopt : before;
}

/// How far apart the clock's signs of work were before `last`, the longest first; empty: too few.
std::vector<int64_t> pauses_of_work(const PulseClock& clock, const TimedLine& last) {
  constexpr uint64_t kFewest = 3;
  std::vector<int64_t> lengths;
  if (clock.work.count < 2 || clock.work.count + clock.steps.steps < kFewest) return lengths;
  for (const Pause& pause : clock.work.pauses) {
    if (pause.after.nanoseconds <= last.nanoseconds) lengths.push_back(pause.length());
  }
  return lengths;
}

/// Collectors and hosts keep different zones, and print none: the difference of their clocks then
/// looks like a silence of half hours.
bool may_be_zones(const Job& job, const Silence& silence, const TimedLine& last) {
  constexpr int64_t kHalfHour = 1800 * kSecond;
  constexpr int64_t kNear = 60 * kSecond;
  const bool is_scheduler = silence.end.text.find(" CANCELLED AT ") != std::string::npos;
  const bool one_clock = !is_scheduler && are_ordered(job, silence.end.where, last.where);
  if (one_clock || silence.nanoseconds < kHalfHour / 2) return false;
  const int64_t rest = silence.nanoseconds % kHalfHour;
  return std::min(rest, kHalfHour - rest) < std::max(kNear, 2 * silence.usual);
}

/// Inputs in which `ncclog run` writes down what it sees of the job: no signs of the job's life.
std::set<uint32_t> inputs_of_watchers(const Job& job) {
  std::set<uint32_t> inputs;
  for_each_said<RunEnded, RunStalled>(job, [&](const auto& said) {
    if (const JobUnit* unit = unit_of(job, said.where())) inputs.insert(unit->input);
  });
  return inputs;
}

std::optional<Silence> derive_silence(const Job& job) {
  auto mark = find_end(job);
  if (!mark) return std::nullopt;
  const LineTime end = find_line_time(mark->line().text);
  TimedLine last;
  const bool calls_are_dated = calls_show_work(job);
  const std::set<uint32_t> watchers = inputs_of_watchers(job);
  for (const InputClock& input : job.clocks) {
    if (watchers.contains(input.input)) continue;
    const std::optional<TimedLine> before = last_before(job, input, end, calls_are_dated);
    if (!before) return std::nullopt;
    if (before->where.line == 0) continue;
    if (last.where.line == 0 || before->nanoseconds > last.nanoseconds) last = *before;
  }
  if (last.where.line == 0) return std::nullopt;
  // Of the fastest clock. One pause may be longer than all others: the first step, an evaluation.
  int64_t usual = 0;
  int64_t longest = 0;
  for (const InputClock& input : job.clocks) {
    const std::vector<int64_t> pauses = pauses_of_work(input.pulse.clock(end.has_zone), last);
    if (pauses.empty()) continue;
    const int64_t own = pauses[pauses.size() > 1 ? 1 : 0];
    if (own > 0 && (usual == 0 || own < usual))
      std::tie(usual, longest) = std::tuple(own, pauses.front());
  }
  Silence silence{.last = {last.where, {}},
                  .nanoseconds = std::max<int64_t>(end.nanoseconds - last.nanoseconds, 0),
                  .usual = usual};
  silence.end = std::move(mark->evidence.front());
  silence.ended = std::move(mark->what);
  if (may_be_zones(job, silence, last)) return std::nullopt;
  silence.is_standstill = usual > 0 && silence.nanoseconds >= kShortest &&
                          silence.nanoseconds >= kTimesUsual * usual &&
                          2 * silence.nanoseconds >= 3 * longest;
  // Who ends a job that hangs has waited for longer than that.
  silence.is_usual =
      silence.nanoseconds < kShortest || (usual > 0 && silence.nanoseconds <= longest + kSecond);
  return silence;
}

}  // namespace

/// Processes that speak.
struct Speakers {
  size_t all = 0;
  /// By input, how many there are in it, and the rank of all of them; none where they differ.
  std::map<uint32_t, std::pair<size_t, std::optional<int>>> by_input;
};

static Speakers find_speakers(const Job& job) {
  Speakers speakers;
  for (const Process& process : job.processes) {
    if (!process.has_nccl && process.rank < 0) continue;
    ++speakers.all;
    std::set<uint32_t> inputs;
    for (const SourceRef where : {process.first, process.last}) {
      if (const JobUnit* unit = unit_of(job, where)) inputs.insert(unit->input);
    }
    for (const uint32_t input : inputs) {
      auto& [count, rank] = speakers.by_input.try_emplace(input, 0, process.rank).first->second;
      ++count;
      if (rank != process.rank) rank.reset();
    }
  }
  return speakers;
}

int rank_of_file(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  if (unit == nullptr) return -1;
  const Speakers& speakers = job.answers.of<&find_speakers>(job);
  const auto here = speakers.by_input.find(unit->input);
  if (here == speakers.by_input.end()) return -1;
  const auto& [count, rank] = here->second;
  // A file beside which there is none may be of a launcher whose workers do not all speak.
  return rank && count < speakers.all ? *rank : -1;
}

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

std::optional<std::pair<LineTime, LineTime>> span_of(const std::vector<LineTime>& times) {
  std::array<std::vector<LineTime>, 4> sorts;
  for (const LineTime& time : times) {
    if (time.known()) sorts[(time.has_zone ? 2 : 0) + (time.year > 0 ? 1 : 0)].push_back(time);
  }
  const auto most_used = std::ranges::max_element(sorts, {}, std::ranges::size);
  if (most_used->empty()) return std::nullopt;
  const auto key = [](const LineTime& time) { return std::pair(time.year, time.nanoseconds); };
  return std::pair(*std::ranges::min_element(*most_used, {}, key),
                   *std::ranges::max_element(*most_used, {}, key));
}

std::optional<JobSpan> span_of(const Job& job) {
  std::vector<LineTime> times;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (list.kept.empty()) continue;
      // The first of a kind is kept, and of what comes later, as much as there is room for.
      times.push_back(time_of(list.kept.front()));
      times.push_back(time_of(list.kept.back()));
    }
    times.push_back(time_of_line(log.last_text));
  }
  const auto span = span_of(times);
  if (!span) return std::nullopt;
  return JobSpan{std::string(span->first.text), std::string(span->second.text)};
}

std::string utc_of(const LineTime& time) {
  using namespace std::chrono;
  if (!time.has_zone || time.year == 0) return {};
  // Days are counted in a leap year.
  const sys_time<nanoseconds> at = sys_days(2000y / 1 / 1) + nanoseconds(time.nanoseconds);
  const sys_days day = floor<days>(at);
  const year_month_day in_leap_year(day);
  year_month_day date(year(time.year) + (in_leap_year.year() - 2000y), in_leap_year.month(),
                      in_leap_year.day());
  // No such 29 February: the zone leads to it from the day before or after, which is printed.
  if (!date.ok()) {
    const size_t colon = time.text.find(':');
    if (colon == time.text.npos || colon < 5) return {};
    const std::string_view printed = time.text.substr(colon - 5, 2);
    if (printed == "29") return {};
    date = printed == "28" ? date.year() / March / 1 : date.year() / February / 28;
  }
  const hh_mm_ss clock(at - day);
  const int64_t fraction = clock.subseconds().count();
  const int width = fraction == 0               ? 0
                    : fraction % 1'000'000 == 0 ? 3
                    : fraction % 1000 == 0      ? 6
                                                : 9;
  const std::string digits = fmt::format("{:09}", fraction);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     width > 0 ? "." : "", digits.substr(0, static_cast<size_t>(width)));
}

int ExitReport::signal() const {
  struct Name {
    std::string_view begin;
    int signal;
  };
  constexpr Name kNames[] = {
      {"Killed", 9},    {"Out Of Memory", 9}, {"SIGKILL", 9},     {"Segmentation fault", 11},
      {"Segfault", 11}, {"SIGSEGV", 11},      {"Bus error", 7},   {"SIGBUS", 7},
      {"Aborted", 6},   {"SIGABRT", 6},       {"Terminated", 15}, {"SIGTERM", 15},
      {"Hangup", 1},    {"Interrupt", 2},     {"Quit", 3},
  };
  if (!exitcode) {
    const auto name = std::ranges::find_if(
        kNames, [&](const Name& each) { return ended.status.starts_with(each.begin); });
    return name != std::end(kNames) ? name->signal : ended.signal;
  }
  // Python negates the signal, a shell adds 128.
  if (*exitcode < 0) return -*exitcode;
  return *exitcode > 128 && *exitcode < 192 ? *exitcode - 128 : 0;
}

bool ExitReport::is_requested() const {
  constexpr int kRequests[] = {1, 2, 3, 15};
  return exitcode == kTimeLimit || std::ranges::find(kRequests, signal()) != std::end(kRequests);
}

std::string ExitReport::words() const {
  if (exitcode == kTimeLimit)
    return fmt::format("was ended at its time limit (exit code {})", kTimeLimit);
  if (exitcode && signal() > 0)
    return fmt::format("ended with exit code {} ({})", *exitcode, signal_name(signal()));
  if (exitcode) return fmt::format("ended with exit code {}", *exitcode);
  if (!ended.status.empty()) return "ended: " + to_valid_utf8(ended.status.substr(0, 64));
  return ended.signal < 0 ? "" : fmt::format("ended: signal {}", ended.signal);
}

static std::vector<ExitReport> find_exit_reports(const Job& job) {
  std::vector<ExitReport> reports;
  for_each_said<ProcessEnded>(job, [&](const auto& said) {
    constexpr std::string_view kExited = "Exited with exit code ";
    std::optional<int> exitcode;
    if (said.message.status.starts_with(kExited)) {
      const auto code = parse_int(said.message.status.substr(kExited.size()));
      if (code && std::in_range<int>(*code)) exitcode = static_cast<int>(*code);
    }
    reports.push_back({said.message, exitcode, said.record()});
  });
  for_each_said<FailureSignal>(job, [&](const auto& said) {
    const FailureSignal& row = said.message;
    reports.push_back(
        {{.pid = row.pid, .status = row.name, .signal = row.signal}, std::nullopt, said.record()});
  });
  const auto add_code = [&](int exitcode, int64_t pid, int rank, const Record& record) {
    reports.push_back(
        {{.pid = pid, .rank = rank, .host = listed_host(job, pid)}, exitcode, record});
  };
  for_each_said<WorkerFailed>(job, [&](const auto& said) {
    add_code(said.message.exitcode, said.message.pid, -1, said.record());
  });
  const std::vector<FailureRow> rows = find_rank_rows(job);
  for_each_said<FailureExitcode>(job, [&](const auto& said) {
    add_code(said.message.exitcode, said.message.pid, rank_above(rows, said.where()),
             said.record());
  });
  for_each_said<ProcessExited>(job, [&](const auto& said) {
    // What a program that is not named did while the work went on ended nobody.
    const bool is_named = said.message.pid >= 0 || said.message.rank >= 0;
    if (!is_named && went_on(job, said.where())) return;
    add_code(said.message.exitcode, said.message.pid, said.message.rank, said.record());
  });
  std::ranges::stable_sort(reports, {}, [](const ExitReport& exit) { return exit.record.where; });
  // MPICH and Open MPI print who and how on two lines.
  constexpr uint64_t kLinesApart = 3;
  const ExitReport* who = nullptr;
  for (ExitReport& exit : reports) {
    if (exit.words().empty()) who = &exit;
    const bool is_nameless = exit.ended.pid < 0 && exit.ended.rank < 0 &&
                             exit.ended.tasks.empty() && exit.ended.command.empty() &&
                             !exit.words().empty();
    if (who == nullptr || !is_nameless || who->record.where.unit != exit.record.where.unit ||
        exit.record.where.line - who->record.where.line > kLinesApart) {
      continue;
    }
    std::tie(exit.ended.pid, exit.ended.rank, exit.ended.host) =
        std::tie(who->ended.pid, who->ended.rank, who->ended.host);
  }
  for (ExitReport& exit : reports) {
    const bool is_coded = exit.exitcode && exit.ended.pid < 0 && exit.ended.rank < 0;
    if (is_coded) exit.ended.rank = rank_of_file(job, exit.record.where);
  }
  return reports;
}

std::vector<ExitReport> exit_reports(const Job& job) {
  return job.answers.of<&find_exit_reports>(job);
}

static std::vector<EndOf> collect_marks(const Job& job) { return MarkCollector(job).collect(); }

const std::vector<EndOf>& end_marks(const Job& job) { return job.answers.of<&collect_marks>(job); }

int process_of(const Job& job, int64_t pid, int rank) {
  const int by_pid = process_of_pid(job, pid);
  return by_pid >= 0 ? by_pid : process_of_rank(job, rank);
}

bool prints_steps(const Job& job) {
  return std::ranges::any_of(job.clocks, [](const InputClock& clock) { return clock.total > 0; });
}

bool shows_progress(const Job& job) {
  const auto goes_on = [](const InputClock& clock) {
    return clock.total > clock.markers.size() ||
           std::ranges::any_of(clock.markers,
                               [](const Marker& marker) { return marker.step != 0; });
  };
  return std::ranges::any_of(job.clocks, goes_on) ||
         std::ranges::any_of(job.nccl_tests,
                             [](const NcclTestsRun& run) { return !run.rows.empty(); });
}

static LinePlaces find_launcher_failures(const Job& job) { return kept_places<ChildFailed>(job); }

bool launcher_failed_between(const Job& job, SourceRef from, SourceRef to) {
  return job.answers.of<&find_launcher_failures>(job).any_between(job, from, to);
}

/// Of each input, the third to last step.
static LinePlaces find_third_last_steps(const Job& job) {
  LinePlaces places;
  for (const InputClock& clock : job.clocks) places.add(job, clock.last.front());
  places.sort();
  return places;
}

bool steps_follow(const Job& job, SourceRef where) {
  const LinePlaces& steps = job.answers.of<&find_third_last_steps>(job);
  return std::ranges::any_of(steps.all_after(job, where), [&](const auto& step) {
    return !launcher_failed_between(job, where, step.second);
  });
}

/// Behind which there is work.
static LinePlaces find_work(const Job& job) {
  LinePlaces places;
  for (const SpeakerLog& log : job.logs) {
    for (const Record& step : log.records.kept(kKindIndex<IterationLine>))
      places.add(job, step.where);
    for (const CommSegment& segment : log.comms.all) add_work(job, segment, places);
  }
  places.sort();
  return places;
}

bool work_follows(const Job& job, SourceRef where) {
  return steps_follow(job, where) || job.answers.of<&find_work>(job).after(job, where) > 0;
}

/// Where tests of nccl-tests begin, and the lines.
static std::pair<LinePlaces, std::map<SourceRef, Record>> find_test_begins(const Job& job) {
  std::pair<LinePlaces, std::map<SourceRef, Record>> begins;
  for (const SpeakerLog& log : job.logs) {
    for (const Record record : log.benchmarks->kept) {
      if (record.kind() != kKindIndex<NcclTestsConfig>) continue;
      begins.first.add(job, record.where);
      begins.second.emplace(record.where, record);
    }
  }
  begins.first.sort();
  return begins;
}

bool is_between_tests(const Job& job, SourceRef where) {
  const LinePlaces& begins = job.answers.of<&find_test_begins>(job).first;
  return begins.after(job, where) > 0 && begins.before(job, where) > 0;
}

std::optional<Evidence> test_begun_after(const Job& job, SourceRef where) {
  const auto& [places, lines] = job.answers.of<&find_test_begins>(job);
  const auto later = places.all_after(job, where);
  if (later.empty()) return std::nullopt;
  return evidence_of(lines.at(later.back().second));
}

const std::optional<Silence>& silence_before_end(const Job& job) {
  return job.answers.of<&derive_silence>(job);
}

std::string duration_words(int64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) / static_cast<double>(kSecond);
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 3 * kMinute) return fmt::format("{:.3g} s", seconds);
  if (seconds < 3 * kHour) return fmt::format("{:.0f} minutes", seconds / kMinute);
  return fmt::format("{:.0f} hours", seconds / kHour);
}

}  // namespace ncclog
