// What reports an error that no other finding explains?

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/named_failure.h"
#include "log/wording/other_programs.h"

namespace ncclog {

// What reports an error, and no other finding says what it means?
//
//   job.warned           = yes, NCCL warns: "Call to bind failed: …". The meaning of that WARN.
//   job.unknown_warning  = yes, node4: "NET/Ours : rail 3 went dark" is a WARN that no wording fits
//   job.unknown_failure  = yes, "srun: error: n7: task 9: Exited with exit code 134"
//   job.error_trail      = yes, rank 2: init.cc:1309 -> 5
//   job.init_trail       = yes, rank 2: graph/paths.cc:297 -> 3, init.cc:840 -> 3, group.cc:73 -> 3
//
// Rules of last resort stand on these, so that whatever reports an error is quoted and never ends
// in a clean verdict. Trails of a socket that closes are left out: every orderly end leaves some.

namespace {

std::optional<Record> first_unknown_warning(const Job& job) {
  std::optional<Record> first;
  for (const SpeakerLog& log : job.logs) {
    for (const Record& record : log.unrecognised.kept(Record::kNoKind)) {
      if (level_of(record) != Level::Warn) continue;
      if (!first || record.where < first->where) first = record;
    }
  }
  return first;
}

/// Says something either way: messages quote it.
FactValue warned(const Job& job, const Instance&) {
  if (const ReportedWarning* first = first_warning(job)) {
    return yes(
        fmt::format("NCCL warns: \"{}\". {}", message_of(first->record), first->warning.meaning),
        {evidence_of(first->record)});
  }
  const auto unknown_one = first_unknown_warning(job);
  if (!unknown_one) return {false, "No WARN of NCCL says more.", {}, {}, {}};
  return yes(fmt::format("A WARN in unknown words says: \"{}\".", message_of(*unknown_one)),
             {evidence_of(*unknown_one)});
}

/// Lines of that kind in `lists` of all processes that `wanted` accepts.
template <typename Wanted>
FactValue lines_where(const Job& job, RecordLists SpeakerLog::*lists, uint16_t kind,
                      Wanted wanted) {
  FactValue value = yes({});
  SourceRef first;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    bool named = false;
    for (const size_t log : job.processes[p].logs) {
      for (const Record& record : (job.logs[log].*lists).kept(kind)) {
        const Event event = parse_record(record);
        if (!wanted(p, event, record) || is_after_end(job, evidence_of(record))) continue;
        if (value.evidence.empty() || record.where < first) {
          first = record.where;
          value.what = excerpt_of(event.header.message);
        }
        value.evidence.push_back(evidence_of(record));
        if (!named) value.processes.push_back(static_cast<int>(p));
        named = true;
      }
    }
  }
  return value.evidence.empty() ? unknown() : value;
}

/// In words for a message that goes on after it.
FactValue told(FactValue value, std::string_view how) {
  if (value.known()) value.what = fmt::format("{}: \"{}\". ", how, value.what);
  return value;
}

/// Those that the job went on after, which no line shows to have finished, or all others.
template <bool are_outlived>
FactValue unknown_warning(const Job& job, const Instance&) {
  const bool finished = outcome_of(job).job.state == EndState::Finished;
  return told(lines_where(job, &SpeakerLog::unrecognised, Record::kNoKind,
                          [&](size_t, const Event& event, const Record& record) {
                            return event.header.level == Level::Warn &&
                                   (!finished && went_on(job, record.where)) == are_outlived;
                          }),
              "a WARN in unknown words");
}

/// A WARN whose header cannot be read, a lookup that failed, or what only names a failure: the job
/// may go on after these.
bool is_mere_warning(std::string_view line) {
  return line.find("NCCL WARN ") != line.npos || line.find("gai error:") != line.npos ||
         !looks_like_error(line);
}

/// Lines of other programs that report an error in unknown words: mere warnings, or all others.
template <bool are_mere>
FactValue unknown_lines(const Job& job, const Instance&) {
  constexpr uint32_t kOthers =
      (1U << static_cast<unsigned>(Level::None)) | (1U << static_cast<unsigned>(Level::Framework));
  FactValue value = yes({});
  for (const auto& [shape, lines] : job.unknown.all) {
    if ((lines.levels & kOthers) == 0 || is_mere_warning(lines.example) != are_mere) continue;
    if (auto line = line_that_counts(job, lines)) value.evidence.push_back(std::move(*line));
  }
  std::ranges::sort(value.evidence, {}, &Evidence::where);
  for (const Evidence& line : value.evidence) {
    const int process = process_that_printed(job, line.text);
    if (process >= 0) value.processes.push_back(process);
  }
  if (value.evidence.empty()) return unknown();
  value.what = excerpt_of(value.evidence.front().text);
  return told(std::move(value),
              are_mere ? "an error in unknown words" : "The first that no wording fits");
}

/// Kinds whose lines report a failure that no rule need explain.
constexpr std::string_view kReports[] = {
#include "diagnose/outcome/failure_reports.inc"
};

/// "unhandled system error (ncclSystemError): a system call of NCCL failed; …", or the line itself:
/// what the line tells of its failure. `strange` is a WARN before it in words that nobody knows.
std::string reason_in(std::string_view line, const NamedFailure* failure,
                      const ReportedWarning* warning, const Record& strange) {
  if (failure == nullptr) return fmt::format("\"{}\"", excerpt_of(line));
  // "NCCL_DEBUG=WARN shows which": it is there.
  const bool is_told = failure->list == "nccl" && failure->sort == FailureSort::Consequence;
  if (is_told && strange)
    return fmt::format("\"{}\" ({})", message_of(strange), words_of(*failure));
  if (is_told && warning != nullptr) {
    return fmt::format("\"{}\", and NCCL warns: \"{}\"", words_of(*failure),
                       message_of(warning->record));
  }
  const std::string_view name = name_of(*failure);
  return fmt::format("\"{}\"{}{}", words_of(*failure),
                     name.empty() ? "" : fmt::format(" ({})", name),
                     failure->meaning.empty() ? "" : fmt::format(": {}", failure->meaning));
}

/// What closes or is closed leaves such lines behind, in orderly ends, too.
bool is_of_closing(const ErrorTrace& trace) {
  constexpr std::string_view kFiles[] = {"misc/socket.cc", "proxy.cc", "ras/"};
  const bool is_closed = trace.code == 3 || trace.code == 6;
  return trace.file.find("ras/") != trace.file.npos ||
         (is_closed && holds_one_of(trace.file, kFiles));
}

/// The process went on after the line: it connected, or its communicator was complete. What
/// failed was tried, and done without.
bool went_on_after(const Job& job, const Process& process, SourceRef where) {
  const auto is_later = [&](SourceRef later) { return later.unit == where.unit && where < later; };
  return std::ranges::any_of(process.logs, [&](size_t index) {
    const SpeakerLog& log = job.logs[index];
    const auto& connections = log.connections.all;
    if (std::ranges::any_of(connections,
                            [&](const auto& entry) { return is_later(entry.second.first); })) {
      return true;
    }
    return std::ranges::any_of(log.records.kept(kKindIndex<CommInit>), [&](const Record& record) {
      return is_later(record.where) &&
             read_message<CommInit>(parse_message(record)).phase == "COMPLETE";
    });
  });
}

/// The trail of an interface that has no device, as in pods: "Could not find real path of
/// /sys/class/net/eth0/device", "include/net.h:24 -> 2". NCCL takes it for a distant one and goes on.
bool is_of_virtual_interface(const Job& job, const Process& process, const ErrorTrace& trace,
                             SourceRef where) {
  if (!trace.file.ends_with("include/net.h")) return false;
  static const uint16_t kNote = find_kind("topology_note")->index;
  bool is_told = false;
  for_each_record(job, process, kNote, [&](const Record& note) {
    is_told |= note.where.unit == where.unit && note.where < where &&
               note.text().find("real path of /sys/class/net/") != std::string::npos;
  });
  return is_told;
}

/// "ncclSystemError at include/net.h:32": what the first of the lines, at least one, returned.
std::string trail_words(const std::vector<Evidence>& lines) {
  const auto first = std::ranges::min_element(lines, {}, &Evidence::where);
  const Event event = parse_event(first->text, all_wordings());
  const auto trace = read_message<ErrorTrace>(event.message);
  return fmt::format("{} at {}:{}", result_name(trace.code), to_valid_utf8(trace.file), trace.line);
}

FactValue error_trail(const Job& job, const Instance&) {
  FactValue value = lines_where(
      job, &SpeakerLog::records, kKindIndex<ErrorTrace>,
      [&](size_t process, const Event& event, const Record& record) {
        const auto trace = read_message<ErrorTrace>(event.message);
        constexpr int kInProgress = 7;
        // A word without an extension is a piece of another line, and no file.
        const bool is_file = trace.file.find('.') != trace.file.npos;
        return is_file && trace.code > 0 && trace.code < kInProgress && !is_of_closing(trace) &&
               !is_of_virtual_interface(job, job.processes[process], trace, record.where) &&
               !went_on_after(job, job.processes[process], record.where);
      });
  if (value.known())
    value.what = fmt::format("a call of NCCL returned {}. ", trail_words(value.evidence));
  return value;
}

constexpr std::string_view kNamelessFailure = "a failure";

/// What the lines that report a failure say of it: NCCL's own WARN before a library's name for it,
/// that before any other line, and of equals the first. Always known: messages quote it.
FactValue failure_words(const Job& job, const Instance& instance) {
  const ReportedWarning* warning = first_warning(job);
  if (warning != nullptr && warning->is_own_failure() &&
      !is_after_end(job, evidence_of(warning->record))) {
    return yes(fmt::format("\"{}\"", message_of(warning->record)));
  }
  const auto& stop = stop_evidence(job);
  FactValue value = yes(stop ? stop->what : std::string(kNamelessFailure));
  const auto strange = first_unknown_warning(job);
  std::pair<int, SourceRef> best(3, {});
  const auto add = [&](const Evidence& line, std::string_view text, bool needs_name) {
    const NamedFailure* failure = named_failure_in(text);
    const bool is_cause = failure != nullptr && failure->sort == FailureSort::Cause;
    const std::pair<int, SourceRef> worth(is_cause ? 0 : failure != nullptr ? 1 : 2, line.where);
    if ((needs_name && failure == nullptr) || best <= worth || is_after_end(job, line)) return;
    best = worth;
    const bool is_warned = strange && is_before(job, strange->where, line.where);
    value.what = reason_in(text, failure, warning, is_warned ? *strange : Record());
  };
  for (const std::string_view name : kReports) {
    const bool needs_name = name == "python_exception";
    for (const SpeakerLog& log : job.logs) {
      for (const Record& record : log.records.kept(find_kind(name)->index)) {
        add(evidence_of(record), parse_record(record).header.message, needs_name);
      }
    }
  }
  for (const auto& [shape, lines] : job.unknown.all) {
    if (is_mere_warning(lines.example) || went_on(job, lines.first)) continue;
    add({lines.first, lines.example}, parse_event(lines.example, all_wordings()).header.message,
        false);
  }
  if (value.what == kNamelessFailure && warning != nullptr)
    value.what = fmt::format("\"{}\"", message_of(warning->record));
  // A line without a name tells less than the result that NCCL handed on before it.
  const FactValue trail = best.first == 2 ? error_trail(job, instance) : unknown();
  if (trail.known() && is_before(job, trail.evidence.front().where, best.second))
    value.what = fmt::format("{}, then {}", trail_words(trail.evidence), value.what);
  return value;
}

/// Up to NCCL 2.21 the WARN has no reason, and the one before it, of the call that failed, is not
/// there. The call that reserves memory is the one that fails as a rule.
FactValue shm_reason_untold(const Job& job, const Instance&) {
  static const uint16_t kCreate = find_kind("shm_create_failed")->index;
  static const uint16_t kReasons[] = {find_kind("shm_extend_failed")->index,
                                      find_kind("system_call_failed")->index};
  FactValue value = lines_where(job, &SpeakerLog::records, kCreate,
                                [&](size_t process, const Event& event, const Record&) {
                                  bool has_reason = !event.message.field("error").empty();
                                  for (const uint16_t kind : kReasons) {
                                    for_each_record(job, job.processes[process], kind,
                                                    [&](const Record&) { has_reason = true; });
                                  }
                                  return !has_reason;
                                });
  value.what = value.known() ? ", most likely: the log has no reason" : "";
  value.inferred = true;
  return value;
}

/// "init.cc" in NCCL's source, wherever it was built.
bool is_source(const ErrorTrace& trace, std::string_view name) {
  return trace.file == name ||
         (trace.file.ends_with(name) &&
          trace.file.substr(0, trace.file.size() - name.size()).ends_with("src/"));
}

/// Only an initialisation comes through these.
bool is_of_setup(const ErrorTrace& trace) {
  constexpr std::string_view kFiles[] = {"bootstrap.c", "graph/",     "transport.c",
                                         "transport/",  "channel.cc", "collnet"};
  return holds_one_of(trace.file, kFiles);
}

/// A trail that went from NCCL's set-up through init.cc to the thread that init runs in.
struct InitTrail {
  std::vector<Record> lines;  ///< Of one error, innermost first.
  bool through_setup = false;
  bool through_init = false;
  std::string first;  ///< "graph/paths.cc:297".
  int code = 0;

