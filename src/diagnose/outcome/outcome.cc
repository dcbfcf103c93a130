#include "diagnose/outcome/outcome.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/facts/line_places.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/progress.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/named_failure.h"
#include "model/derive/steps.h"

namespace ncclog {
namespace {

/// Whether and where a process took its largest communicators down.
struct Teardown {
  bool done = false;     ///< All of the largest are gone, and nothing was begun after that.
  bool aborted = false;  ///< Some of them by ncclCommAbort.
  bool any = false;      ///< The process has communicators at all,
  bool was_up = false;   ///< and some were complete, or called.
  SourceRef last;        ///< The line of the last end; line 0: none.
};

/// A job often leaves its sub-groups to the end of the process, so the largest ones count.
Teardown teardown_of(const Job& job, const Process& process) {
  Teardown result;
  const std::vector<const CommSegment*> segments = segments_of(job, process);
  result.any = result.done = !segments.empty();
  int largest = -1;
  for (const CommSegment* segment : segments) {
    largest = std::max(largest, segment->nranks);
    result.was_up |= segment->completed.line != 0 || calls_of(*segment).total > 0;
  }
  for (const CommSegment* segment : segments) {
    if (segment->nranks != largest) continue;
    result.done &= segment->end != CommFate::None;
    result.aborted |= segment->end == CommFate::Aborted;
    result.last = std::max(result.last, segment->ended);
  }
  for (const CommSegment* segment : segments) {
    if (segment->end != CommFate::None) continue;
    result.done &= !is_before(job, result.last, segment->started) &&
                   !is_before(job, result.last, calls_of(*segment).last);
  }
  return result;
}

/// The line by which the process begins to take a communicator down whose end it does not print;
/// nullopt: none. In torn logs the end may be among the lines that were not used.
std::optional<Evidence> open_end(const Job& job, const Process& process) {
  std::optional<Evidence> open;
  if (process.torn) return open;
  const std::vector<const CommSegment*> segments = segments_of(job, process);
  const auto ends_later = [&](const CommEnd& begun, SourceRef where) {
    return std::ranges::any_of(segments, [&](const CommSegment* segment) {
      return segment->comm == begun.comm.value && where < segment->ended;
    });
  };
  for_each_record(job, process, kKindIndex<CommEnd>, [&](const Record& record) {
    const auto begun = read_message<CommEnd>(parse_message(record));
    const bool begins = begun.phase == "START" && begun.action != "Revoke";
    if (begins && !ends_later(begun, record.where)) open = evidence_of(record);
  });
  return open;
}

/// The kept line at that place of the process; its text is empty if it was not kept.
Evidence line_at(const Job& job, const Process& process, SourceRef where) {
  Evidence line{where, {}};
  for (const size_t log : process.logs) {
    if (job.logs[log].last == where) line.text = job.logs[log].last_text;
  }
  for_each_record(job, process, kKindIndex<CommEnd>, [&](const Record& record) {
    if (record.where == where) line.text = record.text();
  });
  return line;
}

/// A communicator as large as any of the process was complete after that: what NCCL refused before
/// was caught, and done again.
bool set_up_after(const Job& job, const Process& process, SourceRef where) {
  const std::vector<const CommSegment*> segments = segments_of(job, process);
  int largest = -1;
  for (const CommSegment* segment : segments) largest = std::max(largest, segment->nranks);
  return std::ranges::any_of(segments, [&](const CommSegment* segment) {
    return segment->nranks == largest && is_before(job, where, segment->completed);
  });
}

/// By process, the lines in which it says itself that it failed, in input order; it may have gone on
/// after them.
std::vector<std::vector<Evidence>> own_failures(const Job& job) {
  std::vector<std::vector<Evidence>> failures(job.processes.size());
  const auto add = [&](int process, Evidence line) {
    if (process >= 0) failures[process].push_back(std::move(line));
  };
  for_each_said<WatchdogTimeout, BlockingWaitTimeout, HeartbeatTimeout, WorkException,
                NcclException, WatchdogTerminated, CppTerminate, FatalPythonError, CudaOomException,
                StoreTimeout, StoreBarrierTimeout, NcclTestsFailure, NcclTestsTimeout>(
      job, [&](const auto& said) { add(said.process, evidence_of(said.record())); });
  for (const ProgramException& exception : first_exceptions(job)) {
    add(exception.process, exception.line);
  }
  for (const auto& [process, record] : uncaught_exceptions(job)) {
    if (named_failure_in(record.text()) != nullptr) add(process, evidence_of(record));
  }
  // Whoever leaves closes and deregisters; what could not be set up fails the call.
  for_each_said<ProxyCallFailed>(job, [&](const auto& said) {
    constexpr std::string_view kSetUp[] = {"Init", "SharedInit", "Setup", "Connect"};
    const bool warns = said.header().level == Level::Warn;
    if (warns && equals_one_of(said.message.operation, kSetUp))
      add(said.process, evidence_of(said.record()));
  });
  for (const ReportedWarning& warning : reported_warnings(job)) {
    const bool is_over = warning.process >= 0 &&
                         set_up_after(job, nth_process(job, warning.process), warning.record.where);
    if (warning.is_own_failure() && !is_over) add(warning.process, evidence_of(warning.record));
  }
  for (auto& lines : failures) std::ranges::stable_sort(lines, {}, &Evidence::where);
  return failures;
}

/// Where communicators begin: behind it the work was begun anew.
LinePlaces find_begins(const Job& job) {
  LinePlaces places;
  for (const SpeakerLog& log : job.logs) {
    for (const CommSegment& segment : log.comms.all) {
      places.add(job, segment.started);
      places.add(job, segment.completed);
    }
  }
  places.sort();
  return places;
}

/// By input, the first line by which the scheduler or whoever told the launcher ends the job:
/// whatever fails behind it follows from that, unless the kernel wanted the memory. A launcher that
/// ends its workers does so because one of them failed.
std::map<int64_t, SourceRef> requests(const Job& job) {
  std::map<int64_t, SourceRef> first;
  if (any_said<OomKill>(job)) return first;
  const auto add = [&](SourceRef where) {
    if (job.answers.of<&find_begins>(job).after(job, where) > 0) return;
    const auto [known, is_new] = first.emplace(input_of(job, where), where);
    if (!is_new) known->second = std::min(known->second, where);
  };
  for_each_said<JobCancelled, LaunchStopped, AgentSignalled>(
      job, [&](const auto& said) { add(said.where()); });
  std::ranges::for_each(interruptions(job), add);
  return first;
}

/// The line is of one of these kinds.
template <typename... T>
bool is_of(const Evidence& line) {
  const Message said = parse_event(line.text, all_wordings()).message;
  return said.kind != nullptr && ((said.kind->index == kKindIndex<T>) || ...);
}

bool is_nccl_line(const Evidence& line) { return is_nccl(parse_header(line.text)); }

/// A process of which lines are there stands for each rank of the largest communicator, or for as many
/// as the job is known to have.
bool all_ranks_are_seen(const Job& job) {
  if (!job.communicators.empty()) {
    return std::ranges::all_of(job.communicators.front().ranks,
                               [](const CommRank& rank) { return rank.process >= 0; });
  }
  return std::ranges::count_if(job.processes, [](const Process& process) {
           return process.has_nccl && is_named(process);
         }) >= job.nranks.value_or(0);
}

LinePlaces find_good_ends(const Job& job) { return kept_places<LaunchFinished>(job); }

/// The last step of each input.
LinePlaces find_last_steps(const Job& job) {
  LinePlaces places;
  for (const InputClock& clock : job.clocks) places.add(job, clock.last.back());
  places.sort();
  return places;
}

/// By host and pid; -1: several.
std::map<std::pair<std::string_view, int64_t>, int> find_processes(const Job& job) {
  std::map<std::pair<std::string_view, int64_t>, int> processes;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    const auto [known, is_new] =
        processes.try_emplace({process.host, process.pid}, static_cast<int>(p));
    if (!is_new) known->second = -1;
  }
  return processes;
}

class Deriver {
 public:
  explicit Deriver(const Job& job)
      : job_(job),
        marks_(end_marks(job)),
        failures_(own_failures(job)),
        any_was_up_(std::ranges::any_of(
            job.processes,
            [&](const Process& process) { return teardown_of(job, process).was_up; })),
        all_are_seen_(all_ranks_are_seen(job)) {
    for (const auto& [process, record] : uncaught_exceptions(job)) {
      const bool may_be_of_any = process < 0 || !nth_process(job, process).has_nccl;
      (may_be_of_any ? exceptions_ : own_exceptions_[process]).add(job, record.where);
      if (may_be_of_any) own_exceptions_[process].add(job, record.where);
    }
    exceptions_.sort();
    for (auto& [process, own] : own_exceptions_) own.sort();
    // "Training complete." of an epoch, and the summary of a test before the next one.
    std::erase_if(marks_, [&](const EndOf& mark) {
      if (mark.is_weak) {
        // One step is enough to show that last words were none.
        const SourceRef where = mark.line().where;
        const bool is_last = !work_follows(job, where) &&
                             job_.answers.of<&find_last_steps>(job_).after(job_, where) == 0;
        if (is_last) last_words_ = mark;
        return true;
      }
      if (mark.state != EndState::Finished || mark.process >= 0) return false;
      if (auto test = test_begun_after(job, mark.line().where)) {
        open_test_ = std::move(test);
        return true;
      }
      // The end of a run that was begun after another one had failed.
      const SourceRef begin{mark.line().where.unit, 1};
      if (mark.is_own && launcher_failed_between(job, begin, mark.line().where)) return true;
      return work_follows(job, mark.line().where);
    });
    requests_ = requests(job);
    for (EndOf& mark : marks_) {
      if (mark.state == EndState::Failed && is_after_request(mark.line())) {
        mark.state = EndState::Stopped;
      }
    }
    for (const EndOf& mark : marks_) first_marks_.try_emplace({mark.state, mark.process}, &mark);
  }

