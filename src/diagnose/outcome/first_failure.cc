#include "diagnose/outcome/first_failure.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "model/derive/steps.h"
#include "model/ledger/watchdog_works.h"

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
    for_each_said<TreeKilled>(
        job_, [&](const Said<TreeKilled>& said) { tree_kills_.push_back(said.where()); });
  }

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
    return !exit.ended.status.starts_with("Out Of Memory") &&
           std::ranges::any_of(tree_kills_, [&](SourceRef told) {
             return told.unit == ended.unit && told < ended;
           });
  }

  void add(Death death) {
    if (is_victim(death)) return;
    for (Death& known : deaths_) {
      const bool same_pid = death.pid >= 0 && known.pid == death.pid;
      const bool same_rank = death.rank >= 0 && known.rank == death.rank;
      // Two that name nobody may be one: "OOMKilled" and its exit code on the next line.
      const bool both_nameless =
          known.pid < 0 && known.rank < 0 && death.pid < 0 && death.rank < 0 &&
          (known.host.empty() || death.host.empty() || known.host == death.host);
      if (known.signal != death.signal || !(same_pid || same_rank || both_nameless)) continue;
      if (known.rank < 0) known.rank = death.rank;
      if (known.pid < 0) known.pid = death.pid;
      if (known.host.empty()) known.host = death.host;
      if (known.local_rank < 0) known.local_rank = death.local_rank;
      return;
    }
    deaths_.push_back(std::move(death));
  }

  void add_exits() {
    for (const ExitReport& exit : exit_reports(job_)) {
      const int signal = exit.signal();
      const bool counts = signal == 6 || signal == 7 || signal == 9 || signal == 11;
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
    const bool reported =
        std::ranges::any_of(deaths_, [&](const Death& death) { return death.pid == event.pid; });
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
    const auto nameless = [](const Death& death) { return death.pid < 0 && death.rank < 0; };
    const std::vector<Death> all = deaths_;
    std::erase_if(deaths_, [&](const Death& death) {
      return nameless(death) && std::ranges::any_of(all, [&](const Death& other) {
               return other.signal == death.signal && !nameless(other);
             });
    });
  }

  const Job& job_;
  std::map<int64_t, SourceRef> victims_;  ///< By pid: the first line that says so.
  std::vector<SourceRef> tree_kills_;     ///< Lines that announce the end of all processes.
  std::vector<Death> deaths_;
};

/// Lower is nearer to a cause.
int distance(const Warning& warning) {
  if (warning.severity == WarnSeverity::Fatal) {
    return warning.origin == WarnOrigin::Symptom ? 1 : 0;
  }
  return warning.severity == WarnSeverity::Degraded ? 2 : 3;
}

/// The first line of that kind which the thread printed after `since` and `wanted` accepts.
template <typename Wanted>
std::optional<SourceRef> next_of(const SpeakerLog& log, uint16_t kind, int64_t tid, SourceRef since,
                                 Wanted wanted) {
  for (const Record& record : log.records.kept(kind)) {
    if (record.where.unit != since.unit || record.where <= since) continue;
    const Event event = parse_record(record);
    if (event.header.tid == tid && wanted(event)) return record.where;
  }
  return std::nullopt;
}

/// See ReportedWarning::outlived.
bool is_outlived_in_init(const SpeakerLog& log, const Record& warning) {
  const int64_t tid = parse_record(warning).header.tid;
  if (tid < 0) return false;
  const auto any = [](const Event&) { return true; };
  const auto completes = [](const Event& event) {
    return read_message<CommInit>(event.message).phase == "COMPLETE";
  };
  auto progress = next_of(log, kKindIndex<CommInit>, tid, warning.where, completes);
  for (const uint16_t kind : {kKindIndex<RingMembers>, kKindIndex<RingNeighbours>,
                              kKindIndex<Trees>, kKindIndex<TreeNeighbours>}) {
    const auto graph = next_of(log, kind, tid, warning.where, any);
    if (graph && (!progress || *graph < *progress)) progress = graph;
  }
  if (!progress) return false;
  const auto error = next_of(log, kKindIndex<ErrorTrace>, tid, warning.where, any);
  return !error || *progress < *error;
}

