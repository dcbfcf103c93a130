// The issue forms of projects, filled with what the logs hold: `analyze --for nccl`.
//
//   ### NCCL Version
//
//   2.28.9, CUDA 13.0
//
//   ### Still missing
//
//   - How to reproduce it: the smallest program or command, how often it happens, …
//
// A form is rows of issue_forms.table: the headings that the project gives it (2026), in its order.
// What no line tells is never guessed: it stands below all fields, with how to find it out, and
// what to set for the next run.

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/outcome/outcome.h"
#include "model/timeline.h"
#include "report/document/document.h"
#include "report/document/report_document.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

using Blocks = std::vector<Block>;

/// What the verdict says, the finding that it names, and how the job ended.
Blocks what_happened(const Report& report) {
  const Verdict& verdict = report.diagnosis.verdict;
  const Finding* main = find_finding(report, verdict.finding);
  Blocks blocks = {Paragraph{main == nullptr ? verdict.headline : main->message}};
  if (main != nullptr && !main->why.empty()) blocks.push_back(Labelled{"why", main->why});
  blocks.push_back(Paragraph{outcome_text(report.job)});
  return blocks;
}

/// The first WARN of the job: of those with times the earliest, else the first that was read.
Blocks first_warning(const Report& report) {
  for (const Milestone& milestone : build_timeline(report.job).milestones) {
    if (milestone.what != "WARN") continue;
    return {Quotes{.label = "first NCCL WARN",
                   .quotes = {{place_name(report.job, milestone.where), milestone.detail}}}};
  }
  return {};
}

/// The lines that the verdict's finding rests on.
Blocks telling_lines(const Report& report) {
  constexpr size_t kMost = 8;
  const Finding* main = find_finding(report, report.diagnosis.verdict.finding);
  if (main == nullptr || main->evidence.empty()) return {};
  Quotes quotes = evidence_quotes(report.job, *main, kMost);
  quotes.label = "lines that show it";
  return {std::move(quotes)};
}

Blocks impact(const Report& report) {
  const Job& job = report.job;
  const std::vector<CallFront> fronts = call_fronts(job);
  const bool waits = std::ranges::any_of(fronts, [&](const CallFront& front) {
    return front.is_open() || job.communicators[front.communicator].difference;
  });
  const bool is_problem = report.diagnosis.verdict.status == VerdictStatus::Problem;
  const EndState end = outcome_of(job).job.state;
  if (job.stated == StatedOutcome::Slow) return {Paragraph{"Lower performance than expected"}};
  if (job.stated == StatedOutcome::Hung || (is_problem && waits)) {
    return {Paragraph{"Application hang"}};
  }
  if (job.stated == StatedOutcome::Crashed || end == EndState::Failed) {
    return {Paragraph{"Application crash"}};
  }
  return {};
}

Blocks nccl_version(const Report& report) {
  const Job& job = report.job;
  if (job.nccl_versions.empty()) return {};
  std::string text = join(job.nccl_versions, ", ");
  if (!job.cuda_versions.empty()) text += ", CUDA " + join(job.cuda_versions, ", ");
  return {Paragraph{std::move(text)}};
}

/// Hosts, ranks, GPUs, versions, network and interfaces.
Blocks platform(const Report& report) {
  KeyValues shape = job_shape(report.job);
  if (shape.rows.empty()) return {};
  return {std::move(shape)};
}

Blocks settings(const Report& report) {
  if (report.job.environment.empty()) return {};
  return {Paragraph{"Settings that NCCL reports:"}, environment_table(report.job)};
}

/// That NCCL logged at INFO: more of it would show no WARN.
Blocks info_lines(const Report& report) {
  if (has_spoken(report.job, Subsystem::Init)) return {Paragraph{"NCCL_DEBUG=INFO"}};
  return first_warning(report);
}

using Field = Blocks (*)(const Report& report);

/// What the columns of issue_forms.table call them.
constexpr std::pair<std::string_view, Field> kFields[] = {
    {"impact", impact},         {"lines", telling_lines}, {"settings", settings},
    {"version", nccl_version},  {"platform", platform},   {"behavior", what_happened},
    {"warning", first_warning}, {"info", info_lines}};

/// A heading of a form, or something that may be missing with how to find it out; and which fields
/// hold it. Without a field the logs never do.
struct FormRow {
  std::string_view form;
  std::string_view kind;  ///< "section", "missing".
  std::string_view text;
  std::string_view fields;  ///< With commas between them.

  Blocks blocks(const Report& report) const {
    Blocks all;
    for (const std::string_view name : split(fields, ',')) {
      for (const auto& [known, field] : kFields) {
        if (known == name) std::ranges::move(field(report), std::back_inserter(all));
      }
    }
    return all;
  }
};

constexpr FormRow kRows[] = {
#include "report/document/issue_forms.inc"
};

/// What the logs do not hold, and how the next ones would.
Section missing_section(Items points, const Report& report) {
  for (const NotJudged& gap : report.diagnosis.not_judged) {
    points.items.push_back(gap.question + " " + gap.reason);
  }
  Section section{.heading = "Still missing", .blocks = {std::move(points)}};
  const CaptureAdvice& capture = report.diagnosis.capture;
  if (!capture.settings.empty()) {
    section.blocks.push_back(Paragraph{"What the next run has to set:"});
    section.blocks.push_back(capture_code(capture));
  }
  if (!capture.steps.empty()) section.blocks.push_back(Items{"", capture.steps});
  return section;
}

std::string filled(std::string_view form, const Report& report) {
  Document document{.signature = signature_of(report.tool)};
  Items missing;
  for (const FormRow& row : kRows) {
    if (row.form != form) continue;
    Blocks blocks = row.blocks(report);
    if (row.kind == "missing") {
      if (blocks.empty()) missing.items.emplace_back(row.text);
      continue;
    }
    if (blocks.empty()) blocks.push_back(Paragraph{"Not in the logs; see below."});
    document.sections.push_back({std::string(row.text), std::move(blocks)});
  }
  document.sections.push_back(missing_section(std::move(missing), report));
  return render_markdown(document);
}

constexpr ReportKind kForms[] = {
    {"nccl", "md", "the issue form of NCCL",
     [](const Report& report, const TextStyle&) { return filled("nccl", report); }},
    {"pytorch", "md", "the issue form of PyTorch",
     [](const Report& report, const TextStyle&) { return filled("pytorch", report); }},
    {"vllm", "md", "the issue form of vLLM",
     [](const Report& report, const TextStyle&) { return filled("vllm", report); }},
    {"sglang", "md", "the issue form of SGLang",
     [](const Report& report, const TextStyle&) { return filled("sglang", report); }},
};

}  // namespace

std::span<const ReportKind> issue_forms() { return kForms; }

}  // namespace ncclog
