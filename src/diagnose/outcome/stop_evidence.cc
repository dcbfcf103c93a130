#include "diagnose/outcome/stop_evidence.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/exit_reports.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/job_span.h"
#include "diagnose/outcome/silence.h"
#include "log/event.h"

namespace ncclog {
namespace {

std::string subject_of(int rank) {
  return rank >= 0 ? fmt::format("rank {}", rank) : std::string("a process");
}

/// Of units in which launchers started their workers again: where the last time, if workers speak
/// after it.
std::map<uint64_t, SourceRef> restarts_of(const Job& job) {
  std::map<uint64_t, SourceRef> restarts;
  std::set<int> launchers;
  for_each_said<WorkerGroupRestart>(job, [&](const auto& said) {
    SourceRef& last = restarts[said.where().unit];
    last = std::max(last, said.where());
    launchers.insert(said.process);
  });
  if (restarts.empty()) return restarts;
  std::set<uint64_t> go_on;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const SourceRef last = job.processes[p].last;
    const auto restart = restarts.find(last.unit);
    const bool is_worker = !launchers.contains(static_cast<int>(p));
    if (is_worker && restart != restarts.end() && restart->second < last) go_on.insert(last.unit);
  }
  std::erase_if(restarts, [&](const auto& restart) { return !go_on.contains(restart.first); });
  return restarts;
}

/// The best evidence so far. What stands before a restart of the workers in the same unit is about
/// workers that are no more, unless these lines are of their run alone.
class Search {
 public:
  explicit Search(const Job& job) : job_(job), restarts_(restarts_of(job)) {}

  bool found() const { return best_.has_value(); }
  std::optional<StopEvidence> take() { return std::move(best_); }

  void add(StopBy by, std::string what, Evidence line) {
    const auto restart = restarts_.find(line.where.unit);
    if (restart != restarts_.end() && line.where <= restart->second) return;
    if (best_ && best_->line.where <= line.where) return;
    if (by == StopBy::Failure && went_on(job_, line.where)) return;
    best_ = {by, std::move(what), std::move(line)};
  }

  /// Every line of these kinds of which `phrase` has something to say: "reports that … timed out".
  template <typename... T, typename Phrase>
  void add_said(StopBy by, Phrase&& phrase) {
    for_each_said<T...>(job_, [&](const auto& said) {
      const std::string words = phrase(said.message);
      if (words.empty()) return;
      const int rank = rank_of(job_, said.process, said.header());
      add(by, fmt::format("{} {}", subject_of(rank), words), evidence_of(said.record()));
    });
  }

  /// The same where every line of these kinds says `words`.
  template <typename... T>
  void add_all(StopBy by, std::string_view words) {
    add_said<T...>(by, [&](const auto&) { return std::string(words); });
  }

  /// What launchers and schedulers say: `words` are the whole sentence.
  template <typename T>
  void add_told(StopBy by, std::string_view words) {
    for_each_said<T>(job_, [&](const Said<T>& said) {
      add(by, std::string(words), evidence_of(said.record()));
    });
  }