  JobOutcome derive() {
    JobOutcome outcome;
    for (size_t p = 0; p < job_.processes.size(); ++p) outcome.processes.push_back(end_of(p));
    outcome.job = end_of_job(outcome.processes);
    if (outcome.job.state != EndState::Finished) return outcome;
    for (EndOf& end : outcome.processes) {
      // What the program says of its work tells more than that a process prints no last line, or
      // than what NCCL warned of before, or as it left.
      const bool is_survived = end.state == EndState::Failed && is_nccl_line(end.line()) &&
                               is_outlived(end.line(), &outcome.job);
      if (end.state == EndState::Unfinished || is_survived) end = {};
    }
    return outcome;
  }

 private:
  const EndOf* mark_of(EndState state, int process) const {
    const auto first = first_marks_.find({state, process});
    return first == first_marks_.end() ? nullptr : first->second;
  }

  EndOf end_of(size_t index) const {
    const Process& process = job_.processes[index];
    const int number = static_cast<int>(index);
    const Teardown teardown = teardown_of(job_, process);
    const auto failure = std::ranges::find_if_not(failures_[index], [&](const Evidence& line) {
      return is_after_request(line) ||
             (is_nccl_line(line) && is_after_own_end(number, teardown, line)) ||
             went_on(job_, line.where);
    });
    if (failure != failures_[index].end())
      return {EndState::Failed, "it reports a failure", {*failure}};
    for (const EndState state : {EndState::Failed, EndState::Stopped}) {
      if (const EndOf* mark = mark_of(state, number)) return *mark;
    }
    const std::optional<Evidence> open = open_end(job_, process);
    if (teardown.done && !open && proves_an_end(number, teardown)) {
      return {EndState::Finished,
              teardown.aborted ? "it aborted its communicators without an error before that"
                               : "it destroyed its communicators",
              {line_at(job_, process, teardown.last)}};
    }
    const EndOf* mark = mark_of(EndState::Finished, number);
    if (mark != nullptr && !raised_before(number, mark->line().where)) return *mark;
    if (open) {
      const bool aborts = open->text.find("Abort START") != std::string::npos;
      return {EndState::Unfinished,
              fmt::format("the {} of a communicator begins and is not shown to end",
                          aborts ? "abort" : "destruction"),
              {*open}};
    }
    if (!teardown.was_up || teardown.done) return {};
    return {EndState::Unfinished,
            std::string(kNoEnd),
            {{process.last, std::string(last_text(job_, process))}}};
  }