  /// Takes the next line of the process. True where it is the end of a failed initialisation.
  bool add(const Record& record, const ErrorTrace& trace) {
    constexpr int kInProgress = 7;
    const bool is_error = trace.code > 0 && trace.code < kInProgress;
    if (trace.code != code || (through_init && is_of_setup(trace))) *this = {};
    if (!is_error) return false;
    if (lines.empty()) first = fmt::format("{}:{}", trace.file, trace.line);
    code = trace.code;
    lines.push_back(record);
    through_setup |= is_of_setup(trace);
    const bool ends = through_init && is_source(trace, "group.cc");
    through_init |= is_source(trace, "init.cc");
    return ends;
  }
};

/// No communicator of the process was there before that line: what went through init.cc then is
/// no destruction.
bool is_first_communicator(const Job& job, const Process& process, SourceRef where) {
  const auto segments = segments_of(job, process);
  return std::ranges::none_of(segments, [&](const CommSegment* segment) {
    return (segment->completed.line != 0 && segment->completed < where) ||
           calls_of(*segment).total > 0;
  });
}

std::optional<InitTrail> init_trail_of(const Job& job, const Process& process) {
  for (const size_t log : process.logs) {
    InitTrail trail;
    for (const Record& record : job.logs[log].records.kept(kKindIndex<ErrorTrace>)) {
      const Event event = parse_record(record);
      if (!trail.add(record, read_message<ErrorTrace>(event.message))) continue;
      const bool is_init = trail.through_setup || is_first_communicator(job, process, record.where);
      const bool is_over =
          is_after_end(job, evidence_of(record)) || went_on_after(job, process, record.where);
      if (is_init && !is_over) return trail;
      trail = {};
    }
    // The log ends with it, before a communicator was there: nothing else was tried.
    const bool is_last = !trail.lines.empty() && trail.through_setup &&
                         is_first_communicator(job, process, trail.lines.back().where) &&
                         !went_on_after(job, process, trail.lines.back().where) &&
                         !is_after_end(job, evidence_of(trail.lines.back()));
    if (is_last) return trail;
  }
  return std::nullopt;
}

/// The WARN that the process printed right before that line: its reason, however harmless lines of
/// its kind are elsewhere. An empty one: something else stands there.
Record warning_before(const Job& job, const Process& process, SourceRef where) {
  Record last;
  for (const size_t log : process.logs) {
    for (const RecordLists* lists : {&job.logs[log].records, &job.logs[log].unrecognised}) {
      for (const auto& [kind, list] : *lists) {
        for (const Record& record : list.kept) {
          const bool is_before = record.where.unit == where.unit && record.where < where;
          if (is_before && (!last || last.where < record.where)) last = record;
        }
      }
    }
  }
  return last && level_of(last) == Level::Warn ? last : Record();
}

FactValue init_trail(const Job& job, const Instance&) {
  FactValue value = yes({});
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const auto trail = init_trail_of(job, job.processes[p]);
    if (!trail) continue;
    const Record reason = warning_before(job, job.processes[p], trail->lines.front().where);
    if (value.processes.empty()) {
      const std::string_view code = result_name(trail->code);
      const std::string first = to_valid_utf8(trail->first);
      value.what =
          reason ? fmt::format(
                       "\"{}\", and with it the initialisation of a communicator failed ({} at {})",
                       message_of(reason), code, first)
                 : fmt::format(
                       "the initialisation of a communicator failed with {}, which the call at {} "
                       "returned first. Why it did, no line says",
                       code, first);
    }
    if (reason) value.evidence.push_back(evidence_of(reason));
    value.processes.push_back(static_cast<int>(p));
    value.evidence.push_back(evidence_of(trail->lines.front()));
    value.evidence.push_back(evidence_of(trail->lines.back()));
  }
  return value.evidence.empty() ? unknown() : value;
}

