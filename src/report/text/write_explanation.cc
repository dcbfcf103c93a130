#include "report/text/write_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

/// More than that is counted, not shown: the answers that matter stand first.
constexpr size_t kMostGroups = 4;
constexpr size_t kMostNames = 4;
constexpr size_t kMostSteps = 24;

std::string_view word_of(Answer answer) {
  switch (answer) {
    case Answer::Yes:
      return "yes";
    case Answer::No:
      return "no";
    case Answer::Unknown:
      break;
  }
  return "unknown";
}

Tone tone_of(Answer answer) {
  if (answer == Answer::Yes) return Tone::Good;
  return answer == Answer::No ? Tone::Quiet : Tone::Warning;
}

std::string place_text(const Job& job, const Evidence& evidence) {
  const FileLine place = file_line(job, evidence.where);
  return fmt::format("{}:{}", place.path, place.line);
}

std::string step_text(const ExplainedStep& step, const Job& job, const TextStyle& style) {
  const std::string indent(2 * static_cast<size_t>(step.depth + 1), ' ');
  const std::string lead = indent + pad(word_of(step.answer), 9);
  std::string out = hang(lead, tone_of(step.answer), printable(step.condition), style);
  const std::string below = indent + pad("", 9) + "  ";
  if (!step.reason.empty()) out += hang(below, printable(step.reason), style);
  if (!step.value.empty()) out += hang(below, "it is " + printable(step.value), style);
  if (step.evidence.empty()) return out;
  const std::string more =
      step.lines > 1 ? fmt::format(" and {} more", plural(step.lines - 1, "line")) : "";
  const Evidence& first = step.evidence.front();
  return out + below + printable(place_text(job, first)) + more + "\n" +
         clip(below + printable(first.text), style.width) + "\n";
}

std::string group_text(const ExplainedInstances& group, const Job& job, const TextStyle& style) {
  const std::string head = some_of(group.names, kMostNames);
  const std::string lead = pad(word_of(group.answer), 9);
  std::string out = hang(lead, tone_of(group.answer), printable(head), style);
  for (size_t i = 0; i < std::min(group.steps.size(), kMostSteps); ++i) {
    out += step_text(group.steps[i], job, style);
  }
  if (group.steps.size() > kMostSteps) {
    out += fmt::format("  … and {}\n", plural(group.steps.size() - kMostSteps, "condition"));
  }
  return "\n" + out;
}

std::string groups_text(const Explanation& explanation, const Job& job, const TextStyle& style) {
  std::string out;
  size_t left = 0;
  for (size_t i = 0; i < explanation.instances.size(); ++i) {
    if (i < kMostGroups) {
      out += group_text(explanation.instances[i], job, style);
    } else {
      left += explanation.instances[i].names.size();
    }
  }
  if (left > 0) out += fmt::format("\n… and {} more, which came less far; --json has them\n", left);
  return out;
}

std::string needs_text(const std::vector<NotJudged>& needs, const TextStyle& style) {
  if (needs.empty()) return {};
  std::string out = "\n" + paint("It needs", Tone::Strong, style) + "\n";
  for (const NotJudged& need : needs) {
    out += hang("  - ", printable(need.question + " " + need.reason), style);
    out += hang("    ", "To capture it: " + printable(need.how_to_capture), style);
  }
  return out;
}

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(to_valid_utf8(value));
  return list;
}

Json step_json(const ExplainedStep& step, const Job& job) {
  Json evidence = Json::array();
  for (const Evidence& item : step.evidence) {
    const FileLine place = file_line(job, item.where);
    evidence.push_back({{"file", to_valid_utf8(place.path)},
                        {"line", place.line},
                        {"text", to_valid_utf8(item.text)}});
  }
  return {{"depth", step.depth},
          {"condition", to_valid_utf8(step.condition)},
          {"answer", word_of(step.answer)},
          {"reason", to_valid_utf8(step.reason)},
          {"value", to_valid_utf8(step.value)},
          {"lines", step.lines},
          {"evidence", std::move(evidence)}};
}

Json group_json(const ExplainedInstances& group, const Job& job) {
  Json steps = Json::array();
  for (const ExplainedStep& step : group.steps) steps.push_back(step_json(step, job));
  return {{"names", texts(group.names)},
          {"answer", word_of(group.answer)},
          {"steps", std::move(steps)}};
}

Json needs_json(const std::vector<NotJudged>& needs) {
  Json list = Json::array();
  for (const NotJudged& need : needs) {
    list.push_back({{"question", need.question},
                    {"reason", to_valid_utf8(need.reason)},
                    {"how_to_capture", need.how_to_capture}});
  }
  return list;
}

Json overlays_json(const std::vector<OverlayEffect>& overlays) {
  Json list = Json::array();
  for (const OverlayEffect& effect : overlays) {
    list.push_back(
        {{"effect", effect.severity ? "severity" : "suppressed"},
         {"new_severity", effect.severity ? Json(to_string(*effect.severity)) : Json(nullptr)},
         {"hosts", texts(effect.finding.hosts)},
         {"ranks", effect.finding.ranks},
         {"reason", to_valid_utf8(effect.reason)},
         {"until", effect.until},
         {"where", to_valid_utf8(effect.where)}});
  }
  return list;
}

}  // namespace

std::string write_explanation(const Explanation& explanation, const Job& job,
                              const TextStyle& style) {
  std::string out =
      hang(paint(explanation.id, Tone::Strong, style) + "  ", printable(explanation.title), style);
  out += hang("  ", printable(explanation.sentence), style);
  if (!explanation.explained_by.empty()) {
    out += hang("  ", "It follows from " + join(explanation.explained_by, ", ") + ".", style);
  }
  for (const OverlayEffect& effect : explanation.overlays) {
    out += hang("  ",
                fmt::format("{} by {} until {}: {}",
                            effect.severity ? "Severity " + std::string(to_string(*effect.severity))
                                            : "Suppressed",
                            printable(effect.where), effect.until, printable(effect.reason)),
                style);
  }
  return out + needs_text(explanation.open_needs, style) + groups_text(explanation, job, style);
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
                     {"open_needs", needs_json(explanation.open_needs)},
                     {"explained_by", texts(explanation.explained_by)},
                     {"overlays", overlays_json(explanation.overlays)},
                     {"instances", std::move(groups)}};
  return json.dump(2) + "\n";
}

}  // namespace ncclog