  /// Whoever aborts a communicator may be done, or may have given up: that it was done is told by
  /// work before, on ranks that all are seen, and by no exception. After a destruction an exception
  /// shows that it was not.
  bool proves_an_end(int process, const Teardown& teardown) const {
    if (teardown.aborted && !(any_was_up_ && all_are_seen_)) return false;
    const auto speak_against_it = [&](const LinePlaces& exceptions) {
      return exceptions.after(job_, teardown.last) > 0 ||
             (teardown.aborted && exceptions.before(job_, teardown.last) > 0);
    };
    const auto own = own_exceptions_.find(process);
    return !speak_against_it(exceptions_) &&
           (own == own_exceptions_.end() || !speak_against_it(own->second));
  }

  /// An exception that nobody caught makes a process leave as in order: its libraries say good-bye.
  bool raised_before(int process, SourceRef where) const {
    const auto own = own_exceptions_.find(process);
    return own != own_exceptions_.end() && own->second.before(job_, where) > 0;
  }

  /// NCCL warns of it in a process that had taken its communicators down: peers leave as well.
  bool is_after_teardown(const Evidence& failure) const {
    const Header header = parse_event(failure.text, all_wordings()).header;
    if (header.pid < 0 || !is_nccl_line(failure)) return false;
    const auto& processes = job_.answers.of<&find_processes>(job_);
    const auto found = processes.find({header.host, header.pid});
    const int own = found == processes.end() ? -1 : found->second;
    return own >= 0 && is_after_own_end(own, teardown_of(job_, nth_process(job_, own)), failure);
  }

