#include "diagnose/first_exception.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/messages.h"
#include "model/call_coverage.h"

namespace ncclog {
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
  const auto& logs = job.processes[static_cast<size_t>(process)].logs;
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
    const int rank = job.processes[static_cast<size_t>(process)].rank;
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
  const Process& process = job.processes[static_cast<size_t>(exception.process)];
  if (process.rank >= 0 || process.pid >= 0) return;
  std::set<int64_t> pids;
  for_each_said<WorkerFailed>(job, [&](const Said<WorkerFailed>& said) {
    if (said.message.exitcode > 0 && said.message.pid >= 0) pids.insert(said.message.pid);
  });
  if (pids.size() != 1) return;
  const int known = process_of_pid(job, *pids.begin());
  if (known >= 0) {
    exception.process = known;
    exception.rank = job.processes[static_cast<size_t>(known)].rank;
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