/// Where XLA quotes the last WARN, whichever call it was of, and says so.
std::set<SourceRef> quotes_of_xla(const Job& job) {
  static const uint16_t kQuote = find_kind("xla_nccl_failure")->index;
  std::set<SourceRef> places;
  for (const SpeakerLog& log : job.logs) {
    for (const Record& record : log.records.kept(kQuote)) places.insert(record.where);
  }
  return places;
}

/// Processes that print a WARN after which the call fails, mere victims among them. What only its
/// initialisation outlived is told where the job finished, as what it did without.
FactValue warned_fatally(const Job& job, const Instance&) {
  FactValue value = yes({});
  const bool finished = outcome_of(job).job.state == EndState::Finished;
  const std::set<SourceRef> unrelated = quotes_of_xla(job);
  for (const ReportedWarning& each : reported_warnings(job)) {
    const bool fails = each.warning.severity == WarnSeverity::Fatal || (finished && each.outlived);
    // It destroyed a communicator in order: what it warned of before did not stop it.
    const auto segments = segments_of(job, nth_process(job, each.process));
    if (!fails || std::ranges::count(segments, CommFate::Destroyed, &CommSegment::end) > 0)
      continue;
    if (is_after_end(job, evidence_of(each.record)) || unrelated.contains(each.record.where))
      continue;
    value.evidence.push_back(evidence_of(each.record));
    if (value.processes.empty() || value.processes.back() != each.process) {
      value.processes.push_back(each.process);
    }
  }
  if (value.evidence.empty()) return unknown();
  value.what = warned(job, {}).what;
  return value;
}

