#include "diagnose/outcome/first_failure.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/messages.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

std::optional<DeathBy> by_signal(int signal) {
  if (signal == 9) return DeathBy::Kill;
  if (signal == 11) return DeathBy::SegmentationFault;
  return std::nullopt;
}

/// A shell adds 128 to the signal, Python negates it.
std::optional<DeathBy> by_exitcode(int exitcode) {
  return by_signal(exitcode < 0 ? -exitcode : exitcode - 128);
}

std::optional<DeathBy> by_status(std::string_view status) {
  if (status.starts_with("Killed") || status.starts_with("Out Of Memory")) return DeathBy::Kill;
  if (status.starts_with("Segmentation fault")) return DeathBy::SegmentationFault;
  return std::nullopt;
}

/// The rank that a command line gives its process: "env RANK=3 LOCAL_RANK=1 python3 …".
int rank_in_command(std::string_view command) {
  constexpr std::string_view kNames[] = {
      "RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID="};
  for (const std::string_view word : split_blanks(command)) {
    for (const std::string_view name : kNames) {
      if (!word.starts_with(name)) continue;
      if (const auto rank = parse_int(word.substr(name.size()))) return static_cast<int>(*rank);
    }
  }
  return -1;
}

/// The numbers in "0-3,7"; empty if that is not what `text` is, or far too many.
std::vector<int> numbers_in(std::string_view text) {
  constexpr int64_t kMost = 4096;
  std::vector<int> numbers;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == part.npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last - *first > kMost) return {};
    for (int64_t n = *first; n <= *last; ++n) numbers.push_back(static_cast<int>(n));
  }
  return numbers;
}

class Collector {
 public:
  explicit Collector(const Job& job) : job_(job) {}

  std::vector<Death> collect() {
    note_victims();
    add_ended();
    add_worker_failures();
    add_failure_tables();
    add_oom_kills();
    add_container_exits();
    add_fatal_errors();
    drop_nameless();
    std::stable_sort(deaths_.begin(), deaths_.end(),
                     [](const Death& a, const Death& b) { return a.line.where < b.line.where; });
    return std::move(deaths_);
  }

 private:
  /// torchrun and DeepSpeed stop the others when one worker failed.
  void note_victims() {
    const auto note = [&](const auto& said) {
      victims_.try_emplace(said.message.pid, said.record.where);
    };
    for_each_said<WorkerUnkillable>(job_, note);
    for_each_said<WorkerClosing>(job_, note);
    victims_.erase(-1);
  }

  /// Its launcher ended it. Some send their signal to processes of which they reported the end
  /// before.
  bool is_victim(const Death& death) const {
    const auto victim = victims_.find(death.pid);
    if (victim == victims_.end()) return false;
    const SourceRef ended = death.line.where;
    return ended.unit != victim->second.unit || victim->second < ended;
  }

  void add(Death death) {
    if (is_victim(death)) return;
    for (Death& known : deaths_) {
      const bool same_pid = death.pid >= 0 && known.pid == death.pid;
      const bool same_rank = death.rank >= 0 && known.rank == death.rank;
      if (known.by != death.by || !(same_pid || same_rank)) continue;
      if (known.rank < 0) known.rank = death.rank;
      if (known.pid < 0) known.pid = death.pid;
      if (known.host.empty()) known.host = death.host;
      return;
    }
    deaths_.push_back(std::move(death));
  }

  /// MPICH prints who and how on two lines, so the who is remembered.
  void add_ended() {
    Death who;
    for_each_said<ProcessEnded>(job_, [&](const Said<ProcessEnded>& said) {
      const ProcessEnded& ended = said.message;
      Death death{DeathBy::Kill, ended.pid, ended.rank, std::string(ended.host),
                  evidence_of(said.record)};
      if (ended.status.empty() && ended.signal < 0) {
        who = std::move(death);
        return;
      }
      auto by = by_status(ended.status);
      if (!by) by = by_signal(ended.signal);
      if (!by) return;
      death.by = *by;
      if (death.rank < 0) death.rank = rank_in_command(ended.command);
      if (death.pid < 0 && ended.command.empty() && ended.signal > 0) {
        death.pid = who.pid;
        death.rank = who.rank;
        death.host = who.host;
      }
      for (const int rank : numbers_in(ended.tasks)) {
        Death one = death;
        one.rank = rank;
        add(std::move(one));
      }
      if (ended.tasks.empty()) add(std::move(death));
    });
  }

