#include "diagnose/outcome/first_failure.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/facts/line_places.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/progress.h"
#include "model/derive/steps.h"
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

/// By stretch of input, the first line of one of these kinds.
template <typename... T>
std::map<uint64_t, Record> first_by_unit(const SpeakerLog& log) {
  std::map<uint64_t, Record> first;
  for (const uint16_t kind : {kKindIndex<T>...}) {
    for (const Record& record : log.records.kept(kind)) {
      Record& known = first.try_emplace(record.where.unit, record).first->second;
      if (record.where < known.where) known = record;
    }
  }
  return first;
}

/// One of these kinds stands before `where` in the same stretch of input.
template <typename... T>
bool any_before(const SpeakerLog& log, SourceRef where) {
  return std::ranges::any_of(std::array{kKindIndex<T>...}, [&](uint16_t kind) {
    const Records kept = log.records.kept(kind);
    return std::any_of(kept.begin(), kept.end(), [&](const Record& record) {
      return record.where.unit == where.unit && record.where < where;
    });
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

/// Where processes are said to have ended with an error of their own.
LinePlaces find_failed_exits(const Job& job) {
  LinePlaces places;
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.exitcode.value_or(0) > 0 && exit.signal() == 0) places.add(job, exit.record.where);
  }
  places.sort();
  return places;
}

/// By input, what ended tracebacks there: of the same words one line is kept, and that may have none.
std::set<std::pair<int64_t, std::string>> find_raised_words(const Job& job) {
  std::set<std::pair<int64_t, std::string>> words;
  for (const InputClock& clock : job.clocks) {
    for (const Record ending : clock.starts.endings()) words.emplace(clock.input, ending.text());
  }
  return words;
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
        return any_before<TracebackStarted, TracebackFrame>(job.logs[log], where);
      })) {
    return true;
  }
  if (job.answers.of<&find_raised_words>(job).contains(
          {input_of(job, where), said.record().text()}))
    return true;
  return job.answers.of<&find_failed_exits>(job).after(job, where) > 0;
}

/// Where the benchmark says that its run succeeded, and nothing is begun anew: what is raised while
/// the processes leave does not undo it.
LinePlaces find_successes(const Job& job) {
  LinePlaces places;
  for_each_said<MlperfRunStop>(job, [&](const Said<MlperfRunStop>& said) {
    const bool is_last = said.message.status == "success" && !work_follows(job, said.where());
    if (is_last) places.add(job, said.where());
  });
  places.sort();
  return places;
}

