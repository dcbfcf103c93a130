// An explanation (rules/rule_tools.h): why a rule holds for a job, does not, or cannot be judged.

#include <fmt/format.h>

#include <algorithm>

#include "base/safe_json.h"
#include "base/text.h"
#include "report/document/report_document.h"
#include "report/json/json_fields.h"
#include "rules/rule_tools.h"

namespace ncclog {
namespace {

/// More than that is counted, not shown: the answers that matter stand first.
constexpr size_t kMostGroups = 4;
constexpr size_t kMostNames = 4;
constexpr size_t kMostSteps = 24;

std::string_view word_of(Answer answer) {
  return answer == Answer::Yes ? "yes" : answer == Answer::No ? "no" : "unknown";
}

void add_step(const ExplainedStep& step, const Job& job, std::vector<Block>& blocks) {
  const int depth = step.depth + 1;
  blocks.push_back(
      Statement{.word = std::string(word_of(step.answer)), .text = step.condition, .depth = depth});
  if (!step.reason.empty()) blocks.push_back(Statement{.text = step.reason, .depth = depth + 1});
  if (!step.value.empty()) {
    blocks.push_back(Statement{.text = "it is " + step.value, .depth = depth + 1});
  }
  if (step.evidence.empty()) return;
  const Evidence& first = step.evidence.front();
  blocks.push_back(Quotes{.quotes = {{place_name(job, first.where), first.text}},
                          .more = step.lines > 1 ? step.lines - 1 : 0,
                          .depth = depth + 1});
}

Section group_section(const ExplainedInstances& group, const Job& job) {
  Section section{.blocks = {Statement{.word = std::string(word_of(group.answer)),
                                       .text = few_of(group.names, kMostNames, ", ")}}};
  for (size_t i = 0; i < std::min(group.steps.size(), kMostSteps); ++i) {
    add_step(group.steps[i], job, section.blocks);
  }
  if (group.steps.size() > kMostSteps) {
    const std::string rest = plural(group.steps.size() - kMostSteps, "condition");
    section.blocks.push_back(Paragraph{"… and " + rest, 1});
  }
  return section;
}

void add_groups(const Explanation& explanation, const Job& job, std::vector<Section>& sections) {
  size_t left = 0;
  for (size_t i = 0; i < explanation.instances.size(); ++i) {
    if (i < kMostGroups) {
      sections.push_back(group_section(explanation.instances[i], job));
    } else {
      left += explanation.instances[i].names.size();
    }
  }
  if (left == 0) return;
  sections.push_back({.blocks = {Paragraph{fmt::format(
                          "… and {} more, which came less far; --json has them", left)}}});
}

/// The rule, and what became of it.
Section rule_section(const Explanation& explanation) {
  Section section{.heading = explanation.id,
                  .blocks = {Paragraph{explanation.sentence, 1}},
                  .aside = explanation.title};
  if (!explanation.explained_by.empty()) {
    section.blocks.push_back(
        Paragraph{"It follows from " + join(explanation.explained_by, ", ") + ".", 1});
  }
  for (const OverlayEffect& effect : explanation.overlays) {
    const std::string what =
        effect.severity ? fmt::format("Severity {}", to_string(*effect.severity)) : "Suppressed";
    section.blocks.push_back(Paragraph{
        fmt::format("{} by {} until {}: {}", what, effect.where, effect.until, effect.reason), 1});
  }
  return section;
}

Json step_json(const ExplainedStep& step, const Job& job) {
  return {{"depth", step.depth},
          {"condition", to_valid_utf8(step.condition)},
          {"answer", word_of(step.answer)},
          {"reason", to_valid_utf8(step.reason)},
          {"value", to_valid_utf8(step.value)},
          {"lines", step.lines},
          {"evidence", write_objects(job, kEvidence, step.evidence)}};
}

Json group_json(const ExplainedInstances& group, const Job& job) {
  Json steps = Json::array();
  for (const ExplainedStep& step : group.steps) steps.push_back(step_json(step, job));
  return {{"names", write_texts(group.names)},
          {"answer", word_of(group.answer)},
          {"steps", std::move(steps)}};
}

Json overlays_json(const std::vector<OverlayEffect>& overlays) {
  Json list = Json::array();
  for (const OverlayEffect& effect : overlays) {
    list.push_back(
        {{"effect", effect.severity ? "severity" : "suppressed"},
         {"new_severity", effect.severity ? Json(to_string(*effect.severity)) : Json(nullptr)},
         {"hosts", write_texts(effect.finding.hosts)},
         {"ranks", effect.finding.ranks},
         {"reason", to_valid_utf8(effect.reason)},
         {"until", effect.until},
         {"where", to_valid_utf8(effect.where)}});
  }
  return list;
}

}  // namespace

Document explanation_document(const Explanation& explanation, const Job& job) {
  Document document{{rule_section(explanation)}};
  Section needs{.heading = "It needs"};
  for (const NotJudged& need : explanation.open_needs) {
    needs.blocks.push_back(Items{"", {need.question + " " + need.reason}});
    needs.blocks.push_back(Paragraph{"To capture it: " + need.how_to_capture, 2});
  }
  if (!needs.blocks.empty()) document.sections.push_back(std::move(needs));
  add_groups(explanation, job, document.sections);
  return document;
}

std::string write_explanation_json(const Explanation& explanation, const Job& job) {
  Json groups = Json::array();
  for (const ExplainedInstances& group : explanation.instances) {
    groups.push_back(group_json(group, job));
  }
  const Json json = {{"schema", "ncclog.explain/1"},
                     {"rule",
                      {{"id", explanation.id},
                       {"title", to_valid_utf8(explanation.title)},
                       {"file", to_valid_utf8(explanation.path)}}},
                     {"outcome", to_string(explanation.outcome)},
                     {"sentence", to_valid_utf8(explanation.sentence)},
                     {"open_needs", write_objects(job, kNotJudged, explanation.open_needs)},
                     {"explained_by", write_texts(explanation.explained_by)},
                     {"overlays", overlays_json(explanation.overlays)},
                     {"instances", std::move(groups)}};
  return safe_json(json.dump(2)) + "\n";
}

}  // namespace ncclog
