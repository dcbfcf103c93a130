#include "report/write_sarif.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/fnv.h"
#include "base/text.h"
#include "report/write_json.h"

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Plain text as a message's: single braces would be placeholders (3.11.5), "[…](" a link (3.11.6).
std::string escaped(std::string_view shown) {
  std::string out;
  for (size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    if (c == '{' || c == '}') out += c;
    if (c == ']' && i + 1 < shown.size() && shown[i + 1] == '(') out += '\\';
    out += c;
  }
  return out;
}

Json list_of(Json item) {
  Json list = Json::array();
  list.push_back(std::move(item));
  return list;
}

Json message(std::string_view text) { return {{"text", escaped(printable(text))}}; }

std::string_view level_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
      return "note";
  }
  return "note";
}

/// A path as a URI reference: relative ones stay so, all but unreserved characters is encoded.
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = is_word(c) || c == '-' || c == '.' || c == '~' || c == '/' || c == '!';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json file_location(std::string_view path) {
  return {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(path)}}}}}};
}

/// A list under a heading, as text; empty for an empty list.
std::string list_text(std::string_view heading, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "\n- " + printable(item);
  return text.empty() ? text : fmt::format("\n\n{}:{}", heading, text);
}

std::string help_text(const Finding& finding) {
  std::string text = printable(finding.why) + list_text("Check", finding.check) +
                     list_text("Fix", finding.fix) + list_text("Do not", finding.do_not) +
                     list_text("References", finding.references);
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

Json rule_json(const Finding& finding) {
  Json rule = {{"id", finding.id}, {"shortDescription", message(finding.title)}};
  if (!finding.why.empty()) rule["fullDescription"] = message(finding.why);
  const std::string help = help_text(finding);
  if (!help.empty()) rule["help"] = {{"text", escaped(help)}};
  rule["defaultConfiguration"] = {{"level", level_of(finding.severity)}};
  return rule;
}

Json location_json(const Job& job, const Evidence& evidence) {
  const FileLine place = file_line(job, evidence.where);
  Json location = file_location(place.path);
  if (place.line == 0) return location;
  Json region = {{"startLine", place.line}};
  const std::string text = printable(std::string_view(evidence.text).substr(0, kMaxEvidenceBytes));
  if (!text.empty()) region["snippet"] = {{"text", text}};
  location["physicalLocation"]["region"] = std::move(region);
  return location;
}

/// Whom a finding names, for those whose evidence is no line.
Json logical_location(const Finding& finding) {
  std::vector<std::string> names;
  for (const int rank : finding.ranks) names.push_back(fmt::format("rank {}", rank));
  for (const std::string& host : finding.hosts) names.push_back(printable(host));
  return {{"logicalLocations", list_of({{"fullyQualifiedName", join(names, ", ")}})}};
}

/// FNV-1a over what stays the same when the job fails again.
std::string fingerprint(const Finding& finding) {
  uint64_t hash = fnv_text(kFnvBasis, finding.id);
  for (const std::string& host : finding.hosts) hash = fnv_text(hash, host);
  for (const int rank : finding.ranks) hash = fnv_text(hash, std::to_string(rank));
  return fmt::format("{:016x}", hash);
}

void add_locations(const Job& job, const Finding& finding, Json& result) {
  const bool named = !finding.ranks.empty() || !finding.hosts.empty();
  Json locations = Json::array();
  Json related = Json::array();
  for (const Evidence& evidence : finding.evidence) {
    (locations.empty() ? locations : related).push_back(location_json(job, evidence));
  }
  if (locations.empty() && named) locations.push_back(logical_location(finding));
  if (!locations.empty()) result["locations"] = std::move(locations);
  if (!related.empty()) result["relatedLocations"] = std::move(related);
}

Json properties_of(const Finding& finding) {
  Json hosts = Json::array();
  for (const std::string& host : finding.hosts) hosts.push_back(printable(host));
  return {{"confidence", to_string(finding.confidence)},
          {"role", to_string(finding.role)},
          {"hosts", std::move(hosts)},
          {"ranks", finding.ranks},
          {"explains", finding.explains},
          {"evidenceOmitted", finding.evidence_omitted}};
}

/// The rules that results name, each once, in the order in which they come up.
class Rules {
 public:
  size_t index_of(const Finding& finding) {
    const auto [place, is_new] = indices_.try_emplace(finding.id, all_.size());
    if (is_new) all_.push_back(rule_json(finding));
    return place->second;
  }
  Json take() { return std::move(all_); }

 private:
  std::map<std::string, size_t> indices_;
  Json all_ = Json::array();
};

Json result_json(const Job& job, const Finding& finding, Rules& rules) {
  Json result = {{"ruleId", finding.id},
                 {"ruleIndex", rules.index_of(finding)},
                 {"level", level_of(finding.severity)},
                 {"message", message(finding.message.empty() ? finding.title : finding.message)}};
  add_locations(job, finding, result);
  result["partialFingerprints"] = {{"ncclogFinding/v1", fingerprint(finding)}};
  result["properties"] = properties_of(finding);
  return result;
}

Json results_json(const Report& report, Rules& rules) {
  Json results = Json::array();
  for (const Finding& finding : report.diagnosis.findings) {
    results.push_back(result_json(report.job, finding, rules));
  }
  for (const OverlayEffect& effect : report.diagnosis.overlays) {
    if (effect.severity) continue;
    Json result = result_json(report.job, effect.finding, rules);
    result["suppressions"] = list_of({{"kind", "external"},
                                      {"status", "accepted"},
                                      {"justification", printable(effect.reason)}});
    results.push_back(std::move(result));
  }
  return results;
}

Json notification(std::string_view level, const std::string& text) {
  return {{"level", level}, {"message", message(text)}};
}

/// What could not be judged and what could not be read.
Json notifications_json(const Report& report) {
  Json notifications = Json::array();
  for (const NotJudged& gap : report.diagnosis.not_judged) {
    notifications.push_back(notification(
        "note", fmt::format("Not judged: {} {} {}", gap.question, gap.reason, gap.how_to_capture)));
  }
  for (const JobInput& input : report.job.inputs) {
    if (input.note.empty()) continue;
    const bool whole = input.status == InputStatus::Whole || input.status == InputStatus::Skipped;
    Json note = notification(whole ? "note" : "warning",
                             fmt::format("{}: {}", to_string(input.status), input.note));
    note["locations"] = list_of(file_location(input.path));
    notifications.push_back(std::move(note));
  }
  return notifications;
}

Json artifacts_json(const std::vector<JobInput>& inputs) {
  Json artifacts = Json::array();
  for (const JobInput& input : inputs) {
    artifacts.push_back({{"location", {{"uri", uri_of(input.path)}}}, {"length", input.bytes}});
  }
  return artifacts;
}

}  // namespace

std::string write_sarif(const Report& report) {
  Rules rules;
  Json results = results_json(report, rules);
  const Verdict& verdict = report.diagnosis.verdict;
  Json run = {
      {"tool",
       {{"driver",
         {{"name", report.tool.name},
          {"version", report.tool.version},
          {"semanticVersion", report.tool.version},
          {"rules", rules.take()}}}}},
      {"invocations", list_of({{"executionSuccessful", true},
                               {"toolExecutionNotifications", notifications_json(report)}})},
      {"artifacts", artifacts_json(report.job.inputs)},
      {"results", std::move(results)},
      {"columnKind", "unicodeCodePoints"},
      {"properties",
       {{"verdict", to_string(verdict.status)},
        {"headline", printable(verdict.headline)},
        {"rulebook", report.tool.rulebook}}}};
  const Json log = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", list_of(std::move(run))}};
  return log.dump(2) + "\n";
}

}  // namespace ncclog
