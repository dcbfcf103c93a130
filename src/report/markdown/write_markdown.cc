// The report for an issue: Markdown as GitHub renders it, verdict first.
//
//   <!-- ncclog report -->
//   ## PROBLEM
//
//   **Rank 1 on node-a could not extend a segment: `/dev/shm` is full.**
//
//   | job | as its logs show it |
//   …
//
// It has at most kMaxMarkdown characters, whatever the job: each section has room for so much, and
// says what it leaves out. What only some readers want is collapsed. Text from logs is inert: it
// becomes no HTML, link, mention or reference (report/markdown/markdown_text.h).

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/iterations/iterations.h"
#include "report/job_shape.h"
#include "report/markdown/markdown_text.h"
#include "report/report.h"
#include "report/report_formats.h"
#include "report/tables/count_table.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"
#include "report/verdict_and_evidence.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

// Findings in the Markdown report: the verdict's own with all that is known, others with less.
//
//   ### Error: shared memory is full
//   Rank 1 on node-a could not extend a segment: `/dev/shm` is full.
//   certain cause · shm-no-space · rank 1 on node-a
//   …
//   **Change**
//   - Start the container with --shm-size=1g.

/// How much is told about a finding: all for the verdict's own, less for what stands beside it.
struct Detail {
  size_t evidence;
  size_t items;  ///< Of check, fix and do_not each.
};
constexpr Detail kFull = {4, 6};
constexpr Detail kShort = {2, 3};

/// Bytes of a text before it is escaped.
constexpr size_t kMaxMessage = 1200;
constexpr size_t kMaxItem = 400;
constexpr size_t kMaxLine = 500;
constexpr size_t kMaxPath = 200;
constexpr size_t kMaxWho = 300;

std::string heading_of(const Finding& finding) {
  std::string severity(to_string(finding.severity));
  severity[0] = static_cast<char>(severity[0] - ('a' - 'A'));
  return fmt::format("### {}: {}\n\n", severity, markdown_text(shortened(finding.title, kMaxItem)));
}

/// "certain cause · `shm-no-space` · rank 1 on node-a"
std::string standing(const Finding& finding) {
  std::string out = fmt::format("{} {} · {}", to_string(finding.confidence),
                                to_string(finding.role), markdown_code(finding.id));
  const std::string whom = markdown_text(shortened(subject_words(finding), kMaxWho));
  return whom.empty() ? out + "\n\n" : out + " · " + whom + "\n\n";
}

std::string paragraph(std::string_view name, std::string_view text) {
  if (text.empty()) return {};
  return fmt::format("{}{}\n\n", name, markdown_text(shortened(text, kMaxMessage)));
}

/// "logs/a.txt:12", and the line below.
std::string evidence_block(const Job& job, const Finding& finding, size_t most) {
  std::vector<std::string> lines;
  const std::vector<const Evidence*> shown = telling_evidence(finding, most);
  for (const Evidence* evidence : shown) {
    const FileLine place = file_line(job, evidence->where);
    const std::string path = shortened(place.path, kMaxPath);
    lines.push_back(evidence->where.line == 0 ? path : fmt::format("{}:{}", path, place.line));
    if (!evidence->text.empty()) {
      lines.push_back("  " + shortened(trim(evidence->text), kMaxLine));
    }
  }
  if (lines.empty()) return {};
  const uint64_t more = finding.evidence.size() - shown.size() + finding.evidence_omitted;
  const std::string others = more == 0 ? std::string()
                                       : fmt::format(", and {} like {}", plural(more, "more line"),
                                                     shown.size() == 1 ? "it" : "these");
  return fmt::format("**Seen**{}\n\n{}\n", others, markdown_fence(lines, "text"));
}

std::string item_text(std::string_view item) {
  const std::string text = shortened(item, kMaxItem);
  const bool is_prose =
      !is_command(item) || item.find('`') != item.npos || item.find(", ") != item.npos;
  return is_prose ? markdown_text(text) : markdown_code(text);
}

std::string items_block(std::string_view name, const std::vector<std::string>& items, size_t most) {
  if (items.empty()) return {};
  std::string out = fmt::format("**{}**\n\n", name);
  for (size_t i = 0; i < std::min(items.size(), most); ++i) {
    out += "- " + item_text(items[i]) + "\n";
  }
  return out + "\n";
}

/// True for an address that can stand in Markdown as it is.
bool is_plain_link(std::string_view address) {
  constexpr std::string_view kPunctuation = "-._/#?=%:+,~";
  return address.starts_with("https://") && address.size() < kMaxPath &&
         std::all_of(address.begin(), address.end(), [&](char c) {
           return is_word(c) || kPunctuation.find(c) != kPunctuation.npos;
         });
}

std::string references_block(const std::vector<std::string>& references) {
  std::string out;
  for (const std::string& reference : references) {
    if (!is_plain_link(reference)) continue;
    out += (out.empty() ? "See <" : ", <") + reference + ">";
  }
  return out.empty() ? out : out + "\n\n";
}

