#include "report/html_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "report/evidence_text.h"
#include "report/finding_words.h"
#include "report/html_page.h"
#include "report/html_table.h"
#include "report/overlay_text.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

constexpr size_t kMaxLineBytes = 1024;

Literal css_of(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return "verdict error";
    case VerdictStatus::Suspicious:
      return "verdict warning";
    case VerdictStatus::Clean:
      return "verdict good";
    case VerdictStatus::NothingFound:
    case VerdictStatus::CannotJudge:
      break;
  }
  return "verdict quiet";
}

Literal css_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "finding error";
    case Severity::Warning:
      return "finding warning";
    case Severity::Info:
      break;
  }
  return "finding info";
}

std::vector<Attribute> css(Literal names) { return {{"class", std::string(names.text())}}; }

Markup standing(const Finding& finding) {
  const std::string words = fmt::format("{}, {} {}", to_string(finding.severity),
                                        to_string(finding.confidence), to_string(finding.role));
  const std::string subject = subject_words(finding);
  Markup out = html_element("b", {}, html_text(words)) + html_literal(" · ") +
               html_element("code", {}, html_text(finding.id));
  if (!subject.empty()) out += html_literal(" · ") + html_text(subject);
  return html_element("p", {{"class", "standing"}}, out);
}

/// What stands in backquotes is shown as code; backquotes without a partner stay.
Markup with_code(std::string_view text) {
  Markup out;
  while (!text.empty()) {
    const size_t begin = text.find('`');
    const size_t end = begin == text.npos ? text.npos : text.find('`', begin + 1);
    if (end == text.npos) return out + html_text(text);
    if (begin > 0) out += html_text(text.substr(0, begin));
    out += html_element("code", {}, html_text(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(end + 1);
  }
  return out;
}

Markup items(Literal heading, const std::vector<std::string>& list) {
  if (list.empty()) return {};
  Markup rows;
  for (const std::string& item : list) {
    rows += html_element("li", {},
                         is_command(item) && item.find('`') == item.npos
                             ? html_element("code", {}, html_text(item))
                             : with_code(item));
  }
  return html_element("h4", {}, html_literal(heading)) + html_element("ul", {}, rows);
}

std::string place_of(const Job& job, const Evidence& evidence) {
  const FileLine place = file_line(job, evidence.where);
  return evidence.where.line == 0 ? place.path : fmt::format("{}:{}", place.path, place.line);
}

Markup evidence_line(const Job& job, const Evidence& evidence) {
  Markup out = html_element("p", {{"class", "place"}},
                            html_element("code", {}, html_text(place_of(job, evidence))));
  const std::string_view text = trim(evidence.text);
  if (!text.empty()) out += html_element("pre", {}, html_text(text, kMaxLineBytes));
  return out;
}

/// The lines that tell most, and the others for those who ask.
Markup evidence_block(const Job& job, const Finding& finding) {
  constexpr size_t kShown = 4;
  if (finding.evidence.empty()) return {};
  const std::vector<const Evidence*> telling = telling_evidence(finding, kShown);
  Markup shown = html_element("h4", {}, html_literal("Seen"));
  for (const Evidence* evidence : telling) shown += evidence_line(job, *evidence);
  Markup others;
  for (const Evidence& evidence : finding.evidence) {
    const bool is_shown = std::find(telling.begin(), telling.end(), &evidence) != telling.end();
    if (!is_shown) others += evidence_line(job, evidence);
  }
  const size_t more = finding.evidence.size() - telling.size();
  if (more > 0) shown += html_details(html_text(plural(more, "more line")), others);
  if (finding.evidence_omitted > 0) {
    shown += html_element("p", css("quiet"),
                          html_text(fmt::format("and {} that are not kept here",
                                                plural(finding.evidence_omitted, "further line"))));
  }
  return shown;
}

Markup consequences(const Finding& finding) {
  if (finding.explains.empty()) return {};
  Markup list;
  for (const std::string& id : finding.explains) {
    if (!list.empty()) list += html_literal(", ");
    list += html_element("a", {{"href", "#finding-" + id}}, html_text(id));
  }
  return html_element("p", css("quiet"), html_literal("From this follows: ") + list);
}

Markup finding_inside(const Job& job, const Finding& finding, std::string_view message) {
  Markup out = standing(finding);
  if (!message.empty()) out += html_element("p", {}, with_code(message));
  if (!finding.why.empty()) out += html_element("p", css("quiet"), with_code(finding.why));
  return out + evidence_block(job, finding) + items("Check", finding.check) +
         items("Fix", finding.fix) + items("Do not", finding.do_not) +
         items("References", finding.references) + consequences(finding);
}

/// A finding as it stands below the headline, without what that says.
Markup finding_block(const Report& report, const Finding& finding) {
  const Verdict& verdict = report.diagnosis.verdict;
  const std::string_view message = finding.id == verdict.finding
                                       ? beyond_headline(verdict.headline, finding.message)
                                       : std::string_view(finding.message);
  std::vector<Attribute> attributes = css(css_of(finding.severity));
  attributes.push_back({"id", "finding-" + finding.id});
  return html_element("article", attributes,
                      html_element("h3", {}, html_text(finding.title)) +
                          finding_inside(report.job, finding, message)) +
         html_literal("\n");
}

/// A finding that follows from another one, or changes nothing: its title, the rest on demand.
Markup folded_finding(const Job& job, const Finding& finding) {
  const std::string subject = subject_words(finding);
  Markup summary = html_element("h3", {}, html_text(finding.title));
  if (!subject.empty()) summary += html_literal(" · ") + html_text(subject);
  std::vector<Attribute> attributes = css(css_of(finding.severity));
  attributes.push_back({"id", "finding-" + finding.id});
  return html_element("article", attributes,
                      html_details(summary, finding_inside(job, finding, finding.message))) +
         html_literal("\n");
}

std::set<std::string> explained_ids(const Report& report) {
  std::set<std::string> ids;
  for (const Finding& finding : report.diagnosis.findings) {
    ids.insert(finding.explains.begin(), finding.explains.end());
  }
  ids.erase(report.diagnosis.verdict.finding);
  return ids;
}

Markup capture_block(const Report& report) {
  const CaptureAdvice& advice = report.diagnosis.capture;
  if (advice.empty()) return {};
  std::string lines;
  Markup exports;
  for (const CaptureSetting& setting : advice.settings) {
    exports +=
        html_text(fmt::format("export {}={}", setting.name, setting.value)) + html_literal("\n");
  }
  Markup out = html_element("h3", {}, html_literal("To capture it next time"));
  if (!exports.empty()) out += html_element("pre", {}, exports);
  Markup steps;
  for (const std::string& step : advice.steps) steps += html_element("li", {}, html_text(step));
  if (advice.size) {
    steps += html_element(
        "li", {}, html_text("Log size: " + log_size_text(*advice.size, report.job.nranks) + "."));
  }
  if (!steps.empty()) out += html_element("ul", {}, steps);
  return out;
}

}  // namespace

Markup html_verdict(const Report& report) {
  const Verdict& verdict = report.diagnosis.verdict;
  return html_element("div", css(css_of(verdict.status)),
                      html_element("p", css("word"), html_text(verdict_word(verdict.status))) +
                          html_element("h1", {}, html_text(verdict.headline)));
}

Markup html_findings(const Report& report) {
  const std::set<std::string> explained = explained_ids(report);
  Markup out;
  for (const Finding& finding : report.diagnosis.findings) {
    const bool main = finding.id == report.diagnosis.verdict.finding;
    const bool fold =
        !main && (finding.severity == Severity::Info || explained.contains(finding.id));
    out += fold ? folded_finding(report.job, finding) : finding_block(report, finding);
  }
  return out;
}

Markup html_open_questions(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  if (diagnosis.not_judged.empty() && diagnosis.capture.empty()) return {};
  Markup rows;
  for (const NotJudged& gap : diagnosis.not_judged) {
    rows += html_element(
        "li", {},
        html_element("b", {}, html_text(gap.question)) + html_literal(" ") + html_text(gap.reason));
  }
  Markup out;
  if (!rows.empty()) out += html_element("ul", {}, rows);
  return out + capture_block(report);
}

Markup html_overlays(const Report& report) {
  Markup rows;
  for (const std::string& sentence : overlay_sentences(report.diagnosis)) {
    rows += html_element("li", {}, html_text(sentence));
  }
  return rows.empty() ? Markup() : html_element("ul", {}, rows);
}

Markup html_replay(const Report& report) {
  Markup out;
  if (!report.replay) return out;
  for (const std::string& paragraph : replay_paragraphs(*report.replay)) {
    out += html_paragraph(paragraph);
  }
  return out;
}

Markup html_profile(const Report& report) {
  if (!report.profile) return {};
  Table table{.name = "expectations",
              .columns = {"expectation", "outcome", "what", "how_to_capture"}};
  for (const CheckedExpectation& expectation : report.profile->expectations) {
    table.rows.push_back(
        {text_cell(expectation.text), text_cell(to_string(expectation.outcome.state)),
         text_cell(expectation.outcome.what), text_cell(expectation.how_to_capture)});
  }
  return html_paragraph(fmt::format("{}: {}", report.profile->name, report.profile->title)) +
         html_table(table, "expectations");
}

}  // namespace ncclog
