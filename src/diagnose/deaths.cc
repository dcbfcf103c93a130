#include "diagnose/deaths.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/messages.h"

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
      const Process& process = job_.processes[static_cast<size_t>(said.process)];
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

}  // namespace ncclog