  void add_worker_failures() {
    for_each_said<WorkerFailed>(job_, [&](const Said<WorkerFailed>& said) {
      if (const auto by = by_exitcode(said.message.exitcode)) {
        add({*by, said.message.pid, -1, {}, evidence_of(said.record)});
      }
    });
  }

  /// The rows of torchrun's table: host and rank stand above the exit code.
  void add_failure_tables() {
    for_each_said<FailureExitcode>(job_, [&](const Said<FailureExitcode>& said) {
      const auto by = by_exitcode(said.message.exitcode);
      if (!by) return;
      Death death{*by, said.message.pid, -1, {}, evidence_of(said.record)};
      constexpr uint64_t kRowsAbove = 3;
      for_each_said<FailureRank>(job_, [&](const Said<FailureRank>& row) {
        const SourceRef at = row.record.where;
        const bool above = at.unit == said.record.where.unit && at < said.record.where &&
                           said.record.where.line - at.line <= kRowsAbove;
        if (above) death.rank = row.message.rank;
      });
      add(std::move(death));
    });
  }

  /// Slurm's and Kubernetes' words are about the job; the kernel kills all sorts of processes.
  void add_oom_kills() {
    for_each_said<OomKill>(job_, [&](const Said<OomKill>& said) {
      if (said.message.pid >= 0) return;
      add({DeathBy::Kill, -1, -1, std::string(said.message.host), evidence_of(said.record)});
    });
    for (const KernelEvent& event : job_.kernel_events) {
      if (event.kind == kKindIndex<OomKill>) add_kernel_death(DeathBy::Kill, event);
      if (event.kind == kKindIndex<KernelSegfault>)
        add_kernel_death(DeathBy::SegmentationFault, event);
    }
  }

  /// Counts if the pid is a process of the job, by NCCL's lines or by another report of its death.
  void add_kernel_death(DeathBy by, const KernelEvent& event) {
    if (event.pid < 0) return;
    const bool reported = std::any_of(deaths_.begin(), deaths_.end(),
                                      [&](const Death& death) { return death.pid == event.pid; });
    if (event.relation != KernelRelation::Process && !reported) return;
    add({by, event.pid, event.rank, event.host, {event.where, event.text}});
  }

  void add_container_exits() {
    for_each_said<ProcessExited>(job_, [&](const Said<ProcessExited>& said) {
      if (const auto by = by_exitcode(said.message.exitcode)) {
        add({*by, -1, -1, {}, evidence_of(said.record)});
      }
    });
  }

  void add_fatal_errors() {
    for_each_said<FatalPythonError>(job_, [&](const Said<FatalPythonError>& said) {
      if (!said.message.error.starts_with("Segmentation fault")) return;
      const Process& process = nth_process(job_, said.process);
      add({DeathBy::SegmentationFault, process.pid, process.rank, process.host,
           evidence_of(said.record)});
    });
  }

  /// "Detected 1 oom_kill event" is the same death that another line gives a name.
  void drop_nameless() {
    const auto nameless = [](const Death& death) { return death.pid < 0 && death.rank < 0; };
    const std::vector<Death> all = deaths_;
    std::erase_if(deaths_, [&](const Death& death) {
      return nameless(death) && std::any_of(all.begin(), all.end(), [&](const Death& other) {
               return other.by == death.by && !nameless(other);
             });
    });
  }

  const Job& job_;
  std::map<int64_t, SourceRef> victims_;  ///< By pid: the first line that says so.
  std::vector<Death> deaths_;
};

}  // namespace

std::vector<Death> deaths(const Job& job) { return Collector(job).collect(); }

int process_of(const Job& job, const Death& death) {
  const int by_pid = process_of_pid(job, death.pid);
  return by_pid >= 0 ? by_pid : process_of_rank(job, death.rank);
}