  /// The process had taken its communicators down, or its launcher had seen it leave.
  bool is_after_own_end(int process, const Teardown& teardown, const Evidence& line) const {
    if (teardown.done && is_before(job_, teardown.last, line.where)) return true;
    const EndOf* mark = mark_of(EndState::Finished, process);
    return mark != nullptr && is_before(job_, mark->line().where, line.where);
  }

  /// Somebody had ended the job.
  bool is_after_request(const Evidence& line) const {
    const auto request = requests_.find(input_of(job_, line.where));
    return request != requests_.end() && request->second < line.where;
  }

  /// A process of NCCL's that nccl-tests does not list printed it, where it lists some.
  bool is_of_no_test(const Evidence& line) const {
    const int64_t pid = parse_header(line.text).pid;
    return pid >= 0 && !job_.listed_ranks.empty() &&
           std::ranges::none_of(job_.listed_ranks, [&](const ListedRank& listed) {
             return listed.pid < 0 || listed.pid == pid;
           });
  }

  /// What failed was over before the work was done, or is NCCL's noise after it.
  bool is_outlived(const Evidence& failure, const EndOf* finish) const {
    if (is_after_request(failure) || is_after_teardown(failure)) return true;
    if (finish == nullptr) return false;
    // The summary of another test says nothing of the one that failed, nor of processes that it does
    // not list.
    const bool is_of_tests = is_of<NcclTestsBandwidth, NcclTestsOutOfBounds>(finish->line());
    if (is_of_tests && (is_of<NcclTestsFailure>(failure) || is_of_no_test(failure))) return false;
    if (is_before(job_, failure.where, finish->line().where)) return true;
    // Whoever started the job says that all is well, later than its program did.
    if (job_.answers.of<&find_good_ends>(job_).after(job_, failure.where) > 0) return true;
    return is_before(job_, finish->line().where, failure.where) && is_nccl_line(failure);
  }