/// The parts of a finding's section, most important first.
std::vector<std::string> parts_of(const Report& report, const Finding& finding,
                                  const Detail& detail) {
  const bool is_verdicts = finding.id == report.diagnosis.verdict.finding;
  const std::string_view message =
      is_verdicts ? beyond_headline(report.diagnosis.verdict.headline, finding.message)
                  : std::string_view(finding.message);
  return {heading_of(finding),
          paragraph("", message),
          standing(finding),
          evidence_block(report.job, finding, detail.evidence),
          items_block("Check", finding.check, detail.items),
          items_block("Change", finding.fix, detail.items),
          items_block("Do not", finding.do_not, detail.items),
          paragraph("Why: ", finding.why),
          references_block(finding.references)};
}

std::string section_of(const Report& report, const Finding& finding, const Detail& detail,
                       size_t bytes) {
  std::string out;
  for (const std::string& part : parts_of(report, finding, detail)) {
    if (out.size() + part.size() <= bytes) out += part;
  }
  return out;
}

/// "- warning `peer-closed` (rank 4): Rank 4 lost a connection."
std::string line_of(const Finding& finding) {
  const std::string whom = markdown_text(shortened(subject_words(finding), kMaxPath));
  return fmt::format("- {} {}{}: {}\n", to_string(finding.severity), markdown_code(finding.id),
                     whom.empty() ? whom : " (" + whom + ")",
                     markdown_text(shortened(first_sentence(finding.message), kMaxItem)));
}

std::string collapsed_findings(std::string_view title, const std::vector<const Finding*>& findings,
                               size_t bytes) {
  if (findings.empty()) return {};
  std::vector<std::string> lines;
  for (const Finding* finding : findings) lines.push_back(line_of(*finding));
  return collapsed(fmt::format("{} ({})", title, findings.size()), fitted(lines, bytes, "finding"));
}

/// Findings by how they are shown.
struct Sorted {
  std::vector<const Finding*> loud;       ///< Errors and warnings that follow from no other.
  std::vector<const Finding*> following;  ///< What follows from others.
  std::vector<const Finding*> quiet;      ///< Worth knowing.
};

Sorted sorted_findings(const Report& report, const Finding* main) {
  Sorted sorted;
  if (main != nullptr) sorted.loud.push_back(main);
  const auto independent = independent_findings(report, main);
  for (const Finding* finding : independent) {
    (finding->severity == Severity::Info ? sorted.quiet : sorted.loud).push_back(finding);
  }
  for (const Finding& finding : report.diagnosis.findings) {
    const auto at = std::find(independent.begin(), independent.end(), &finding);
    if (at == independent.end() && &finding != main) sorted.following.push_back(&finding);
  }
  return sorted;
}

/// All findings within `bytes` and what it takes to say how many are left out: errors and warnings
/// as sections, what follows from them and what is only worth knowing collapsed. Empty if there are
/// no findings. Otherwise begins with a heading and ends with an empty line.
std::string markdown_findings(const Report& report, size_t bytes) {
  const Finding* main = find_finding(report, report.diagnosis.verdict.finding);
  const Sorted sorted = sorted_findings(report, main);
  // Of the two lists each; what is left is for sections. A third of all at most for the main one
  // and a quarter for each other leaves room for at least one more.
  const size_t share = bytes / 8;
  std::vector<std::string> sections;
  for (const Finding* finding : sorted.loud) {
    const bool is_main = finding == main;
    sections.push_back(
        section_of(report, *finding, is_main ? kFull : kShort, is_main ? bytes / 3 : bytes / 4));
  }
  std::string out = fitted(sections, bytes - 2 * share, "finding");
  if (!out.empty() && !out.ends_with("\n\n")) out += "\n";
  return out + collapsed_findings("Findings that follow from these", sorted.following, share) +
         collapsed_findings("Worth knowing", sorted.quiet, share);
}

// The job in the Markdown report: what it is like, who is ahead and behind, its settings,
// communicators, iterations and inputs.
//
// Each function gives one section within `bytes` and what it takes to say what is left out:
// Markdown that begins with a heading or is collapsed, and ends with an empty line; empty if the
// log says nothing about it.

constexpr size_t kMaxSentence = 400;  ///< Bytes of a text before it is escaped.

/// Rows of fronts_table at which ranks differ or some are ahead. Both come in the same order.
Table open_fronts(const Job& job) {
  Table table = fronts_table(job);
  std::vector<std::vector<Cell>> open;
  size_t row = 0;
  for (const CallFront& front : call_fronts(job)) {
    const auto& comm = job.communicators[static_cast<size_t>(front.communicator)];
    if (front.is_open() || comm.difference) open.push_back(std::move(table.rows[row]));
    ++row;
  }
  table.rows = std::move(open);
  table.columns = {"communicator", "ranks",  "entered by all", "next",
                   "ahead",        "behind", "unknown",        "last of those behind"};
  return table;
}