std::vector<ReportedWarning> find_warnings(const Job& job) {
  std::vector<ReportedWarning> warnings;
  const auto add = [&](size_t process, const SpeakerLog& log, const SettledRecords& all,
                       size_t place) {
    // Most lines of such kinds are no WARNs; only NCCL's have a level.
    if (all.is_below_warn(place)) return;
    const Record record = all[place];
    const Event event = parse_record(record);
    const Warning* stated = warning_of(event);
    if (stated == nullptr) return;
    ReportedWarning found{static_cast<int>(process), record, false, *stated};
    // RAS answers questions beside the job: no call waits for it.
    const bool is_beside = event.header.file.starts_with("ras/");
    found.outlived =
        stated->severity == WarnSeverity::Fatal && (is_beside || is_outlived_in_init(log, record));
    if (found.outlived) found.warning.severity = WarnSeverity::Degraded;
    warnings.push_back(found);
  };
  const std::vector<bool> warns = kinds_with_warnings();
  const std::vector<bool>& may_warn = logs_that_may_warn(job);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      if (!may_warn[log]) continue;
      for (const auto& [kind, list] : job.logs[log].records) {
        if (!warns[kind]) continue;
        for (size_t place = list.kept.first_place(); place < list.kept.end_place(); ++place) {
          add(p, job.logs[log], *list.kept.all(), place);
        }
      }
    }
  }
  return warnings;
}

/// A line of passed_on_exceptions.table.
struct PassedOn {
  std::string_view by;  ///< "type", "lost" or "text".
  std::string_view word;
};

constexpr PassedOn kPassedOn[] = {
#include "diagnose/outcome/passed_on_exceptions.inc"
};

/// The row that says by what words the exception was passed on; nullptr: it is the program's own.
const PassedOn* passed_on(std::string_view type, std::string_view message) {
  const std::string_view base = type.substr(type.rfind('.') + 1);
  const auto row = std::ranges::find_if(kPassedOn, [&](const PassedOn& each) {
    const bool is_text = each.by != "type" && message.find(each.word) != message.npos;
    return is_text || (each.by != "text" && each.word == base);
  });
  return row == std::end(kPassedOn) ? nullptr : row;
}

bool is_own(std::string_view type, std::string_view message) {
  if (type.starts_with("ray.") || type.find('(') != type.npos) return false;
  return passed_on(type, message) == nullptr;
}

/// The other end of a connection is gone.
bool is_of_lost_peer(std::string_view type, std::string_view message) {
  const PassedOn* row = passed_on(type, message);
  return row != nullptr && row->by == "lost";
}

/// The first line of one of these kinds before `where` in the same stretch of input; empty: none.
template <typename... T>
Record first_before(const SpeakerLog& log, SourceRef where) {
  Record first;
  for (const uint16_t kind : {kKindIndex<T>...}) {
    for (const Record& record : log.records.kept(kind)) {
      const bool is_before = record.where.unit == where.unit && record.where < where;
      if (is_before && (!first || record.where < first.where)) first = record;
    }
  }
  return first;
}