  /// The failure by which the job is known to have failed.
  std::optional<EndOf> failure_of_job(const EndOf* finish) const {
    if (auto stop = stop_evidence(job_)) {
      const bool failed = stop->by == StopBy::Timeout || stop->by == StopBy::Failure;
      if (failed && !is_outlived(stop->line, finish)) {
        return EndOf{EndState::Failed, stop->what, {stop->line}};
      }
    }
    const EndOf* asked = mark_of(EndState::Stopped, -1);
    for (const EndOf& mark : marks_) {
      if (mark.state != EndState::Failed || is_outlived(mark.line(), finish)) continue;
      // Whoever ends a job kills what does not listen. What failed between the end of the work and
      // the request led to it.
      const SourceRef failed = mark.line().where;
      if (asked != nullptr && (finish == nullptr || !is_before(job_, failed, asked->line().where)))
        continue;
      if (finish == nullptr || !is_before(job_, finish->line().where, failed)) return mark;
      return EndOf{mark.state, fmt::format("{}, but {}", finish->what, mark.what), mark.evidence};
    }
    for (const Death& death : deaths(job_)) {
      if (asked || is_outlived(death.line, finish)) continue;
      return EndOf{EndState::Failed, "a process died", {death.line}};
    }
    return std::nullopt;
  }

  EndOf end_of_job(const std::vector<EndOf>& processes) const {
    const EndOf* finish = mark_of(EndState::Finished, -1);
    if (auto failure = failure_of_job(finish)) return *failure;
    if (finish != nullptr) {
      EndOf end = *finish;
      end.is_own = end.is_own && std::ranges::none_of(marks_, [](const EndOf& mark) {
                     return mark.state == EndState::Finished && mark.process < 0 && !mark.is_own;
                   });
      return end;
    }
    if (auto all = end_of_all(processes)) return *all;
    if (const EndOf* stop = mark_of(EndState::Stopped, -1)) return *stop;
    if (auto test = open_test(processes)) {
      return {EndState::Unfinished,
              "a test of nccl-tests begins, and no result of it is in the logs",
              {std::move(*test)}};
    }
    const EndOf mixed = mixed_end(processes);
    const bool is_open = mixed.state == EndState::Unknown ||
                         (mixed.state == EndState::Unfinished && mixed.what == kNoEnd);
    return is_open && last_words_ ? *last_words_ : mixed;
  }

  /// All processes that use NCCL ended well.
  std::optional<EndOf> end_of_all(const std::vector<EndOf>& processes) const {
    size_t finished = 0;
    EndOf last;
    for (size_t p = 0; p < processes.size(); ++p) {
      if (!job_.processes[p].has_nccl || !is_named(job_.processes[p])) continue;
      if (processes[p].state != EndState::Finished) return std::nullopt;
      ++finished;
      const bool later = last.evidence.empty() || last.line().where < processes[p].line().where;
      if (later) last = processes[p];
    }
    if (finished == 0 || test_begun_after(job_, last.line().where)) return std::nullopt;
    last.is_own = true;
    last.what = finished == 1 ? "the process that speaks NCCL here ended well: " + last.what
                              : fmt::format("all {} processes ended well, the last one here: {}",
                                            finished, last.what);
    return last;
  }

  /// A test that begins after the summary or the processes of another one.
  std::optional<Evidence> open_test(const std::vector<EndOf>& processes) const {
    if (open_test_) return open_test_;
    for (const EndOf& end : processes) {
      if (end.state != EndState::Finished) continue;
      if (auto test = test_begun_after(job_, end.line().where)) return test;
    }
    return std::nullopt;
  }

  /// The worst end of a process; one that is not finished makes the job unfinished.
  static EndOf mixed_end(const std::vector<EndOf>& processes) {
    for (const EndState state : {EndState::Failed, EndState::Stopped, EndState::Unfinished}) {
      const EndOf* last = nullptr;
      for (const EndOf& end : processes) {
        if (end.state != state) continue;
        const bool later = last == nullptr || last->line().where < end.line().where;
        if (later) last = &end;
      }
      if (last != nullptr) return *last;
    }
    return {};
  }

