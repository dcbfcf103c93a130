#include "report/document/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "report/text_layout.h"
#include "rules/verdict.h"

namespace ncclog {

const Finding* find_finding(const Report& report, std::string_view id) {
  const auto& findings = report.diagnosis.findings;
  const auto found = std::ranges::find(findings, id, &Finding::id);
  return found == findings.end() ? nullptr : &*found;
}

namespace {

// The words of a finding.

/// "ranks 0-3 on node-a, node-b"; empty if the finding names nobody.
std::string subject_words(const Finding& finding) {
  constexpr size_t kMaxHosts = 6;
  std::string out = ranks_phrase(finding.ranks);
  if (finding.hosts.empty()) return out;
  const std::string_view before = !out.empty()                ? " on "
                                  : finding.hosts.size() == 1 ? "host "
                                                              : "hosts ";
  return out.append(before) + few_of(finding.hosts, kMaxHosts, ", ");
}

/// "certain cause, shm-no-space; ranks 1,3 on node-a": how sure, what it is, who.
std::string standing(const Finding& finding) {
  std::string out =
      fmt::format("{} {}, {}", to_string(finding.confidence), to_string(finding.role), finding.id);
  if (finding.host_check.answer == HostCheck::Answer::Refuted) out = "refuted, " + out;
  const std::string subject = subject_words(finding);
  return subject.empty() ? out : out + "; " + subject;
}

/// What a finding's message says beyond the headline, which begins like it. Views `message`.
std::string_view beyond_headline(std::string_view headline, std::string_view message) {
  const auto differs =
      std::mismatch(headline.begin(), headline.end(), message.begin(), message.end());
  const auto same = static_cast<size_t>(differs.second - message.begin());
  const std::string_view rest = message.substr(same);
  // Only whole sentences are left out: what the headline breaks off has to be read from its start.
  if (same == 0 || !(rest.empty() || rest[0] == '.' || message[same - 1] == '.')) return message;
  return trim(rest.substr(rest.starts_with('.') ? 1 : 0));
}

/// NCCL_P2P_DISABLE, ALLREDUCE: a name means what it says, digits and all.
bool is_name(std::string_view word) {
  return std::ranges::all_of(
             word, [](char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z'); }) &&
         !is_digit(word.front());
}

/// What a line is like, apart from numbers, names of files and whatever else a digit is part of.
std::string shape_of(std::string_view line) {
  std::string shape;
  for (const std::string_view word : split_blanks(line)) {
    const bool varies =
        word.find('/') != word.npos || (std::ranges::any_of(word, is_digit) && !is_name(word));
    shape += varies ? std::string_view("#") : word;
    shape += ' ';
  }
  return shape;
}

std::vector<const Evidence*> telling_evidence(const Finding& finding, size_t most) {
  std::vector<const Evidence*> shown;
  std::set<std::string> shapes;
  // In NCCL's lines of the one process that the finding is about; empty: it is about several.
  const bool is_of_one = finding.ranks.size() == 1 && finding.subject.pid >= 0;
  const std::string pid = is_of_one ? fmt::format(":{}:", finding.subject.pid) : "";
  // A place without its line says least, so lines come first.
  for (const bool has_text : {true, false}) {
    for (const Evidence& evidence : finding.evidence) {
      if (shown.size() == most || has_text == evidence.text.empty()) continue;
      const bool is_own = is_of_one && evidence.text.find(pid) != std::string::npos;
      // A dump has no line that ranks print alike: what is said of it is said because it differs.
      const std::string shape =
          evidence.where.line == 0 ? "dump: " + evidence.text : shape_of(evidence.text);
      if (shapes.insert((is_own ? "its own: " : "") + shape).second) shown.push_back(&evidence);
    }
  }
  return shown;
}

}  // namespace

Quotes evidence_quotes(const Job& job, const Finding& finding, size_t most) {
  Quotes quotes{.label = "seen", .more = finding.evidence_omitted};
  const std::vector<const Evidence*> telling = telling_evidence(finding, most);
  const auto quote_of = [&](const Evidence& evidence) {
    return Quote{place_name(job, evidence.where), evidence.text};
  };
  for (const Evidence* evidence : telling) quotes.quotes.push_back(quote_of(*evidence));
  for (const Evidence& evidence : finding.evidence) {
    const bool is_shown = std::ranges::find(telling, &evidence) != telling.end();
    if (!is_shown) quotes.rest.push_back(quote_of(evidence));
  }
  return quotes;
}

namespace {

// The findings in the document.

/// Items of a label that a screen shows; a page shows all.
constexpr size_t kMainItems = 6;
constexpr size_t kOtherItems = 2;

/// Why a finding is one, what shows it, what to do about it, and what follows from it.
void add_grounds(const Report& report, const Finding& finding, Reader reader,
                 std::vector<Block>& blocks) {
  const bool is_main = finding.id == report.diagnosis.verdict.finding;
  const bool whole = reader == Reader::Page;
  const size_t most = whole ? SIZE_MAX : is_main ? kMainItems : kOtherItems;
  if (!finding.why.empty() && (is_main || whole)) blocks.push_back(Labelled{"why", finding.why});
  Quotes seen = evidence_quotes(report.job, finding, is_main ? 4 : 2);
  if (!seen.quotes.empty()) blocks.push_back(std::move(seen));
  add_items("check", finding.check, most, blocks);
  add_items("fix", finding.fix, most, blocks);
  add_items("do not", finding.do_not, most, blocks);
  if (whole) add_items("references", finding.references, most, blocks);
  Links follows{.label = "follows"};
  std::vector<const Finding*> following = consequences_of(report.diagnosis.findings, finding);
  std::ranges::sort(following);  // In the order of the report.
  for (const Finding* other : following) {
    const std::string ranks = ranks_phrase(other->ranks);
    follows.links.emplace_back(ranks.empty() ? other->id : fmt::format("{} ({})", other->id, ranks),
                               "finding-" + other->id);
  }
  if (follows.links.empty()) return;
  follows.lead = plural(follows.links.size(), "other finding");
  blocks.push_back(std::move(follows));
}

/// A finding; on a page below its title.
Section finding_section(const Report& report, const Finding& finding, Reader reader,
                        bool folds = false) {
  const Verdict& verdict = report.diagnosis.verdict;
  const std::string_view message = finding.id == verdict.finding
                                       ? beyond_headline(verdict.headline, finding.message)
                                       : std::string_view(finding.message);
  Section section{.heading = reader == Reader::Page ? finding.title : "",
                  .blocks = {Statement{.word = std::string(to_string(finding.severity)),
                                       .text = std::string(message),
                                       .standing = standing(finding),
                                       .main = true}},
                  .id = "finding-" + finding.id,
                  .folds = folds};
  add_grounds(report, finding, reader, section.blocks);
  return section;
}

/// The finding that the verdict names, with all that is known about it.
void add_main_finding(const Report& report, const Finding& finding, Reader reader,
                      Document& document) {
  if (reader == Reader::Page) {
    document.sections.push_back({.heading = "Finding",
                                 .id = "finding",
                                 .parts = {finding_section(report, finding, reader)}});
    return;
  }
  document.lead.standing = standing(finding);
  std::vector<Block> blocks;
  const std::string_view rest = beyond_headline(report.diagnosis.verdict.headline, finding.message);
  if (!rest.empty()) blocks.push_back(Labelled{"what", std::string(rest)});
  add_grounds(report, finding, reader, blocks);
  add_section(document, "", std::move(blocks));
}

void add_findings_on_page(const Report& report, std::string heading, std::string id,
                          const std::vector<const Finding*>& findings, bool fold,
                          Document& document) {
  if (findings.empty()) return;
  Section section{.heading = std::move(heading), .id = std::move(id), .folds = fold};
  for (const Finding* each : findings) {
    section.parts.push_back(finding_section(report, *each, Reader::Page, fold));
  }
  document.sections.push_back(std::move(section));
}

/// On a screen, what follows from others is named below these.
void add_other_findings(const Report& report, const Finding* main, Reader reader,
                        Document& document) {
  const std::vector<Finding>& findings = report.diagnosis.findings;
  std::set<const Finding*> explained;
  for (const Finding& finding : findings) {
    const std::vector<const Finding*> following = consequences_of(findings, finding);
    explained.insert(following.begin(), following.end());
  }
  std::vector<const Finding*> loud;
  std::vector<const Finding*> following;
  std::vector<const Finding*> quiet;
  for (const Finding& finding : findings) {
    if (&finding == main) continue;
    auto& list = explained.contains(&finding)         ? following
                 : finding.severity == Severity::Info ? quiet
                                                      : loud;
    list.push_back(&finding);
  }
  if (reader == Reader::Screen) {
    for (const Finding* finding : loud) {
      document.sections.push_back(finding_section(report, *finding, reader));
    }
    std::vector<std::string> points;
    for (const Finding* finding : quiet) {
      points.push_back(fmt::format("{} [{}]", first_sentence(finding->message), finding->id));
    }
    return add_points(document, "Worth knowing", std::move(points));
  }
  add_findings_on_page(report, main == nullptr ? "Findings" : "Other findings", "findings", loud,
                       false, document);
  add_findings_on_page(report, "What follows from these", "following", following, true, document);
  add_findings_on_page(report, "Worth knowing", "quiet", quiet, true, document);
}

// What stands beside the findings. Where it stands without a heading on a screen, labels and words
// tell what it is.

/// "Run 1: problem (watchdog-rank-behind); failed: rank 1 reports that ALLREDUCE timed out
/// (train.log lines 1-435)."
std::string run_sentence(const JudgedRun& run) {
  constexpr std::string_view kWords[] = {"problem", "suspicious", "healthy", "no problem seen",
                                         "cannot be judged"};
  std::string text =
      fmt::format("{}: {}", run.name, kWords[static_cast<size_t>(run.verdict.status)]);
  if (!run.verdict.finding.empty()) text += fmt::format(" ({})", run.verdict.finding);
  if (run.end.state != EndState::Unknown) text += fmt::format("; {}", to_string(run.end.state));
  if (!run.end.what.empty()) text += ": " + run.end.what;
  if (!run.place.empty()) text += fmt::format(" ({})", run.place);
  return capitalised(text) + ".";
}

/// "reproduced-fault (likely)".
std::string kind_of(const ReplaySummary& replay) {
  return replay.confidence.empty() ? replay.kind
                                   : fmt::format("{} ({})", replay.kind, replay.confidence);
}

std::string unfit_sentence(const ReplaySummary& replay) {
  return fmt::format("{} is not of these logs and is not counted: {}.", replay.file, replay.unfit);
}

/// What a replay says about the verdict's finding, or why it says nothing.
void add_replay(const ReplaySummary& replay, Reader reader, Document& document) {
  std::vector<Block> blocks;
  for (const std::string& paragraph : replay_paragraphs(replay)) {
    if (reader == Reader::Page) {
      blocks.push_back(Paragraph{paragraph});
    } else {
      blocks.push_back(Labelled{blocks.empty() ? "replay" : "", paragraph});
    }
  }
  const std::string heading = reader == Reader::Page ? "Replay" : "";
  document.sections.push_back({.heading = heading, .blocks = std::move(blocks), .id = "replay"});
}

void add_profile(const Profile& profile, Document& document) {
  Section section{.heading = "Expectations of " + profile.name, .id = "expectations"};
  std::set<std::string> captures;
  for (const Expectation& expectation : profile.expectations) {
    // "hosts: 2 (2 hosts)", "network: IB, but network Socket", "nvls: true; no line says …".
    const std::string& what = expectation.outcome.what;
    const bool is_met = expectation.word == "met";
    const std::string_view joint = is_met ? " (" : expectation.word == "broken" ? ", but " : "; ";
    section.blocks.push_back(
        Statement{.word = std::string(expectation.word),
                  .text = expectation.text + std::string(joint) + what + (is_met ? ")" : ""),
                  .depth = 1});
    if (!expectation.how_to_capture.empty()) captures.insert(expectation.how_to_capture);
  }
  for (const std::string& capture : captures) {
    section.blocks.push_back(Paragraph{"To tell what is unknown: " + capture + ".", 2});
  }
  if (!section.blocks.empty()) document.sections.push_back(std::move(section));
}

void add_capture(const CaptureAdvice& advice, const Job& job, Document& document) {
  if (advice.empty()) return;
  Items steps{.items = advice.steps};
  if (advice.size) {
    steps.items.push_back("Log size: " + log_size_text(*advice.size, job.nranks) + ".");
  }
  document.sections.push_back({.heading = "To capture it next time",
                               .blocks = {capture_code(advice), std::move(steps)},
                               .id = "capture"});
}

/// "nic-down (ranks 0-3 on a, b): warning, suppressed until 2027-01-31 by site.yaml:3:5. …"
std::string effect_sentence(const OverlayEffect& effect) {
  const std::string_view before = to_string(effect.finding.severity);
  const std::string what =
      effect.severity ? fmt::format("{} instead of {}", to_string(*effect.severity), before)
                      : fmt::format("{}, suppressed", before);
  const std::string whom = subject_words(effect.finding);
  return fmt::format("{}{}: {} until {} by {}. {}", effect.finding.id,
                     whom.empty() ? "" : " (" + whom + ")", what, effect.until, effect.where,
                     effect.reason);
}

std::vector<std::string> overlay_points(const Diagnosis& diagnosis) {
  std::vector<std::string> points;
  for (const OverlayEffect& effect : diagnosis.overlays) points.push_back(effect_sentence(effect));
  for (const EndedOverlay& ended : diagnosis.ended_overlays) {
    points.push_back(fmt::format("{}: the overlay of {} ended on {} and is not applied. {}",
                                 ended.rule, ended.where, ended.until, ended.reason));
  }
  return points;
}

}  // namespace

std::string replay_sentence(const ReplaySummary& replay) {
  if (!replay.unfit.empty()) return unfit_sentence(replay);
  return fmt::format("A replay{} came out as {}.",
                     replay.machine.empty() ? "" : " on " + replay.machine, kind_of(replay));
}

std::vector<std::string> replay_paragraphs(const ReplaySummary& replay) {
  if (!replay.unfit.empty()) return {unfit_sentence(replay)};
  std::vector<std::string> out = {fmt::format("{}: {}", kind_of(replay), replay.headline)};
  std::string where =
      replay.machine.empty() ? replay.file : fmt::format("{}: {}", replay.file, replay.machine);
  if (!replay.changed.empty()) {
    where += "; not as recorded: " + replay.changed.front();
    const size_t more = replay.changed.size() - 1;
    if (more > 0) where += fmt::format(" (and {} more)", more);
  }
  out.push_back(where + (where.ends_with('.') ? "" : "."));
  if (!replay.must_not_conclude.empty()) {
    out.push_back("Do not conclude: " + replay.must_not_conclude.front());
  }
  return out;
}

Code capture_code(const CaptureAdvice& advice) {
  Code code;
  for (const CaptureSetting& setting : advice.settings) {
    code.lines.push_back(fmt::format("export {}={}", setting.name, setting.value));
  }
  return code;
}

std::string signature_of(const Tool& tool, bool with_hosts) {
  return fmt::format("{} {}, rules `{}`. Made from {}.", tool.name, tool.version, tool.rulebook,
                     with_hosts ? "what was read; nothing was changed"
                                : "the logs alone; nothing was asked of the machines");
}

Document verdict_document(const Report& report) {
  static constexpr const char* kWords[] = {"PROBLEM", "SUSPICIOUS", "CLEAN", "NOTHING FOUND",
                                           "CANNOT JUDGE"};
  const Verdict& verdict = report.diagnosis.verdict;
  return {.lead = {.word = kWords[static_cast<size_t>(verdict.status)],
                   .text = verdict.headline,
                   .main = true}};
}

Document report_document(const Report& report, Reader reader) {
  const Diagnosis& diagnosis = report.diagnosis;
  const bool whole = reader == Reader::Page;
  const Finding* main = find_finding(report, diagnosis.verdict.finding);
  Document document = verdict_document(report);
  if (whole) document.signature = signature_of(report.tool, !report.job.host_reports.empty());
  if (main != nullptr) add_main_finding(report, *main, reader, document);
  std::vector<std::string> runs;
  for (const JudgedRun& run : diagnosis.runs) runs.push_back(run_sentence(run));
  add_points(document, "Runs", std::move(runs), "runs");
  if (report.replay) add_replay(*report.replay, reader, document);
  if (report.profile) add_profile(*report.profile, document);
  add_other_findings(report, main, reader, document);
  const bool has_logs = !report.job.inputs.empty() || report.job.host_reports.empty();
  for (Section& section : host_sections(report.job, whole || !has_logs)) {
    document.sections.push_back(std::move(section));
  }
  if (!has_logs) return document;
  std::vector<std::string> gaps;
  for (const NotJudged& gap : diagnosis.not_judged) {
    gaps.push_back(gap.question + " " + gap.reason);
  }
  add_points(document, "What these logs cannot tell", std::move(gaps), "open");
  add_capture(diagnosis.capture, report.job, document);
  add_points(document, "Overlays", overlay_points(diagnosis), "overlays");
  if (whole) {
    for (Section& section : job_sections(report.job)) {
      document.sections.push_back(std::move(section));
    }
  }
  document.sections.push_back(inputs_section(report, reader));
  return document;
}

std::string write_text(const Report& report, const TextStyle& style) {
  return render_text(report_document(report, Reader::Screen), style);
}

std::string write_markdown(const Report& report, const TextStyle&) {
  return render_markdown(report_document(report, Reader::Page));
}

std::string write_html(const Report& report, const TextStyle&) {
  return render_html(report_document(report, Reader::Page));
}

namespace {

std::string json(const Report& report, const TextStyle&) { return write_json(report); }

constexpr ReportKind kKinds[] = {
    {"text", "text", "text for people", write_text},
    {"json", "json", "JSON for scripts, schema ncclog.report/2", json},
    {"markdown", "md", "Markdown that fits an issue on GitHub", write_markdown},
    {"html", "html", "one page for a browser, without any request", write_html},
};

}  // namespace

std::span<const ReportKind> report_kinds() { return kKinds; }

const ReportKind* find_report_kind(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &ReportKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace ncclog