/// It says that a peer was gone: who ended had failed before.
bool tells_of_lost_peer(const Record& record) {
  return parse_record(record).header.message.find("remote process exited") != std::string::npos;
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

/// An exception that nobody caught: its traceback stands above it; or the head of that is lost, and
/// a launcher's tag says who printed it, or somebody who saw that process end says so below.
template <typename T>
bool is_uncaught(const Job& job, const Said<T>& said) {
  const SourceRef where = said.where();
  const Prefix& tag = said.header().prefix;
  if (tag.rank >= 0 || tag.local_rank >= 0 || tag.pid >= 0) return true;
  const auto& logs = nth_process(job, said.process).logs;
  if (std::ranges::any_of(logs, [&](size_t log) {
        return bool(first_before<TracebackStarted, TracebackFrame>(job.logs[log], where));
      })) {
    return true;
  }
  return std::ranges::any_of(exit_reports(job), [&](const ExitReport& exit) {
    return exit.exitcode.value_or(0) > 0 && exit.signal() == 0 &&
           is_before(job, where, exit.record.where);
  });
}

/// The benchmark had said that its run succeeded, and nothing was begun anew: what is raised while
/// the processes leave does not undo it.
bool is_after_success(const Job& job, SourceRef where) {
  bool is_after = false;
  for_each_said<MlperfRunStop>(job, [&](const Said<MlperfRunStop>& said) {
    is_after |= said.message.status == "success" && is_before(job, said.where(), where) &&
                !work_follows(job, said.where());
  });
  return is_after;
}

/// Fills in whose exception it is that torch.multiprocessing.spawn hands on: of the process that
/// failed first, by its number. That is its rank where one host alone is seen, and the rank is.
void name_by_spawn(const Job& job, ProgramException& exception) {
  const SourceRef where = exception.line.where;
  int number = -1;
  for (const size_t log : nth_process(job, exception.process).logs) {
    for (const Record& record : job.logs[log].records.kept(kKindIndex<ProcessEnded>)) {
      const auto ended = read_message<ProcessEnded>(parse_message(record));
      if (ended.status == "terminated with the following error" &&
          is_before(job, record.where, where))
        number = ended.rank;
    }
  }
  if (number < 0) return;
  std::set<std::string_view> hosts;
  for (const Process& process : job.processes)
    if (!process.host.empty()) hosts.insert(process.host);
  const int known = process_of_rank(job, number);
  if (known >= 0 && hosts.size() < 2 && is_before(job, nth_process(job, known).first, where)) {
    exception.process = known;
    exception.rank = number;
  } else {
    exception.text = fmt::format("process {} of the spawn: {}", number, exception.text);
  }
}

/// "train/data.py:41, next_batch" of the frame "File "/w/train/data.py", line 41, in next_batch";
/// empty: it is none.
std::string place_of_frame(std::string_view frame) {
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  const size_t line = frame.find(kLine);
  const size_t in = line == frame.npos ? line : frame.find(kIn, line);
  if (in == frame.npos) return {};
  std::string_view file = frame.substr(0, line);
  file.remove_prefix(std::min(file.find('"') + 1, file.size()));
  const size_t folder = file.rfind('/', file.rfind('/') - 1);
  if (file.find('/', 1) != file.npos && folder != file.npos) file.remove_prefix(folder + 1);
  std::string place(file);
  place.append(":").append(frame.substr(line + kLine.size(), in - line - kLine.size()));
  return place.append(", ").append(trim(frame.substr(in + kIn.size())));
}

std::vector<SourceRef> find_interruptions(const Job& job) {
  std::vector<SourceRef> all;
  for_each_said<PythonException>(job, [&](const Said<PythonException>& said) {
    const bool is_one = said.message.type.ends_with("KeyboardInterrupt");
    if (is_one && !work_follows(job, said.where())) all.push_back(said.where());
  });
  for_each_said<WorkStopped>(job, [&](const auto& said) { all.push_back(said.where()); });
  return all;
}

/// What processes raise while they leave is no failure.
bool interrupted_before(const Job& job, SourceRef where) {
  return std::ranges::any_of(interruptions(job),
                             [&](SourceRef asked) { return is_before(job, asked, where); });
}

/// Every process's first exception that it did not catch, of those that `counts` accepts, by type
/// and message.
std::vector<ProgramException> uncaught_first(const Job& job,
                                             bool (*counts)(std::string_view, std::string_view)) {
  std::vector<ProgramException> all;
  const auto add = [&](const auto& said, const std::string& place) {
    const SourceRef where = said.where();
    ProgramException raised{said.process, nth_process(job, said.process).rank,
                            excerpt_of(said.header().message) + place, evidence_of(said.record())};
    name_by_spawn(job, raised);
    if (!is_uncaught(job, said) || interrupted_before(job, where) ||
        failed_before(job, where, raised.process) || went_on(job, where) ||
        is_after_success(job, where)) {
      return;
    }
    const auto known = std::ranges::find_if(
        all, [&](const ProgramException& other) { return other.process == raised.process; });
    if (known == all.end()) {
      all.push_back(std::move(raised));
    } else if (where < known->line.where) {
      *known = std::move(raised);
    }
  };
  for_each_said<PythonException>(job, [&](const Said<PythonException>& said) {
    if (!counts(said.message.type, said.message.message)) return;
    std::string place;
    for_each_said<TracebackFrame>(job, [&](const Said<TracebackFrame>& frame) {
      if (!said.message.message.empty() || frame.where() != said.where()) return;
      place = " in " + excerpt_of(place_of_frame(frame.header().message));
    });
    add(said, place);
  });
  for_each_said<DataLoaderKilled>(job, [&](const Said<DataLoaderKilled>& said) {
    // Without a pid the worker itself printed it, and it is no exception of the rank.
    if (said.message.pid >= 0) add(said, {});
  });
  return all;
}

/// The worker that torchrun saw end with an exception first; fills in who raised where the
/// traceback names nobody.
void name_by_torchrun(const Job& job, ProgramException& exception) {
  const Process& process = nth_process(job, exception.process);
  if (process.rank >= 0 || process.pid >= 0) return;
  std::set<int64_t> pids;
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.exitcode && *exit.exitcode > 0 && exit.ended.pid >= 0) pids.insert(exit.ended.pid);
  }
  if (pids.size() != 1) return;
  const int known = process_of_pid(job, *pids.begin());
  if (known >= 0) {
    exception.process = known;
    exception.rank = nth_process(job, known).rank;
    return;
  }
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.ended.pid == *pids.begin() && exit.exitcode && exit.ended.rank >= 0) {
      exception.rank = exit.ended.rank;
    }
  }
}