/// Names those whose own call failed. What the WARN means is told by job.warned.
FactValue warned_of_failure(const Job& job, const Instance& instance) {
  std::vector<int> processes = warned_fatally(job, instance).processes;
  std::erase_if(processes,
                [&](int process) { return !reports_own_failure(job, nth_process(job, process)); });
  const ReportedWarning* first = first_warning(job);
  if (processes.empty() || first == nullptr) return unknown();
  return yes(message_of(first->record), {evidence_of(first->record)}, std::move(processes));
}

/// The same where nothing else says why.
FactValue silent_init_failure(const Job& job, const Instance& instance) {
  for (const auto told_by : {warned_fatally, unknown_warning<false>, unknown_lines<false>}) {
    if (told_by(job, instance).known()) return no();
  }
  return init_trail(job, instance);
}

/// The last traceback of a log, where nothing of the framework stands after it: its exception is
/// unknown or cut off.
Record open_traceback(const SpeakerLog& log) {
  const auto& begun = log.records.kept(kKindIndex<TracebackStarted>);
  if (begun.empty()) return {};
  const Record last = begun.back();
  const bool is_closed =
      std::any_of(log.records.begin(), log.records.end(), [&](const auto& entry) {
        return entry.first != kKindIndex<TracebackStarted> &&
               entry.first != kKindIndex<TracebackFrame> &&
               all_kinds()[entry.first].source == Source::Framework && !entry.second.kept.empty() &&
               last.where < entry.second.kept.back().where;
      });
  return is_closed ? Record() : last;
}

