#include "app/commands/replay_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "app/commands/replay.h"
#include "app/options.h"
#include "app/output.h"
#include "base/text.h"
#include "replay/judge/run_reading.h"
#include "replay/plan/build_plan.h"
#include "report/document/render.h"
#include "report/tables/table.h"

namespace ncclog {
namespace {

/// "reproduced-hypothesis (likely)".
std::string kind_text(const ReplayVerdict& verdict) {
  std::string text(to_string(verdict.kind));
  if (verdict.confidence) text += fmt::format(" ({})", to_string(*verdict.confidence));
  return text;
}

/// How the run of that mode ended, for people.
Cell end_cell(const ReplayResult& result, const ReplayPair& pair, MadeIn mode) {
  const RunReading& reading = mode == MadeIn::Defect ? pair.defect : pair.clean;
  const RunOutcome* run = find_run(result.outcome, mode, pair.settings);
  if (run == nullptr) return text_cell(to_string(reading.shows));
  return text_cell(end_word(result.hypothesis, *run, reading.shows));
}

Table variations(const ReplayResult& result) {
  const ReplayVerdict& verdict = result.verdict;
  Table table{.name = "variations", .columns = {"setting", "outcome", "defect", "clean"}};
  if (verdict.pairs.size() < 2) return table;
  for (const ReplayPair& pair : verdict.pairs) {
    table.rows.push_back({text_cell(pair.settings), text_cell(to_string(pair.kind)),
                          end_cell(result, pair, MadeIn::Defect),
                          end_cell(result, pair, MadeIn::Clean)});
  }
  return table;
}

Cell rounded(double value) { return text_cell(fmt::format("{:.1f}", value)); }

Cell rounded_or_none(double value) { return value > 0 ? rounded(value) : Cell(); }

Table times(const ReplayResult& result) {
  Table table{.name = "times",
              .columns = {"call", "bytes", "runs", "cold us", "median us", "spread us", "busbw",
                          "in series", "link", "of it", "setting"}};
  for (const ReplayTiming& row : result.timings) {
    const CallTiming& timing = row.timing;
    const bool known = row.share >= 0;
    table.rows.push_back(
        {text_cell(timing.op), number_cell(timing.bytes), number_cell(timing.runs),
         rounded(timing.cold_us), rounded(timing.median_us),
         text_cell(fmt::format("{:.1f}-{:.1f}", timing.least_us, timing.most_us)),
         rounded(timing.busbw), rounded_or_none(timing.series_busbw),
         text_cell(known ? fmt::format("{:.1f} {}", row.link_bw, printable(row.link_type)) : ""),
         text_cell(known ? fmt::format("{:.0f} %", 100 * row.share) : ""),
         text_cell(row.settings)});
  }
  if (!table.rows.empty()) {
    table.notes.push_back(
        "Bandwidths in GB/s as nccl-tests defines them; in series: of runs back "
        "to back, as it measures, all else of single ones. The link "
        "is the slowest path between the GPUs as NCCL's own topology lists it: "
        "large buffers come near to it, small ones do not, and NVLink SHARP can "
        "exceed it.");
  }
  return table;
}

void add_table(Document& document, std::string heading, const Table& table) {
  if (!table.rows.empty()) add_section(document, std::move(heading), {table});
}

void add_text(Document& document, std::string heading, const std::string& text) {
  if (!text.empty()) add_section(document, std::move(heading), {Paragraph{text, 1}});
}

/// "2 x NVIDIA H200": the GPUs by name; empty: none.
std::string gpus_phrase(const ReplayOutcome& outcome) {
  std::map<std::string, size_t> names;
  for (const ReplayGpu& gpu : outcome.gpus) ++names[gpu.name];
  std::vector<std::string> parts;
  for (const auto& [name, n] : names) parts.push_back(fmt::format("{} x {}", n, name));
  return join(parts, ", ");
}

/// Empty if nothing is known of it.
std::string machine_text(const ReplayOutcome& outcome) {
  std::vector<std::string> parts;
  if (!outcome.gpus.empty()) parts.push_back(gpus_phrase(outcome));
  if (!outcome.nccl_version.empty()) {
    parts.push_back(fmt::format("NCCL {} ({})", outcome.nccl_version, outcome.nccl_library));
  }
  if (!outcome.cuda_version.empty()) parts.push_back("CUDA " + outcome.cuda_version);
  if (!outcome.driver.empty()) parts.push_back("driver for CUDA " + outcome.driver);
  return join(parts, ", ");
}

}  // namespace

std::string replay_headline(const ReplayResult& result, const TextStyle& style) {
  const ReplayVerdict& verdict = result.verdict;
  const Tone tone = tone_of(to_string(verdict.kind), Tone::Strong);
  return fmt::format("{}: {}\n", paint(kind_text(verdict), tone, style),
                     printable(verdict.headline));
}

Document replay_document(const ReplayResult& result) {
  const ReplayVerdict& verdict = result.verdict;
  Document document{{{.heading = kind_text(verdict), .blocks = {Paragraph{verdict.headline, 1}}}}};
  add_points(document, "Runs", verdict.runs);
  add_table(document, "By setting", variations(result));
  add_table(document, "Times", times(result));
  add_points(document, "By times", time_comparisons(result.timings));
  // What was as recorded is told in one paragraph: it is what readers expect.
  add_text(document, "As recorded", join(verdict.held, "; "));
  add_points(document, "Not as recorded", verdict.changed);
  add_points(document, "What this cannot show", verdict.limits);
  add_points(document, "Do not conclude", verdict.must_not_conclude);
  add_points(document, "Next", verdict.next);
  add_text(document, "Replayed on", machine_text(result.outcome));
  return document;
}

void tell_replay(const ReplayResult& result, const std::string& path, Console& console) {
  const std::string text = write_result(result);
  if (path == kStandardOutput) {
    console.out += text;
    return;
  }
  if (!path.empty()) write_output_file(path, text);
  const TextStyle style = console.style(ColorChoice::Auto);
  console.out +=
      console.quiet ? replay_headline(result, style) : render_text(replay_document(result), style);
  if (!path.empty()) console.err += fmt::format("wrote {}\n", printable(path));
}

ExitStatus status_of(ReplayVerdictKind kind) {
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
    case ReplayVerdictKind::CleanWithoutDefect:
      return ExitStatus::Fine;
    case ReplayVerdictKind::ReproducedFault:
    case ReplayVerdictKind::NotReproduced:
      return ExitStatus::Findings;
    case ReplayVerdictKind::NotComparable:
    case ReplayVerdictKind::Inconclusive:
      return ExitStatus::Partial;
    case ReplayVerdictKind::Refused:
      break;
  }
  return ExitStatus::CannotDo;
}