  const Job& job_;
  std::vector<EndOf> marks_;
  std::map<int64_t, SourceRef> requests_;
  std::map<std::pair<EndState, int>, const EndOf*> first_marks_;  ///< By state and process.
  std::vector<std::vector<Evidence>> failures_;  ///< By process: its own reports of them.
  LinePlaces exceptions_;                        ///< Uncaught, of whoever prints no NCCL lines,
  std::map<int, LinePlaces> own_exceptions_;     ///< and of each process.
  bool any_was_up_ = false;            ///< Some communicator of the job was complete, or called.
  bool all_are_seen_ = false;          ///< Every rank of the job has lines of NCCL.
  std::optional<Evidence> open_test_;  ///< Begins after the summary of another one.
  std::optional<EndOf> last_words_;    ///< The last weak mark after which nobody works.
};

JobOutcome derive_outcome(const Job& job) { return Deriver(job).derive(); }

/// Every process ended well, as far as its log goes on: those that did not are cut.
bool all_but_cut_finished(const Job& job, const JobOutcome& outcome) {
  if (outcome.job.state != EndState::Unfinished) return false;
  bool any = false;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl || !is_named(process)) continue;
    const bool finished = outcome.processes[p].state == EndState::Finished;
    if (!finished && !process.cut) return false;
    any |= finished;
  }
  return any;
}

/// Where the work was over; empty unless the job finished, or all of it whose end can be seen, or
/// somebody ended it.
struct EndPlaces {
  std::map<int64_t, SourceRef> by_input;
  std::map<std::pair<std::string, int64_t>, SourceRef> by_process;  ///< By host and pid.
};

EndPlaces derive_end_places(const Job& job) {
  EndPlaces places;
  const JobOutcome& outcome = outcome_of(job);
  if (outcome.job.state == EndState::Stopped) {
    places.by_input = requests(job);
    return places;
  }
  if (outcome.job.state != EndState::Finished && !all_but_cut_finished(job, outcome)) return places;
  for (const EndOf& mark : end_marks(job)) {
    const SourceRef where = mark.line().where;
    if (mark.state != EndState::Finished || mark.is_weak) continue;
    if (mark.process >= 0) {
      const Process& process = nth_process(job, mark.process);
      if (process.pid >= 0) places.by_process.emplace(std::pair(process.host, process.pid), where);
    } else if (!work_follows(job, where)) {
      places.by_input.emplace(input_of(job, where), where);
    }
  }
  for (const Process& process : job.processes) {
    const Teardown teardown = teardown_of(job, process);
    if (teardown.done && process.pid >= 0) {
      places.by_process.emplace(std::pair(process.host, process.pid), teardown.last);
    }
  }
  return places;
}

/// " (120 calls each)": of all processes that many calls, at least and at most.
std::string calls_words(const std::vector<uint64_t>& calls) {
  const auto [least, most] = std::ranges::minmax(calls);
  if (most == 0) return {};
  const std::string each = calls.size() > 1 ? " each" : "";
  if (least == most) return fmt::format(" ({}{})", plural(most, "call"), each);
  return fmt::format(" ({} to {} calls{})", least, most, each);
}

/// The line of the program has this number: within an epoch it counts from anew, and perhaps samples.
bool is_printed_step(const Marker& marker) {
  return marker.step >= 0 &&
         (marker.wording == kOwnWording ||
          iteration_wordings()[marker.wording].regex.find("(?P<epoch>") == std::string_view::npos);
}

/// Its line speaks of an epoch, of which the total may be.
bool is_of_epoch(const Marker& marker) {
  return marker.wording == kOwnWording ||
         iteration_wordings()[marker.wording].regex.find("poch") != std::string_view::npos;
}

/// "steps 3 to 10", "steps 3 to 10 (the last)": those that a program announces; empty: none, or ticks
/// and epochs alone. Where there are more of them than are kept, how many.
std::string step_words(const Job& job) {
  int64_t first = -1;
  int64_t last = -1;
  int64_t total = -1;
  uint64_t most = 0;  // Of an input of which not all are kept.
  for (const InputClock& clock : job.clocks) {
    bool has_steps = false;
    for (const Marker& marker : clock.markers) {
      if (!is_printed_step(marker)) continue;
      has_steps = true;
      first = first < 0 ? marker.step : std::min(first, marker.step);
      last = std::max(last, marker.step);
      if (marker.step == last) total = is_of_epoch(marker) ? -1 : marker.total;
    }
    if (has_steps && clock.total > clock.markers.size()) most = std::max(most, clock.total);
  }
  if (last < 0) return {};
  if (most > 0) return plural(most, "step");
  // In an epoch as many may follow again.
  const bool has_epochs = std::ranges::any_of(job.logs, [](const SpeakerLog& log) {
    return log.last_text.find("poch") != std::string::npos;
  });
  const std::string_view note = last == total && !has_epochs ? " (the last)" : "";
  return first == last ? fmt::format("step {}{}", last, note)
                       : fmt::format("steps {} to {}{}", first, last, note);
}

