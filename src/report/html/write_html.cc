// The report for people who look at it in a browser, or attach it: one file with everything.
//
// No request leaves it, its content security policy forbids any; it can be read without its script,
// in light and in dark, on a phone and on paper. How large it may be does not depend on the log:
// tables and drawings are cut, and say so.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "model/job.h"
#include "report/graph/rank_paths.h"
#include "report/html/graph_svg.h"
#include "report/html/html_charts.h"
#include "report/html/html_page.h"
#include "report/html/html_text.h"
#include "report/job_shape.h"
#include "report/report.h"
#include "report/report_formats.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"
#include "report/verdict_and_evidence.h"

namespace ncclog {
namespace {

// Verdict, findings and open questions of a report, on a page.

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

/// What is read first: the verdict's word and its sentence, the page's heading.
Markup html_verdict(const Report& report) {
  const Verdict& verdict = report.diagnosis.verdict;
  return html_element("div", css(css_of(verdict.status)),
                      html_element("p", css("word"), html_text(verdict_word(verdict.status))) +
                          html_element("h1", {}, html_text(verdict.headline)));
}

/// All findings in causal order; those that follow from another one, and those that are mere
/// information, are folded. Empty without any.
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

/// What the logs cannot tell, and how the next ones would; empty if nothing is open.
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

/// What the overlays of a site did; empty without any.
Markup html_overlays(const Report& report) {
  Markup rows;
  for (const std::string& sentence : overlay_sentences(report.diagnosis)) {
    rows += html_element("li", {}, html_text(sentence));
  }
  return rows.empty() ? Markup() : html_element("ul", {}, rows);
}

/// What a replay showed; empty if none was named.
Markup html_replay(const Report& report) {
  Markup out;
  if (!report.replay) return out;
  for (const std::string& paragraph : replay_paragraphs(*report.replay)) {
    out += html_paragraph(paragraph);
  }
  return out;
}

/// What a profile expects, and whether it is so; empty if none was asked for.
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

// What was read, and what it says about the job, on a page: machine, ranks, settings, inputs.

constexpr size_t kMaxRanks = 1200;

/// How many rows of a table of ranks have which state, most first.
std::vector<std::pair<std::string, size_t>> states_of(const Table& ranks, size_t column) {
  std::map<std::string, size_t> counts;
  for (const auto& row : ranks.rows) {
    const auto* state = std::get_if<std::string>(&row[column]);
    ++counts[state == nullptr ? "unknown" : *state];
  }
  std::vector<std::pair<std::string, size_t>> states(counts.begin(), counts.end());
  std::stable_sort(states.begin(), states.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return states;
}

Markup states_list(const std::vector<std::pair<std::string, size_t>>& states) {
  Markup rows;
  for (const auto& [state, count] : states) {
    rows += html_element("li", {},
                         html_element("b", {}, html_text(std::to_string(count))) +
                             html_literal(" ") + html_text(state));
  }
  return html_element("ul", {{"class", "states"}}, rows);
}

size_t column_of(const Table& table, std::string_view name) {
  return static_cast<size_t>(std::find(table.columns.begin(), table.columns.end(), name) -
                             table.columns.begin());
}

/// Keeps kMaxRanks rows: those with a note or a rare state before others, in their order.
void keep_telling_rows(Table& table, const std::string& usual) {
  if (table.rows.size() <= kMaxRanks) return;
  const size_t state = column_of(table, "state");
  const size_t note = column_of(table, "note");
  const auto is_usual = [&](const std::vector<Cell>& row) {
    const auto* text = std::get_if<std::string>(&row[state]);
    return text != nullptr && *text == usual && std::holds_alternative<std::monostate>(row[note]);
  };
  size_t usual_left = kMaxRanks;
  size_t odd_left = kMaxRanks;
  const auto odd = static_cast<size_t>(std::count_if(
      table.rows.begin(), table.rows.end(), [&](const auto& row) { return !is_usual(row); }));
  usual_left -= std::min(kMaxRanks, odd);
  const size_t all = table.rows.size();
  std::erase_if(table.rows, [&](const auto& row) {
    size_t& left = is_usual(row) ? usual_left : odd_left;
    if (left == 0) return true;
    --left;
    return false;
  });
  table.notes.push_back(
      fmt::format("{} of {} ranks are shown, those unlike most first; 'ncclog show ranks' lists "
                  "all.",
                  table.rows.size(), all));
}

/// A setting with all its values.
struct SettingValues {
  std::map<std::string, std::vector<int>> processes_by_value;
  size_t processes = 0;
};

std::string ranks_of(const Job& job, const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (const int process : processes) {
    const int rank = job.processes[static_cast<size_t>(process)].rank;
    if (rank >= 0) ranks.push_back(rank);
  }
  return ranges_text(std::move(ranks));
}

std::map<std::string, SettingValues> settings_by_name(const Job& job) {
  std::map<std::string, SettingValues> settings;
  for (const EnvironmentSetting& setting : job.environment) {
    SettingValues& values = settings[setting.name];
    values.processes_by_value[setting.value] = setting.processes;
    values.processes += setting.processes.size();
  }
  return settings;
}

size_t processes_with_settings(const Job& job) {
  std::set<int> processes;
  for (const EnvironmentSetting& setting : job.environment) {
    processes.insert(setting.processes.begin(), setting.processes.end());
  }
  return processes.size();
}

void add_rows(const Job& job, const std::string& name, const SettingValues& values, Table& table) {
  for (const auto& [value, processes] : values.processes_by_value) {
    table.rows.push_back({text_cell(name), text_cell(value), text_cell(ranks_of(job, processes)),
                          number_cell(static_cast<int64_t>(processes.size()))});
  }
}

Table inputs_table(const Job& job) {
  Table table{.name = "inputs", .columns = {"path", "format", "bytes", "lines", "status", "note"}};
  for (const JobInput& input : job.inputs) {
    table.rows.push_back({text_cell(input.path), text_cell(input.format),
                          number_cell(static_cast<int64_t>(input.bytes)),
                          number_cell(static_cast<int64_t>(input.lines)),
                          text_cell(to_string(input.status)), text_cell(input.note)});
  }
  // What could not be read whole is what one looks for.
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    const auto whole = [](const auto& row) { return std::get<std::string>(row[4]) == "whole"; };
    return !whole(a) && whole(b);
  });
  return table;
}

Table losses_table(const LossTable& losses) {
  Table table{.name = "losses", .columns = {"loss", "severity", "count", "meaning", "advice"}};
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    if (losses.counts[i] == 0) continue;
    const LossRow& row = loss_rows()[i];
    table.rows.push_back({text_cell(row.name), text_cell(to_string(row.severity)),
                          number_cell(static_cast<int64_t>(losses.counts[i])),
                          text_cell(row.meaning), text_cell(row.advice)});
  }
  return table;
}

