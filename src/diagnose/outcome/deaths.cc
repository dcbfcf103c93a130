// Which processes ended by a signal, and which rank was that?

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/facts/line_places.h"
#include "diagnose/facts/same_host.h"
#include "diagnose/outcome/exit_reports.h"
#include "diagnose/outcome/first_failure.h"

namespace ncclog {
namespace {

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

/// Where exceptions end a program.
LinePlaces find_terminations(const Job& job) {
  static const uint16_t kRaised = find_kind("exception_raised_from")->index;
  LinePlaces places = kept_places<CppTerminate, CppWhat, WatchdogTerminated>(job);
  for (const ReadRecord& read : records_of_kind(job, kRaised).records)
    places.add(job, read.where());
  places.sort();
  return places;
}

/// Those whose ends are told: an abort, a bus error, a kill, a segmentation fault.
constexpr std::array kEndSignals = {6, 7, 9, 11};

class DeathCollector {
 public:
  explicit DeathCollector(const Job& job) : job_(job) {}

  std::vector<Death> collect() {
    note_victims();
    add_exits();
    add_oom_kills();
    add_fatal_errors();
    drop_nameless();
    std::ranges::stable_sort(deaths_, {}, [](const Death& death) { return death.line.where; });
    return std::move(deaths_);
  }

 private:
  /// torchrun, DeepSpeed, Lightning and SGLang stop the others when one worker failed.
  void note_victims() {
    for_each_said<WorkerUnkillable, WorkerClosing>(
        job_, [&](const auto& said) { victims_.try_emplace(said.message.pid, said.where()); });
    victims_.erase(-1);
    for_each_said<TreeKilled>(job_, [&](const Said<TreeKilled>& said) {
      SourceRef& first = tree_kills_.try_emplace(said.where().unit, said.where()).first->second;
      first = std::min(first, said.where());
    });
  }

  static bool is_nameless(const Death& death) { return death.pid < 0 && death.rank < 0; }

  /// Its launcher ended it. Some send their signal to processes of which they reported the end
  /// before.
  bool is_victim(const Death& death) const {
    const auto victim = victims_.find(death.pid);
    if (victim == victims_.end()) return false;
    const SourceRef ended = death.line.where;
    return ended.unit != victim->second.unit || victim->second < ended;
  }

  /// Killed with all others of its program. Where the kernel or Slurm wanted the memory they say so.
  bool is_killed_with_tree(const ExitReport& exit) const {
    const SourceRef ended = exit.record.where;
    const auto told = tree_kills_.find(ended.unit);
    return !exit.ended.status.starts_with("Out Of Memory") && told != tree_kills_.end() &&
           told->second < ended;
  }

  /// abort() of a C++ exception that nobody caught, such as a watchdog's, ends in an instruction that
  /// faults where SIGABRT was held up, as UCX's handler of signals does: a symptom, and no bad pointer.
  bool is_of_abort(const ExitReport& exit) const {
    const bool is_own_fault = exit.record.text().find("Sent by the kernel") != std::string::npos;
    const SourceRef where = exit.record.where;
    return is_own_fault && exit.signal() == 11 &&
           job_.answers.of<&find_terminations>(job_).before(job_, where) > 0;
  }

  /// The first death of that signal that `death` may be, by pid or rank; of two that name nobody,
  /// where no host tells that they are two: "OOMKilled" and its exit code on the next line.
  size_t number_of(const Death& death) const {
    size_t first = deaths_.size();
    const auto look = [&](const auto& numbers, const auto& key) {
      const auto known = numbers.find({death.signal, key});
      if (known != numbers.end()) first = std::min(first, known->second);
    };
    if (death.pid >= 0) look(by_pid_, death.pid);
    if (death.rank >= 0) look(by_rank_, death.rank);
    if (!is_nameless(death)) return first;
    look(nameless_, std::string());
    if (!death.host.empty()) {
      look(nameless_, death.host);
    } else if (const auto any = first_nameless_.find(death.signal); any != first_nameless_.end()) {
      first = std::min(first, any->second);
    }
    return first;
  }

  void add(Death death) {
    if (is_victim(death)) return;
    // Every container has a pid 1.
    const int known_pid = process_of_pid(job_, death.pid);
    const std::string& host = known_pid < 0 ? death.host : nth_process(job_, known_pid).host;
    if (!host.empty() && !death.host.empty() && !is_same_host(host, death.host)) death.pid = -1;
    const size_t number = number_of(death);
    if (number == deaths_.size()) {
      deaths_.push_back(std::move(death));
    } else {
      Death& known = deaths_[number];
      const bool was_nameless = is_nameless(known);
      if (was_nameless) nameless_.erase({known.signal, known.host});
      if (known.rank < 0) known.rank = death.rank;
      if (known.pid < 0) known.pid = death.pid;
      if (known.host.empty()) known.host = death.host;
      if (known.local_rank < 0) known.local_rank = death.local_rank;
    }
    const Death& known = deaths_[number];
    const auto note = [&](auto& numbers, const auto& key) {
      size_t& first = numbers.try_emplace({known.signal, key}, number).first->second;
      first = std::min(first, number);
    };
    if (known.pid >= 0) note(by_pid_, known.pid);
    if (known.rank >= 0) note(by_rank_, known.rank);
    if (!is_nameless(known)) return;
    note(nameless_, known.host);
    first_nameless_.try_emplace(known.signal, number);
  }

