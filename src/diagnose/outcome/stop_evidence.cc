#include "diagnose/outcome/stop_evidence.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/text.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
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
  search.add_all<WorkStatus>(kBy, "reports a failed work");
  search.add_all<WorkException>(kBy, "reports an error of NCCL");
  search.add_all<NcclException, XlaNcclFailure>(kBy, "raised an error of NCCL");
  search.add_all<CommAborted>(kBy, "used an aborted communicator");
  search.add_all<CudaOomException>(kBy, "ran out of GPU memory");
  search.add_all<WatchdogTerminated>(kBy, "lost its watchdog by an exception");
  search.add_all<WatchdogTeardown>(kBy, "is taken down by its watchdog");
  search.add_all<CppTerminate>(kBy, "ended by an exception");
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
    const bool killed = death.by == DeathBy::Kill;
    search.add(kBy,
               fmt::format("{} {}", subject_of(death.rank),
                           killed ? "was killed" : "ended by a segmentation fault"),
               death.line);
  }
  find_exits(job, kBy, search);
  search.add_told<ChildFailed>(kBy, "a worker failed");
}

void find_requests(Search& search) {
  search.add_told<JobCancelled>(StopBy::Ended, "the scheduler cancelled the job");
  search.add_told<LaunchStopped>(StopBy::Ended, "somebody or a limit ended the job");
  search.add_told<AgentSignalled>(StopBy::Ended, "the launcher was told to stop");
}

