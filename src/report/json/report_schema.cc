// The report for scripts: JSON, schema ncclog.report/3, and that schema.
//
//   {"schema": "ncclog.report/3", "verdict": {"status": "problem", "headline": "…", …}, …}

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/safe_json.h"
#include "diagnose/iterations/iterations.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/job_span.h"
#include "diagnose/outcome/outcome.h"
#include "report/json/json_fields.h"
#include "report/report.h"
#include "report/tables/tables.h"
#include "rules/check.h"
#include "rules/headline.h"

namespace ncclog {

std::string shown_evidence(std::string_view line) {
  if (line.size() <= kMaxEvidenceBytes) return to_valid_utf8(line);
  size_t end = kMaxEvidenceBytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return to_valid_utf8(line.substr(0, end)) + "…";
}

namespace {

constexpr std::string_view kEndStateHelp =
    "unfinished: at work, and no end is in the logs; unknown: they show neither.";

// The job.

constexpr Key<Interface> kInterface[] = {
    {"host", kNameOrNull<&Interface::host>},
    {"name", kText<&Interface::name, type::name>},
    {"address", kNameOrNull<&Interface::address>},
    {"port", kNumberOrNull<&Interface::port>},
    {"link", kNameOrNull<&Interface::link, type::one_of<"IB|RoCE|Ethernet">>},
};

constexpr Key<Network> kNetwork[] = {
    {"name", kNameOrNull<&Network::name>, "As after 'Using network'."},
    {"plugin", kNameOrNull<&Network::plugin>, "'internal' if no external plugin was loaded."},
    {"interfaces", kObjects<&Network::interfaces, kInterface>},
};

Json ranks_of(const Job& job, const EnvironmentSetting& setting) {
  std::set<int> ranks;
  for (const int process : setting.processes) ranks.insert(job.processes[process].rank);
  ranks.erase(-1);
  return ranks;
}

constexpr Key<EnvironmentSetting> kSetting[] = {
    {"name", kText<&EnvironmentSetting::name, type::name>},
    {"value", kText<&EnvironmentSetting::value>},
    {"ranks",
     {type::set<type::count>, ranks_of},
     "Ranks that report the setting, as far as their numbers are known."},
};

const Process& driver_of(const Job& job, const CommRank& rank) {
  return process_at(job, rank.process);
}

constexpr Key<CommRank> kMember[] = {
    {"rank", kNumberOrNull<&CommRank::rank>},
    {"host", kVia<driver_of, kNameOrNull<&Process::host>>},
    {"pid", kVia<driver_of, kNumberOrNull<&Process::pid>>},
    {"cuda_dev", kNumberOrNull<&CommRank::cuda_dev>},
    {"bus_id", kNameOrNull<&CommRank::bus_id>},
    {"state", kWord<&CommRank::state>},
};

constexpr Key<Communicator> kCommunicator[] = {
    {"id", kText<&Communicator::id, type::name>, "commId, or 'inferred-N' where none is printed."},
    {"nranks", kNumberOrNull<&Communicator::nranks>},
    {"nhosts",
     {type::count, [](const Job&, const Communicator& comm) -> Json { return comm.hosts.size(); }}},
    {"parent",
     {type::nullable<type::name>,
      [](const Job& job, const Communicator& comm) -> Json {
        return write_name(parent_id(job, comm));
      }},
     "Id of the parent."},
    {"calls", kOptional<&Communicator::calls>,
     "Collectives entered by the rank that entered most; null: none logged."},
    {"ranks", kObjects<&Communicator::ranks, kMember>},
};

using Ranges = std::vector<std::pair<int64_t, int64_t>>;
using CallsOfIterations = std::pair<OpCounts, Ranges>;

/// The different calls in the order of the first iteration with them, and all iterations with them.
std::vector<CallsOfIterations> by_calls(const std::vector<IterationPattern>& patterns) {
  std::map<OpCounts, size_t> places;
  std::vector<CallsOfIterations> joined;
  for (const IterationPattern& pattern : patterns) {
    const auto [place, is_new] = places.try_emplace(pattern.calls, joined.size());
    if (is_new) joined.emplace_back(pattern.calls, Ranges());
    Ranges& ranges = joined[place->second].second;
    ranges.insert(ranges.end(), pattern.iterations.begin(), pattern.iterations.end());
  }
  constexpr size_t kMaxPatterns = 1000;
  if (joined.size() > kMaxPatterns) joined.resize(kMaxPatterns);
  for (auto& [calls, ranges] : joined) std::ranges::sort(ranges);
  return joined;
}

/// The first kMaxIterations of them.
Json iteration_numbers(const Ranges& ranges) {
  constexpr size_t kMaxIterations = 4096;
  Json numbers = Json::array();
  for (const auto& [first, last] : ranges) {
    for (int64_t i = first; i <= last && numbers.size() < kMaxIterations; ++i) numbers.push_back(i);
  }
  return numbers;
}

constexpr Key<CallsOfIterations> kPattern[] = {
    {"iterations",
     {type::list<type::count>,
      [](const Job&, const CallsOfIterations& pattern) {
        return iteration_numbers(pattern.second);
      }},
     "The first 4096 of them."},
    {"calls",
     {type::counts_by_name,
      [](const Job&, const CallsOfIterations& pattern) {
        Json by_op = Json::object();
        for (const auto& [op, n] : pattern.first) by_op[to_valid_utf8(op)] = n;
        return by_op;
      }}},
};

constexpr Key<JobIterations> kIterations[] = {
    {"source", kValue<&JobIterations::source, type::one_of<"marker|preset|period">>},
    {"count", kValue<&JobIterations::count>},
    {"patterns",
     {type::objects<kPattern>,
      [](const Job& job, const JobIterations& found) {
        return write_objects(job, kPattern, by_calls(found.patterns));
      }},
     "The different ones, by first iteration; the first 1000 of them."},
};

/// null where too few repeat to be called a loop.
Json write_iterations(const Job& job, const Job&) {
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  return found && is_loop(*found) ? write_object(job, kIterations, *found) : Json(nullptr);
}

constexpr Key<JobSpan> kSpan[] = {
    {"first", kText<&JobSpan::first, type::name>},
    {"last", kText<&JobSpan::last, type::name>},
};

constexpr Key<Job> kJob[] = {
    {"nccl_versions", kTexts<&Job::nccl_versions>},
    {"cuda_versions", kTexts<&Job::cuda_versions>},
    {"pytorch_versions", kTexts<&Job::pytorch_versions>},
    {"hosts", kTexts<&Job::hosts>},
    {"nhosts", kValue<&Job::nhosts>},
    {"nranks", kOptional<&Job::nranks>,
     "Size of the largest communicator, else what the log names."},
    {"nprocesses",
     {type::count, [](const Job& job, const Job&) -> Json { return job.processes.size(); }}},
    {"span",
     {type::nullable<type::object<kSpan>>,
      [](const Job& job, const Job&) {
        const auto span = span_of(job);
        return span ? write_object(job, kSpan, *span) : Json(nullptr);
      }},
     "Earliest and latest time that lines carry, as printed."},
    {"network", kObject<&Job::network, kNetwork>},
    {"environment", kObjects<&Job::environment, kSetting>},
    {"communicators", kObjects<&Job::communicators, kCommunicator>, "Largest first."},
    {"iterations",
     {type::nullable<type::object<kIterations>>, write_iterations},
     "What most processes call in each iteration, as far as one can tell them apart."},
};

// What follows from it.

constexpr Key<Subject> kSubject[] = {
    {"host", kNameOrNull<&Subject::host>},
    {"rank", kNumberOrNull<&Subject::rank>},
    {"pid", kNumberOrNull<&Subject::pid>},
    {"communicator", kNameOrNull<&Subject::communicator>},
};

constexpr Key<HostCheck> kHostCheck[] = {
    {"answer", kWord<&HostCheck::answer, type::one_of<"confirmed|refuted|shown">>,
     "'shown': no log shows the finding."},
    {"hosts", kTexts<&HostCheck::hosts, type::set<type::text>>, "Whose reports say so."},
    {"what", kText<&HostCheck::what>, "What they show."},
};

constexpr Key<HostReport> kHostReport[] = {
    {"host", kText<&HostReport::host>},
    {"source", kText<&HostReport::source>, "Where the report comes from."},
    {"record",
     {type::list<type::text>,
      [](const Job&, const HostReport& report) -> Json {
        Json lines = Json::array();
        for (const std::string_view line : split(report.record, '\n')) {
          if (!line.empty()) lines.push_back(to_valid_utf8(line));
        }
        return lines;
      }},
     "All that was read of the host, line by line, as `ncclog doctor --record` writes it."},
};

constexpr Key<Check> kCheck[] = {
    {"run", kTextIfAny<&Check::run>,
     "To be pasted into a shell; words in capitals stand for values: PID, LOGS.", true},
    {"why", kText<&Check::why, type::name>,
     "What the command shows, or what to look for; without a command, a question for a person."},
    {"where", kTextIfAny<&Check::where>,
     "'here', where the logs are read or jobs are started; else the finding's hosts, "
     "'gpu-node-[01-02]', or 'its hosts' where they are too many to be listed; else 'every host of "
     "the job'. `why` may say it more closely.",
     true},
};

/// Of the earliest line of its evidence that carries a time.
LineTime time_of(const Finding& finding) {
  std::vector<LineTime> times;
  for (const Evidence& line : finding.evidence) times.push_back(time_of_line(line.text));
  const auto span = span_of(times);
  return span ? span->first : LineTime();
}

constexpr Key<Finding> kFinding[] = {
    {"id", kText<&Finding::id, kFindingId>},
    {"severity", kWord<&Finding::severity>},
    {"confidence", kWord<&Finding::confidence>},
    {"role", kWord<&Finding::role>},
    {"title", kText<&Finding::title, type::name>},
    {"headline",
     {type::name,
      [](const Job&, const Finding& finding) -> Json {
        return to_valid_utf8(headline_of(finding));
      }},
     "The finding in one sentence of at most 120 characters."},
    {"message", kText<&Finding::message, type::name>},
    {"subject", kObject<&Finding::subject, kSubject>},
    {"hosts", kTexts<&Finding::hosts, type::set<type::text>>,
     "The guilty ones where evidence identifies them, else those whose own lines report the "
     "fault."},
    {"ranks", kValue<&Finding::ranks, type::set<type::count>>, "Likewise."},
    {"time",
     {type::nullable<type::name>,
      [](const Job&, const Finding& finding) { return write_name(time_of(finding).text); }},
     "Of the earliest line of its evidence, as printed. Clocks of hosts differ."},
    {"utc",
     {type::nullable<kUtc>,
      [](const Job&, const Finding& finding) { return write_name(utc_of(time_of(finding))); }},
     kUtcHelp},
    {"evidence", kObjects<&Finding::evidence, kEvidence>},
    {"evidence_omitted", kValue<&Finding::evidence_omitted>, "Further lines that show it."},
    {"check",
     {type::objects<kCheck>,
      [](const Job& job, const Finding& finding) {
        return write_objects(job, kCheck, find_checks(finding));
      }},
     "What to look at; changes nothing."},
    {"fix", kTexts<&Finding::fix>},
    {"do_not", kTexts<&Finding::do_not>},
    {"references", kTexts<&Finding::references>},
    {"explains", kTexts<&Finding::explains, type::list<kFindingId>>,
     "Findings of this report that follow from this one."},
    {"host_check",
     {type::object<kHostCheck>,
      [](const Job& job, const Finding& finding) {
        const bool any = finding.host_check.answer != HostCheck::Answer::None;
        return any ? write_object(job, kHostCheck, finding.host_check) : absent();
      }},
     "What reports of hosts say about it; only where some say anything.",
     true},
};

constexpr Key<Verdict> kVerdict[] = {
    {"status", kWord<&Verdict::status>},
    {"headline", kText<&Verdict::headline, type::name>, "One sentence."},
    {"finding", kNameOrNull<&Verdict::finding, kFindingId>, "The finding that the headline names."},
};

const EndOf& end_of_process(const Job& job, const Process& process) {
  return outcome_of(job).processes[&process - job.processes.data()];
}

constexpr Key<Process> kProcess[] = {
    {"host", kNameOrNull<&Process::host>},
    {"pid", kNumberOrNull<&Process::pid>},
    {"rank", kNumberOrNull<&Process::rank>},
    {"state", kVia<end_of_process, kWord<&EndOf::state>>, kEndStateHelp},
    {"evidence", kVia<end_of_process, kObjects<&EndOf::evidence, kEvidence>>},
};

/// Of the job, or of the run that the verdict is about.
const EndOf& end_of(const Job&, const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  return diagnosis.runs.empty() ? outcome_of(report.job).job
                                : diagnosis.runs[diagnosis.leading_run].end;
}

Json write_processes(const Job& job, const Report&) {
  Json list = Json::array();
  for (const Process& process : job.processes) {
    if (process.pid < 0 && process.rank < 0) continue;  // What a file says that names nobody.
    list.push_back(write_object(job, kProcess, process));
  }
  return list;
}

constexpr Key<Report> kOutcome[] = {
    {"job", kVia<end_of, kWord<&EndOf::state>>, kEndStateHelp},
    {"stated", kOf<&Report::job, kOptional<&Job::stated, type::word<StatedOutcome>>>,
     "What the user saw."},
    {"evidence", kVia<end_of, kObjects<&EndOf::evidence, kEvidence>>},
    {"processes", {type::objects<kProcess>, write_processes}},
};

constexpr Key<JudgedRun> kRun[] = {
    {"name", kText<&JudgedRun::name, type::name>, "'run 2', 'attempt 0'."},
    {"verdict", kObject<&JudgedRun::verdict, kVerdict>},
    {"outcome", kOf<&JudgedRun::end, kWord<&EndOf::state>>, kEndStateHelp},
    {"pids", kValue<&JudgedRun::pids, type::list<type::count>>},
    {"findings", kTexts<&JudgedRun::findings, type::list<kFindingId>>},
};

constexpr Key<Expectation> kExpectation[] = {
    {"expectation", kText<&Expectation::text>, "As the profile says it."},
    {"severity", kWord<&Expectation::severity>},
    {"outcome", kText<&Expectation::word, type::one_of<"met|broken|unknown">>},
    {"what", kOf<&Expectation::outcome, kText<&FactValue::what>>},
    {"how_to_capture", kNameOrNull<&Expectation::how_to_capture, type::text>,
     "Where the outcome is unknown."},
};

constexpr Key<Profile> kProfile[] = {
    {"profile", kText<&Profile::name>},
    {"title", kText<&Profile::title>},
    {"results", kObjects<&Profile::expectations, kExpectation>},
};

constexpr Key<ReplaySummary> kReplay[] = {
    {"file", kText<&ReplaySummary::file>, "The result's path."},
    {"unfit", kNameOrNull<&ReplaySummary::unfit, type::text>,
     "Why it is not of these logs and supports nothing; null: it is."},
    {"finding", kNameOrNull<&ReplaySummary::finding, type::text>,
     "Id of the finding that was tested."},
    {"kind", kText<&ReplaySummary::kind,
                   type::one_of<"reproduced-fault|reproduced-hypothesis|not-reproduced|clean-"
                                "without-defect|not-comparable|inconclusive|refused">>},
    {"confidence", kNameOrNull<&ReplaySummary::confidence, kConfidence>,
     "Null: it claims nothing about the job."},
    {"headline", kText<&ReplaySummary::headline>},
    {"machine", kNameOrNull<&ReplaySummary::machine, type::text>, "Where it was run."},
    {"runs", kTexts<&ReplaySummary::runs>, "One line each."},
    {"changed", kTexts<&ReplaySummary::changed>, "What was not as recorded."},
    {"limits", kTexts<&ReplaySummary::limits>, "What it cannot show."},
    {"must_not_conclude", kTexts<&ReplaySummary::must_not_conclude>},
};

constexpr Key<CaptureSetting> kCaptureSetting[] = {
    {"name", kText<&CaptureSetting::name, type::name>},
    {"value", kText<&CaptureSetting::value, type::name>},
};

constexpr Key<LogSize> kLogSize[] = {
    {"start_bytes_per_rank", kValue<&LogSize::start_bytes>},
    {"bytes_per_hour_and_rank",
     {type::nullable<type::count>,
      [](const Job&, const LogSize& size) {
        return size.bytes_per_call > 0 ? Json(size.bytes_per_hour()) : Json(nullptr);
      }},
     "Null: collectives will not be logged."},
    {"collectives_per_second",
     {type::nullable<type::number>,
      [](const Job&, const LogSize& size) {
        return size.bytes_per_call > 0 ? Json(size.calls_per_second) : Json(nullptr);
      }}},
    {"rests_on", kText<&LogSize::rests_on, type::name>},
};

constexpr Key<CaptureAdvice> kCapture[] = {
    {"settings", kObjects<&CaptureAdvice::settings, kCaptureSetting>,
     "Environment variables for all ranks."},
    {"steps", kTexts<&CaptureAdvice::steps, type::list<type::name>>, "What no variable does."},
    {"log_size", kObjectOrNull<&CaptureAdvice::size, kLogSize>,
     "An estimate; null: NCCL will write no more than it did."},
};

constexpr Key<OverlayEffect> kOverlayEffect[] = {
    {"rule", kOf<&OverlayEffect::finding, kText<&Finding::id, kFindingId>>},
    {"effect",
     {type::one_of<"suppressed|severity">,
      [](const Job&, const OverlayEffect& of) -> Json {
        return of.severity ? "severity" : "suppressed";
      }}},
    {"severity", kOf<&OverlayEffect::finding, kWord<&Finding::severity>>, "As the rule has it."},
    {"new_severity", kOptional<&OverlayEffect::severity, kSeverity>},
    {"message", kOf<&OverlayEffect::finding, kText<&Finding::message>>},
    {"hosts", kOf<&OverlayEffect::finding, kTexts<&Finding::hosts>>},
    {"ranks", kOf<&OverlayEffect::finding, kValue<&Finding::ranks, type::list<type::count>>>},
    {"reason", kText<&OverlayEffect::reason, type::name>},
    {"until", kText<&OverlayEffect::until, kDay>},
    {"where", kText<&OverlayEffect::where>, "File, line and column of the overlay."},
};

constexpr Key<EndedOverlay> kEndedOverlay[] = {
    {"rule", kText<&EndedOverlay::rule, kFindingId>},
    {"reason", kText<&EndedOverlay::reason, type::name>},
    {"until", kText<&EndedOverlay::until, kDay>},
    {"where", kText<&EndedOverlay::where>},
};

constexpr Key<Diagnosis> kOverlays[] = {
    {"applied", kObjects<&Diagnosis::overlays, kOverlayEffect>},
    {"ended", kObjects<&Diagnosis::ended_overlays, kEndedOverlay>,
     "Overlays whose last day has passed: not applied."},
};

// What was read.

constexpr auto kInputFormat = type::matching<
    "^(plain|gzip|bzip2|xz|zstd|flight_recorder|ras|inspector|topology|"
    "(tar|zip|7z)(\\+(gzip|bzip2|xz|zstd))?)$">;

constexpr Key<JobInput> kInput[] = {
    {"path", kText<&JobInput::path, type::name>},
    {"format", kText<&JobInput::format, kInputFormat>,
     "flight_recorder, ras, inspector, topology: such a document, however compressed. tar+gzip and "
     "the like: "
     "an archive; its members follow it."},
    {"bytes", kValue<&JobInput::bytes>, "On the disk; of a file in an archive, unpacked."},
    {"lines", kValue<&JobInput::lines>},
    {"status", kWord<&JobInput::status, type::one_of<"whole|cut|unreadable|skipped">>},
    {"note", kNameOrNull<&JobInput::note>},
};

uint64_t times_of(const Job& job, const LossRow& loss) {
  return job.losses.counts[&loss - kLossRows];
}

constexpr Key<LossRow> kLoss[] = {
    {"name", kText<&LossRow::name, type::matching<"^[a-z0-9_]+$">>},
    {"severity", kText<&LossRow::severity, type::one_of<"info|notice|data_loss|error">>},
    {"count",
     {type::positive,
      [](const Job& job, const LossRow& loss) -> Json { return times_of(job, loss); }}},
    {"meaning", kText<&LossRow::meaning>},
    {"advice", kText<&LossRow::advice>},
};

constexpr Key<LossTable> kLosses[] = {
    {"lines", kValue<&LossTable::lines>, "recognised + unrecognised + foreign + unreadable."},
    {"recognised", kValue<&LossTable::recognised>},
    {"unrecognised", kValue<&LossTable::unrecognised>, "NCCL lines of unknown wording."},
    {"foreign", kValue<&LossTable::foreign>},
    {"unreadable", kValue<&LossTable::unreadable>},
    {"rows",
     {type::objects<kLoss>,
      [](const Job& job, const LossTable&) {
        Json rows = Json::array();
        for (const LossRow& loss : kLossRows) {
          if (times_of(job, loss) > 0) rows.push_back(write_object(job, kLoss, loss));
        }
        return rows;
      }}},
};

// The whole.

constexpr Key<Report> kReport[] = {
    {"schema", kSchemaName<Report, "ncclog.report/3">},
    {"tool", kObject<&Report::tool, kTool>},
    {"verdict", kOf<&Report::diagnosis, kObject<&Diagnosis::verdict, kVerdict>>},
    {"outcome",
     {type::object<kOutcome>,
      [](const Job& job, const Report& report) { return write_object(job, kOutcome, report); }},
     "How the job and each of its processes ended, with the lines that show it."},
    {"runs", kOf<&Report::diagnosis, kObjects<&Diagnosis::runs, kRun>>,
     "Where the input holds more than one run of the program: each for itself, in the order in "
     "which they began. Empty: one."},
    {"job", kObject<&Report::job, kJob>},
    {"findings", kOf<&Report::diagnosis, kObjects<&Diagnosis::findings, kFinding>>,
     "At most one per id; causes stand before what follows from them."},
    {"not_judged", kOf<&Report::diagnosis, kObjects<&Diagnosis::not_judged, kNotJudged>>,
     "What this input cannot tell."},
    {"inputs", kOf<&Report::job, kObjects<&Job::inputs, kInput>>,
     "In order of path; an archive is followed by its members in its own order."},
    {"losses", kOf<&Report::job, kObject<&Job::losses, kLosses>>},
    {"host_reports",
     {type::objects<kHostReport>,
      [](const Job& job, const Report&) {
        return job.host_reports.empty() ? absent()
                                        : write_objects(job, kHostReport, job.host_reports);
      }},
     "Of doctor, and what --with-host named; only there with them.",
     true},
    {"expectations", kObjectIfAny<&Report::profile, kProfile>,
     "How the job stands to the profile that --expect named; only there with it.", true},
    {"replay", kObjectIfAny<&Report::replay, kReplay>,
     "What the replay showed whose result --with-replay named; only there with it.", true},
    {"capture",
     {type::object<kCapture>,
      [](const Job& job, const Report& report) {
        const CaptureAdvice& advice = report.diagnosis.capture;
        return advice.empty() ? absent() : write_object(job, kCapture, advice);
      }},
     "How the next logs answer all of not_judged; only where something is left open.",
     true},
    {"overlays",
     {type::object<kOverlays>,
      [](const Job& job, const Report& report) {
        const Diagnosis& diagnosis = report.diagnosis;
        const bool any = !diagnosis.overlays.empty() || !diagnosis.ended_overlays.empty();
        return any ? write_object(job, kOverlays, diagnosis) : absent();
      }},
     "What overlays of the site did to findings; only where some did, or have ended.",
     true},
};

}  // namespace

std::string write_json(const Report& report) {
  return safe_json(write_object(report.job, kReport, report).dump(2)) + "\n";
}

std::string report_schema() {
  return document_schema("urn:ncclog:report:3", "ncclog.report/3",
                         "The report of `ncclog analyze --format json`. Null stands where the log "
                         "does not say. Keys that are not required may be added; what is here "
                         "stays.",
                         kReport);
}

}  // namespace ncclog