namespace {

constexpr size_t kMostBytes = 160;

/// Lower is nearer to a cause.
int distance(const Warning& warning) {
  const bool symptom = warning.origin == WarnOrigin::Symptom;
  switch (warning.severity) {
    case WarnSeverity::Fatal:
      return symptom ? 1 : 0;
    case WarnSeverity::Degraded:
      return 2;
    default:
      return 3;
  }
}

std::string shortened_message(std::string_view message) {
  message = trim(message);
  if (message.size() <= kMostBytes) return printable(message);
  return printable(to_valid_utf8(message.substr(0, kMostBytes))) + "…";
}

/// Takes the place of `best` if the record is a WARN that is nearer to a cause.
void consider(const SpeakerLog& log, const Record& record, std::optional<ExplainedWarning>& best) {
  const Event event = parse_record(record);
  const Warning* stated = warning_of(event);
  if (stated == nullptr) return;
  Warning warning = *stated;
  if (warning.severity == WarnSeverity::Fatal && is_outlived_in_init(log, record)) {
    warning.severity = WarnSeverity::Degraded;
  }
  const bool nearer = !best || std::tuple(distance(warning), record.where) <
                                   std::tuple(distance(best->warning), best->line.where);
  if (nearer) best = {evidence_of(record), shortened_message(event.header.message), warning};
}

/// The first line of that kind which the thread printed after `since` and `wanted` accepts.
template <typename Wanted>
std::optional<SourceRef> next_of(const SpeakerLog& log, uint16_t kind, int64_t tid, SourceRef since,
                                 Wanted wanted) {
  const RecordList* list = log.records.find(kind);
  if (list == nullptr) return std::nullopt;
  for (const Record& record : list->kept) {
    if (record.where.unit != since.unit || record.where <= since) continue;
    const Event event = parse_record(record);
    if (event.header.tid == tid && wanted(event)) return record.where;
  }
  return std::nullopt;
}

}  // namespace

bool has_warnings(const Kind& kind) {
  return std::any_of(kind.wordings.begin(), kind.wordings.end(),
                     [&](const Wording& wording) { return warning_of(wording) != nullptr; });
}

bool is_outlived_in_init(const SpeakerLog& log, const Record& warning) {
  const int64_t tid = parse_record(warning).header.tid;
  if (tid < 0) return false;
  const auto any = [](const Event&) { return true; };
  const auto completes = [](const Event& event) {
    return read_message<CommInit>(event.message).phase == "COMPLETE";
  };
  std::optional<SourceRef> progress;
  const auto note = [&](std::optional<SourceRef> where) {
    if (where && (!progress || *where < *progress)) progress = where;
  };
  for (const uint16_t kind : {kKindIndex<RingMembers>, kKindIndex<RingNeighbours>,
                              kKindIndex<Trees>, kKindIndex<TreeNeighbours>}) {
    note(next_of(log, kind, tid, warning.where, any));
  }
  note(next_of(log, kKindIndex<CommInit>, tid, warning.where, completes));
  if (!progress) return false;
  const auto error = next_of(log, kKindIndex<ErrorTrace>, tid, warning.where, any);
  return !error || *progress < *error;
}

std::optional<ExplainedWarning> first_warning(const Job& job) {
  std::optional<ExplainedWarning> best;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (!has_warnings(all_kinds()[kind])) continue;
      for (const Record& record : list.kept) consider(log, record, best);
    }
  }
  return best;
}

bool reports_own_failure(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t index) {
    const SpeakerLog& log = job.logs[index];
    const auto is_own_failure = [&](const Record& record) {
      const Warning* warning = warning_of(parse_record(record));
      return warning != nullptr && warning->severity == WarnSeverity::Fatal &&
             warning->origin != WarnOrigin::Symptom && !is_outlived_in_init(log, record);
    };
    return std::any_of(log.records.begin(), log.records.end(), [&](const auto& entry) {
      const auto& [kind, list] = entry;
      return has_warnings(all_kinds()[kind]) &&
             std::any_of(list.kept.begin(), list.kept.end(), is_own_failure);
    });
  });
}