/// "8 ranks at work (120 calls each)": how far the communicators came, over all processes.
std::string seen_words(const Job& job) {
  std::set<int> ranks;          // Global ranks of processes with lines.
  std::vector<uint64_t> calls;  // By process with NCCL lines.
  bool begins = false;          // Some lines are of the kind that NCCL prints when it starts.
  std::ptrdiff_t ready = 0;     // Processes of which a communicator was complete.
  const Process* unready = nullptr;
  for (const Process& process : job.processes) {
    if (!process.has_nccl || !is_named(process)) continue;
    for (const Subsystem early : {Subsystem::Init, Subsystem::Net, Subsystem::Bootstrap}) {
      begins |= process.subsystems.test(static_cast<size_t>(early));
    }
    if (process.rank >= 0) ranks.insert(process.rank);
    uint64_t& own = calls.emplace_back(0);
    bool is_ready = false;
    for (const CommSegment* segment : segments_of(job, process)) {
      begins = true;
      own += calls_of(*segment).total;
      is_ready |= segment->completed.line != 0;
    }
    ready += is_ready ? 1 : 0;
    if (!is_ready) unready = &process;
  }
  if (calls.empty()) {
    const std::string steps = step_words(job);
    if (!steps.empty()) return steps + " of the program";
    if (prints_steps(job)) return "only progress of the program";
    if (job.nccl_tests.empty()) return "only lines of the programs around NCCL";
    size_t rows = 0;
    bool is_summed_up = false;
    for (const NcclTestsRun& run : job.nccl_tests) {
      rows += run.rows.size();
      is_summed_up |= !run.busbw.empty();
    }
    if (rows > 0) return plural(rows, "row") + " of nccl-tests";
    return is_summed_up ? "a mean of nccl-tests" : "nccl-tests began and printed no row";
  }
  const std::string who = ranks.size() == calls.size() ? plural(std::ssize(ranks), "rank")
                                                       : plural(std::ssize(calls), "process");
  const bool works = std::ranges::max(calls) > 0 || (begins && shows_progress(job));
  if (works) {
    const std::string steps = step_words(job);
    return fmt::format("{} at work{}{}", who, calls_words(calls),
                       steps.empty() ? "" : ", " + steps);
  }
  if (ready > 0) {
    std::string but;
    // One alone is named: it is who to look at.
    if (ready + 1 == std::ssize(calls)) {
      but = unready->rank >= 0 ? fmt::format(", not by rank {}", unready->rank)
                               : fmt::format(", not by pid {}", unready->pid);
      if (!unready->host.empty()) but += " on " + printable(unready->host);
    }
    const std::string network =
        job.network.name.empty() ? "" : ", network " + printable(job.network.name);
    return fmt::format("init done by {}{}{}{}",
                       ready < std::ssize(calls) ? fmt::format("{} of ", ready) : "", who, but,
                       network);
  }
  if (begins) return "the start of " + who;
  return fmt::format("{} of {}", prints_steps(job) ? "steps" : "lines", who);
}

/// Why a job is unfinished is told where it is more than that no line shows an end.
std::string end_words(const EndOf& end) {
  if (end.state == EndState::Unfinished && end.what != kNoEnd) return end.what;
  return end.state == EndState::Finished ? "finished" : "no end";
}

// How the job ended, as rules ask for it.
//
//   job.outcome = "finished", "nccl-tests printed its summary"
//   job.noise_after_end = yes, "740 lines of WARN", of a job that finished or was ended

FactValue outcome(const Job& job, const Instance&) {
  const EndOf& end = outcome_of(job).job;
  if (end.state == EndState::Unknown) return unknown();
  return {std::string(to_string(end.state)), end.what, end.evidence, {}, {}};
}

