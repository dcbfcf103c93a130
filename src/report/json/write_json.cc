// The report for scripts: JSON, schema ncclog.report/2 (report/json/report.schema.json).
//
//   {"schema": "ncclog.report/2", "verdict": {"status": "problem", "headline": "…", …}, …}
//
// What the log does not say is null, never a made-up value. Bytes that are not UTF-8 become U+FFFD.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "diagnose/iterations/iterations.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/outcome.h"
#include "report/report_formats.h"

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

Json number(int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }

Json text(std::string_view value) {
  return value.empty() ? Json(nullptr) : Json(to_valid_utf8(value));
}

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(to_valid_utf8(value));
  return list;
}

/// A line as evidence, cut between characters.
std::string capped(std::string_view line) {
  if (line.size() <= kMaxEvidenceBytes) return to_valid_utf8(line);
  size_t end = kMaxEvidenceBytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return to_valid_utf8(line.substr(0, end)) + "…";
}

Json network_json(const Network& network) {
  Json interfaces = Json::array();
  for (const Interface& interface : network.interfaces) {
    interfaces.push_back({{"host", text(interface.host)},
                          {"name", to_valid_utf8(interface.name)},
                          {"address", text(interface.address)},
                          {"port", number(interface.port)},
                          {"link", text(interface.link)}});
  }
  return {{"name", text(network.name)},
          {"plugin", text(network.plugin)},
          {"interfaces", std::move(interfaces)}};
}

Json environment_json(const Job& job) {
  Json list = Json::array();
  for (const EnvironmentSetting& setting : job.environment) {
    std::set<int> ranks;
    for (const int process : setting.processes) {
      ranks.insert(job.processes[static_cast<size_t>(process)].rank);
    }
    ranks.erase(-1);
    list.push_back({{"name", to_valid_utf8(setting.name)},
                    {"value", to_valid_utf8(setting.value)},
                    {"ranks", ranks}});
  }
  return list;
}

Json comm_rank_json(const Job& job, const CommRank& rank) {
  const Process* process =
      rank.process < 0 ? nullptr : &job.processes[static_cast<size_t>(rank.process)];
  return {{"rank", number(rank.rank)},
          {"host", process == nullptr ? Json(nullptr) : text(process->host)},
          {"pid", process == nullptr ? Json(nullptr) : number(process->pid)},
          {"cuda_dev", number(rank.cuda_dev)},
          {"bus_id", text(rank.bus_id)},
          {"state", to_string(rank.state)}};
}

Json communicator_json(const Job& job, const Communicator& comm) {
  Json ranks = Json::array();
  for (const CommRank& rank : comm.ranks) ranks.push_back(comm_rank_json(job, rank));
  const Json parent = comm.parent < 0
                          ? Json(nullptr)
                          : Json(job.communicators[static_cast<size_t>(comm.parent)].id);
  return {{"id", comm.id},
          {"nranks", number(comm.nranks)},
          {"nhosts", comm.hosts.size()},
          {"parent", parent},
          {"calls", comm.calls ? Json(*comm.calls) : Json(nullptr)},
          {"ranks", std::move(ranks)}};
}

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

/// The different calls in the order of the first iteration with them, and all iterations with them.
std::vector<std::pair<OpCounts, Ranges>> by_calls(const std::vector<IterationPattern>& patterns) {
  std::map<OpCounts, size_t> places;
  std::vector<std::pair<OpCounts, Ranges>> joined;
  for (const IterationPattern& pattern : patterns) {
    const auto [place, is_new] = places.try_emplace(pattern.calls, joined.size());
    if (is_new) joined.emplace_back(pattern.calls, Ranges());
    Ranges& ranges = joined[place->second].second;
    ranges.insert(ranges.end(), pattern.iterations.begin(), pattern.iterations.end());
  }
  constexpr size_t kMaxPatterns = 1000;
  if (joined.size() > kMaxPatterns) joined.resize(kMaxPatterns);
  for (auto& [calls, ranges] : joined) std::sort(ranges.begin(), ranges.end());
  return joined;
}

/// The first kMaxIterations of them.
Json iteration_numbers(const Ranges& ranges) {
  constexpr size_t kMaxIterations = 4096;
  Json numbers = Json::array();
  for (const auto& [first, last] : ranges) {
    for (int64_t i = first; i <= last && numbers.size() < kMaxIterations; ++i) {
      numbers.push_back(i);
    }
  }
  return numbers;
}

/// null where too few repeat to be called a loop.
Json iterations_json(const Job& job) {
  constexpr uint64_t kFew = 3;
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  if (!found || (found->source == IterationSource::Period && found->count < kFew)) return nullptr;
  Json patterns = Json::array();
  for (const auto& [calls_of_each, iterations] : by_calls(found->patterns)) {
    Json by_op = Json::object();
    for (const auto& [op, n] : calls_of_each) by_op[to_valid_utf8(op)] = n;
    patterns.push_back(
        {{"iterations", iteration_numbers(iterations)}, {"calls", std::move(by_op)}});
  }
  return {{"source", to_string(found->source)},
          {"count", found->count},
          {"patterns", std::move(patterns)}};
}

