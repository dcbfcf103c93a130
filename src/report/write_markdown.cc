#include <fmt/format.h>

#include <vector>

#include "report/finding_words.h"
#include "report/markdown_findings.h"
#include "report/markdown_job.h"
#include "report/markdown_section.h"
#include "report/markdown_text.h"
#include "report/outcome_text.h"
#include "report/overlay_text.h"
#include "report/profile_text.h"
#include "report/report_formats.h"
#include "report/runs_text.h"

namespace ncclog {
namespace {

/// Room of the sections in bytes. Together with headings, and lines that say what is left out, they
/// stay below kMaxMarkdown.
constexpr size_t kShapeRoom = 4'000;
constexpr size_t kFindingsRoom = 19'000;
constexpr size_t kRunsRoom = 1'000;
constexpr size_t kReplayRoom = 2'500;
constexpr size_t kExpectationsRoom = 2'500;
constexpr size_t kFrontsRoom = 4'000;
constexpr size_t kUnknownRoom = 3'500;
constexpr size_t kOverlaysRoom = 2'000;
constexpr size_t kSettingsRoom = 5'000;
constexpr size_t kCommunicatorsRoom = 4'000;
constexpr size_t kIterationsRoom = 3'000;
constexpr size_t kInputsRoom = 2'500;
static_assert(kShapeRoom + kFindingsRoom + kRunsRoom + kReplayRoom + kExpectationsRoom +
                  kFrontsRoom + kUnknownRoom + kOverlaysRoom + kSettingsRoom + kCommunicatorsRoom +
                  kIterationsRoom + kInputsRoom <=
              kMaxMarkdown - 7'000);

/// Bytes of a text before it is escaped.
constexpr size_t kMaxHeadline = 1'000;
constexpr size_t kMaxSentence = 400;
constexpr size_t kMaxName = 80;

std::string verdict_section(const Verdict& verdict) {
  return fmt::format("<!-- ncclog report -->\n## {}\n\n**{}**\n\n", verdict_word(verdict.status),
                     markdown_text(shortened(verdict.headline, kMaxHeadline)));
}

std::string list_item(std::string_view text) {
  return "- " + markdown_text(shortened(text, kMaxSentence)) + "\n";
}

std::string runs_section(const Diagnosis& diagnosis) {
  std::vector<std::string> items;
  for (const std::string& sentence : run_sentences(diagnosis)) items.push_back(list_item(sentence));
  if (items.empty()) return {};
  return "### Runs\n\n" + fitted(items, kRunsRoom, "run") + "\n";
}

std::string expectations_section(const Report& report) {
  if (!report.profile) return {};
  std::vector<std::string> items;
  for (const CheckedExpectation& expectation : report.profile->expectations) {
    items.push_back(
        fmt::format("- {}: {}\n", to_string(expectation.outcome.state),
                    markdown_text(shortened(expectation_words(expectation), kMaxSentence))));
  }
  return fmt::format("### Expectations of {}\n\n{}\n",
                     markdown_text(shortened(report.profile->name, kMaxName)),
                     fitted(items, kExpectationsRoom, "expectation"));
}

std::string questions(const std::vector<NotJudged>& gaps) {
  std::vector<std::string> items;
  for (const NotJudged& gap : gaps) items.push_back(list_item(gap.question + " " + gap.reason));
  const std::string list = fitted(items, kUnknownRoom / 2, "question");
  return list.empty() ? list : "### What these logs cannot tell\n\n" + list + "\n";
}

/// Ready to be pasted into a script.
std::string capture_settings(const std::vector<CaptureSetting>& settings) {
  if (settings.empty()) return {};
  std::vector<std::string> lines;
  for (const CaptureSetting& setting : settings) {
    lines.push_back(fmt::format("export {}={}", setting.name, setting.value));
  }
  return markdown_fence(lines, "sh") + "\n";
}

std::string capture(const CaptureAdvice& advice, const Job& job) {
  if (advice.empty()) return {};
  std::vector<std::string> items;
  for (const std::string& step : advice.steps) items.push_back(list_item(step));
  if (advice.size) {
    items.push_back(list_item("Log size: " + log_size_text(*advice.size, job.nranks) + "."));
  }
  const std::string steps = fitted(items, kUnknownRoom / 2, "step");
  return "To capture it next time:\n\n" + capture_settings(advice.settings) +
         (steps.empty() ? steps : steps + "\n");
}

std::string overlays_section(const Diagnosis& diagnosis) {
  std::vector<std::string> items;
  for (const std::string& sentence : overlay_sentences(diagnosis)) {
    items.push_back(list_item(sentence));
  }
  if (items.empty()) return {};
  return "### Overlays\n\n" + fitted(items, kOverlaysRoom, "overlay") + "\n";
}

std::string replay_section(const Report& report) {
  if (!report.replay) return {};
  std::vector<std::string> items;
  for (const std::string& paragraph : replay_paragraphs(*report.replay)) {
    items.push_back(list_item(paragraph));
  }
  return "### Replay\n\n" + fitted(items, kReplayRoom, "remark") + "\n";
}

/// Of several runs, each one's line says how it ended.
std::string outcome_section(const Report& report) {
  if (!report.diagnosis.runs.empty()) return {};
  return markdown_text(shortened(outcome_text(report.job), kMaxSentence)) + "\n\n";
}

/// Which program and which rules said all this.
std::string signature(const Tool& tool) {
  return fmt::format("*{} {}, rules {}*\n", tool.name, tool.version, markdown_code(tool.rulebook));
}

}  // namespace

std::string write_markdown(const Report& report) {
  const Job& job = report.job;
  const Diagnosis& diagnosis = report.diagnosis;
  return verdict_section(diagnosis.verdict) + runs_section(diagnosis) +
         markdown_shape(job, kShapeRoom) + markdown_findings(report, kFindingsRoom) +
         replay_section(report) + expectations_section(report) + markdown_fronts(job, kFrontsRoom) +
         questions(diagnosis.not_judged) + capture(diagnosis.capture, job) +
         overlays_section(diagnosis) + markdown_settings(job, kSettingsRoom) +
         markdown_communicators(job, kCommunicatorsRoom) +
         markdown_iterations(job, kIterationsRoom) + markdown_inputs(job, kInputsRoom) +
         outcome_section(report) + signature(report.tool);
}

}  // namespace ncclog