/// Size, versions, hosts, network; empty if the log says nothing of these.
Markup html_job_shape(const Job& job) {
  Markup rows;
  for (const ShapeRow& row : job_shape(job)) {
    rows +=
        html_element("dt", {}, html_text(row.name)) + html_element("dd", {}, html_text(row.value));
  }
  return rows.empty() ? Markup() : html_element("dl", {{"class", "facts"}}, rows);
}

/// Ranks by state, those that are unlike most first where not all can be shown.
Markup html_ranks(const Job& job) {
  Table table = ranks_table(job);
  if (table.rows.empty()) return html_table(table, "ranks");
  const auto states = states_of(table, column_of(table, "state"));
  keep_telling_rows(table, states.front().first);
  return states_list(states) + html_table(table, "ranks", {.rows = kMaxRanks, .cell_bytes = 200});
}

/// Where each communicator stands; empty if no calls were logged.
Markup html_fronts(const Job& job) {
  const Table table = fronts_table(job);
  return table.rows.empty() ? Markup()
                            : html_table(table, "communicators", {.rows = 60, .cell_bytes = 200});
}

/// Settings that NCCL reports: those whose value differs between processes first; empty if none.
Markup html_settings(const Job& job) {
  const std::map<std::string, SettingValues> settings = settings_by_name(job);
  if (settings.empty()) return {};
  const size_t all = processes_with_settings(job);
  const std::vector<std::string> columns = {"name", "value", "ranks", "processes"};
  Table differing{.name = "env", .columns = columns};
  Table same{.name = "env", .columns = columns};
  for (const auto& [name, values] : settings) {
    const bool differs = values.processes_by_value.size() > 1 || values.processes < all;
    add_rows(job, name, values, differs ? differing : same);
  }
  Markup out;
  if (differing.rows.empty()) {
    out += html_paragraph(
        all == 1 ? std::string("One process reports settings.")
                 : fmt::format("The same in all {} processes that report settings.", all));
  } else {
    out += html_element("h3", {}, html_literal("Not the same everywhere")) +
           html_table(differing, "settings that differ", {.rows = 200});
    if (!same.rows.empty()) out += html_element("h3", {}, html_literal("The same everywhere"));
  }
  return out + html_table(same, "settings", {.rows = 200});
}