/// By input and id, where somebody first began each communicator there.
using CommBegins = std::map<std::pair<int64_t, uint64_t>, SourceRef>;

CommBegins first_begins(const Job& job) {
  CommBegins begins;
  for (const SpeakerLog& log : job.logs) {
    for (const CommSegment& segment : log.comms.all) {
      for (const SourceRef where : {segment.started, segment.completed}) {
        if (segment.comm_id == 0 || where.line == 0) continue;
        const std::pair key(input_of(job, where), segment.comm_id);
        const auto [known, is_new] = begins.emplace(key, where);
        if (!is_new) known->second = std::min(known->second, where);
      }
    }
  }
  return begins;
}

/// Initialisations that complete after `where` and were begun after it. A launcher may hold back what its
/// tasks print, and then others had begun the same communicator before.
size_t count_new_inits(const Job& job, SourceRef where) {
  const CommBegins& begins = job.answers.of<&first_begins>(job);
  const int64_t input = input_of(job, where);
  const auto is_early = [&](const CommSegment& each) {
    return is_before(job, each.started, where) || is_before(job, each.completed, where);
  };
  const auto is_older = [&](const CommSegment& each) {
    const auto begin = begins.find({input, each.comm_id});
    return begin != begins.end() && begin->second < where;
  };
  size_t lines = 0;
  for (const SpeakerLog& log : job.logs) {
    const auto& all = log.comms.all;
    const bool is_held_back =
        std::ranges::none_of(all, is_early) && std::ranges::any_of(all, is_older);
    for (const CommSegment& segment : all) {
      if (is_held_back || is_older(segment) || is_early(segment)) continue;
      // Who only begins one may wait in it for who failed.
      lines += is_before(job, where, segment.completed);
    }
  }
  return lines;
}

bool steps_go_on(const Job& job, SourceRef where) {
  if (steps_follow(job, where)) return true;
  constexpr size_t kSteps = 3;
  size_t steps = 0;
  size_t inits = 0;
  for (const SpeakerLog& log : job.logs) {
    for (const uint16_t kind :
         {kKindIndex<IterationLine>, kKindIndex<ProgressBar>, kKindIndex<CommInit>}) {
      size_t& lines = kind == kKindIndex<CommInit> ? inits : steps;
      for (const Record& record : log.records.kept(kind)) {
        lines += is_before(job, where, record.where);
        if (steps >= kSteps) return true;
      }
    }
  }
  // Asked about many lines, behind most of which there are none at all.
  return steps + inits >= kSteps && steps + count_new_inits(job, where) >= kSteps;
}

/// Every rank of the largest communicator goes on calling. Some calls prove nothing: the host runs
/// ahead of a peer that is gone.
bool calls_go_on(const Job& job, SourceRef where) {
  constexpr uint64_t kCalls = 64;
  const auto largest = std::ranges::max_element(
      job.communicators, {}, [](const Communicator& comm) { return comm.ranks.size(); });
  if (largest == job.communicators.end() || largest->ranks.empty()) return false;
  return std::ranges::all_of(largest->ranks, [&](const CommRank& rank) {
    const CollectiveCalls* calls = calls_of(job, rank);
    if (calls == nullptr || calls->collectives.size() < kCalls) return false;
    const PlacedCall* call = calls->collectives.call(calls->collectives.size() - kCalls);
    return call != nullptr && is_before(job, where, call->where);
  });
}

