#include "report/document/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "report/verdict_and_evidence.h"
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

Tone tone_of(OutcomeState state) {
  switch (state) {
    case OutcomeState::Met:
      return Tone::Good;
    case OutcomeState::Broken:
      return Tone::Warning;
    case OutcomeState::Unknown:
      return Tone::Quiet;
  }
  return Tone::Plain;
}

// The findings.

/// "certain cause, shm-no-space; ranks 1,3 on node-a": how sure, what it is, who.
std::string standing(const Finding& finding) {
  std::string out =
      fmt::format("{} {}, {}", to_string(finding.confidence), to_string(finding.role), finding.id);
  const std::string subject = subject_words(finding);
  return subject.empty() ? out : out + "; " + subject;
}

void add_items(std::string label, const std::vector<std::string>& items, size_t most,
               std::vector<Block>& blocks) {
  if (items.empty()) return;
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), most));
  blocks.push_back(Items{std::move(label), {items.begin(), end}});
}

/// What shows a finding, what to do about it, and what follows from it.
void add_grounds(const Report& report, const Finding& finding, const Detail& detail,
                 std::vector<Block>& blocks) {
  blocks.push_back(evidence_quotes(report.job, finding, detail.evidence));
  add_items("check", finding.check, detail.items, blocks);
  add_items("fix", finding.fix, detail.items, blocks);
  add_items("do not", finding.do_not, detail.items, blocks);
  std::vector<std::string> names;
  for (const Finding* other : consequences(report, finding)) {
    names.push_back(named_with_ranks(*other));
  }
  if (names.empty()) return;
  const std::string count = plural(names.size(), "other finding");
  blocks.push_back(Labelled{"follows", fmt::format("{}: {}", count, join(names, ", "))});
}

/// The finding that the verdict names, with all that is known about it.
void add_main_finding(const Report& report, const Finding& finding, Document& document) {
  document.sections.back().blocks.push_back(Labelled{"", standing(finding)});
  std::vector<Block> blocks;
  const std::string_view rest = beyond_headline(report.diagnosis.verdict.headline, finding.message);
  if (!rest.empty()) blocks.push_back(Labelled{"what", std::string(rest)});
  if (!finding.why.empty()) blocks.push_back(Labelled{"why", finding.why});
  add_grounds(report, finding, kFull, blocks);
  add_section(document, "", std::move(blocks));
}

void add_other_findings(const Report& report, const Finding* main, Document& document) {
  std::vector<std::string> quiet;
  for (const Finding* finding : independent_findings(report, main)) {
    if (finding->severity == Severity::Info) {
      quiet.push_back(fmt::format("{} [{}]", first_sentence(finding->message), finding->id));
      continue;
    }
    std::vector<Block> blocks = {Statement{.word = std::string(to_string(finding->severity)),
                                           .tone = tone_of(finding->severity),
                                           .text = finding->message,
                                           .main = true},
                                 Labelled{"", standing(*finding)}};
    add_grounds(report, *finding, kShort, blocks);
    add_section(document, "", std::move(blocks));
  }
  add_points(document, "Worth knowing", std::move(quiet));
}

// What stands beside the findings.

/// What a replay says about the verdict's finding, or why it says nothing.
void add_replay(const ReplaySummary& replay, Document& document) {
  std::vector<Block> blocks;
  for (const std::string& paragraph : replay_paragraphs(replay)) {
    blocks.push_back(Labelled{blocks.empty() ? "replay" : "", paragraph});
  }
  add_section(document, "", std::move(blocks));
}

void add_profile(const CheckedProfile& profile, Document& document) {
  std::vector<Block> blocks;
  std::set<std::string> captures;
  for (const CheckedExpectation& expectation : profile.expectations) {
    const OutcomeState state = expectation.outcome.state;
    blocks.push_back(Statement{.word = std::string(to_string(state)),
                               .tone = tone_of(state),
                               .text = expectation_words(expectation),
                               .depth = 1});
    if (!expectation.how_to_capture.empty()) captures.insert(expectation.how_to_capture);
  }
  for (const std::string& capture : captures) {
    blocks.push_back(Paragraph{"To tell what is unknown: " + capture + ".", 2});
  }
  add_section(document, "Expectations of " + profile.name, std::move(blocks));
}

void add_gaps(const std::vector<NotJudged>& gaps, Document& document) {
  std::vector<std::string> points;
  for (const NotJudged& gap : gaps) points.push_back(gap.question + " " + gap.reason);
  add_points(document, "Not judged", std::move(points));
}

void add_capture(const CaptureAdvice& advice, const Job& job, Document& document) {
  if (advice.empty()) return;
  Code settings;
  for (const CaptureSetting& setting : advice.settings) {
    settings.lines.push_back(fmt::format("export {}={}", setting.name, setting.value));
  }
  Items steps{.items = advice.steps};
  if (advice.size) {
    steps.items.push_back("Log size: " + log_size_text(*advice.size, job.nranks) + ".");
  }
  add_section(document, "To capture it next time", {std::move(settings), std::move(steps)});
}

// What was read, and what of it could not be used.
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

/// Losses are named only where they matter to a reader. Of several runs, each one's point says how
/// it ended.
void add_inputs(const Report& report, Document& document) {
  const Job& job = report.job;
  std::vector<Block> blocks = {
      Paragraph{inputs_line(job) + odd_inputs(job, InputStatus::Unreadable, "Unreadable:", 3) +
                odd_inputs(job, InputStatus::Cut, "Cut:", 3) +
                odd_inputs(job, InputStatus::Skipped, "Skipped:", 1) + lost_rows(job.losses)}};
  if (report.diagnosis.runs.empty()) blocks.push_back(Paragraph{outcome_text(job)});
  add_section(document, "", std::move(blocks));
}

}  // namespace

Quotes evidence_quotes(const Job& job, const Finding& finding, size_t most) {
  Quotes quotes{.label = "seen"};
  for (const Evidence* evidence : telling_evidence(finding, most)) {
    const FileLine place = file_line(job, evidence->where);
    quotes.quotes.push_back(
        {evidence->where.line == 0 ? place.path : fmt::format("{}:{}", place.path, place.line),
         evidence->text});
  }
  quotes.more = finding.evidence.size() - quotes.quotes.size() + finding.evidence_omitted;
  return quotes;
}

Document verdict_document(const Report& report) {
  const Verdict& verdict = report.diagnosis.verdict;
  return {{{.blocks = {Statement{.word = std::string(verdict_word(verdict.status)),
                                 .tone = tone_of(verdict.status),
                                 .text = verdict.headline,
                                 .main = true}}}}};
}

Document report_document(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  const Finding* main = find_finding(report, diagnosis.verdict.finding);
  Document document = verdict_document(report);
  if (main != nullptr) add_main_finding(report, *main, document);
  add_points(document, "Runs", run_sentences(diagnosis));
  if (report.replay) add_replay(*report.replay, document);
  if (report.profile) add_profile(*report.profile, document);
  add_other_findings(report, main, document);
  add_gaps(diagnosis.not_judged, document);
  add_capture(diagnosis.capture, report.job, document);
  add_points(document, "Overlays", overlay_sentences(diagnosis));
  add_inputs(report, document);
  return document;
}

}  // namespace ncclog