/// What is not in the table of open fronts.
std::string closed_fronts(size_t all, size_t open) {
  if (open == 0) {
    return fmt::format("No rank is seen ahead of another; {} {} logged calls.\n\n",
                       plural(all, "communicator"), all == 1 ? "has" : "have");
  }
  std::string out =
      "So it is where the logs end: who went on after others gave up stands ahead of them. Ranks "
      "are "
      "a few calls apart in any job that runs.";
  if (all > open) {
    out += fmt::format(" In {} no rank is seen ahead of another.",
                       plural(all - open, "further communicator"));
  }
  return out + "\n\n";
}

/// What could not be read as a whole first.
Table inputs_table(const Job& job) {
  Table table{.name = "inputs",
              .columns = {"file", "format", "lines", "status", "note"},
              .rows = {},
              .notes = {}};
  for (const bool whole : {false, true}) {
    for (const JobInput& input : job.inputs) {
      if ((input.status == InputStatus::Whole) != whole) continue;
      table.rows.push_back({text_cell(input.path), text_cell(input.format),
                            number_cell(static_cast<int64_t>(input.lines)),
                            text_cell(to_string(input.status)), text_cell(input.note)});
    }
  }
  return table;
}

std::string_view without_full_stop(std::string_view sentence) {
  return sentence.substr(0, sentence.find_last_not_of('.') + 1);
}

/// "- notice: A line held NUL bytes, … (2×). Append to log files …"
std::string losses_list(const LossTable& losses) {
  std::string out;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    const LossRow& row = loss_rows()[i];
    if (losses.counts[i] == 0 || row.severity == LossSeverity::Info) continue;
    const std::string sentence =
        fmt::format("{}: {} ({}×). {}", to_string(row.severity), without_full_stop(row.meaning),
                    losses.counts[i], row.advice);
    out += "- " + markdown_text(sentence) + "\n";
  }
  return out.empty() ? out : out + "\n";
}

std::string lines_sentence(const LossTable& losses) {
  return fmt::format(
      "{}: {} understood, {} of NCCL with an unknown wording, {} of other programs, "
      "{} unreadable.\n\n",
      plural(losses.lines, "line"), losses.recognised, losses.unrecognised, losses.foreign,
      losses.unreadable);
}

size_t odd_inputs(const Job& job) {
  return static_cast<size_t>(
      std::count_if(job.inputs.begin(), job.inputs.end(),
                    [](const JobInput& input) { return input.status != InputStatus::Whole; }));
}

std::string markdown_shape(const Job& job, size_t bytes) {
  Table table{.name = "job", .columns = {"job", "as its logs show it"}, .rows = {}, .notes = {}};
  for (const ShapeRow& row : job_shape(job)) {
    table.rows.push_back({text_cell(row.name), text_cell(row.value)});
  }
  const std::string rows = markdown_table(table, bytes, "row");
  return rows.empty() ? rows : rows + "\n";
}

std::string markdown_fronts(const Job& job, size_t bytes) {
  const size_t all = call_fronts(job).size();
  if (all == 0) return {};
  const Table open = open_fronts(job);
  std::string table = markdown_table(open, bytes, "communicator");
  if (!table.empty()) table += "\n";
  return "### Who is ahead, who is behind\n\n" + table + closed_fronts(all, open.rows.size());
}

std::string markdown_settings(const Job& job, size_t bytes) {
  if (job.environment.empty()) return {};
  return collapsed(fmt::format("Settings that NCCL reports ({})", job.environment.size()),
                   markdown_table(environment_table(job), bytes, "setting"));
}

std::string markdown_communicators(const Job& job, size_t bytes) {
  if (job.communicators.empty()) return {};
  return collapsed(fmt::format("Communicators ({})", job.communicators.size()),
                   markdown_table(communicators_table(job), bytes, "communicator"));
}

std::string markdown_iterations(const Job& job, size_t bytes) {
  constexpr uint64_t kFew = 3;  // So few repeats of calls alone are no loop.
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  if (!found || (found->source == IterationSource::Period && found->count < kFew)) return {};
  std::vector<std::string> sentences;
  for (const std::string& sentence : iteration_text(job, calls, *found)) {
    sentences.push_back("- " + markdown_text(shortened(sentence, kMaxSentence)) + "\n");
  }
  return collapsed(fmt::format("Iterations ({})", found->count),
                   fitted(sentences, bytes, "sentence"));
}

std::string markdown_inputs(const Job& job, size_t bytes) {
  const size_t odd = odd_inputs(job);
  const std::string title =
      fmt::format("Inputs ({}{}) and what was lost", plural(job.inputs.size(), "file"),
                  odd == 0 ? std::string() : fmt::format(", {} not read as a whole", odd));
  return collapsed(title, lines_sentence(job.losses) + losses_list(job.losses) +
                              markdown_table(inputs_table(job), bytes, "file"));
}

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