/// Whoever ends a job ends its processes: their deaths after the scheduler or the launcher was told
/// to end it are no news, unless the kernel wanted the memory.
StopEvidence unless_asked(const Job& job, StopEvidence death) {
  Search search(job);
  find_requests(search);
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

/// The last sign of work by a clock of which lines say no zone; 0: there is none.
int64_t last_work(const Job& job) {
  int64_t last = 0;
  for (const InputClock& clock : job.clocks) {
    last = std::max(last, clock.pulse.clock(false).work.last.nanoseconds);
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
  bool went_on = last_work(job) > seen.nanoseconds;
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
    find_requests(search);
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

std::optional<StopEvidence> long_wait(const Job& job, const Evidence& since) {
  constexpr int64_t kMinute = 60'000'000'000;
  constexpr int64_t kLong = 10 * kMinute;
  const LineTime begin = time_of_line(since.text);
  if (!begin.known()) return std::nullopt;
  const Process* last = nullptr;
  int64_t latest = begin.nanoseconds + kLong;
  for (const Process& process : job.processes) {
    const LineTime time = time_of_line(last_text(job, process));
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
      {last->last, std::string(last_text(job, *last))}};
}

namespace {

// Does the name of the rendezvous resolve?
//
//   [W1122 08:25:41.18 socket.cpp:764] [c10d] The IPv6 network addresses of (node-a, 37395) cannot
//   be retrieved (gai error: -3 - Temporary failure in name resolution).
//       twelve times until 08:27:05, and no line of NCCL or of the training after them
//       → job.store_name_unresolvable = yes, "node-a, asked for 12 times in 84 s"
//
// Once or twice before the job goes on it is noise: a name without an IPv6 address.

constexpr uint64_t kLeastTries = 3;
constexpr uint64_t kTriesWithoutTimes = 6;
constexpr int64_t kLeastSeconds =
    30;  // PyTorch waits for up to a second and then longer each time.

/// Whoever looked the name up waited for the store there until its time was up.
bool gave_up(const SpeakerLog& log, std::string_view host) {
  return std::ranges::any_of(
      log.records.kept(kKindIndex<StoreConnectTimeout>), [&](const Record& record) {
        return read_message<StoreConnectTimeout>(parse_message(record)).host == host;
      });
}

FactValue name_in(const SpeakerLog& log) {
  const RecordList list = log.records.find(kKindIndex<StoreConnectRetry>);
  for (const Record& record : list.kept) {
    const Event event = parse_record(record);
    const auto retry = read_message<StoreConnectRetry>(event.message);
    if (retry.error.find("gai error") == retry.error.npos) return unknown();
    const auto lasted = nanoseconds_between(record.text(), log.last_text);
    const int64_t seconds = lasted.value_or(0) / 1'000'000'000;
    const bool is_long = lasted ? list.total >= kLeastTries && seconds >= kLeastSeconds
                                : list.total >= kTriesWithoutTimes;
    if (!is_long && !gave_up(log, retry.host)) continue;
    const std::string time = !lasted ? "" : fmt::format(" in {} s", seconds);
    return yes(fmt::format("\"{}\" was looked up {} time{}{}, and the answer was: {}",
                           to_valid_utf8(retry.host), list.total, list.total == 1 ? "" : "s", time,
                           to_valid_utf8(retry.error)),
               {evidence_of(record)});
  }
  return unknown();
}

/// job.store_name_unresolvable.
FactValue store_name_unresolvable(const Job& job, const Instance&) {
  // NCCL or the training began.
  const bool came_further =
      any_said<BootstrapInterface, IterationLine, ProgressBar, NcclVersion, RendezvousComplete>(
          job);
  if (came_further || !job.communicators.empty()) return no();
  for (const SpeakerLog& log : job.logs) {
    FactValue value = name_in(log);
    if (value.known()) return value;
  }
  return unknown();
}

// Who never came to the creation of a process group?
//
//   INFO:root:Waiting in store based barrier to initialize process group for rank: 0, key:
//   store_based_barrier_key:1 (world_size=4, worker_count=3, timeout=0:30:00)
//       the same of ranks 1 and 3, and nothing after it
//       → job.store_barrier_absent = yes, "ranks 0,1,3 waited …, 1 of 4 ranks never came …"
//
// A rank prints the line after it has waited for ten seconds, and each ten seconds from then on.

/// What the ranks say of the creation of one group.
struct Barrier {
  int world_size = -1;
  int joined = -1;  ///< As the last that counted them says.
  std::set<int> came;
  std::set<int> waited;
  bool timed_out = false;
  std::vector<Evidence> lines;
};

template <typename T>
void add_waits(const Job& job, bool timed_out, std::map<std::string, Barrier>& barriers) {
  for_each_said<T>(job, [&](const Said<T>& said) {
    Barrier& barrier = barriers[std::string(said.message.key)];
    barrier.world_size = std::max(barrier.world_size, said.message.world_size);
    barrier.joined = std::max(barrier.joined, said.message.joined);
    barrier.came.insert(said.message.rank);
    barrier.waited.insert(said.message.rank);
    barrier.timed_out |= timed_out;
    barrier.lines.push_back(evidence_of(said.record()));
  });
}

/// By their keys; without those that somebody was let through.
std::map<std::string, Barrier> barriers_of(const Job& job) {
  std::map<std::string, Barrier> barriers;
  add_waits<StoreBarrierTimeout>(job, true, barriers);
  add_waits<StoreBarrierWait>(job, false, barriers);
  for_each_said<StoreBarrierJoined>(job, [&](const Said<StoreBarrierJoined>& said) {
    const auto known = barriers.find(std::string(said.message.key));
    if (known != barriers.end()) known->second.came.insert(said.message.rank);
  });
  for_each_said<StoreBarrierPassed>(job, [&](const Said<StoreBarrierPassed>& said) {
    barriers.erase(std::string(said.message.key));
  });
  return barriers;
}

/// Ranks lack, and nothing of the job follows the last wait. Where more ranks are
/// counted than there are, the store still holds a count of an earlier start.
bool is_stuck(const Job& job, const Barrier& barrier) {
  if (barrier.joined < 0 || barrier.joined >= barrier.world_size) return false;
  if (barrier.timed_out) return true;
  const auto last = std::ranges::max_element(barrier.lines, {}, &Evidence::where);
  return job.communicators.empty() && !went_on(job, last->where);
}

/// Which ranks have no line of it, where these are just as many as lack: else lines are missing.
std::string absent_words(const Barrier& barrier) {
  std::vector<int> absent;
  const auto lacking = static_cast<size_t>(barrier.world_size - barrier.joined);
  for (int rank = 0; rank < barrier.world_size && absent.size() <= lacking; ++rank) {
    if (!barrier.came.contains(rank)) absent.push_back(rank);
  }
  if (absent.size() != lacking) return "which, these logs do not show";
  return fmt::format("{} {} no line of it here", ranks_phrase(absent),
                     absent.size() == 1 ? "has" : "have");
}

/// job.store_barrier_absent.
FactValue store_barrier_absent(const Job& job, const Instance&) {
  for (const auto& [key, barrier] : barriers_of(job)) {
    if (!is_stuck(job, barrier)) continue;
    const int lacking = barrier.world_size - barrier.joined;
    return yes(fmt::format("{} of {} ranks {}, while {} waited; {}", lacking, barrier.world_size,
                           barrier.timed_out ? "never came" : "had not come when these logs end",
                           ranks_phrase({barrier.waited.begin(), barrier.waited.end()}),
                           absent_words(barrier)),
               barrier.lines);
  }
  return unknown();
}

// Who failed before NCCL could: killed, crashed, raised, or never came?
//
//   job.killed = yes, "rank 3 (pid 1021): Killed"
//   job.store_root_silent = yes, rank 0: ranks 1-3 wait for its ncclUniqueId, it reports nothing
//
// Deaths are joined to ranks by pid, by the command line or by torchrun's table.

FactValue died(const Job& job, const std::vector<Death>& found) {
  if (found.empty()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> names;
  for (const Death& death : found) {
    names.push_back(name_of(job, death));
    value.evidence.push_back(death.line);
    const int process = process_of(job, death);
    blame(process, death.rank, value);
    // Without NCCL's own lines only the launcher names the host.
    const bool is_placed = process >= 0 && !nth_process(job, process).host.empty();
    if (!is_placed && !death.host.empty()) value.hosts.push_back(death.host);
  }
  value.what = few_of(names, kMostNamed, ", ");
  return value;
}

std::vector<Death> deaths_by(const Job& job, DeathBy by) {
  std::vector<Death> found = deaths(job);
  std::erase_if(found, [by](const Death& death) { return death.by != by; });
  return found;
}

/// Whoever ends a hung job kills most of it: then the kill is how it ended, not why.
bool is_cleaning_up(const Job& job, const std::vector<Death>& killed) {
  bool is_asked = any_said<JobCancelled>(job);
  // mpirun says that it ends the job, too, because a process was killed before.
  for_each_said<LaunchStopped>(job, [&](const Said<LaunchStopped>& said) {
    is_asked |= std::ranges::none_of(killed, [&](const Death& death) {
      return death.line.where.unit == said.where().unit && death.line.where < said.where();
    });
  });
  if (is_asked && !any_said<OomKill>(job)) return true;
  if (!job.nranks || !any_said<WatchdogTimeout>(job)) return false;
  return killed.size() > 1 && killed.size() * 2 > static_cast<size_t>(*job.nranks);
}

/// What says that a kill was for want of memory: of one of these, or of a process that is not named.
std::vector<Evidence> wants_of_memory(const Job& job, const std::vector<Death>& killed) {
  std::vector<Evidence> lines;
  for_each_said<OomKill>(job, [&](const Said<OomKill>& said) {
    const bool is_one =
        said.message.pid < 0 || std::ranges::any_of(killed, [&](const Death& death) {
          return death.pid == said.message.pid;
        });
    if (is_one) lines.push_back(evidence_of(said.record()));
  });
  for (const Death& death : killed) {
    if (death.line.text.find(": Out Of Memory") != std::string::npos) lines.push_back(death.line);
  }
  return lines;
}

FactValue killed(const Job& job, const Instance&) {
  const std::vector<Death> found = deaths_by(job, DeathBy::Kill);
  if (is_cleaning_up(job, found)) return no();
  FactValue value = died(job, found);
  const std::vector<Evidence> memory = wants_of_memory(job, found);
  if (found.empty() || memory.empty()) return value;
  value.what += ", for want of host memory";
  std::ranges::copy(memory, std::back_inserter(value.evidence));
  return value;
}

FactValue segfaulted(const Job& job, const Instance&) {
  return died(job, deaths_by(job, DeathBy::SegmentationFault));
}

FactValue raised_first(const Job& job, const Instance&) {
  const auto& first = first_exceptions(job);
  if (first.empty()) return unknown();
  FactValue value = yes(first.front().text);
  for (const ProgramException& exception : first) {
    value.evidence.push_back(exception.line);
    const Process& process = nth_process(job, exception.process);
    const bool named = process.rank >= 0 || process.pid >= 0;
    blame(named ? exception.process : process_of_rank(job, exception.rank), exception.rank, value);
  }
  return value;
}

/// The rank has come to a collective: it has a communicator or finished work.
bool has_joined(const Job& job, int rank) {
  const int number = process_of_rank(job, rank);
  if (number < 0) return false;
  const Process& process = nth_process(job, number);
  return !segments_of(job, process).empty() ||
         has_said<WorkStatus, WatchdogTimeout, DumpSignal>(job, process);
}

/// The rank, or somebody who may be that rank, reports a failure of its own.
bool may_have_failed(const Job& job, int rank) {
  for (const Process& process : job.processes) {
    const bool may_be_it = process.rank == rank || process.rank < 0;
    if (may_be_it && has_said<PythonException, NcclException, CudaOomException>(job, process)) {
      return true;
    }
  }
  bool died = false;
  for (const Death& death : deaths(job)) died |= death.rank == rank || death.rank < 0;
  for_each_said<WorkerFailed>(job, [&](const Said<WorkerFailed>& said) {
    died |= said.message.local_rank == rank && said.message.exitcode != -15;
  });
  return died;
}

FactValue store_root_silent(const Job& job, const Instance&) {
  std::set<int> waiting;
  std::set<int> roots;
  bool in_subgroup = false;  // Ranks of a smaller group: they name no global rank.
  std::vector<Evidence> lines;
  for_each_said<StoreWaitFailed>(job, [&](const Said<StoreWaitFailed>& said) {
    const int own = rank_of(job, said.process, said.header());
    in_subgroup |= own >= 0 && own != said.message.rank;
    waiting.insert(said.message.rank);
    if (said.message.root >= 0) roots.insert(said.message.root);
    lines.push_back(evidence_of(said.record()));
  });
  if (roots.size() != 1 || in_subgroup) return unknown();
  const int root = *roots.begin();
  if (waiting.contains(root)) return unknown();
  if (has_joined(job, root) || may_have_failed(job, root)) return no();
  // What the rank says of itself may be among the torn lines.
  if (is_torn(job)) return unknown();
  FactValue value =
      yes(fmt::format("{} waited for rank {}'s ncclUniqueId; rank {} reports no failure",
                      ranks_phrase({waiting.begin(), waiting.end()}), root, root),
          std::move(lines));
  blame(process_of_rank(job, root), root, value);
  return value;
}

/// Equal lines are kept once, so the totals count.
FactValue engine_waits(const Job& job, const Instance&) {
  uint64_t lines = 0;
  std::vector<Evidence> evidence;
  for (const SpeakerLog& log : job.logs) {
    const RecordList list = log.records.find(kKindIndex<VllmBroadcastWait>);
    lines += list.total;
    for (const Record& record : list.kept) evidence.push_back(evidence_of(record));
  }
  if (lines == 0) return unknown();
  return lines == 1 ? no() : yes(fmt::format("{} times", lines), std::move(evidence));
}

constexpr std::array kStopFacts = {
    // vLLM says more than once that its workers take nothing, or are given nothing.
    job_fact("job.engine_waits", engine_waits),
    // Processes got SIGKILL, and not because the whole job was being ended.
    job_fact("job.killed", killed),
    // The program raised an exception before anything else failed.
    job_fact("job.raised_first", raised_first),
    // Processes ended by a segmentation fault.
    job_fact("job.segfaulted", segfaulted),
    // Ranks wait at the creation of a process group for ranks that never came to it.
    comparing_fact("job.store_barrier_absent", store_barrier_absent),
    // PyTorch looked the store's host up in vain for half a minute, and nothing else began.
    job_fact("job.store_name_unresolvable", store_name_unresolvable),
    // Ranks wait in the store for a rank that shows neither a failure nor a communicator.
    comparing_fact("job.store_root_silent", store_root_silent),
};

}  // namespace

std::span<const Fact> stop_facts() { return kStopFacts; }

}  // namespace ncclog
