#include "report/document/rules_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "report/document/document.h"
#include "rules/evaluate.h"
#include "rules/headline.h"

namespace ncclog {
namespace {

constexpr size_t kMostLines = 4;    ///< Of an example; more would hide what the rule is about.
constexpr size_t kMostBytes = 200;  ///< Of a line: dumps of the Flight Recorder are one line each.

std::string_view area_of(const Rule& rule) {
  const size_t end = rule.path.rfind('/');
  const size_t begin = end == rule.path.npos || end == 0 ? 0 : rule.path.rfind('/', end - 1) + 1;
  return std::string_view(rule.path).substr(begin, std::min(end, rule.path.size()) - begin);
}

/// The lines that the finding quotes; of one that quotes none, the example's first ones.
std::vector<std::string> bad_lines(std::string_view example, const Finding& finding) {
  std::vector<std::string_view> all = split(trim(example), '\n');
  std::vector<std::string_view> rows = all;  // Dumps and flags among them have no number.
  std::erase_if(rows, [](std::string_view row) {
    return trim(row).starts_with('{') || trim(row).starts_with("--outcome");
  });
  std::set<uint64_t> quoted;
  for (const Evidence& evidence : finding.evidence) {
    const uint64_t line = evidence.where.line;
    if (line > 0 && line <= rows.size() && quoted.size() < kMostLines) quoted.insert(line);
  }
  std::vector<std::string> lines;
  for (const uint64_t line : quoted) lines.push_back(shortened(rows[line - 1], kMostBytes));
  for (const std::string_view line : all) {
    if (!quoted.empty() || lines.size() == kMostLines) break;
    lines.push_back(shortened(line, kMostBytes));
  }
  const size_t shown = lines.size();
  if (shown < all.size() && quoted.empty()) lines.push_back("…");
  return lines;
}

std::string rule_text(const Rulebook& rulebook, const Rule& rule, const LineMatcher& matcher,
                      const ExampleReader& reader) {
  std::string text =
      fmt::format("\n## [{0}]({0}.yaml)\n\n{1} ({2}, {3})\n", rule.id, markdown_text(rule.title),
                  to_string(rule.severity), to_string(rule.confidence));
  for (const Example& example : rule.fires) {
    const Diagnosis diagnosis = evaluate(rulebook, reader(example.log, matcher));
    const auto finding = std::ranges::find(diagnosis.findings, rule.id, &Finding::id);
    if (finding == diagnosis.findings.end()) continue;
    text += fmt::format("\n{}\n> {}\n", markdown_fence(bad_lines(example.log, *finding), "text"),
                        markdown_text(headline_of(*finding)));
    break;
  }
  text += rule.fix.empty() ? "" : "\n";
  for (const std::string& fix : rule.fix) text += fmt::format("- {}\n", markdown_text(fix));
  return text;
}

}  // namespace

std::set<std::string> areas_of(const Rulebook& rulebook) {
  std::set<std::string> areas;
  for (const Rule& rule : rulebook.rules) {
    if (rule.builtin) areas.emplace(area_of(rule));
  }
  return areas;
}

std::string rules_page(const Rulebook& rulebook, const std::string& area,
                       const ExampleReader& reader) {
  std::map<std::string_view, const Rule*> rules;
  for (const Rule& rule : rulebook.rules) {
    if (rule.builtin && area_of(rule) == area) rules.emplace(rule.id, &rule);
  }
  if (rules.empty()) {
    const std::set<std::string> areas = areas_of(rulebook);
    const std::vector<std::string_view> names(areas.begin(), areas.end());
    throw Error(fmt::format("no area of rules is called '{}'", printable(area)), "rules page",
                hint_for(area, names));
  }
  std::string text = fmt::format(
      "# Rules: {}\n\nOf each rule a line that it finds, what is said of it, and what to do. Made "
      "of "
      "the rules' files by\n`ncclog rules page {}`; `ncclog rules show ID` says all of one.\n",
      area, area);
  const LineMatcher matcher = make_line_matcher(rulebook);
  for (const auto& [id, rule] : rules) text += rule_text(rulebook, *rule, matcher, reader);
  return text;
}

}  // namespace ncclog
