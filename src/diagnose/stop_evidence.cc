#include "diagnose/stop_evidence.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "diagnose/deaths.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/first_exception.h"
#include "diagnose/first_warning.h"
#include "diagnose/outcome/silence.h"
#include "log/line/header.h"
#include "log/event.h"

namespace ncclog {
namespace {

std::string subject_of(int rank) {
  return rank >= 0 ? fmt::format("rank {}", rank) : std::string("a process");
}

/// Of units in which launchers started their workers again: where the last time, if workers speak
/// behind it.
std::map<uint64_t, SourceRef> restarts_of(const Job& job) {
  std::map<uint64_t, SourceRef> restarts;
  std::set<int> launchers;
  for_each_said<WorkerGroupRestart>(job, [&](const auto& said) {
    SourceRef& last = restarts[said.record.where.unit];
    last = std::max(last, said.record.where);
    launchers.insert(said.process);
  });
  std::erase_if(restarts, [&](const auto& restart) {
    for (size_t p = 0; p < job.processes.size(); ++p) {
      const SourceRef last = job.processes[p].last;
      const bool is_worker = !launchers.contains(static_cast<int>(p));
      if (is_worker && last.unit == restart.first && restart.second < last) return false;
    }
    return true;
  });
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

  /// Every line of kind T of which `phrase` has something to say: "reports that … timed out".
  template <typename T, typename Phrase>
  void add_said(StopBy by, Phrase&& phrase) {
    for_each_said<T>(job_, [&](const Said<T>& said) {
      const std::string words = phrase(said.message);
      if (words.empty()) return;
      const int rank = rank_of(job_, said.process, said.header);
      add(by, fmt::format("{} {}", subject_of(rank), words), evidence_of(said.record));
    });
  }

  /// The same where every line of kind T says `words`.
  template <typename T>
  void add_all(StopBy by, std::string_view words) {
    add_said<T>(by, [&](const T&) { return std::string(words); });
  }

  /// The same of what launchers and schedulers say: `phrase` is the whole sentence.
  template <typename T, typename Phrase>
  void add_told(StopBy by, Phrase&& phrase) {
    for_each_said<T>(job_, [&](const Said<T>& said) {
      std::string words = phrase(said.message);
      if (!words.empty()) add(by, std::move(words), evidence_of(said.record));
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
  search.add_said<WatchdogTimeout>(kBy, [](const auto& work) { return op_timed_out(work.op); });
  search.add_said<BlockingWaitTimeout>(kBy, [](const auto& work) { return op_timed_out(work.op); });
  search.add_said<CppWhat>(kBy, [](const auto& what) {
    const bool quotes = what.text.find("collective operation timeout: WorkNCCL(") != what.text.npos;
    return quotes ? op_timed_out({}) : std::string();
  });
  search.add_all<HeartbeatTimeout>(kBy, "reports that its watchdog is stuck");
  search.add_said<DesyncTimeout>(kBy, [](const auto& desync) { return op_timed_out(desync.op); });
  search.add_all<StoreWaitFailed>(kBy, "waited in the store for an ncclUniqueId in vain");
  search.add_all<StoreTimeout>(kBy, "waited in the store in vain");
  search.add_all<StoreBarrierTimeout>(kBy, "waited for the other ranks of a group in vain");
  search.add_all<StoreClientsMissing>(kBy, "waited for the other ranks' connections in vain");
  search.add_all<StoreConnectTimeout>(kBy, "could not reach the store in time");
  search.add_all<MonitoredBarrierFailed>(kBy, "reports that ranks failed to pass a barrier");
  search.add_all<NcclTestsTimeout>(kBy, "reports that nccl-tests timed out");
}

void find_exceptions(const Job& job, Search& search) {
  for (const ProgramException& exception : first_exceptions(job)) {
    search.add(StopBy::Failure,
               fmt::format("{} raised {}", subject_of(exception.rank), exception.text),
               exception.line);
  }
}

/// A WARN after which NCCL's call fails, and not because a peer went away.
void find_fatal_warning(const Job& job, Search& search) {
  const auto warning = first_warning(job);
  if (!warning || warning->warning.severity != WarnSeverity::Fatal) return;
  if (warning->warning.origin == WarnOrigin::Symptom) return;
  search.add(StopBy::Failure, fmt::format("NCCL warns: \"{}\"", warning->text), warning->line);
}

void find_failures(const Job& job, Search& search) {
  constexpr StopBy kBy = StopBy::Failure;
  search.add_all<WorkStatus>(kBy, "reports a failed work");
  search.add_all<WorkException>(kBy, "reports an error of NCCL");
  search.add_all<NcclException>(kBy, "raised an error of NCCL");
  search.add_all<XlaNcclFailure>(kBy, "raised an error of NCCL");
  search.add_all<CommAborted>(kBy, "used an aborted communicator");
  search.add_all<CudaOomException>(kBy, "ran out of GPU memory");
  search.add_all<WatchdogTerminated>(kBy, "lost its watchdog by an exception");
  search.add_all<WatchdogTeardown>(kBy, "is taken down by its watchdog");
  search.add_all<CppTerminate>(kBy, "ended by an exception");
  search.add_all<FingerprintMismatch>(kBy, "reports that ranks called different collectives");
  search.add_all<NcclTestsFailure>(kBy, "reports that nccl-tests failed");
  find_exceptions(job, search);
  find_fatal_warning(job, search);
}

std::string exit_words(int exitcode) {
  return exitcode == 0 ? "" : fmt::format("a process ended with exit code {}", exitcode);
}

/// By SIGHUP, SIGINT or SIGTERM, which somebody sends who wants it to end.
bool is_asked(const ProcessEnded& ended) {
  constexpr std::string_view kRequests[] = {"Terminated", "Hangup", "Interrupt", "Quit"};
  return ended.signal == 1 || ended.signal == 2 || ended.signal == 15 ||
         std::any_of(std::begin(kRequests), std::end(kRequests),
                     [&](auto word) { return ended.status.starts_with(word); });
}

std::string end_words(const ProcessEnded& ended) {
  if (!ended.status.empty()) {
    return fmt::format("a process ended: {}", to_valid_utf8(ended.status.substr(0, 64)));
  }
  return ended.signal > 0 ? fmt::format("a process ended by signal {}", ended.signal) : "";
}

void find_deaths(const Job& job, Search& search) {
  constexpr StopBy kBy = StopBy::Death;
  for (const Death& death : deaths(job)) {
    const bool killed = death.by == DeathBy::Kill;
    search.add(kBy,
               fmt::format("{} {}", subject_of(death.rank),
                           killed ? "was killed" : "ended by a segmentation fault"),
               death.line);
  }
  const auto exit_of = [](const auto& said) { return exit_words(said.exitcode); };
  search.add_told<ProcessEnded>(kBy, [](const ProcessEnded& ended) {
    return is_asked(ended) ? std::string() : end_words(ended);
  });
  search.add_told<WorkerFailed>(kBy, exit_of);
  search.add_told<ProcessExited>(kBy, exit_of);
  search.add_told<FailureExitcode>(kBy, exit_of);
  search.add_told<ChildFailed>(kBy, [](const auto&) { return std::string("a worker failed"); });
}

void find_ends(Search& search) {
  constexpr StopBy kBy = StopBy::Ended;
  const auto words = [](std::string text) { return [text](const auto&) { return text; }; };
  search.add_told<JobCancelled>(kBy, words("the scheduler cancelled the job"));
  search.add_told<AgentSignalled>(kBy, words("the launcher was told to stop"));
  search.add_told<WorkerClosing>(kBy, words("the launcher stopped its workers"));
  search.add_told<ProcessEnded>(kBy, [](const ProcessEnded& ended) {
    return is_asked(ended) ? end_words(ended) : std::string();
  });
}

/// Whoever ends a job ends its processes: their deaths after the scheduler or the launcher was told
/// to end it are no news, unless the kernel wanted the memory.
StopEvidence unless_asked(const Job& job, StopEvidence death) {
  Search search(job);
  search.add_told<JobCancelled>(
      StopBy::Ended, [](const auto&) { return std::string("the scheduler cancelled the job"); });
  search.add_told<AgentSignalled>(
      StopBy::Ended, [](const auto&) { return std::string("the launcher was told to stop"); });
  auto asked = search.take();
  bool wanted_memory = false;
  for_each_said<OomKill>(job, [&](const auto&) { wanted_memory = true; });
  const bool follows = asked && asked->line.where.unit == death.line.where.unit &&
                       asked->line.where < death.line.where;
  return follows && !wanted_memory ? std::move(*asked) : std::move(death);
}

/// The last line of the job.
Evidence last_line(const Job& job) {
  Evidence last;
  for (const Process& process : job.processes) {
    if (last.where < process.last) last = {process.last, process.last_text};
  }
  return last;
}

/// No line says that anybody gave up or failed, and yet it stood still.
std::optional<StopEvidence> standstill(const Job& job) {
  if (job.stated == StatedOutcome::Hung) {
    return StopEvidence{StopBy::Stated, "whoever saw it says that it hung", last_line(job)};
  }
  // What the user saw was something else.
  if (job.stated) return std::nullopt;
  const std::optional<Silence>& silence = silence_before_end(job);
  if (!silence || !silence->is_standstill) return std::nullopt;
  return StopEvidence{
      StopBy::Silence,
      fmt::format("nothing was printed for {} before it was ended, where work had "
                  "shown every {}",
                  duration_words(silence->nanoseconds), duration_words(silence->usual)),
      silence->end};
}

FactValue stopped(const Job& job, const Instance&) {
  auto evidence = stop_evidence(job);
  if (!evidence) return unknown();
  return yes(std::move(evidence->what), {std::move(evidence->line)});
}

}  // namespace

std::optional<StopEvidence> stop_evidence(const Job& job) {
  Search search(job);
  find_timeouts(search);
  if (!search.found()) find_failures(job, search);
  if (!search.found()) find_deaths(job, search);
  if (!search.found()) find_ends(search);
  auto found = search.take();
  if (found && found->by == StopBy::Death) found = unless_asked(job, std::move(*found));
  if (found && found->by != StopBy::Ended) return found;
  if (auto still = standstill(job)) return still;
  return found;
}

bool has_failed(const Job& job) {
  const auto evidence = stop_evidence(job);
  return evidence && evidence->by != StopBy::Ended && evidence->by != StopBy::Waiting;
}

bool stood_still(const Job& job) {
  const auto evidence = stop_evidence(job);
  return evidence && (evidence->by == StopBy::Timeout || evidence->by == StopBy::Silence ||
                      evidence->by == StopBy::Stated);
}

std::optional<StopEvidence> long_wait(const Job& job, const Evidence& since) {
  constexpr int64_t kMinute = 60'000'000'000;
  constexpr int64_t kLong = 10 * kMinute;
  const LineTime begin = time_of_line(since.text);
  if (!begin.known()) return std::nullopt;
  const Process* last = nullptr;
  int64_t latest = begin.nanoseconds + kLong;
  for (const Process& process : job.processes) {
    const LineTime time = time_of_line(process.last_text);
    const bool comparable =
        time.known() && time.has_zone == begin.has_zone && time.year == begin.year;
    if (!comparable || time.nanoseconds < latest) continue;
    latest = time.nanoseconds;
    last = &process;
  }
  if (last == nullptr) return std::nullopt;
  return StopEvidence{
      StopBy::Waiting,
      fmt::format("other lines go on for {} minutes", (latest - begin.nanoseconds) / kMinute),
      {last->last, last->last_text}};
}

}  // namespace ncclog