 private:
  const Job& job_;
  std::map<uint64_t, SourceRef> restarts_;  ///< By unit.
  std::optional<StopEvidence> best_;
};

std::string op_timed_out(std::string_view op) {
  return fmt::format("reports that {} timed out",
                     op.empty() ? "a collective" : to_valid_utf8(op.substr(0, 64)));
}

void find_timeouts(Search& search) {
  constexpr StopBy kBy = StopBy::Timeout;
  search.add_said<WatchdogTimeout, BlockingWaitTimeout, DesyncTimeout>(
      kBy, [](const auto& work) { return op_timed_out(work.op); });
  search.add_said<CppWhat>(kBy, [](const auto& what) {
    const bool quotes = what.text.find("collective operation timeout: WorkNCCL(") != what.text.npos;
    return quotes ? op_timed_out({}) : std::string();
  });
  search.add_all<HeartbeatTimeout>(kBy, "reports that its watchdog is stuck");
  search.add_all<StoreWaitFailed>(kBy, "waited in the store for an ncclUniqueId in vain");
  search.add_all<StoreTimeout>(kBy, "waited in the store in vain");
  search.add_all<StoreBarrierTimeout>(kBy, "waited for the other ranks of a group in vain");
  search.add_all<StoreClientsMissing>(kBy, "waited for the other ranks' connections in vain");
  search.add_all<StoreConnectTimeout>(kBy, "could not reach the store in time");
  search.add_all<MonitoredBarrierFailed>(kBy, "reports that ranks failed to pass a barrier");
  search.add_all<NcclTestsTimeout>(kBy, "reports that nccl-tests timed out");
}

void find_failures(const Job& job, Search& search) {
  constexpr StopBy kBy = StopBy::Failure;
  search.add_said<WorkStatus>(kBy, [](const WorkStatus& work) {
    return fmt::format("reports that its watchdog found work {} failed", work.seq);
  });
  search.add_all<WorkException>(kBy, "reports an error of NCCL");
  search.add_all<NcclException, XlaNcclFailure>(kBy, "raised an error of NCCL");
  search.add_all<CommAborted>(kBy, "used an aborted communicator");
  search.add_all<CudaOomException>(kBy, "ran out of GPU memory");
  search.add_all<WatchdogTerminated>(kBy, "lost its watchdog by an exception");
  search.add_all<WatchdogTeardown>(kBy, "is taken down by its watchdog");
  search.add_all<CppTerminate>(kBy, "ended in std::terminate");
  search.add_all<FingerprintMismatch>(kBy, "reports that ranks called different collectives");
  search.add_all<NcclTestsFailure>(kBy, "reports that nccl-tests failed");
  for (const ProgramException& exception : first_exceptions(job)) {
    search.add(kBy, fmt::format("{} raised {}", subject_of(exception.rank), exception.text),
               exception.line);
  }
  // A WARN after which NCCL's call fails, and not because a peer went away.
  const ReportedWarning* warning = first_warning(job);
  if (warning == nullptr || !warning->is_own_failure()) return;
  search.add(kBy, fmt::format("NCCL warns: \"{}\"", message_of(warning->record)),
             evidence_of(warning->record));
}

/// What is reported of processes that ended because somebody asked for it, or of all others.
void find_exits(const Job& job, StopBy by, Search& search) {
  for (const ExitReport& exit : exit_reports(job)) {
    const std::string words = exit.words();
    if (exit.exitcode == 0 || words.empty()) continue;
    if (exit.is_requested() == (by == StopBy::Ended)) {
      search.add(by, "a process " + words, evidence_of(exit.record));
    }
  }
}

void find_deaths(const Job& job, Search& search) {
  constexpr StopBy kBy = StopBy::Death;
  for (const Death& death : deaths(job)) {
    const std::string_view how = death.signal == 9    ? "was killed"
                                 : death.signal == 11 ? "ended by a segmentation fault"
                                                      : "ended by a bus error";
    search.add(kBy, fmt::format("{} {}", subject_of(death.rank), how), death.line);
  }
  find_exits(job, kBy, search);
  search.add_told<ChildFailed>(kBy, "a worker failed");
}

void find_requests(const Job& job, Search& search) {
  for_each_said<JobCancelled>(job, [&](const Said<JobCancelled>& said) {
    if (const auto words = cancelled_words(job, said))
      search.add(StopBy::Ended, *words, evidence_of(said.record()));
  });
  for_each_said<LaunchStopped>(job, [&](const Said<LaunchStopped>& said) {
    search.add(StopBy::Ended, stopped_words(said.message), evidence_of(said.record()));
  });
  search.add_told<AgentSignalled>(StopBy::Ended, "the launcher was told to stop");
}

/// Whoever ends a job ends its processes: their deaths after the scheduler or the launcher was told
/// to end it are no news, unless the kernel wanted the memory.
StopEvidence unless_asked(const Job& job, StopEvidence death) {
  Search search(job);
  find_requests(job, search);
  auto asked = search.take();
  const bool follows = asked && asked->line.where.unit == death.line.where.unit &&
                       asked->line.where < death.line.where;
  return follows && !any_said<OomKill>(job) ? std::move(*asked) : std::move(death);
}

/// The last line of the job.
Evidence last_line(const Job& job) {
  Evidence last;
  for (const Process& process : job.processes) {
    if (last.where < process.last) last = {process.last, std::string(last_text(job, process))};
  }
  return last;
}

/// `ncclog run` saw that nothing was written, and nothing shows that work went on after that.
std::optional<StopEvidence> watched_stall(const Job& job) {
  std::optional<StopEvidence> stall;
  LineTime seen;
  for_each_said<RunStalled>(job, [&](const Said<RunStalled>& said) {
    seen = time_of(said.record());
    stall = {
        StopBy::Watched,
        fmt::format("'ncclog run' saw that nothing was written for {} s", said.message.seconds),
        evidence_of(said.record())};
  });
  if (!stall || !seen.known()) return std::nullopt;
  // By clocks of which lines say no zone.
  bool went_on = std::ranges::any_of(job.clocks, [&](const InputClock& clock) {
    return clock.pulse.clock(false).work.last.nanoseconds > seen.nanoseconds;
  });
  for_each_said<RunMovesAgain>(job, [&](const auto& said) {
    went_on |= time_of(said.record()).nanoseconds >= seen.nanoseconds;
  });
  uint64_t ended = 0;
  uint64_t succeeded = 0;
  for_each_said<RunEnded>(job, [&](const auto& said) {
    ++ended;
    succeeded += said.message.exitcode == 0;
  });
  if (went_on || (ended > 0 && succeeded == ended)) return std::nullopt;
  return stall;
}

/// No line says that anybody gave up or failed, and yet it stood still.
std::optional<StopEvidence> standstill(const Job& job) {
  if (job.stated == StatedOutcome::Hung) {
    return StopEvidence{StopBy::Stated, "whoever saw it says that it hung", last_line(job)};
  }
  // What the user saw was something else.
  if (job.stated) return std::nullopt;
  if (auto stall = watched_stall(job)) return stall;
  const std::optional<Silence>& silence = silence_before_end(job);
  if (!silence || !silence->is_standstill) return std::nullopt;
  return StopEvidence{
      StopBy::Silence,
      fmt::format("nothing was printed for {}, where work had shown every {}; then {}",
                  duration_words(silence->nanoseconds), duration_words(silence->usual),
                  silence->ended),
      silence->end};
}

std::optional<StopEvidence> find_stop_evidence(const Job& job) {
  Search search(job);
  find_timeouts(search);
  if (!search.found()) find_failures(job, search);
  if (!search.found()) find_deaths(job, search);
  if (!search.found()) {
    find_requests(job, search);
    search.add_told<WorkerClosing>(StopBy::Ended, "the launcher stopped its workers");
    find_exits(job, StopBy::Ended, search);
  }
  auto found = search.take();
  if (found && found->by == StopBy::Death) found = unless_asked(job, std::move(*found));
  if (found && found->by != StopBy::Ended) return found;
  if (auto still = standstill(job)) return still;
  return found;
}

}  // namespace

