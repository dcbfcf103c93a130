#include "diagnose/outcome/first_failure.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

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
  // A launcher tells the others to end because one of them failed.
  if (any_said<WorkerFailed, WorkerClosing>(job)) return all;
  for_each_said<WorkStopped>(job, [&](const auto& said) {
    if (!work_follows(job, said.where())) all.push_back(said.where());
  });
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

static std::vector<std::pair<int, Record>> find_uncaught_exceptions(const Job& job) {
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
      if (!last || went_on(job, last->where) || interrupted_before(job, last->where) ||
          std::ranges::any_of(all, is_its))
        continue;
      const Record record = *last;
      const bool is_exception = record.kind() == kKindIndex<PythonException> ||
                                record.kind() == kKindIndex<NcclException>;
      if (!is_exception) continue;
      const Message message = parse_message(record);
      const std::string_view type = message.field("type");
      if (!type.ends_with("KeyboardInterrupt") && !type.ends_with("SystemExit"))
        all.emplace_back(static_cast<int>(p), record);
    }
  }
  return all;
}

const std::vector<std::pair<int, Record>>& uncaught_exceptions(const Job& job) {
  return job.answers.of<&find_uncaught_exceptions>(job);
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
  // Of many ranks that time out together the first that the clock allows is looked at.
  bool is_looked_at = false;
  return std::ranges::any_of(timed_out_work(job), [&](const TimedOutWork& work) {
    if (is_looked_at) return false;
    const auto between = nanoseconds_between(line.text, work.line.text);
    // Who waited for whoever raised began a little after that at most, and says how long it waited.
    const int64_t waited = std::max(work.ran_ms, work.timeout_ms) * (kMinute / 60'000);
    is_looked_at = between && *between > std::max(10 * kMinute, waited + kMinute);
    return is_looked_at && lies_between(work.line.where);
  });
}

const std::vector<ProgramException>& lost_first(const Job& job) {
  return job.answers.of<&find_lost_first>(job);
}

}  // namespace ncclog