/// By rank, the local rank of those that torchrun's agents saw fail first on their nodes, as the
/// tables of failures have it. Whom the agent ended itself was none of them.
std::map<int, int> observed_first(const Job& job) {
  constexpr uint64_t kRowsBelow = 5;
  std::map<int, int> first;
  for_each_said<FailureSection>(job, [&](const Said<FailureSection>& section) {
    const SourceRef top = section.where();
    if (!section.message.section.starts_with("Root Cause")) return;
    for_each_said<FailureRank>(job, [&](const Said<FailureRank>& row) {
      const SourceRef at = row.where();
      const bool is_its = at.unit == top.unit && top < at && at.line - top.line <= kRowsBelow;
      if (is_its) first.emplace(row.message.rank, row.message.local_rank);
    });
  });
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.is_requested()) first.erase(exit.ended.rank);
  }
  return first;
}

/// Drops those of which torchrun says that another rank of their node failed before, in other words:
/// a file, of several processes all the more, does not say who was first. Clocks do.
void drop_later_ones(const Job& job, std::vector<ProgramException>& all) {
  constexpr int kRanksOfNode = 8;
  const std::map<int, int> first = observed_first(job);
  std::set<int> seen;
  for_each_said<FailureRank>(job, [&](const auto& row) { seen.insert(row.message.rank); });
  const auto may_be_first = [&](int rank) { return rank < 0 || first.contains(rank); };
  std::set<std::string> first_texts;
  for (const ProgramException& each : all) {
    if (may_be_first(each.rank)) first_texts.insert(each.text);
  }
  const auto is_later = [&](const ProgramException& each) {
    if (may_be_first(each.rank) || first_texts.contains(each.text)) return false;
    return std::ranges::any_of(first, [&](const auto& other) {
      const int of_node = each.rank - (other.first - other.second);
      const bool is_beside = job.nhosts <= 1 && of_node >= 0 && of_node < kRanksOfNode;
      const bool is_earlier = std::ranges::any_of(all, [&](const ProgramException& exception) {
        return exception.rank == other.first &&
               nanoseconds_between(each.line.text, exception.line.text).value_or(0) > 0;
      });
      return (seen.contains(each.rank) || is_beside) && !is_earlier;
    });
  };
  std::vector<ProgramException> kept;
  std::ranges::remove_copy_if(all, std::back_inserter(kept), is_later);
  all = std::move(kept);
}

/// See ProgramException::rivals, of the one that stands first. Of a process that began a traceback
/// before it the exception itself may be torn.
int rivals_of(const Job& job, const std::vector<ProgramException>& all,
              const ProgramException& first) {
  if (!is_named(nth_process(job, first.process))) return 0;
  const std::map<int, int> observed = observed_first(job);
  std::set<int> rivals;
  for (const ProgramException& other : all) {
    const bool is_ordered = nanoseconds_between(first.line.text, other.line.text).value_or(0) > 0 ||
                            (observed.contains(first.rank) && !observed.contains(other.rank));
    if (!is_ordered && other.text != first.text && is_named(nth_process(job, other.process)))
      rivals.insert(other.process);
  }
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    const bool may_have_raised = std::cmp_not_equal(p, first.process) && is_named(process) &&
                                 !has_said<PythonException>(job, process);
    const auto began = [&](size_t log) {
      return bool(first_before<TracebackStarted>(job.logs[log], first.line.where));
    };
    if (may_have_raised && std::ranges::any_of(process.logs, began))
      rivals.insert(static_cast<int>(p));
  }
  return static_cast<int>(rivals.size());
}

std::vector<ProgramException> find_outlived_exceptions(const Job& job) {
  std::vector<ProgramException> all = uncaught_first(job, is_own);
  std::erase_if(
      all, [&](const ProgramException& each) { return !is_long_before_timeout(job, each.line); });
  return all;
}

