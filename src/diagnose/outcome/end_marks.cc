#include "diagnose/outcome/end_marks.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/sorting.h"
#include "base/text.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/exit_reports.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/progress.h"

namespace ncclog {
namespace {

constexpr std::string_view kNodeLost = "the scheduler lost one of its nodes";

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
      add(EndState::Stopped, -1, stopped_words(said.message), said.record());
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
    const int64_t all = processes > 0 ? processes : told_ranks(job_);
    const bool are_known = processes > 0 && exits == kept;  // Each is said below.
    if (exits == 0 || are_known) return;
    const Record last = last_of<WorkerFinished>(job_);
    if (std::cmp_equal(exits, all)) {
      add(EndState::Finished, -1,
          fmt::format("all {} processes exit successfully, says the launcher", exits), last);
    } else if (all <= 0 && exits == kept && are_in_a_row() && !work_follows(job_, last.where)) {
      add_weak(fmt::format("{} processes exit successfully, says the launcher", exits), last);
    }
  }

  /// Four pids or more without a gap leave: they were started together, and none of them is missing.
  bool are_in_a_row() {
    constexpr size_t kFewest = 4;
    std::set<int64_t> pids;
    for_each_said<WorkerFinished>(job_, [&](const auto& said) { pids.insert(said.message.pid); });
    return pids.size() >= kFewest &&
           std::cmp_equal(*pids.rbegin() - *pids.begin() + 1, pids.size());
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
    for_each_said<StoreListenFailed>(job_, [&](const auto& said) {
      // c10d's own line tells of one address, behind which another one may do.
      const bool is_raised = said.record().text().find("[c10d] The server") == std::string::npos;
      if (is_raised && said.message.text.starts_with("listen on any local network address") &&
          !went_on(job_, said.where()))
        add(EndState::Failed, -1, "PyTorch's store could not listen", said.record());
    });
    add_all<NodeFailed>(EndState::Failed, kNodeLost);
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
    const int process = process_of(job_, exit.ended.pid, exit.ended.rank);
    // A launcher ends the others once one has failed.
    const bool is_rank = process >= 0 && nth_process(job_, process).rank >= 0;
    const auto& failed = first_failed_exits(job_);
    const auto before = failed.find(exit.record.where.unit);
    const bool follows = state == EndState::Stopped && !is_rank && before != failed.end() &&
                         before->second < exit.record.where;
    if (!follows) add_process(process, state, words, exit.record);
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
      const auto words = cancelled_words(job_, said);
      if (!words) return;
      add(words == kNodeLost ? EndState::Failed : EndState::Stopped, -1, *words, said.record());
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

}  // namespace

/// By the job's number, why Slurm says that it cancelled it: of a job's lines and its steps' one alone
/// may have the reason.
static std::map<std::string, std::string> find_reasons(const Job& job) {
  std::map<std::string, std::string> reasons;
  for_each_said<JobCancelled>(job, [&](const auto& said) {
    const size_t at = said.message.text.find(" DUE TO ");
    if (at != said.message.text.npos)
      reasons.emplace(slurm_job_number(said.message.job), said.message.text.substr(at));
  });
  return reasons;
}

std::optional<std::string> cancelled_words(const Job& job, const Said<JobCancelled>& line) {
  constexpr std::string_view kStep = "STEP ";
  const JobCancelled& said = line.message;
  const auto& reasons = job.answers.of<&find_reasons>(job);
  const auto known = reasons.find(std::string(slurm_job_number(said.job)));
  const size_t own = said.text.find(" DUE TO ");
  const std::string_view reason = own != said.text.npos    ? said.text.substr(own)
                                  : known != reasons.end() ? std::string_view(known->second)
                                                           : "";
  const auto says = [&](std::string_view why) { return reason.starts_with(why); };
  if (says(" DUE TO NODE FAIL")) return std::string(kNodeLost);
  if (says(" DUE TO TIME LIMIT")) return "the scheduler ended the job at its time limit";
  if (says(" DUE TO PREEMPTION")) return "the scheduler took the job's hosts for another one";
  if (says(" DUE TO JOB REQUEUE")) return "the scheduler put the job back into its queue";
  if (!said.job.starts_with(kStep)) return "the scheduler cancelled the job";
  const auto& failed = first_failed_exits(job);
  const auto exit = failed.find(line.where().unit);
  const bool is_behind_failure =
      exit != failed.end() && exit->second < line.where() && !went_on(job, exit->second);
  if (reason.empty() && is_behind_failure) return std::nullopt;
  return "the scheduler cancelled step " + to_valid_utf8(said.job.substr(kStep.size(), 32));
}

std::string stopped_words(const LaunchStopped& line) {
  if (!line.limit.empty())
    return "the scheduler ended the job: " + to_valid_utf8(line.limit.substr(0, 64));
  if (line.by.empty()) return "somebody ended the job";
  const std::string by = line.by == "owner" ? "its owner" : to_valid_utf8(line.by.substr(0, 32));
  return by + " ended the job";
}

static std::vector<EndOf> collect_marks(const Job& job) { return MarkCollector(job).collect(); }

const std::vector<EndOf>& end_marks(const Job& job) { return job.answers.of<&collect_marks>(job); }

}  // namespace ncclog