Json span_json(const Job& job) {
  const auto span = span_of(job);
  if (!span) return nullptr;
  return {{"first", to_valid_utf8(span->first)}, {"last", to_valid_utf8(span->last)}};
}

Json job_json(const Job& job) {
  Json communicators = Json::array();
  for (const Communicator& comm : job.communicators) {
    communicators.push_back(communicator_json(job, comm));
  }
  return {{"nccl_versions", texts(job.nccl_versions)},
          {"cuda_versions", texts(job.cuda_versions)},
          {"pytorch_versions", texts(job.pytorch_versions)},
          {"hosts", texts(job.hosts)},
          {"nhosts", job.nhosts},
          {"nranks", job.nranks ? Json(*job.nranks) : Json(nullptr)},
          {"nprocesses", job.processes.size()},
          {"span", span_json(job)},
          {"network", network_json(job.network)},
          {"environment", environment_json(job)},
          {"communicators", std::move(communicators)},
          {"iterations", iterations_json(job)}};
}

Json subject_json(const Subject& subject) {
  return {{"host", text(subject.host)},
          {"rank", number(subject.rank)},
          {"pid", number(subject.pid)},
          {"communicator", text(subject.communicator)}};
}

Json evidence_json(const Job& job, const std::vector<Evidence>& evidence) {
  Json list = Json::array();
  for (const Evidence& item : evidence) {
    const FileLine place = file_line(job, item.where);
    list.push_back(
        {{"file", to_valid_utf8(place.path)}, {"line", place.line}, {"text", capped(item.text)}});
  }
  return list;
}

Json finding_json(const Job& job, const Finding& finding) {
  return {{"id", finding.id},
          {"severity", to_string(finding.severity)},
          {"confidence", to_string(finding.confidence)},
          {"role", to_string(finding.role)},
          {"title", to_valid_utf8(finding.title)},
          {"message", to_valid_utf8(finding.message)},
          {"subject", subject_json(finding.subject)},
          {"hosts", texts(finding.hosts)},
          {"ranks", finding.ranks},
          {"evidence", evidence_json(job, finding.evidence)},
          {"evidence_omitted", finding.evidence_omitted},
          {"check", texts(finding.check)},
          {"fix", texts(finding.fix)},
          {"do_not", texts(finding.do_not)},
          {"references", texts(finding.references)},
          {"explains", texts(finding.explains)}};
}

Json outcome_json(const Report& report) {
  const JobOutcome& outcome = outcome_of(report.job);
  Json processes = Json::array();
  for (size_t p = 0; p < outcome.processes.size(); ++p) {
    const Process& process = report.job.processes[p];
    if (process.pid < 0 && process.rank < 0) continue;  // What a file says that names nobody.
    processes.push_back({{"host", text(process.host)},
                         {"pid", number(process.pid)},
                         {"rank", number(process.rank)},
                         {"state", to_string(outcome.processes[p].state)},
                         {"evidence", evidence_json(report.job, outcome.processes[p].evidence)}});
  }
  const Diagnosis& diagnosis = report.diagnosis;
  const EndOf& end =
      diagnosis.runs.empty() ? outcome.job : diagnosis.runs[diagnosis.leading_run].end;
  return {{"job", to_string(end.state)},
          {"stated", report.job.stated ? Json(to_string(*report.job.stated)) : Json()},
          {"evidence", evidence_json(report.job, end.evidence)},
          {"processes", std::move(processes)}};
}

Json findings_json(const Report& report) {
  Json list = Json::array();
  for (const Finding& finding : report.diagnosis.findings) {
    list.push_back(finding_json(report.job, finding));
  }
  return list;
}

Json not_judged_json(const std::vector<NotJudged>& not_judged) {
  Json list = Json::array();
  for (const NotJudged& gap : not_judged) {
    list.push_back({{"question", to_valid_utf8(gap.question)},
                    {"reason", to_valid_utf8(gap.reason)},
                    {"how_to_capture", to_valid_utf8(gap.how_to_capture)}});
  }
  return list;
}

Json overlay_json(const OverlayEffect& effect) {
  return {{"rule", effect.finding.id},
          {"effect", effect.severity ? "severity" : "suppressed"},
          {"severity", to_string(effect.finding.severity)},
          {"new_severity", effect.severity ? Json(to_string(*effect.severity)) : Json(nullptr)},
          {"message", to_valid_utf8(effect.finding.message)},
          {"hosts", texts(effect.finding.hosts)},
          {"ranks", effect.finding.ranks},
          {"reason", to_valid_utf8(effect.reason)},
          {"until", effect.until},
          {"where", to_valid_utf8(effect.where)}};
}

Json overlays_json(const Diagnosis& diagnosis) {
  Json applied = Json::array();
  for (const OverlayEffect& effect : diagnosis.overlays) applied.push_back(overlay_json(effect));
  Json ended = Json::array();
  for (const EndedOverlay& overlay : diagnosis.ended_overlays) {
    ended.push_back({{"rule", overlay.rule},
                     {"reason", to_valid_utf8(overlay.reason)},
                     {"until", overlay.until},
                     {"where", to_valid_utf8(overlay.where)}});
  }
  return {{"applied", std::move(applied)}, {"ended", std::move(ended)}};
}