const std::optional<StopEvidence>& stop_evidence(const Job& job) {
  return job.answers.of<&find_stop_evidence>(job);
}

bool has_failed(const Job& job) {
  const auto& evidence = stop_evidence(job);
  return evidence && evidence->by != StopBy::Ended && evidence->by != StopBy::Waiting;
}

bool stood_still(const Job& job) {
  const auto& evidence = stop_evidence(job);
  return evidence &&
         (evidence->by == StopBy::Timeout || evidence->by == StopBy::Silence || is_seen(*evidence));
}

bool is_seen(const StopEvidence& stop) {
  return stop.by == StopBy::Stated || stop.by == StopBy::Watched;
}

/// By whether they name a zone, and the year: who printed last of all, and when.
static std::map<std::pair<bool, int>, std::pair<int64_t, const Process*>> find_latest(
    const Job& job) {
  std::map<std::pair<bool, int>, std::pair<int64_t, const Process*>> latest;
  for (const Process& process : job.processes) {
    const LineTime time = time_of_line(last_text(job, process));
    if (!time.known()) continue;
    const std::pair own(time.nanoseconds, &process);
    auto& known = latest.try_emplace({time.has_zone, time.year}, own).first->second;
    if (known.first <= own.first) known = own;
  }
  return latest;
}

std::optional<StopEvidence> long_wait(const Job& job, const Evidence& since) {
  constexpr int64_t kMinute = 60'000'000'000;
  constexpr int64_t kLong = 10 * kMinute;
  const LineTime begin = time_of_line(since.text);
  if (!begin.known()) return std::nullopt;
  const auto& all = job.answers.of<&find_latest>(job);
  const auto known = all.find({begin.has_zone, begin.year});
  if (known == all.end() || known->second.first < begin.nanoseconds + kLong) return std::nullopt;
  const auto [latest, last] = known->second;
  return StopEvidence{
      StopBy::Waiting,
      fmt::format("other lines go on for {} minutes", (latest - begin.nanoseconds) / kMinute),
      {last->last, std::string(last_text(job, *last))}};
}

}  // namespace ncclog