FactValue uncaught(const Job& job, const Instance&) {
  FactValue value = yes({});
  const auto add = [&](int process, const Record& record, std::string what) {
    if (value.evidence.empty()) value.what = std::move(what);
    value.evidence.push_back(evidence_of(record));
    value.processes.push_back(process);
  };
  for (const auto& [process, record] : uncaught_exceptions(job)) {
    add(process, record, fmt::format("an exception: \"{}\". ", message_of(record)));
  }
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      const Record traceback = open_traceback(job.logs[log]);
      if (!traceback || went_on(job, traceback.where)) continue;
      add(static_cast<int>(p), traceback, "a traceback whose exception is not known. ");
    }
  }
  return value.evidence.empty() ? unknown() : value;
}

/// The earliest of them alone: sentences of several kinds in a row read as one garbled line. Two
/// inputs have no order; the one that was read first counts.
FactValue unexplained(const Job& job, const Instance& instance) {
  const auto begin_of = [](const FactValue& value) {
    return std::ranges::min(value.evidence, {}, &Evidence::where).where;
  };
  FactValue first = unknown();
  for (const auto told_by : {unknown_lines<false>, unknown_warning<false>, unknown_lines<true>,
                             uncaught, error_trail, warned_fatally}) {
    FactValue told = told_by(job, instance);
    const bool leads = told.known() && !told.evidence.empty() &&
                       (!first.known() || begin_of(told) < begin_of(first));
    if (leads) first = std::move(told);
  }
  return first;
}

