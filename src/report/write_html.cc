#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "report/finding_words.h"
#include "report/graph_svg.h"
#include "report/html_charts.h"
#include "report/html_findings.h"
#include "report/html_job.h"
#include "report/html_matrix.h"
#include "report/html_page.h"
#include "report/html_time_line.h"
#include "report/outcome_text.h"
#include "report/rank_paths.h"
#include "report/report_formats.h"
#include "report/runs_text.h"

namespace ncclog {
namespace {

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
