#include "report/document/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "base/text.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/outcome.h"
#include "report/perf/perf_report.h"
#include "report/text_layout.h"
#include "rules/headline.h"
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

/// "cause (certain), shm-no-space; ranks 1,3 on node-a": what it is, how sure, who.
std::string standing(const Finding& finding) {
  std::string out = fmt::format("{} ({}), {}", to_string(finding.role),
                                to_string(finding.confidence), finding.id);
  if (finding.host_check.answer == HostCheck::Answer::Refuted) out = "refuted, " + out;
  const std::string subject = subject_words(finding);
  return subject.empty() ? out : out + "; " + subject;
}

/// The findings that this one explains, in the order of the report.
std::vector<const Finding*> explained_by(const Report& report, const Finding& finding) {
  std::vector<const Finding*> explained = consequences_of(report.diagnosis.findings, finding);
  std::ranges::sort(explained);
  return explained;
}

std::string count_of_others(size_t count) {
  return count == 1 ? "1 other" : fmt::format("{} others", count);
}

/// The same with what it explains: "…; explains 2 others: peer-closed-secondary, store-gone".
std::string standing_on_screen(const Report& report, const Finding& finding) {
  const std::vector<const Finding*> explained = explained_by(report, finding);
  if (explained.empty()) return standing(finding);
  std::vector<std::string> ids;
  for (const Finding* other : explained) ids.push_back(other->id);
  return fmt::format("{}; explains {}: {}", standing(finding), count_of_others(ids.size()),
                     few_of(ids, kMostNamed, ", "));
}