std::vector<ProgramException> find_first_exceptions(const Job& job) {
  if (nccl_failed_by_itself(job)) return {};
  std::vector<ProgramException> all = uncaught_first(job, is_own);
  std::erase_if(
      all, [&](const ProgramException& each) { return is_long_before_timeout(job, each.line); });
  drop_later_ones(job, all);
  if (all.empty()) return {};
  const auto where = [](const ProgramException& exception) { return exception.line.where; };
  const ProgramException first = *std::ranges::min_element(all, {}, where);
  const int rivals = rivals_of(job, all, first);
  std::erase_if(all, [&](const ProgramException& each) { return each.text != first.text; });
  if (all.size() == 1) name_by_torchrun(job, all.front());
  all.front().rivals = rivals;
  return all;
}

/// Nobody is known to have failed, or to have been ended, before whoever lost the other end.
std::vector<ProgramException> find_lost_first(const Job& job) {
  if (nccl_failed_by_itself(job) || !first_exceptions(job).empty() || !deaths(job).empty())
    return {};
  std::vector<ProgramException> all = uncaught_first(job, is_of_lost_peer);
  std::erase_if(all, [&](const ProgramException& exception) {
    const SourceRef where = exception.line.where;
    return std::ranges::any_of(end_marks(job), [&](const EndOf& mark) {
      if (mark.is_weak) return false;
      return mark.state == EndState::Stopped ? !is_before(job, where, mark.line().where)
                                             : is_before(job, mark.line().where, where);
    });
  });
  drop_later_ones(job, all);
  return all;
}

}  // namespace

std::vector<Death> deaths(const Job& job) {
  std::vector<Death> all = DeathCollector(job).collect();
  std::erase_if(all, [](const Death& death) { return death.signal == 6; });
  return all;
}

std::vector<Death> aborts(const Job& job) {
  std::vector<Death> all = DeathCollector(job).collect();
  std::erase_if(all, [](const Death& death) { return death.signal != 6; });
  return all;
}

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

const std::vector<ReportedWarning>& reported_warnings(const Job& job) {
  return job.answers.of<&find_warnings>(job);
}

std::vector<bool> kinds_with_warnings() {
  std::vector<bool> warns;
  for (const Kind& kind : all_kinds()) {
    warns.push_back(std::ranges::any_of(
        kind.wordings, [](const Wording& wording) { return warning_of(wording) != nullptr; }));
  }
  return warns;
}

static std::vector<bool> find_logs_that_may_warn(const Job& job) {
  const std::vector<bool> warns = kinds_with_warnings();
  std::unordered_map<const RecordLayout*, bool> known;  // Ranks that print alike share it.
  const auto may_warn = [&](const SettledRecords& records) {
    return std::ranges::any_of(records.layout().entries, [&](const RecordLayout::Entry& entry) {
      const auto place = [&](uint32_t i) { return entry.end - entry.kept + i; };
      uint32_t i = 0;
      while (warns[entry.key] && i < entry.kept && records.is_below_warn(place(i))) ++i;
      return warns[entry.key] && i < entry.kept;
    });
  };
  std::vector<bool> logs;
  for (const SpeakerLog& log : job.logs) {
    const SettledRecords* const all = log.records.all();
    if (all == nullptr) {
      logs.push_back(false);
      continue;
    }
    const auto [row, is_new] = known.try_emplace(&all->layout());
    if (is_new) row->second = may_warn(*all);
    logs.push_back(row->second);
  }
  return logs;
}

const std::vector<bool>& logs_that_may_warn(const Job& job) {
  return job.answers.of<&find_logs_that_may_warn>(job);
}

const ReportedWarning* first_warning(const Job& job) {
  const auto& all = reported_warnings(job);
  const auto first = std::ranges::min_element(all, {}, [](const ReportedWarning& each) {
    return std::pair(distance(each.warning), each.record.where);
  });
  return first == all.end() ? nullptr : &*first;
}

bool reports_own_failure(const Job& job, const Process& process) {
  const auto& all = reported_warnings(job);
  return std::ranges::any_of(all, [&](const ReportedWarning& each) {
    return &nth_process(job, each.process) == &process && each.is_own_failure();
  });
}

std::string excerpt_of(std::string_view text) {
  constexpr size_t kMost = 160;
  text = trim(text);
  return printable(to_valid_utf8(text.substr(0, kMost))) + (text.size() > kMost ? "…" : "");
}

std::string message_of(const Record& record) {
  return excerpt_of(parse_record(record).header.message);
}