  void add_exits() {
    for (const ExitReport& exit : exit_reports(job_)) {
      const int signal = is_of_abort(exit) ? 6 : exit.signal();
      const bool counts = std::ranges::find(kEndSignals, signal) != kEndSignals.end();
      if (!counts || (signal == 9 && is_killed_with_tree(exit))) continue;
      ProcessEnded ended = exit.ended;
      if (ended.rank < 0) ended.rank = rank_in_command(ended.command);
      std::string host(ended.host);
      // A launcher of several hosts, or a collector, says on which one it heard that.
      if (host.empty()) host = parse_record(exit.record).header.prefix.host;
      std::vector<int> ranks = numbers_in(ended.tasks);
      if (ended.tasks.empty()) ranks = {ended.rank};
      for (const int rank : ranks) {
        add({signal, ended.pid, rank, host, local_rank_in(exit), evidence_of(exit.record)});
      }
    }
  }

  /// Slurm's and Kubernetes' words are about the job; the kernel kills all sorts of processes.
  void add_oom_kills() {
    for_each_said<OomKill>(job_, [&](const Said<OomKill>& said) {
      if (said.message.pid >= 0) return;
      add({9, -1, -1, std::string(said.message.host), -1, evidence_of(said.record())});
    });
    for (const KernelEvent& event : job_.kernel_events) {
      if (event.kind == kKindIndex<OomKill>) add_kernel_death(9, event);
      if (event.kind == kKindIndex<KernelSegfault>) add_kernel_death(11, event);
    }
  }

  /// Counts if the pid is a process of the job, by NCCL's lines or by another report of its death.
  void add_kernel_death(int signal, const KernelEvent& event) {
    if (event.pid < 0) return;
    const bool reported = std::ranges::any_of(kEndSignals, [&](int each) {
      return by_pid_.contains({each, event.pid});
    });
    if (event.relation != KernelRelation::Process && !reported) return;
    add({signal, event.pid, event.rank, event.host, -1, {event.where, event.text}});
  }

  void add_fatal_errors() {
    for_each_said<FatalPythonError>(job_, [&](const Said<FatalPythonError>& said) {
      const bool is_bus_error = said.message.error.starts_with("Bus error");
      if (!is_bus_error && !said.message.error.starts_with("Segmentation fault")) return;
      const Process& process = nth_process(job_, said.process);
      add({is_bus_error ? 7 : 11, process.pid, process.rank, process.host, -1,
           evidence_of(said.record())});
    });
  }

  /// "Detected 1 oom_kill event" is the same death that another line gives a name.
  void drop_nameless() {
    std::set<int> named;
    for (const Death& death : deaths_)
      if (!is_nameless(death)) named.insert(death.signal);
    std::erase_if(deaths_, [&](const Death& death) {
      return is_nameless(death) && named.contains(death.signal);
    });
  }

  const Job& job_;
  std::map<int64_t, SourceRef> victims_;  ///< By pid: the first line that says so.
  /// By stretch of input, the first line that announces the end of all processes.
  std::map<uint64_t, SourceRef> tree_kills_;
  std::vector<Death> deaths_;
  // By signal, the first of `deaths_` with that pid, with that rank, and without both by host.
  std::map<std::pair<int, int64_t>, size_t> by_pid_;
  std::map<std::pair<int, int>, size_t> by_rank_;
  std::map<std::pair<int, std::string>, size_t> nameless_;
  std::map<int, size_t> first_nameless_;
};

}  // namespace

template <bool are_aborts>
static std::vector<Death> find_deaths(const Job& job) {
  std::vector<Death> all = DeathCollector(job).collect();
  std::erase_if(all, [](const Death& death) { return (death.signal == 6) != are_aborts; });
  return all;
}

std::vector<Death> deaths(const Job& job) { return job.answers.of<&find_deaths<false>>(job); }

std::vector<Death> aborts(const Job& job) { return job.answers.of<&find_deaths<true>>(job); }

int local_rank_in(const ExitReport& exit) {
  if (exit.record.kind() != kKindIndex<WorkerFailed>) return -1;
  return read_message<WorkerFailed>(parse_message(exit.record)).local_rank;
}

std::string name_of(const Job& job, const Death& death) {
  const int process = process_of(job, death.pid, death.rank);
  const int rank = process >= 0 ? nth_process(job, process).rank : death.rank;
  const bool is_placed = process >= 0 && !nth_process(job, process).host.empty();
  const std::string host = is_placed ? nth_process(job, process).host : death.host;
  const std::string on = host.empty() ? "" : " on " + host;
  if (rank >= 0 && death.pid >= 0) return fmt::format("rank {} (pid {}{})", rank, death.pid, on);
  if (rank >= 0) return fmt::format("rank {}{}", rank, on);
  if (death.local_rank >= 0)
    return fmt::format("local rank {} (pid {}{})", death.local_rank, death.pid, on);
  if (death.pid >= 0) return fmt::format("the process with pid {}{}", death.pid, on);
  return "a process" + on;
}

}  // namespace ncclog
