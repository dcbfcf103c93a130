#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/safe_json.h"
#include "base/text.h"
#include "report/document/report_document.h"
#include "report/json/json_fields.h"

namespace ncclog {
namespace {

constexpr RemarkLevel kLevels[] = {RemarkLevel::Error, RemarkLevel::Warning, RemarkLevel::Note};

size_t count_of(const CheckedSource& source, RemarkLevel level) {
  return static_cast<size_t>(std::ranges::count_if(
      source.remarks, [&](const PlacedRemark& each) { return each.remark.level == level; }));
}

std::string heading(const CheckedSource& source) {
  const std::string format = source.format == "env_file"    ? "file of variables"
                             : source.format == "nccl_conf" ? "configuration file of NCCL"
                                                            : source.format;
  std::string text =
      fmt::format("{} ({}): {}", source.path, format, plural(source.settings.size(), "setting"));
  for (const RemarkLevel level : kLevels) {
    const size_t n = count_of(source, level);
    if (n > 0) text += fmt::format(", {}", plural(n, to_string(level)));
  }
  return text;
}

Statement remark_statement(const PlacedRemark& each) {
  const Remark& remark = each.remark;
  Statement statement{.word = std::string(to_string(remark.level)),
                      .about = {.place = each.place},
                      .text = remark.message,
                      .hint = remark.hint};
  if (!remark.variable.empty()) {
    statement.about.text = fmt::format("{}={}", remark.variable, remark.value);
  }
  return statement;
}

/// Settings on which there is no remark, each once.
std::vector<std::string> unremarked(const CheckedSource& source) {
  std::set<std::string> remarked;
  for (const PlacedRemark& each : source.remarks) remarked.insert(each.remark.variable);
  std::vector<std::string> rest;
  for (const Setting& setting : source.settings) {
    if (!remarked.insert(setting.name).second) continue;
    rest.push_back(fmt::format("{}={}", setting.name, setting.value));
  }
  return rest;
}

void add_source(const CheckedSource& source, std::vector<Section>& sections) {
  Section& head = sections.emplace_back(Section{.heading = heading(source)});
  if (!source.note.empty()) head.blocks.push_back(Paragraph{source.note, 1});
  for (const RemarkLevel level : kLevels) {
    for (const PlacedRemark& each : source.remarks) {
      if (each.remark.level == level) sections.push_back({.blocks = {remark_statement(each)}});
    }
  }
  const std::vector<std::string> rest = unremarked(source);
  if (rest.empty()) return;
  sections.push_back({.blocks = {Labelled{"Nothing to remark on", join(rest, ", ")}}});
}

Json remark_json(const PlacedRemark& each) {
  const Remark& remark = each.remark;
  return {{"level", to_string(remark.level)},     {"kind", to_string(remark.kind)},
          {"place", write_name(each.place)},      {"variable", write_name(remark.variable)},
          {"value", to_valid_utf8(remark.value)}, {"message", to_valid_utf8(remark.message)},
          {"hint", write_name(remark.hint)}};
}

Json source_json(const CheckedSource& source) {
  Json settings = Json::array();
  for (const Setting& setting : source.settings) {
    settings.push_back({{"name", to_valid_utf8(setting.name)},
                        {"value", to_valid_utf8(setting.value)},
                        {"line", setting.line == 0 ? Json(nullptr) : Json(setting.line)}});
  }
  Json remarks = Json::array();
  for (const PlacedRemark& each : source.remarks) remarks.push_back(remark_json(each));
  return {{"path", to_valid_utf8(source.path)},
          {"format", source.format},
          {"note", write_name(source.note)},
          {"settings", std::move(settings)},
          {"remarks", std::move(remarks)}};
}

}  // namespace

size_t count_remarks(const EnvironmentCheck& check, RemarkLevel level) {
  size_t n = 0;
  for (const CheckedSource& source : check.sources) n += count_of(source, level);
  return n;
}

Document environment_document(const EnvironmentCheck& check) {
  Document document;
  for (const CheckedSource& source : check.sources) add_source(source, document.sections);
  return document;
}

std::string write_check_json(const EnvironmentCheck& check) {
  Json sources = Json::array();
  for (const CheckedSource& source : check.sources) sources.push_back(source_json(source));
  const Json document = {{"schema", "ncclog.env_check/1"},
                         {"nccl_version", write_name(check.nccl_version)},
                         {"errors", count_remarks(check, RemarkLevel::Error)},
                         {"warnings", count_remarks(check, RemarkLevel::Warning)},
                         {"notes", count_remarks(check, RemarkLevel::Note)},
                         {"sources", std::move(sources)}};
  return safe_json(document.dump(2)) + "\n";
}

}  // namespace ncclog
