#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/evidence_text.h"
#include "report/finding_words.h"
#include "report/inputs_text.h"
#include "report/outcome_text.h"
#include "report/overlay_text.h"
#include "report/profile_text.h"
#include "report/report_formats.h"
#include "report/runs_text.h"
#include "report/text_parts.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// How much is told about a finding: all for the verdict's own, less for what stands beside it.
struct Detail {
  size_t evidence;
  size_t items;  ///< Of check, fix and do_not each.
};
constexpr Detail kFull = {4, 6};
constexpr Detail kShort = {2, 2};

Tone tone_of(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return Tone::Error;
    case VerdictStatus::Suspicious:
      return Tone::Warning;
    case VerdictStatus::Clean:
      return Tone::Good;
    case VerdictStatus::NothingFound:
    case VerdictStatus::CannotJudge:
      return Tone::Strong;
  }
  return Tone::Strong;
}

Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return Tone::Error;
    case Severity::Warning:
      return Tone::Warning;
    case Severity::Info:
      return Tone::Quiet;
  }
  return Tone::Plain;
}

/// A command is shown as it is typed: not wrapped.
std::string item_line(std::string_view name, const std::string& item, const TextStyle& style) {
  if (is_command(item)) return label(name, style) + printable(item) + "\n";
  return labelled(name, item, style);
}

std::string items_block(std::string_view name, const std::vector<std::string>& items, size_t most,
                        const TextStyle& style) {
  std::string out;
  for (size_t i = 0; i < std::min(items.size(), most); ++i) {
    out += item_line(i == 0 ? name : "", items[i], style);
  }
  return out;
}

/// Everything below a finding's first line.
std::string body(const Job& job, const Finding& finding, const Detail& detail,
                 const TextStyle& style) {
  return evidence_text(job, finding, detail.evidence, style) +
         items_block("check", finding.check, detail.items, style) +
         items_block("fix", finding.fix, detail.items, style) +
         items_block("do not", finding.do_not, detail.items, style);
}

std::string consequences_line(const std::vector<const Finding*>& list, const TextStyle& style) {
  if (list.empty()) return {};
  std::vector<std::string> names;
  for (const Finding* finding : list) names.push_back(named_with_ranks(*finding));
  return labelled("follows",
                  fmt::format("{}: {}", plural(list.size(), "other finding"), join(names, ", ")),
                  style);
}

std::string verdict_block(const Report& report, const TextStyle& style) {
  const Verdict& verdict = report.diagnosis.verdict;
  const std::string lead = pad(verdict_word(verdict.status), kMargin - 2) + "  ";
  std::string out = hang(lead, printable(verdict.headline), style);
  return out.replace(0, lead.size(), paint(lead, tone_of(verdict.status), style));
}

/// "certain, error; ranks 1,3 on node-a": how sure, how bad, who.
std::string standing(const Finding& finding) {
  std::string out =
      fmt::format("{} {}, {}", to_string(finding.confidence), to_string(finding.role), finding.id);
  const std::string subject = subject_words(finding);
  return subject.empty() ? out : out + "; " + subject;
}

/// The finding that the verdict names, with all that is known about it.
std::string main_block(const Report& report, const Finding& finding, const TextStyle& style) {
  std::string out = labelled("", standing(finding), style) + "\n";
  const std::string_view rest = beyond_headline(report.diagnosis.verdict.headline, finding.message);
  if (!rest.empty()) out += labelled("what", rest, style);
  if (!finding.why.empty()) out += labelled("why", finding.why, style);
  return out + body(report.job, finding, kFull, style) +
         consequences_line(consequences(report, finding), style);
}

std::string side_block(const Report& report, const Finding& finding, const TextStyle& style) {
  const std::string lead = pad(to_string(finding.severity), kMargin);
  std::string out = hang(lead, printable(finding.message), style);
  out.replace(0, lead.size(), paint(lead, tone_of(finding.severity), style));
  return "\n" + out + labelled("", standing(finding), style) +
         body(report.job, finding, kShort, style) +
         consequences_line(consequences(report, finding), style);
}