namespace {

/// The logs name it, or the Flight Recorder's dumps do, of which plans can be made, too.
bool has_communicator(const Job& job, const std::string& id) {
  const std::vector<RecordedGroup> groups = recorded_groups(job);
  return std::any_of(job.communicators.begin(), job.communicators.end(),
                     [&](const Communicator& comm) { return comm.id == id; }) ||
         std::any_of(groups.begin(), groups.end(),
                     [&](const RecordedGroup& group) { return communicator_of(job, group) == id; });
}

/// Why the result is of other logs; empty: nothing speaks against these.
std::string why_unfit(const Report& report, const ReplayResult& result) {
  for (const std::string& id : result.communicators) {
    if (!has_communicator(report.job, id)) return fmt::format("they know no communicator {}", id);
  }
  const std::string& finding = result.hypothesis.finding;
  if (!finding.empty() && find_finding(report, finding) == nullptr) {
    return fmt::format("it tests the finding {}, which they do not show", finding);
  }
  return {};
}

std::string machine_of(const ReplayOutcome& outcome) {
  std::string out = gpus_phrase(outcome);
  if (outcome.nccl_version.empty()) return out;
  return out + (out.empty() ? "" : ", ") + "NCCL " + outcome.nccl_version;
}

}  // namespace

ReplayResult load_replay_result(const std::string& path) {
  return parse_result(read_replay_file(path), path);
}

ReplaySummary join_replay(const Report& report, const ReplayResult& result,
                          const std::string& path) {
  const ReplayVerdict& verdict = result.verdict;
  ReplaySummary replay;
  replay.file = path;
  replay.unfit = why_unfit(report, result);
  replay.finding = result.hypothesis.finding;
  replay.kind = to_string(verdict.kind);
  if (verdict.confidence) replay.confidence = to_string(*verdict.confidence);
  replay.headline = verdict.headline;
  replay.machine = machine_of(result.outcome);
  replay.runs = verdict.runs;
  replay.changed = verdict.changed;
  replay.limits = verdict.limits;
  replay.must_not_conclude = verdict.must_not_conclude;
  return replay;
}

}  // namespace ncclog