/// Files, and what of them was lost or misread.
Markup html_inputs(const Job& job) {
  const LossTable& losses = job.losses;
  Markup out = html_paragraph(
      fmt::format("{} read: {} understood, {} of NCCL not understood, {} of others, {} unreadable.",
                  plural(losses.lines, "line"), losses.recognised, losses.unrecognised,
                  losses.foreign, losses.unreadable));
  const Table lost = losses_table(losses);
  if (!lost.rows.empty()) out += html_table(lost, "losses");
  const std::string files = plural(job.inputs.size(), "input");
  return out + html_details(html_text(files),
                            html_table(inputs_table(job), "inputs", {.rows = 300}),
                            job.inputs.size() <= 12);
}

constexpr size_t kMaxGraphs = 12;

/// A part of the page that the list at its top leads to.
struct Section {
  Literal id;
  Literal link;  ///< "#id".
  Literal heading;
  Markup content;
};

/// Each graph with its remarks; the first ones are open, all fold.
Markup drawing(const Drawing& drawing) {
  constexpr size_t kOpen = 2;
  Markup out;
  for (size_t g = 0; g < drawing.graphs.size(); ++g) {
    const Graph& graph = drawing.graphs[g];
    Markup inside;
    for (const std::string& remark : graph.remarks) inside += html_paragraph(remark);
    inside += html_scroll_box(graph.title, graph_svg(graph));
    out += html_details(html_text(graph.title), inside, g < kOpen);
  }
  for (const std::string& note : drawing.notes) out += html_paragraph(note);
  return out;
}

Markup drawing_unless_empty(const Drawing& value) {
  return value.graphs.empty() ? Markup() : drawing(value);
}

Markup runs(const Diagnosis& diagnosis) {
  Markup out;
  for (const std::string& sentence : run_sentences(diagnosis)) out += html_paragraph(sentence);
  return out;
}

/// Of several runs, each one's line says how it ended.
Markup ended(const Report& report) {
  if (!report.diagnosis.runs.empty()) return {};
  return html_paragraph(outcome_text(report.job));
}

std::vector<Section> sections_of(const Report& report) {
  const Job& job = report.job;
  const RankPaths paths = rank_paths(job);
  const Markup matrix = html_matrix(paths);
  std::vector<Section> all = {
      {"runs", "#runs", "Runs", runs(report.diagnosis)},
      {"findings", "#findings", "Findings", html_findings(report)},
      {"replay", "#replay", "Replay", html_replay(report)},
      {"expectations", "#expectations", "Expectations", html_profile(report)},
      {"open", "#open", "What cannot be told", html_open_questions(report)},
      {"overlays", "#overlays", "Overlays", html_overlays(report)},
      {"job", "#job", "Job", html_job_shape(job)},
      {"fronts", "#fronts", "Where each communicator stands", html_fronts(job)},
      {"ranks", "#ranks", "Ranks", html_ranks(job)},
      {"transports", "#transports", "Transports",
       matrix.empty() ? Markup() : html_transport_key(paths) + matrix},
      {"graphs", "#graphs", "Rings and trees",
       drawing_unless_empty(channels_drawing(job, kMaxGraphs))},
      {"devices", "#devices", "Devices of the hosts",
       drawing_unless_empty(topology_drawing(job, kMaxGraphs / 2))},
      {"iterations", "#iterations", "Calls by iteration", html_iterations(job)},
      {"time", "#time", "Time line", html_time_line(job)},
      {"settings", "#settings", "Settings", html_settings(job)},
      {"inputs", "#inputs", "Inputs", html_inputs(job) + ended(report)},
  };
  std::erase_if(all, [](const Section& section) { return section.content.empty(); });
  return all;
}

Markup links_to(const std::vector<Section>& sections) {
  Markup links;
  for (const Section& section : sections) {
    links += html_element("li", {},
                          html_element("a", {{"href", std::string(section.link.text())}},
                                       html_literal(section.heading)));
  }
  return html_element("nav", {{"aria-label", "Sections"}}, html_element("ul", {}, links));
}

Markup footer(const Tool& tool) {
  return html_element(
      "footer", {},
      html_paragraph(fmt::format("{} {}, rulebook {}. Made from the logs alone; nothing was asked "
                                 "of the machines.",
                                 tool.name, tool.version, tool.rulebook)));
}

}  // namespace

std::string write_html(const Report& report) {
  const std::vector<Section> sections = sections_of(report);
  Markup main;
  for (const Section& section : sections) {
    main += html_section(section.id, section.heading, section.content);
  }
  const Verdict& verdict = report.diagnosis.verdict;
  return html_page(fmt::format("{}: {}", verdict_word(verdict.status), verdict.headline),
                   html_element("header", {}, html_verdict(report) + links_to(sections)) +
                       html_element("main", {}, main) + footer(report.tool));
}

}  // namespace ncclog