namespace {

/// Raised because somebody else failed, or by those who only pass a failure on.
constexpr std::string_view kPassedOn[] = {
    "KeyboardInterrupt",
    "SystemExit",
    "BrokenPipeError",
    "ConnectionResetError",
    "ConnectionRefusedError",
    "ConnectionAbortedError",
    "EOFError",
    "DistNetworkError",
    "DistStoreError",
    "DistBackendError",
    "DistError",
    "ChildFailedError",
    "CalledProcessError",
    "SignalException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "TimeoutError",
    "TimeoutExpired",
    "StopIteration",
    "BrokenProcessPool",
    "RendezvousConnectionError",
    "RendezvousTimeoutError",
    "RendezvousClosedError",
    "CancelledError",
    "EngineDeadError",
    "EngineGenerateError",
    "ActorDiedError",
    "RendezvousGracefulExitError",
};

/// What an exception says when it passes on a failure of NCCL, of the store or of another process,
/// or when another finding names it.
constexpr std::string_view kOthersFailure[] = {
    "NCCL",
    "ncclUnhandled",
    "c10d",
    "rocess group",
    "ProcessGroup",
    "TCPStore",
    "store->",
    "Connection closed by peer",
    "gloo",
    "Connection reset",
    "Broken pipe",
    "watchdog",
    "See root",
    "trace for root cause",
    "out of memory",
    "device-side assert",
    "illegal memory access",
    "invalid device ordinal",
    "no kernel image is available",
    "driver version is insufficient",
    "NVIDIA driver on your system is too old",
    "CUDA error: initialization error",
    "re-initialize CUDA in forked",
    "initialize NVML",
    "Too many open files",
    "start new thread",
    "Timed out waiting",
    "DistBackendError",
};

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool is_passed_on(std::string_view type, std::string_view message) {
  if (type.starts_with("ray.") || type.find('(') != type.npos) return true;
  const std::string_view base = type.substr(type.rfind('.') + 1);
  return std::find(std::begin(kPassedOn), std::end(kPassedOn), base) != std::end(kPassedOn) ||
         contains_any(message, kOthersFailure);
}

/// A line of kind T stands in `list` and, with `where`, before it in the same stretch of input.
template <typename T>
bool stands_before(const SpeakerLog& log, SourceRef where) {
  const RecordList* list = log.records.find(kKindIndex<T>);
  if (list == nullptr) return false;
  return std::any_of(list->kept.begin(), list->kept.end(), [&](const Record& record) {
    return record.where.unit == where.unit && record.where < where;
  });
}

template <typename... T>
bool any_stands_before(const Job& job, SourceRef where) {
  return std::any_of(job.logs.begin(), job.logs.end(),
                     [&](const SpeakerLog& log) { return (stands_before<T>(log, where) || ...); });
}

template <typename... T>
bool any_said(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [&](const SpeakerLog& log) {
    return (log.records.contains(kKindIndex<T>) || ...);
  });
}

/// NCCL failed by itself somewhere, not because a peer went away. Where order is unknown, that
/// could be what made the program raise.
bool nccl_failed_by_itself(const Job& job) {
  return any_said<ShmCreateFailed, ShmExtendFailed, ShmAttachFailed, ShmFileFailed, CudaFailure,
                  CudaAllocFailed, NvlsBindFailed, DuplicateGpu, InvalidRoot, InvalidArgument,
                  InvalidRank, WrongDevicePointer, InvalidConfig, VersionMismatch,
                  BootstrapNoInterface, BootstrapRankTwice, BootstrapRankCountMismatch,
                  NetworkNotFound, NetAllFailed, IbCallFailed, CudaOomException>(job);
}

/// Something else had failed before.
bool is_late(const Job& job, SourceRef where) {
  return any_stands_before<NcclException, WatchdogTimeout, WorkException, StoreWaitFailed,
                           StoreTimeout, WorkerFailed, CudaOomException, HeartbeatTimeout>(job,
                                                                                           where);
}

/// A traceback of this process stands above the line.
bool has_traceback(const Job& job, int process, SourceRef where) {
  const auto& logs = nth_process(job, process).logs;
  return std::any_of(logs.begin(), logs.end(), [&](size_t log) {
    return stands_before<TracebackStarted>(job.logs[log], where);
  });
}

std::string shortened(std::string_view text) {
  constexpr size_t kMost = 160;
  return to_valid_utf8(text.size() <= kMost ? text : text.substr(0, kMost)) +
         (text.size() > kMost ? "…" : "");
}

/// Every process's first exception that is its own.
std::vector<ProgramException> own_exceptions(const Job& job) {
  std::vector<ProgramException> all;
  const auto add = [&](int process, const Record& record, std::string_view text) {
    if (!has_traceback(job, process, record.where) || is_late(job, record.where)) return;
    if (went_on(job, record.where)) return;
    for (ProgramException& known : all) {
      if (known.process != process) continue;
      if (record.where < known.line.where) {
        known.text = shortened(text);
        known.line = evidence_of(record);
      }
      return;
    }
    const int rank = nth_process(job, process).rank;
    all.push_back({process, rank, shortened(text), evidence_of(record)});
  };
  for_each_said<PythonException>(job, [&](const Said<PythonException>& said) {
    if (is_passed_on(said.message.type, said.message.message)) return;
    add(said.process, said.record, trim(said.header.message));
  });
  for_each_said<DataLoaderKilled>(job, [&](const Said<DataLoaderKilled>& said) {
    if (said.message.pid >= 0) add(said.process, said.record, trim(said.header.message));
  });
  return all;
}