Json log_size_json(const LogSize& size) {
  const bool calls = size.bytes_per_call > 0;
  return {{"start_bytes_per_rank", size.start_bytes},
          {"bytes_per_hour_and_rank", calls ? Json(size.bytes_per_hour()) : Json(nullptr)},
          {"collectives_per_second", calls ? Json(size.calls_per_second) : Json(nullptr)},
          {"rests_on", size.rests_on}};
}

Json capture_json(const CaptureAdvice& advice) {
  Json settings = Json::array();
  for (const CaptureSetting& setting : advice.settings) {
    settings.push_back({{"name", setting.name}, {"value", setting.value}});
  }
  return {{"settings", std::move(settings)},
          {"steps", texts(advice.steps)},
          {"log_size", advice.size ? log_size_json(*advice.size) : Json(nullptr)}};
}

Json inputs_json(const std::vector<JobInput>& inputs) {
  Json list = Json::array();
  for (const JobInput& input : inputs) {
    list.push_back({{"path", to_valid_utf8(input.path)},
                    {"format", input.format},
                    {"bytes", input.bytes},
                    {"lines", input.lines},
                    {"status", to_string(input.status)},
                    {"note", text(input.note)}});
  }
  return list;
}

Json losses_json(const LossTable& losses) {
  Json rows = Json::array();
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    if (losses.counts[i] == 0) continue;
    const LossRow& row = loss_rows()[i];
    rows.push_back({{"name", row.name},
                    {"severity", to_string(row.severity)},
                    {"count", losses.counts[i]},
                    {"meaning", row.meaning},
                    {"advice", row.advice}});
  }
  return {{"lines", losses.lines},
          {"recognised", losses.recognised},
          {"unrecognised", losses.unrecognised},
          {"foreign", losses.foreign},
          {"unreadable", losses.unreadable},
          {"rows", std::move(rows)}};
}

Json verdict_json(const Verdict& verdict) {
  return {{"status", to_string(verdict.status)},
          {"headline", to_valid_utf8(verdict.headline)},
          {"finding", text(verdict.finding)}};
}

Json runs_json(const std::vector<JudgedRun>& runs) {
  Json list = Json::array();
  for (const JudgedRun& run : runs) {
    list.push_back({{"name", run.name},
                    {"verdict", verdict_json(run.verdict)},
                    {"outcome", to_string(run.end.state)},
                    {"pids", run.pids},
                    {"findings", run.findings}});
  }
  return list;
}

Json profile_json(const Report& report) {
  Json results = Json::array();
  for (const CheckedExpectation& expectation : report.profile->expectations) {
    results.push_back({{"expectation", to_valid_utf8(expectation.text)},
                       {"severity", to_string(expectation.severity)},
                       {"outcome", to_string(expectation.outcome.state)},
                       {"what", to_valid_utf8(expectation.outcome.what)},
                       {"how_to_capture", text(expectation.how_to_capture)}});
  }
  return {{"profile", to_valid_utf8(report.profile->name)},
          {"title", to_valid_utf8(report.profile->title)},
          {"results", std::move(results)}};
}

Json replay_json(const ReplaySummary& replay) {
  return {{"file", to_valid_utf8(replay.file)},
          {"unfit", text(replay.unfit)},
          {"finding", text(replay.finding)},
          {"kind", replay.kind},
          {"confidence", text(replay.confidence)},
          {"headline", to_valid_utf8(replay.headline)},
          {"machine", text(replay.machine)},
          {"runs", texts(replay.runs)},
          {"changed", texts(replay.changed)},
          {"limits", texts(replay.limits)},
          {"must_not_conclude", texts(replay.must_not_conclude)}};
}

}  // namespace

std::string write_json(const Report& report) {
  Json json = {{"schema", "ncclog.report/2"},
               {"tool",
                {{"name", report.tool.name},
                 {"version", report.tool.version},
                 {"rulebook", report.tool.rulebook}}},
               {"verdict", verdict_json(report.diagnosis.verdict)},
               {"outcome", outcome_json(report)},
               {"runs", runs_json(report.diagnosis.runs)},
               {"job", job_json(report.job)},
               {"findings", findings_json(report)},
               {"not_judged", not_judged_json(report.diagnosis.not_judged)},
               {"inputs", inputs_json(report.job.inputs)},
               {"losses", losses_json(report.job.losses)}};
  if (report.profile) json["expectations"] = profile_json(report);
  if (report.replay) json["replay"] = replay_json(*report.replay);
  const Diagnosis& diagnosis = report.diagnosis;
  if (!diagnosis.capture.empty()) json["capture"] = capture_json(diagnosis.capture);
  if (!diagnosis.overlays.empty() || !diagnosis.ended_overlays.empty()) {
    json["overlays"] = overlays_json(diagnosis);
  }
  return json.dump(2) + "\n";
}

}  // namespace ncclog