bool failed_before(const Job& job, SourceRef where, int process) {
  const bool is_known = process >= 0 && is_named(nth_process(job, process));
  for (size_t log = 0; log < job.logs.size(); ++log) {
    const Record first = first_before<NcclException, WatchdogTimeout, WorkException, WorkStatus,
                                      DumpSignal, StoreWaitFailed, StoreTimeout, WorkerFailed,
                                      CudaOomException, HeartbeatTimeout>(job.logs[log], where);
    if (!first) continue;
    const bool is_of_other = is_known && std::ranges::find(nth_process(job, process).logs, log) ==
                                             nth_process(job, process).logs.end();
    if (!is_of_other || !tells_of_lost_peer(first)) return true;
  }
  return false;
}

/// Some rows of a table of nccl-tests were measured, by the test that the line may be about.
bool rows_go_on(const Job& job, SourceRef where) {
  constexpr std::ptrdiff_t kRows = 3;
  return !is_between_tests(job, where) &&
         std::ranges::any_of(job.nccl_tests, [&](const NcclTestsRun& run) {
           return std::ranges::count_if(run.rows, [&](const NcclTestsRow& row) {
                    return is_before(job, where, row.where);
                  }) >= kRows;
         });
}

bool went_on(const Job& job, SourceRef where) {
  return steps_go_on(job, where) || calls_go_on(job, where) || rows_go_on(job, where);
}

std::vector<std::pair<int, Record>> uncaught_exceptions(const Job& job) {
  std::vector<std::pair<int, Record>> all;
  for_each_said<PythonException, NcclException>(job, [&](const auto& said) {
    const std::string_view type = said.message.type;
    const bool is_asked_for = type.ends_with("KeyboardInterrupt") || type.ends_with("SystemExit");
    if (!is_asked_for && !went_on(job, said.where()) && !interrupted_before(job, said.where())) {
      all.emplace_back(said.process, said.record());
    }
  });
  // What a process survived once may have ended it later, in the same words.
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const auto is_its = [p](const auto& each) { return std::cmp_equal(each.first, p); };
    for (const size_t log : job.processes[p].logs) {
      const auto& last = job.logs[log].last_failure;
      if (!last || went_on(job, last->where) || std::ranges::any_of(all, is_its)) continue;
      const Record record = *last;
      if (record.kind() != kKindIndex<PythonException>) continue;
      const auto type = read_message<PythonException>(parse_message(record)).type;
      if (!type.ends_with("KeyboardInterrupt") && !type.ends_with("SystemExit"))
        all.emplace_back(static_cast<int>(p), record);
    }
  }
  return all;
}

const std::vector<SourceRef>& interruptions(const Job& job) {
  return job.answers.of<&find_interruptions>(job);
}

const std::vector<ProgramException>& first_exceptions(const Job& job) {
  return job.answers.of<&find_first_exceptions>(job);
}

const std::vector<ProgramException>& outlived_exceptions(const Job& job) {
  return job.answers.of<&find_outlived_exceptions>(job);
}

bool is_long_before_timeout(const Job& job, const Evidence& line) {
  constexpr int64_t kMinute = 60'000'000'000;
  const auto lies_between = [&](SourceRef timeout) {
    for (const SpeakerLog& log : job.logs) {
      for (const uint16_t kind :
           {kKindIndex<IterationLine>, kKindIndex<ProgressBar>, kKindIndex<CommInit>}) {
        if (std::ranges::any_of(log.records.kept(kind), [&](const Record& record) {
              return is_before(job, line.where, record.where) &&
                     is_before(job, record.where, timeout);
            }))
          return true;
      }
    }
    return false;
  };
  return std::ranges::any_of(timed_out_work(job), [&](const TimedOutWork& work) {
    const auto between = nanoseconds_between(line.text, work.line.text);
    // Who waited for whoever raised began a little after that at most, and says how long it waited.
    const int64_t waited = std::max(work.ran_ms, work.timeout_ms) * (kMinute / 60'000);
    return between && *between > std::max(10 * kMinute, waited + kMinute) &&
           lies_between(work.line.where);
  });
}

const std::vector<ProgramException>& lost_first(const Job& job) {
  return job.answers.of<&find_lost_first>(job);
}

}  // namespace ncclog