bool has_several_hosts(const Job& job) {
  std::set<std::string_view> hosts;
  for (const Process& process : job.processes)
    if (!process.host.empty()) hosts.insert(process.host);
  return hosts.size() > 1;
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
  const int known = process_of_rank(job, number);
  if (known >= 0 && !job.answers.of<&has_several_hosts>(job) &&
      is_before(job, nth_process(job, known).first, where)) {
    exception.process = known;
    exception.rank = number;
  } else {
    exception.text += fmt::format(" (process {} of the spawn)", number);
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

LinePlaces interruption_places(const Job& job) {
  LinePlaces places;
  for (const SourceRef asked : interruptions(job)) places.add(job, asked);
  places.sort();
  return places;
}

/// What processes raise while they leave is no failure.
bool interrupted_before(const Job& job, SourceRef where) {
  return job.answers.of<&interruption_places>(job).before(job, where) > 0;
}

/// By place, the frames that are kept.
std::map<SourceRef, std::string> find_frames(const Job& job) {
  std::map<SourceRef, std::string> frames;
  for_each_said<TracebackFrame>(job, [&](const Said<TracebackFrame>& frame) {
    frames.insert_or_assign(frame.where(), std::string(frame.header().message));
  });
  return frames;
}

/// "tensorflow.python.framework.errors_impl.InvalidArgumentError: {{function_node …}} Invalid PNG data"
/// without a long path of modules and the node of a graph; any other text as it is.
std::string without_framework_names(std::string text) {
  constexpr size_t kLongestPath = 24;
  const size_t path = text.substr(0, text.find_first_of(": ")).rfind('.');
  if (path != text.npos && path > kLongestPath) text.erase(0, path + 1);
  const size_t node = std::min(text.find("{{function_node "), text.find("{{node "));
  const size_t end = text.find("}} ", node);
  if (end != text.npos) text.erase(node, end + 3 - node);
  return text;
}

/// Every process's first exception that it did not catch, of those that `counts` accepts, by type
/// and message.
std::vector<ProgramException> uncaught_first(const Job& job,
                                             bool (*counts)(std::string_view, std::string_view)) {
  std::vector<ProgramException> all;
  std::map<int, size_t> by_process;  // Into `all`.
  const auto add = [&](const auto& said, const std::string& place) {
    const SourceRef where = said.where();
    const std::string text = without_framework_names(std::string(said.header().message));
    ProgramException raised{said.process, nth_process(job, said.process).rank,
                            excerpt_of(text) + place, evidence_of(said.record())};
    name_by_spawn(job, raised);
    if (!is_uncaught(job, said) || interrupted_before(job, where) ||
        failed_before(job, where, raised.process) || went_on(job, where) ||
        job.answers.of<&find_successes>(job).before(job, where) > 0) {
      return;
    }
    const auto [known, is_new] = by_process.emplace(raised.process, all.size());
    if (is_new) {
      all.push_back(std::move(raised));
    } else if (where < all[known->second].line.where) {
      all[known->second] = std::move(raised);
    }
  };
  for_each_said<PythonException>(job, [&](const Said<PythonException>& said) {
    if (!counts(said.message.type, said.message.message)) return;
    const auto& frames = job.answers.of<&find_frames>(job);
    const auto frame = said.message.message.empty() ? frames.find(said.where()) : frames.end();
    add(said, frame == frames.end() ? "" : " in " + excerpt_of(place_of_frame(frame->second)));
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
  std::map<SourceRef, FailureRank> rows;
  for_each_said<FailureRank>(job, [&](const auto& row) { rows.emplace(row.where(), row.message); });
  for_each_said<FailureSection>(job, [&](const Said<FailureSection>& section) {
    const SourceRef top = section.where();
    if (!section.message.section.starts_with("Root Cause")) return;
    for (auto row = rows.upper_bound(top); row != rows.end(); ++row) {
      const SourceRef at = row->first;
      if (at.unit != top.unit || at.line - top.line > kRowsBelow) break;
      first.emplace(row->second.rank, row->second.local_rank);
    }
  });
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.is_requested()) first.erase(exit.ended.rank);
  }
  return first;
}

/// Of which times may be compared: nanoseconds_between().
using ClockKind = std::pair<bool, int>;

ClockKind kind_of(const LineTime& time) { return {time.has_zone, time.year}; }

bool are_comparable(const ClockKind& a, const ClockKind& b) {
  return a.first == b.first && (a.second == b.second || a.second == 0 || b.second == 0);
}

/// When each of the ranks that failed first on their nodes raised last, by times of one kind.
struct FirstTimes {
  static constexpr int kRanksOfNode = 8;
  int64_t earliest = INT64_MAX;
  std::map<int, int64_t> by_node;  ///< By the rank that has local rank 0.

  FirstTimes(const std::map<int, int>& first, const std::vector<ProgramException>& all,
             const std::vector<LineTime>& times, const LineTime& like) {
    std::unordered_map<int, int64_t> latest;  // By rank.
    for (size_t i = 0; like.known() && i < all.size(); ++i) {
      if (!times[i].known() || !are_comparable(kind_of(times[i]), kind_of(like))) continue;
      int64_t& last = latest.try_emplace(all[i].rank, INT64_MIN).first->second;
      last = std::max(last, times[i].nanoseconds);
    }
    for (const auto& [rank, local_rank] : first) {
      const auto last = latest.find(rank);
      const int64_t time = last == latest.end() ? INT64_MIN : last->second;
      earliest = std::min(earliest, time);
      int64_t& of_node = by_node.try_emplace(rank - local_rank, time).first->second;
      of_node = std::min(of_node, time);
    }
  }

  /// Of the node that the rank is of, where it has eight.
  bool any_beside_until(int rank, int64_t time) const {
    for (auto node = by_node.upper_bound(rank - kRanksOfNode);
         node != by_node.end() && node->first <= rank; ++node) {
      if (node->second <= time) return true;
    }
    return false;
  }
};

/// Drops those of which torchrun says that another rank of their node failed before, in other words:
/// a file, of several processes all the more, does not say who was first. Clocks do.
void drop_later_ones(const Job& job, std::vector<ProgramException>& all) {
  const std::map<int, int> first = observed_first(job);
  if (first.empty()) return;
  std::set<int> seen;
  for_each_said<FailureRank>(job, [&](const auto& row) { seen.insert(row.message.rank); });
  const auto may_be_first = [&](int rank) { return rank < 0 || first.contains(rank); };
  std::set<std::string> first_texts;
  std::vector<LineTime> times;
  for (const ProgramException& each : all) {
    if (may_be_first(each.rank)) first_texts.insert(each.text);
    times.push_back(time_of_line(each.line.text));
  }
  std::map<std::pair<bool, ClockKind>, FirstTimes> by_kind;
  std::vector<ProgramException> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    const int rank = all[i].rank;
    bool is_later = false;
    if (!may_be_first(rank) && !first_texts.contains(all[i].text)) {
      const std::pair kind(times[i].known(), kind_of(times[i]));
      auto known = by_kind.find(kind);
      if (known == by_kind.end())
        known = by_kind.emplace(kind, FirstTimes(first, all, times, times[i])).first;
      const int64_t time = times[i].nanoseconds;
      is_later = (seen.contains(rank) && known->second.earliest <= time) ||
                 (job.nhosts <= 1 && known->second.any_beside_until(rank, time));
    }
    if (!is_later) kept.push_back(all[i]);
  }
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
      return any_before<TracebackStarted>(job.logs[log], first.line.where);
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
  LinePlaces stopped;
  LinePlaces others;
  for (const EndOf& mark : end_marks(job)) {
    if (mark.is_weak) continue;
    (mark.state == EndState::Stopped ? stopped : others).add(job, mark.line().where);
  }
  stopped.sort();
  others.sort();
  std::erase_if(all, [&](const ProgramException& exception) {
    const SourceRef where = exception.line.where;
    return stopped.after(job, where) < stopped.size() || others.before(job, where) > 0;
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

/// By stretch of input, where the first failures of logs stand first: of all, and of those that do
/// not tell of a lost peer.
struct FirstFailures {
  std::map<uint64_t, SourceRef> all;
  std::map<uint64_t, SourceRef> own;
};

static std::map<uint64_t, Record> first_failures(const SpeakerLog& log) {
  return first_by_unit<NcclException, WatchdogTimeout, WorkException, WorkStatus, DumpSignal,
                       StoreWaitFailed, StoreTimeout, WorkerFailed, CudaOomException,
                       HeartbeatTimeout>(log);
}

static FirstFailures find_first_failures(const Job& job) {
  FirstFailures failures;
  const auto note = [](std::map<uint64_t, SourceRef>& first, SourceRef where) {
    SourceRef& known = first.try_emplace(where.unit, where).first->second;
    known = std::min(known, where);
  };
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [unit, first] : first_failures(log)) {
      note(failures.all, first.where);
      // It says that a peer was gone: who ended had failed before.
      const bool tells_of_lost_peer =
          parse_record(first).header.message.find("remote process exited") != std::string::npos;
      if (!tells_of_lost_peer) note(failures.own, first.where);
    }
  }
  return failures;
}

bool failed_before(const Job& job, SourceRef where, int process) {
  const auto stands_before = [&](const auto& first) {
    const auto failure = first.find(where.unit);
    return failure != first.end() && failure->second < where;
  };
  const FirstFailures& failures = job.answers.of<&find_first_failures>(job);
  if (!stands_before(failures.all)) return false;
  const bool is_known = process >= 0 && is_named(nth_process(job, process));
  if (!is_known || stands_before(failures.own)) return true;
  return std::ranges::any_of(nth_process(job, process).logs, [&](size_t log) {
    const auto own = first_failures(job.logs[log]);
    const auto first = own.find(where.unit);
    return first != own.end() && first->second.where < where;
  });
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
  std::set<int> known;
  for (const auto& [process, record] : all) known.insert(process);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      const auto& last = job.logs[log].last_failure;
      if (!last || known.contains(static_cast<int>(p)) || went_on(job, last->where) ||
          interrupted_before(job, last->where))
        continue;
      const Record record = *last;
      const bool is_exception = record.kind() == kKindIndex<PythonException> ||
                                record.kind() == kKindIndex<NcclException>;
      if (!is_exception) continue;
      const Message message = parse_message(record);
      const std::string_view type = message.field("type");
      if (type.ends_with("KeyboardInterrupt") || type.ends_with("SystemExit")) continue;
      all.emplace_back(static_cast<int>(p), record);
      known.insert(static_cast<int>(p));
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

/// Which watchdog, the first that counts, gave up long after a line of a certain time?
class LongWaits {
 public:
  explicit LongWaits(const Job& job) {
    for (const TimedOutWork& work : timed_out_work(job)) {
      const LineTime time = time_of_line(work.line.text);
      if (!time.known()) continue;
      // Who waited for whoever raised began a little after that at most, and says how long it waited.
      const int64_t waited = std::max(work.ran_ms, work.timeout_ms) * (kMinute / 60'000);
      works_.push_back({kind_of(time), time.nanoseconds - std::max(10 * kMinute, waited + kMinute),
                        work.line.where});
    }
  }

  /// Where it stands; no line: there is none.
  SourceRef first_after(const LineTime& time) const {
    if (!time.known()) return {};
    const auto [known, is_new] = rising_.try_emplace(kind_of(time));
    auto& rising = known->second;
    if (is_new) {
      for (const auto& [kind, limit, where] : works_) {
        const bool counts = are_comparable(kind, known->first);
        if (counts && (rising.empty() || rising.back().first < limit))
          rising.emplace_back(limit, where);
      }
    }
    const auto first = std::ranges::upper_bound(rising, time.nanoseconds, {},
                                                &std::pair<int64_t, SourceRef>::first);
    return first == rising.end() ? SourceRef() : first->second;
  }

 private:
  static constexpr int64_t kMinute = 60'000'000'000;
  struct Work {
    ClockKind kind;
    int64_t limit;  ///< What came before that, came long before.
    SourceRef where;
  };
  std::vector<Work> works_;
  /// By kind, the limits that are above all before them.
  mutable std::map<ClockKind, std::vector<std::pair<int64_t, SourceRef>>> rising_;
};

static LongWaits find_long_waits(const Job& job) { return LongWaits(job); }

static LinePlaces find_signs_of_work(const Job& job) {
  return kept_places<IterationLine, ProgressBar, CommInit>(job);
}

bool is_long_before_timeout(const Job& job, const Evidence& line) {
  // Of many ranks that time out together the first that the clock allows is looked at.
  const SourceRef timeout =
      job.answers.of<&find_long_waits>(job).first_after(time_of_line(line.text));
  return timeout.is_known() &&
         job.answers.of<&find_signs_of_work>(job).any_between(job, line.where, timeout);
}

const std::vector<ProgramException>& lost_first(const Job& job) {
  return job.answers.of<&find_lost_first>(job);
}

}  // namespace ncclog