/// The worker that torchrun saw end with an exception first; fills in who raised where the
/// traceback names nobody.
void name_by_torchrun(const Job& job, ProgramException& exception) {
  const Process& process = nth_process(job, exception.process);
  if (process.rank >= 0 || process.pid >= 0) return;
  std::set<int64_t> pids;
  for_each_said<WorkerFailed>(job, [&](const Said<WorkerFailed>& said) {
    if (said.message.exitcode > 0 && said.message.pid >= 0) pids.insert(said.message.pid);
  });
  if (pids.size() != 1) return;
  const int known = process_of_pid(job, *pids.begin());
  if (known >= 0) {
    exception.process = known;
    exception.rank = nth_process(job, known).rank;
    return;
  }
  for_each_said<FailureExitcode>(job, [&](const Said<FailureExitcode>& row) {
    if (row.message.pid != *pids.begin()) return;
    for_each_said<FailureRank>(job, [&](const Said<FailureRank>& rank) {
      constexpr uint64_t kRowsAbove = 3;
      const SourceRef at = rank.record.where;
      if (at.unit == row.record.where.unit && at < row.record.where &&
          row.record.where.line - at.line <= kRowsAbove) {
        exception.rank = rank.message.rank;
      }
    });
  });
}

/// True if `later` stands behind `where` in the same input.
bool is_behind(const Job& job, SourceRef where, SourceRef later) {
  if (!(where < later)) return false;
  const JobUnit* at = unit_of(job, where);
  const JobUnit* then = unit_of(job, later);
  return at != nullptr && then != nullptr && at->input == then->input;
}

bool steps_go_on(const Job& job, SourceRef where) {
  constexpr size_t kSteps = 3;
  size_t steps = 0;
  for (const SpeakerLog& log : job.logs) {
    for (const uint16_t kind :
         {kKindIndex<IterationLine>, kKindIndex<ProgressBar>, kKindIndex<CommInit>}) {
      const RecordList* list = log.records.find(kind);
      if (list == nullptr) continue;
      for (const Record& record : list->kept) {
        steps += is_behind(job, where, record.where);
        if (steps >= kSteps) return true;
      }
    }
  }
  return false;
}

/// Every rank of the largest communicator goes on calling. Some calls prove nothing: the host runs
/// ahead of a peer that is gone.
bool calls_go_on(const Job& job, SourceRef where) {
  constexpr uint64_t kCalls = 64;
  const auto largest = std::max_element(
      job.communicators.begin(), job.communicators.end(),
      [](const Communicator& a, const Communicator& b) { return a.ranks.size() < b.ranks.size(); });
  if (largest == job.communicators.end() || largest->ranks.empty()) return false;
  return std::all_of(largest->ranks.begin(), largest->ranks.end(), [&](const CommRank& rank) {
    const CollectiveCalls* calls = calls_of(job, rank);
    if (calls == nullptr || calls->collectives.size() < kCalls) return false;
    const PlacedCall* call = calls->collectives.call(calls->collectives.size() - kCalls);
    return call != nullptr && is_behind(job, where, call->where);
  });
}

}  // namespace

bool went_on(const Job& job, SourceRef where) {
  return steps_go_on(job, where) || calls_go_on(job, where);
}

std::vector<ProgramException> first_exceptions(const Job& job) {
  if (nccl_failed_by_itself(job)) return {};
  std::vector<ProgramException> all = own_exceptions(job);
  if (all.empty()) return {};
  const auto first = std::min_element(all.begin(), all.end(),
                                      [](const ProgramException& a, const ProgramException& b) {
                                        return a.line.where < b.line.where;
                                      });
  const std::string text = first->text;
  std::vector<ProgramException> result;
  for (ProgramException& exception : all) {
    if (exception.text == text) result.push_back(std::move(exception));
  }
  if (result.size() == 1) name_by_torchrun(job, result.front());
  return result;
}

}  // namespace ncclog
