// The issue forms of NCCL, PyTorch and vLLM, filled with what the logs hold: `report --for nccl`.
//
//   ### NCCL Version
//
//   2.28.9, CUDA 13.0
//
//   ### Still missing
//
//   - How to reproduce it: the smallest program or command, how often it happens, …
//
// A form is a row: its fields under the headings that the project gives them (2026), in its order.
// What no line tells is never guessed: it stands below all fields, with how to find it out, and what
// to set for the next run.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/outcome.h"
#include "model/timeline.h"
#include "report/document/render.h"
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
                   .quotes = {{place_text(report.job, milestone.where), milestone.detail}}}};
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
  const bool waits = std::any_of(fronts.begin(), fronts.end(), [&](const CallFront& front) {
    return front.is_open() || job.communicators[static_cast<size_t>(front.communicator)].difference;
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
  Facts shape = job_shape(report.job);
  if (shape.rows.empty()) return {};
  return {std::move(shape)};
}

Blocks settings(const Report& report) {
  if (report.job.environment.empty()) return {};
  return {Paragraph{"Settings that NCCL reports:"}, environment_table(report.job)};
}

using Field = Blocks (*)(const Report& report);

struct FormSection {
  std::string_view heading;
  std::array<Field, 4> fields = {};
};

struct Missing {
  std::string_view what;  ///< And how to find it out.
  Field field;            ///< Where the logs hold it if they do; nullptr: logs never do.
};

struct IssueForm {
  std::vector<FormSection> sections;
  std::vector<Missing> missing;
};

constexpr Missing kSteps = {
    "How to reproduce it: the smallest program or command that shows it, how often it happens, and "
    "whether an older version worked.",
    nullptr};
constexpr Missing kWarning = {"The first NCCL WARN: run with `NCCL_DEBUG=INFO` on every rank.",
                              first_warning};
constexpr Missing kVersion = {
    "The NCCL version: `NCCL_DEBUG=VERSION` prints it, `strings libnccl.so` shows it.",
    nccl_version};

/// https://github.com/NVIDIA/nccl/issues/new?template=ISSUE.yaml
IssueForm nccl_form() {
  return {
      {{"How is this issue impacting you?", {impact}},
       {"Share Your Debug Logs", {telling_lines}},
       {"Steps to Reproduce the Issue", {settings}},
       {"NCCL Version", {nccl_version}},
       {"Your platform details", {platform}},
       {"Error Message & Behavior", {what_happened, first_warning}}},
      {{"How it affects you: lower performance than expected, a crash, corrupt data or a hang.",
        impact},
       kSteps,
       kVersion,
       kWarning,
       {"GPUs and topology: the output of `nvidia-smi`, `nvidia-smi topo -m` and `ibstatus`, and "
        "the file that `NCCL_TOPO_DUMP_FILE` names.",
        nullptr},
       {"Whether it runs on bare metal, in containers or in a cloud.", nullptr},
       {"The logs themselves: `ncclog report LOGS --bundle logs.tar.zst` packs them without "
        "names.",
        nullptr}}};
}

/// https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml
IssueForm pytorch_form() {
  return {{{"🐛 Describe the bug", {what_happened, first_warning, telling_lines}},
           {"Versions", {platform, settings}}},
          {kSteps,
           {"The full traceback of the exception, of the rank that failed first.", nullptr},
           {"Versions: the output of `python -m torch.utils.collect_env`.", nullptr},
           kVersion,
           kWarning}};
}

/// https://github.com/vllm-project/vllm/issues/new?template=400-bug-report.yml
IssueForm vllm_form() {
  return {{{"Your current environment", {platform, settings}},
           {"🐛 Describe the bug", {what_happened, first_warning, telling_lines}}},
          {{"Your environment: the output of vLLM's `collect_env.py`.", nullptr},
           kSteps,
           {"The full error message with its traceback; `VLLM_LOGGING_LEVEL=DEBUG` logs more.",
            nullptr},
           kVersion,
           kWarning}};
}

/// What the logs do not hold, and how the next ones would.
Section missing_section(const IssueForm& form, const Report& report) {
  Items points;
  for (const Missing& missing : form.missing) {
    const bool is_there = missing.field != nullptr && !missing.field(report).empty();
    if (!is_there) points.items.emplace_back(missing.what);
  }
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

std::string filled(const IssueForm& form, const Report& report) {
  Document document;
  for (const FormSection& field : form.sections) {
    Section section{.heading = std::string(field.heading)};
    for (const Field blocks_of : field.fields) {
      if (blocks_of == nullptr) continue;
      for (Block& block : blocks_of(report)) section.blocks.push_back(std::move(block));
    }
    if (section.blocks.empty()) section.blocks.push_back(Paragraph{"Not in the logs; see below."});
    document.sections.push_back(std::move(section));
  }
  document.sections.push_back(missing_section(form, report));
  document.signature = signature_of(report.tool);
  return render_markdown(document);
}

constexpr ReportKind kForms[] = {
    {"nccl", "md", "the issue form of NCCL",
     [](const Report& report, const TextStyle&) { return filled(nccl_form(), report); }},
    {"pytorch", "md", "the issue form of PyTorch",
     [](const Report& report, const TextStyle&) { return filled(pytorch_form(), report); }},
    {"vllm", "md", "the issue form of vLLM",
     [](const Report& report, const TextStyle&) { return filled(vllm_form(), report); }},
};

}  // namespace

std::span<const ReportKind> issue_forms() { return kForms; }

}  // namespace ncclog