/// What a finding's message says beyond its headline. Views `message`.
std::string_view beyond_headline(const Finding& finding) {
  const size_t told =
      finding.headline.empty() ? first_sentence(finding.message).size() : finding.told_by_headline;
  return trim(std::string_view(finding.message).substr(told));
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

/// A line of NCCL's, printed by the one process that the finding is about.
bool is_own(const Finding& finding, std::string_view line) {
  return finding.ranks.size() == 1 && finding.subject.pid >= 0 &&
         line.find(fmt::format(":{}:", finding.subject.pid)) != line.npos;
}

std::vector<const Evidence*> telling_evidence(const Finding& finding, size_t most) {
  std::vector<const Evidence*> shown;
  std::set<std::string> shapes;
  // A place without its line says least, so lines come first.
  for (const bool has_text : {true, false}) {
    for (const Evidence& evidence : finding.evidence) {
      if (shown.size() == most || has_text == evidence.text.empty()) continue;
      // A dump has no line that ranks print alike: what is said of it is said because it differs.
      const std::string shape =
          evidence.where.line == 0 ? "dump: " + evidence.text : shape_of(evidence.text);
      const std::string_view whose = is_own(finding, evidence.text) ? "its own: " : "";
      if (shapes.insert(std::string(whose) + shape).second) shown.push_back(&evidence);
    }
  }
  return shown;
}

// The findings in the document.

/// Items of a label that a screen shows; a page shows all.
constexpr size_t kMainItems = 6;
constexpr size_t kOtherItems = 2;

/// What an advice asks for that these logs already have.
struct Having {
  std::string_view words;  ///< Of the advice.
  bool (*has)(const Job& job);
};

constexpr Having kHad[] = {
    {"Flight recorder dumps (", [](const Job& job) { return !job.flight_recorders.empty(); }},
    {"Run again with NCCL_DEBUG=INFO",
     [](const Job& job) { return has_spoken(job, Subsystem::Init); }},
};

/// The advice that is left to follow. On a screen commands name the logs as they were typed; a page
/// is read elsewhere.
std::vector<std::string> open_advice(const Report& report, const std::vector<std::string>& all,
                                     Reader reader) {
  constexpr std::string_view kLogs = "LOGS";
  std::vector<std::string> open;
  for (const std::string& item : all) {
    const bool is_had = std::ranges::any_of(kHad, [&](const Having& had) {
      return item.find(had.words) != item.npos && had.has(report.job);
    });
    if (is_had) continue;
    std::string& own = open.emplace_back(item);
    if (reader == Reader::Page || report.logs.empty() || own.find("ncclog ") == own.npos) continue;
    for (size_t at = own.find(kLogs); at != own.npos; at = own.find(kLogs, at)) {
      own.replace(at, kLogs.size(), report.logs);
      at += report.logs.size();
    }
  }
  return open.empty() ? all : open;
}

/// Why a finding is one, what shows it, what to do about it, and what follows from it. `seen` is
/// what is not shown above.
void add_grounds(const Report& report, const Finding& finding, Reader reader, Quotes seen,
                 std::vector<Block>& blocks) {
  const bool is_main = finding.id == report.diagnosis.verdict.finding;
  const bool whole = reader == Reader::Page;
  const size_t most = whole ? SIZE_MAX : is_main ? kMainItems : kOtherItems;
  if (!finding.why.empty() && (is_main || whole)) blocks.push_back(Labelled{"why", finding.why});
  if (!seen.quotes.empty()) blocks.push_back(std::move(seen));
  add_items("check", open_advice(report, finding.check, reader), most, blocks);
  add_items("fix", open_advice(report, finding.fix, reader), most, blocks);
  add_items("do not", finding.do_not, most, blocks);
  if (!whole) return;
  if (!finding.references.empty()) {
    blocks.push_back(Items{"references", finding.references, /*are_sources=*/true});
  }
  Links explains{.label = "explains"};
  for (const Finding* other : explained_by(report, finding)) {
    const std::string ranks = ranks_phrase(other->ranks);
    explains.links.emplace_back(
        ranks.empty() ? other->id : fmt::format("{} ({})", other->id, ranks),
        "finding-" + other->id);
  }
  if (explains.links.empty()) return;
  explains.lead = count_of_others(explains.links.size());
  blocks.push_back(std::move(explains));
}

/// It is a WARN, or quotes one: "Last error: …".
bool warns(std::string_view line) {
  const Event event = parse_event(line, all_wordings());
  return event.header.level != Level::Info && warning_of(event) != nullptr;
}

/// The quote that decides, which is taken out: one of the guilty's own, among equals a WARN, else the
/// first; an empty one if there are none.
Quote take_decisive(const Finding& finding, Quotes& seen) {
  if (seen.quotes.empty()) return {};
  const auto worth = [&](const Quote& quote) {
    return std::pair(is_own(finding, quote.text), warns(quote.text));
  };
  const auto decisive = std::ranges::max_element(seen.quotes, {}, worth);
  Quote taken = std::move(*decisive);
  seen.quotes.erase(decisive);
  return taken;
}

/// A finding on a page, below its title.
Section page_section(const Report& report, const Finding& finding, bool folds = false) {
  const bool is_main = finding.id == report.diagnosis.verdict.finding;
  const std::string_view message =
      is_main ? beyond_headline(finding) : std::string_view(finding.message);
  Section section{.heading = finding.title,
                  .blocks = {Statement{.word = std::string(to_string(finding.severity)),
                                       .text = std::string(message),
                                       .standing = standing(finding),
                                       .main = true}},
                  .id = "finding-" + finding.id,
                  .folds = folds};
  add_grounds(report, finding, Reader::Page, evidence_quotes(report.job, finding, is_main ? 4 : 2),
              section.blocks);
  return section;
}

/// A finding on a screen: `said` gets the line that decides it and its standing, and stands above.
std::vector<Block> screen_blocks(const Report& report, const Finding& finding, Reader reader,
                                 Statement& said) {
  const bool is_main = finding.id == report.diagnosis.verdict.finding;
  Quotes seen = evidence_quotes(report.job, finding, is_main ? 4 : 2);
  said.shown = take_decisive(finding, seen);
  said.standing = standing_on_screen(report, finding);
  std::vector<Block> blocks;
  const std::string_view rest = beyond_headline(finding);
  if (!rest.empty()) blocks.push_back(Labelled{"what", std::string(rest)});
  add_grounds(report, finding, reader, std::move(seen), blocks);
  if (is_main && !report.logs.empty()) {
    blocks.push_back(Items{"more", {fmt::format("ncclog explain {} {}", finding.id, report.logs)}});
  }
  return blocks;
}

/// The finding that the verdict names, with all that is known about it.
void add_main_finding(const Report& report, const Finding& finding, Reader reader,
                      Document& document) {
  if (reader == Reader::Page) {
    document.sections.push_back(
        {.heading = "Finding", .id = "finding", .parts = {page_section(report, finding)}});
    return;
  }
  add_section(document, "", screen_blocks(report, finding, reader, document.lead));
}

Section screen_section(const Report& report, const Finding& finding, Reader reader) {
  Statement said{
      .word = std::string(to_string(finding.severity)), .text = headline_of(finding), .main = true};
  std::vector<Block> blocks = screen_blocks(report, finding, reader, said);
  blocks.insert(blocks.begin(), std::move(said));
  return {.blocks = std::move(blocks), .id = "finding-" + finding.id};
}

void add_findings_on_page(const Report& report, std::string heading, std::string id,
                          const std::vector<const Finding*>& findings, bool fold,
                          Document& document) {
  if (findings.empty()) return;
  Section section{.heading = std::move(heading), .id = std::move(id), .folds = fold};
  for (const Finding* each : findings) section.parts.push_back(page_section(report, *each, fold));
  document.sections.push_back(std::move(section));
}

/// A WARN is why people look at a log: that it is harmless is to be read.
bool is_about_warning(const Finding& finding) {
  return std::ranges::any_of(finding.evidence, [](const Evidence& line) {
    return line.text.find("NCCL WARN ") != std::string::npos;
  });
}

/// "P2P is off. [p2p-disabled-info]"; what else is harmless is counted for who does not ask for it.
void add_quiet(const std::vector<const Finding*>& quiet, Reader reader, Document& document) {
  std::vector<std::string> points;
  int64_t harmless = 0;
  for (const Finding* finding : quiet) {
    if (finding->is_harmless && reader == Reader::Screen && !is_about_warning(*finding)) {
      ++harmless;
    } else {
      points.push_back(fmt::format("{} [{}]", headline_of(*finding), finding->id));
    }
  }
  add_points(document, "Worth knowing", std::move(points));
  if (harmless == 0) return;
  add_section(document, "", {Paragraph{fmt::format("{}: -v", plural(harmless, "harmless note"))}});
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
  if (reader != Reader::Page) {
    for (const Finding* finding : loud) {
      document.sections.push_back(screen_section(report, *finding, reader));
    }
    return add_quiet(quiet, reader, document);
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

/// A screen that did not ask for more has room for one sentence.
void add_capture(const CaptureAdvice& advice, const Job& job, Reader reader, Document& document) {
  if (advice.empty()) return;
  if (reader == Reader::Screen) {
    std::string line;
    for (const CaptureSetting& setting : advice.settings) {
      line += fmt::format("{}={} ", setting.name, setting.value);
    }
    line += line.empty() ? advice.steps.front() : "on all ranks (-v says more).";
    document.sections.push_back({.blocks = {Paragraph{"Next time: " + line}}, .id = "capture"});
    return;
  }
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

std::string json(const Report& report, const TextStyle&) { return write_json(report); }

constexpr ReportKind kKinds[] = {
    {"text", "text", "text for people", write_text},
    {"json", "json", "JSON for scripts, schema ncclog.report/3", json},
    {"markdown", "md", "Markdown that fits an issue on GitHub", write_markdown},
    {"html", "html", "one page for a browser, without any request", write_html},
    {"github", "github", "annotations for GitHub's Actions", write_github, false},
    {"prometheus", "prometheus", "gauges for node_exporter's textfile collector", write_prometheus,
     false},
};

}  // namespace

Quotes evidence_quotes(const Job& job, const Finding& finding, size_t most) {
  Quotes quotes{.label = "seen", .more = finding.evidence_omitted};
  const std::vector<const Evidence*> telling = telling_evidence(finding, most);
  const auto quote_of = [&](const Evidence& evidence) {
    return Quote{place_name(job, evidence.where), evidence.text, clock_of(evidence.text)};
  };
  for (const Evidence* evidence : telling) {
    quotes.quotes.push_back(quote_of(*evidence));
    quotes.quotes.back().keep = failure_words_in(evidence->text);
  }
  for (const Evidence& evidence : finding.evidence) {
    const bool is_shown = std::ranges::find(telling, &evidence) != telling.end();
    if (!is_shown) quotes.rest.push_back(quote_of(evidence));
  }
  return quotes;
}

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
  // Who ended it is the answer to the first question.
  const std::vector<JudgedRun>& runs = report.diagnosis.runs;
  const bool is_last_run = runs.size() <= 1 || report.diagnosis.leading_run + 1 == runs.size();
  const EndState end = runs.empty() ? outcome_of(report.job).job.state
                                    : runs[report.diagnosis.leading_run].end.state;
  const bool is_stopped = verdict.status == VerdictStatus::NothingFound && !report.job.stated &&
                          is_last_run && end == EndState::Stopped;
  return {.lead = {.word = is_stopped ? "STOPPED" : kWords[static_cast<size_t>(verdict.status)],
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
  // Speed is a question of its own: a job that did its work may still be slow.
  const bool has_room = !whole && diagnosis.verdict.finding.empty();
  if (has_room && status_of(perf_report(report.job, report.tool)) == PerfStatus::Slow) {
    add_section(document, "",
                {Paragraph{fmt::format("Speed was not judged here; it is low: ncclog perf {}",
                                       report.logs.empty() ? "LOGS" : report.logs)}});
  }
  const bool has_logs = !report.job.inputs.empty() || report.job.host_reports.empty();
  for (Section& section : host_sections(report.job, whole || !has_logs)) {
    document.sections.push_back(std::move(section));
  }
  if (!has_logs) return document;
  std::vector<std::string> gaps;
  for (const NotJudged& gap : diagnosis.not_judged) gaps.push_back(gap.question + " " + gap.reason);
  add_points(document, "What these logs cannot tell", std::move(gaps), "open");
  add_capture(diagnosis.capture, report.job, reader, document);
  add_points(document, "Overlays", overlay_points(diagnosis), "overlays");
  if (whole) {
    for (Section& section : job_sections(report.job, main)) {
      document.sections.push_back(std::move(section));
    }
  }
  document.sections.push_back(inputs_section(report, reader));
  return document;
}

std::string write_text(const Report& report, const TextStyle& style) {
  return render_text(report_document(report, style.verbose ? Reader::WholeScreen : Reader::Screen),
                     style);
}

std::string write_markdown(const Report& report, const TextStyle&) {
  return render_markdown(report_document(report, Reader::Page));
}

std::string write_html(const Report& report, const TextStyle&) {
  return render_html(report_document(report, Reader::Page));
}

std::span<const ReportKind> report_kinds() { return kKinds; }

const ReportKind* find_report_kind(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &ReportKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace ncclog
