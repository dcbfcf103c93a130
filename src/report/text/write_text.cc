// The report for a person: verdict first, then why, then what to do.
//
//   PROBLEM  /dev/shm on gpu-node-01 is full: NCCL could not create its segments.
//            certain cause, shm-no-space; ranks 0-3 on gpu-node-01
//
// One problem fits one screen. Findings that follow from another one are one line under it. Text
// from logs can steer no terminal: it passes through printable().

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "model/job.h"
#include "report/report_formats.h"
#include "report/text_layout.h"
#include "report/verdict_and_evidence.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

// What was read, and what of it could not be used: the closing lines of the text report.
//
//   Read 318 lines from 8 files: 4 ranks on 2 hosts, NCCL 2.28.9. Cut: logs/a.gz. The gzip …

/// "17 files", "9 files in an archive".
std::string files_text(const Job& job) {
  const auto archives =
      static_cast<size_t>(std::count_if(job.inputs.begin(), job.inputs.end(),
                                        [](const JobInput& input) { return input.is_archive; }));
  const std::string files = plural(job.inputs.size() - archives, "file");
  if (archives == 0) return files;
  return fmt::format("{}, unpacking {}", files, plural(archives, "archive"));
}

/// Ranks that some line speaks for, of those that the job has; nullopt: not known, or all.
std::optional<size_t> ranks_seen(const Job& job) {
  if (job.communicators.empty() || !job.flight_recorders.empty()) return std::nullopt;
  const std::vector<CommRank>& ranks = job.communicators.front().ranks;
  const auto seen = static_cast<size_t>(std::count_if(
      ranks.begin(), ranks.end(), [](const CommRank& rank) { return rank.process >= 0; }));
  const auto all = static_cast<size_t>(job.nranks.value_or(0));
  return ranks.size() == all && seen > 0 && seen < all ? std::optional(seen) : std::nullopt;
}

std::string inputs_line(const Job& job) {
  std::string out =
      fmt::format("Read {} from {}", plural(job.losses.lines, "line"), files_text(job));
  // Lines without a pid may be of any process, so they are not counted as one.
  const auto processes = std::count_if(job.processes.begin(), job.processes.end(),
                                       [](const Process& process) { return process.pid >= 0; });
  if (const auto seen = ranks_seen(job)) {
    out += fmt::format(": {} of {} ranks seen", *seen, *job.nranks);
  } else if (job.nranks) {
    out += fmt::format(": {}", plural(static_cast<uint64_t>(*job.nranks), "rank"));
  } else if (processes > 0) {
    out += fmt::format(": {} {}", processes, processes == 1 ? "process" : "processes");
  }
  if (job.nhosts > 0) {
    out += fmt::format("{} on {}", job.nranks || processes > 0 ? "" : ": processes",
                       plural(static_cast<uint64_t>(job.nhosts), "host"));
  }
  if (!job.nccl_versions.empty())
    out += fmt::format(", {} {}", library_name(job), join(job.nccl_versions, ", "));
  if (!job.network.name.empty()) out += ", network " + job.network.name;
  return out + ".";
}

/// Inputs of one fate, the first ones by name: " Cut: logs/a.gz, logs/b.gz and 6 more. The …".
std::string odd_inputs(const Job& job, InputStatus status, std::string_view word,
                       size_t most_names) {
  std::vector<std::string> names;
  std::string note;
  for (const JobInput& input : job.inputs) {
    if (input.status != status) continue;
    names.push_back(input.path);
    if (note.empty()) note = input.note;
  }
  if (names.empty()) return {};
  const std::string out = fmt::format(" {} {}", word, some_of(names, most_names));
  return note.empty() ? out + "." : fmt::format("{}. {}", out, note);
}

std::string lost_rows(const LossTable& losses) {
  std::string out;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    const LossRow& row = loss_rows()[i];
    const bool is_input = row.name.starts_with("input_");
    if (losses.counts[i] == 0 || is_input || row.severity == LossSeverity::Info) continue;
    const std::string_view meaning = row.meaning.substr(0, row.meaning.find_last_not_of('.') + 1);
    out += fmt::format(" {} ({}×). {}", meaning, losses.counts[i], row.advice);
  }
  return out;
}

/// Begins with an empty line. Losses are named only where they matter to a reader.
std::string inputs_text(const Job& job, const TextStyle& style) {
  const std::string text =
      inputs_line(job) + odd_inputs(job, InputStatus::Unreadable, "Unreadable:", 3) +
      odd_inputs(job, InputStatus::Cut, "Cut:", 3) +
      odd_inputs(job, InputStatus::Skipped, "Skipped:", 1) + lost_rows(job.losses);
  return "\n" + hang("", printable(text), style);
}

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
  return hang(lead, tone_of(verdict.status), printable(verdict.headline), style);
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
  return "\n" + hang(lead, tone_of(finding.severity), printable(finding.message), style) +
         labelled("", standing(finding), style) + body(report.job, finding, kShort, style) +
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