/// Its line alone, for a headline.
FactValue unexplained_line(const Job& job, const Instance& instance) {
  FactValue value = unexplained(job, instance);
  if (value.known() && !value.evidence.empty()) {
    const Event event = parse_event(value.evidence.front().text, all_wordings());
    value.what = fmt::format("\"{}\"", excerpt_of(event.header.message));
  }
  return value;
}

/// Never unknown: without a line that shows the end, it is not evident.
FactValue evidently_finished(const Job& job, const Instance&) {
  const EndOf& end = outcome_of(job).job;
  return end.state == EndState::Finished ? yes(end.what) : no();
}

constexpr std::array kErrorFacts = {
    // A checked call of NCCL returned an error to its caller, other than of a closing socket.
    job_fact("job.error_trail", error_trail),
    // A shared memory segment could not be made, and no line of that process says why.
    job_fact("job.shm_reason_untold", shm_reason_untold),
    // Lines show that the job did its work and ended.
    job_fact("job.evidently_finished", evidently_finished),
    // What the lines that report a failure say of it, in words that a message quotes.
    job_fact("job.failure_words", failure_words),
    // Errors of checked calls went up to the call that makes a communicator, which so failed.
    job_fact("job.init_trail", init_trail),
    // The same, and no WARN or error of another kind says more.
    job_fact("job.silent_init_failure", silent_init_failure),
    // A Python exception or traceback stands there, and the program did not go on after it.
    job_fact("job.uncaught", uncaught),
    // A WARN, an error, an exception or a call that failed, the first of those without an
    // explanation.
    job_fact("job.unexplained", unexplained),
    // The same, with its line in quotes as its words.
    job_fact("job.unexplained_line", unexplained_line),
    // A line in unknown words holds a WARN or an error that need not be fatal.
    job_fact("job.unknown_error", unknown_lines<true>),
    // A line in unknown words reports that a process or a call of NCCL failed.
    job_fact("job.unknown_failure", unknown_lines<false>),
    // NCCL or a plugin printed a WARN that no wording fits.
    job_fact("job.unknown_warning", unknown_warning<false>),
    // The same, and the job went on after it: three steps were printed, or every rank goes on calling.
    job_fact("job.unknown_warning_outlived", unknown_warning<true>),
    // NCCL printed a WARN whose meaning is known; quoted is the one nearest to a cause.
    job_fact("job.warned", warned),
    // A process printed a WARN after which its call fails, as a victim perhaps, and did not end in
    // order.
    job_fact("job.warned_fatally", warned_fatally),
    // A process printed a WARN after which its call fails, and did not end in order.
    job_fact("job.warned_of_failure", warned_of_failure),
};

}  // namespace

std::span<const Fact> error_facts() { return kErrorFacts; }

}  // namespace ncclog