std::string bullet(std::string_view text, const TextStyle& style) {
  return hang("  - ", printable(text), style);
}

std::string info_line(const Finding& finding, const TextStyle& style) {
  return bullet(fmt::format("{} [{}]", first_sentence(finding.message), finding.id), style);
}

std::string side_findings(const Report& report, const Finding* main, const TextStyle& style) {
  std::string loud;
  std::string quiet;
  for (const Finding* finding : independent_findings(report, main)) {
    if (finding->severity == Severity::Info) {
      quiet += info_line(*finding, style);
    } else {
      loud += side_block(report, *finding, style);
    }
  }
  if (!quiet.empty()) quiet = "\n" + paint("Worth knowing", Tone::Strong, style) + "\n" + quiet;
  return loud + quiet;
}

std::string runs_block(const Diagnosis& diagnosis, const TextStyle& style) {
  if (diagnosis.runs.empty()) return {};
  std::string out = "\n" + paint("Runs", Tone::Strong, style) + "\n";
  for (const std::string& sentence : run_sentences(diagnosis)) out += bullet(sentence, style);
  return out;
}

/// Of several runs, each one's line says how it ended.
std::string ended_line(const Report& report, const TextStyle& style) {
  if (!report.diagnosis.runs.empty()) return {};
  return hang("", printable(outcome_text(report.job)), style);
}

std::string not_judged_block(const std::vector<NotJudged>& gaps, const TextStyle& style) {
  if (gaps.empty()) return {};
  std::string out = "\n" + paint("Not judged", Tone::Strong, style) + "\n";
  for (const NotJudged& gap : gaps) {
    out += bullet(fmt::format("{} {}", gap.question, gap.reason), style);
  }
  return out;
}

/// Ready to be pasted, so never wrapped.
std::string settings_block(const std::vector<CaptureSetting>& settings) {
  std::string out;
  for (const CaptureSetting& setting : settings) {
    out += fmt::format("    export {}={}\n", setting.name, setting.value);
  }
  return out;
}

std::string capture_block(const CaptureAdvice& advice, const Job& job, const TextStyle& style) {
  if (advice.empty()) return {};
  std::string out = "\n" + paint("To capture it next time", Tone::Strong, style) + "\n" +
                    settings_block(advice.settings);
  for (const std::string& step : advice.steps) out += bullet(step, style);
  if (advice.size)
    out += bullet("Log size: " + log_size_text(*advice.size, job.nranks) + ".", style);
  return out;
}

/// What a replay says about the verdict's finding, or why it says nothing.
std::string replay_block(const Report& report, const TextStyle& style) {
  if (!report.replay) return {};
  std::string out = "\n";
  for (const std::string& paragraph : replay_paragraphs(*report.replay)) {
    out += labelled(out.size() == 1 ? "replay" : "", paragraph, style);
  }
  return out;
}

}  // namespace

std::string write_verdict(const Report& report, const TextStyle& style) {
  constexpr int kNeverWrapped = 1'000'000;
  return verdict_block(report, {.width = kNeverWrapped, .colour = style.colour});
}

std::string write_text(const Report& report, const TextStyle& style) {
  const Diagnosis& diagnosis = report.diagnosis;
  const Finding* main = find_finding(report, diagnosis.verdict.finding);
  std::string out = verdict_block(report, style);
  if (main != nullptr) out += main_block(report, *main, style);
  out += runs_block(diagnosis, style);
  out += replay_block(report, style);
  if (report.profile) out += profile_text(*report.profile, style);
  return out + side_findings(report, main, style) + not_judged_block(diagnosis.not_judged, style) +
         capture_block(diagnosis.capture, report.job, style) + overlay_text(diagnosis, style) +
         inputs_text(report.job, style) + ended_line(report, style);
}

}  // namespace ncclog