/// WARN lines after the end of the work.
FactValue noise_after_end(const Job& job, const Instance&) {
  constexpr size_t kShown = 8;
  const EndState state = outcome_of(job).job.state;
  if (state != EndState::Finished && state != EndState::Stopped) return unknown();
  uint64_t lines = 0;
  std::vector<Evidence> noise;
  const auto add = [&](const RecordList& list) {
    const size_t before = noise.size();
    for (size_t i = 0; i < list.kept.size(); ++i) {
      if (list.kept.all()->level(list.kept.first_place() + i) != Level::Warn) continue;
      Evidence line = evidence_of(list.kept[i]);
      if (is_after_end(job, line)) noise.push_back(std::move(line));
    }
    // Equal lines are kept once: where all that are kept are noise, so are the others.
    const size_t added = noise.size() - before;
    lines += added == list.kept.size() ? list.total : added;
  };
  const std::vector<bool> warns = kinds_with_warnings();
  const std::vector<bool>& may_warn = logs_that_may_warn(job);
  for (size_t i = 0; i < job.logs.size(); ++i) {
    const SpeakerLog& log = job.logs[i];
    if (may_warn[i]) {
      for (const auto& [kind, list] : log.records) {
        if (warns[kind]) add(list);
      }
    }
    add(log.unrecognised.find(Record::kNoKind));
  }
  if (lines == 0) return no();
  std::ranges::stable_sort(noise, {}, &Evidence::where);
  if (noise.size() > kShown) noise.resize(kShown);
  return yes(fmt::format("{} of WARN", plural(lines, "line")), std::move(noise));
}

FactValue has_worked(const Job& job, const Instance&) {
  return shows_progress(job) ? yes({}) : no();
}

constexpr Fact kOutcomeFacts[] = {
    // Steps of a program, or rows of a test, stand in the logs.
    job_fact("job.has_worked", has_worked),
    // The job finished or was ended, and NCCL warns after that: its processes leave one after the
    // other.
    job_fact("job.noise_after_end", noise_after_end),
    // How the job ended: finished, failed, stopped, or unfinished, where no end is in the logs.
    job_fact("job.outcome", outcome, FactType::Text),
};

}  // namespace

bool is_named(const Process& process) { return process.pid >= 0 || process.rank >= 0; }

const JobOutcome& outcome_of(const Job& job) { return job.answers.of<&derive_outcome>(job); }

bool is_outlived(const Job& job, SourceRef where) {
  return outcome_of(job).job.state == EndState::Finished || went_on(job, where);
}

bool is_after_end(const Job& job, const Evidence& line) {
  const EndPlaces& places = job.answers.of<&derive_end_places>(job);
  if (places.by_input.empty() && places.by_process.empty()) return false;
  const auto end = places.by_input.find(input_of(job, line.where));
  if (end != places.by_input.end() && end->second < line.where) return true;
  const Header header = parse_event(line.text, all_wordings()).header;
  const auto own = places.by_process.find(std::pair(std::string(header.host), header.pid));
  return own != places.by_process.end() && is_before(job, own->second, line.where);
}

std::string extent_words(const Job& job) {
  const EndOf& end = outcome_of(job).job;
  if (end.state == EndState::Stopped) return seen_words(job);
  return fmt::format("{}, {}", seen_words(job), end_words(end));
}

std::string unseen_words(const Job& job) {
  if (!outcome_of(job).job.is_own || !job.nranks) return {};
  std::set<int> ranks;
  std::ptrdiff_t processes = 0;  // Those whose rank is not known may be any.
  for (const Process& process : job.processes) {
    if (process.rank >= 0) ranks.insert(process.rank);
    processes += process.has_nccl && is_named(process) ? 1 : 0;
  }
  auto seen = std::max(std::ssize(ranks), processes);
  // A process may be several ranks.
  for (const Communicator& comm : job.communicators) {
    const auto shown =
        std::ranges::count_if(comm.ranks, [](const CommRank& rank) { return rank.log >= 0; });
    seen = std::max<std::ptrdiff_t>(seen, shown);
  }
  return seen < *job.nranks ? fmt::format("{} of {} ranks seen", seen, *job.nranks) : "";
}

std::span<const Fact> outcome_facts() { return kOutcomeFacts; }

}  // namespace ncclog
