#include "diagnose/outcome/end_marks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr int kTerm = 15;

/// SIGHUP, SIGINT and SIGTERM: somebody wants it to end. SIGKILL is as often the kernel's.
bool is_request(int signal) { return signal == 1 || signal == 2 || signal == kTerm; }

/// The signal in an exit code: Python negates it, a shell adds 128; 0: none.
int signal_of(int exitcode) {
  if (exitcode < 0) return -exitcode;
  return exitcode > 128 && exitcode < 192 ? exitcode - 128 : 0;
}

EndState state_of_exit(int exitcode) {
  if (exitcode == 0) return EndState::Finished;
  return is_request(signal_of(exitcode)) ? EndState::Stopped : EndState::Failed;
}

std::string exit_words(int exitcode) { return fmt::format("ended with exit code {}", exitcode); }

EndState state_of_status(const ProcessEnded& ended) {
  constexpr std::string_view kRequests[] = {"Terminated", "Hangup", "Interrupt", "Quit"};
  const bool asked = std::any_of(std::begin(kRequests), std::end(kRequests),
                                 [&](auto word) { return ended.status.starts_with(word); });
  return asked || is_request(ended.signal) ? EndState::Stopped : EndState::Failed;
}

class Collector {
 public:
  explicit Collector(const Job& job) : job_(job) {}

  std::vector<EndMark> collect() {
    add_programs();
    add_nccl_tests();
    add_launchers();
    add_schedulers();
    std::stable_sort(marks_.begin(), marks_.end(), [](const EndMark& a, const EndMark& b) {
      return a.line.where < b.line.where;
    });
    return std::move(marks_);
  }

 private:
  void add(EndState state, int process, std::string what, const Record& record) {
    marks_.push_back({state, process, std::move(what), evidence_of(record)});
  }

  /// What programs print on whatever rank: it is about the job.
  template <typename T>
  void add_all(EndState state, std::string_view what) {
    for_each_said<T>(job_,
                     [&](const Said<T>& said) { add(state, -1, std::string(what), said.record); });
  }

  void add_programs() {
    add_all<WorkFinished>(EndState::Finished, "the program says that its work is done");
    add_all<WorkStopped>(EndState::Stopped, "the job was told to end");
    for_each_said<MlperfRunStop>(job_, [&](const auto& said) {
      // "aborted": the target was not reached in the epochs that were allowed.
      const std::string status = to_valid_utf8(said.message.status.substr(0, 32));
      add(EndState::Finished, -1, fmt::format("the benchmark's run_stop says {}", status),
          said.record);
    });
    add_bench_results();
    for_each_said<ProcessGroupNotDestroyed>(job_, [&](const auto& said) {
      add(EndState::Finished, said.process, "the process left by itself", said.record);
    });
    for_each_said<PluginNote>(job_, [&](const auto& said) {
      // Printed by a destructor of the library, so not where a signal ends the process.
      const bool leaves =
          said.header.message.find("Plugin: Closing env ") != std::string_view::npos;
      if (leaves) add(EndState::Finished, said.process, "the process left by itself", said.record);
    });
  }

  /// Only where all ranks printed as many: else some of them are still measuring.
  void add_bench_results() {
    uint64_t results = 0;
    const Record* last = nullptr;
    for (const SpeakerLog& log : job_.logs) {
      const RecordList* list = log.records.find(kKindIndex<BenchResult>);
      if (list == nullptr || list->kept.empty()) continue;
      results += list->total;
      if (last == nullptr || last->where < list->kept.back().where) last = &list->kept.back();
    }
    const auto ranks = static_cast<uint64_t>(job_.nranks.value_or(0));
    if (last == nullptr || ranks < 2 || results % ranks != 0) return;
    add(EndState::Finished, -1, "all ranks printed what they measured", *last);
  }

  void add_nccl_tests() {
    for (const SpeakerLog& log : job_.logs) {
      for (const Record& record : log.nccl_tests.kept) {
        if (record.kind != kKindIndex<NcclTestsOutOfBounds> &&
            record.kind != kKindIndex<NcclTestsBandwidth>) {
          continue;
        }
        add(EndState::Finished, -1, "nccl-tests printed its summary", record);
      }
    }
  }

  void add_process(int process, EndState state, std::string what, const Record& record) {
    if (process >= 0) {
      const Process& known = job_.processes[static_cast<size_t>(process)];
      const std::string who = known.rank >= 0 ? fmt::format("rank {}", known.rank)
                                              : fmt::format("the process with pid {}", known.pid);
      return add(state, process, who + " " + what, record);
    }
    // A process that nothing else is known of: its failure is the job's, its good end is not.
    if (state != EndState::Finished) add(state, -1, "a process " + what, record);
  }

  /// Of many processes not all lines are kept, but all are counted.
  void add_all_exits() {
    uint64_t exits = 0;
    uint64_t kept = 0;
    const Record* last = nullptr;
    for (const SpeakerLog& log : job_.logs) {
      const RecordList* list = log.records.find(kKindIndex<WorkerFinished>);
      if (list == nullptr || list->kept.empty()) continue;
      exits += list->total;
      kept += list->kept.size();
      if (last == nullptr || last->where < list->kept.back().where) last = &list->kept.back();
    }
    const auto processes = static_cast<uint64_t>(
        std::count_if(job_.processes.begin(), job_.processes.end(),
                      [](const Process& process) { return process.has_nccl && process.pid >= 0; }));
    if (last == nullptr || exits == kept || exits != processes) return;
    add(EndState::Finished, -1,
        fmt::format("all {} processes exit successfully, says the launcher", exits), *last);
  }

  void add_launchers() {
    add_all_exits();
    for_each_said<WorkerFinished>(job_, [&](const auto& said) {
      add_process(process_of_pid(job_, said.message.pid), EndState::Finished,
                  "exits successfully, says the launcher", said.record);
    });
    for_each_said<WorkerFailed>(job_, [&](const auto& said) {
      add_process(process_of_pid(job_, said.message.pid), state_of_exit(said.message.exitcode),
                  exit_words(said.message.exitcode), said.record);
    });
    for_each_said<FailureExitcode>(job_, [&](const auto& said) {
      add_process(process_of_pid(job_, said.message.pid), state_of_exit(said.message.exitcode),
                  exit_words(said.message.exitcode), said.record);
    });
    for_each_said<ChildFailed>(job_, [&](const auto& said) {
      add(EndState::Failed, -1, "torchrun ends because a worker failed", said.record);
    });
    for_each_said<WorkerClosing>(job_, [&](const auto& said) {
      add_process(process_of_pid(job_, said.message.pid), EndState::Stopped,
                  "was ended by its launcher", said.record);
    });
    for_each_said<AgentSignalled>(job_, [&](const auto& said) {
      add(EndState::Stopped, -1, "the launcher was told to end", said.record);
    });
    for_each_said<ProcessEnded>(job_,
                                [&](const auto& said) { add_ended(said.message, said.record); });
    for_each_said<ProcessExited>(job_, [&](const auto& said) {
      add_process(-1, state_of_exit(said.message.exitcode), exit_words(said.message.exitcode),
                  said.record);
    });
  }

  void add_ended(const ProcessEnded& ended, const Record& record) {
    if (ended.status.empty() && ended.signal < 0) return;  // MPICH's first line: who, not how.
    const int by_pid = process_of_pid(job_, ended.pid);
    const int process = by_pid >= 0 ? by_pid : process_of_rank(job_, ended.rank);
    const std::string how = ended.status.empty() ? fmt::format("signal {}", ended.signal)
                                                 : to_valid_utf8(ended.status.substr(0, 64));
    add_process(process, state_of_status(ended), fmt::format("ended: {}", how), record);
  }

  void add_schedulers() {
    for_each_said<JobCancelled>(job_, [&](const auto& said) {
      const bool limit = said.message.text.find("DUE TO TIME LIMIT") != std::string_view::npos;
      add(EndState::Stopped, -1,
          limit ? "the scheduler ended it at its time limit" : "the scheduler cancelled it",
          said.record);
    });
    for_each_said<BatchState>(job_, [&](const auto& said) {
      const BatchState& batch = said.message;
      const bool stopped = batch.state == "TIMEOUT" || batch.state == "CANCELLED";
      const bool finished =
          batch.state == "COMPLETED" || (batch.state.empty() && batch.exitcode == 0);
      add(stopped    ? EndState::Stopped
          : finished ? EndState::Finished
                     : EndState::Failed,
          -1, "the scheduler reports its end", said.record);
    });
  }

  const Job& job_;
  std::vector<EndMark> marks_;
};

bool is_known(SourceRef where) { return where.line != 0; }

/// A place in the inputs against which others are asked.
struct Place {
  const Job& job;
  SourceRef where;
  const JobUnit* unit = nullptr;

  bool has_behind(SourceRef later) const {
    if (unit == nullptr || !is_known(later) || !(where < later)) return false;
    const JobUnit* then = unit_of(job, later);
    return then != nullptr && then->input == unit->input;
  }
};

/// Some calls follow a program's last words: a barrier, a checkpoint that is gathered.
constexpr uint64_t kFarewellCalls = 64;

bool goes_on(const CommSegment& segment, const Place& place) {
  if (place.has_behind(segment.started)) return true;
  const CollectiveCalls& calls = calls_of(segment);
  if (!place.has_behind(calls.last)) return false;
  if (place.has_behind(calls.first)) return calls.total > kFarewellCalls;
  if (calls.collectives.size() < kFarewellCalls) return false;
  const PlacedCall* call = calls.collectives.call(calls.collectives.size() - kFarewellCalls);
  return call != nullptr && place.has_behind(call->where);
}

bool prints_steps(const SpeakerLog& log, const Place& place) {
  const RecordList* list = log.records.find(kKindIndex<IterationLine>);
  return list != nullptr &&
         std::any_of(list->kept.begin(), list->kept.end(),
                     [&](const auto& step) { return place.has_behind(step.where); });
}

}  // namespace

std::string_view to_string(EndState state) {
  switch (state) {
    case EndState::Finished:
      return "finished";
    case EndState::Failed:
      return "failed";
    case EndState::Stopped:
      return "stopped";
    case EndState::Unfinished:
      return "unfinished";
    case EndState::Unknown:
      break;
  }
  return "unknown";
}

std::vector<EndMark> end_marks(const Job& job) { return Collector(job).collect(); }

bool work_follows(const Job& job, SourceRef where) {
  const Place place{job, where, unit_of(job, where)};
  return std::any_of(job.logs.begin(), job.logs.end(), [&](const SpeakerLog& log) {
    return prints_steps(log, place) ||
           std::any_of(log.comms.all.begin(), log.comms.all.end(),
                       [&](const CommSegment& segment) { return goes_on(segment, place); });
  });
}

std::optional<Evidence> test_begun_behind(const Job& job, SourceRef where) {
  const Place place{job, where, unit_of(job, where)};
  const Record* last = nullptr;
  for (const SpeakerLog& log : job.logs) {
    for (const Record& record : log.nccl_tests.kept) {
      if (record.kind != kKindIndex<NcclTestsConfig> || !place.has_behind(record.where)) continue;
      if (last == nullptr || last->where < record.where) last = &record;
    }
  }
  if (last == nullptr) return std::nullopt;
  return evidence_of(*last);
}

}  // namespace ncclog
