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

constexpr Key<Setting> kCheckedSetting[] = {
    {"name", kText<&Setting::name, type::name>},
    {"value", kText<&Setting::value>},
    {"line",
     {type::nullable<type::positive>,
      [](const Job&, const Setting& setting) {
        return setting.line == 0 ? Json(nullptr) : Json(setting.line);
      }}},
};

constexpr Key<PlacedRemark> kRemark[] = {
    {"level", kOf<&PlacedRemark::remark, kWord<&Remark::level>>,
     "error: NCCL fails with it; warning: it does not do what it says; note: one should know."},
    {"kind", kOf<&PlacedRemark::remark, kWord<&Remark::kind>>},
    {"place", kNameOrNull<&PlacedRemark::place>, "'train.sh:8'; null: nowhere in particular."},
    {"variable", kOf<&PlacedRemark::remark, kNameOrNull<&Remark::variable>>},
    {"value", kOf<&PlacedRemark::remark, kText<&Remark::value>>},
    {"message", kOf<&PlacedRemark::remark, kText<&Remark::message, type::name>>},
    {"hint", kOf<&PlacedRemark::remark, kNameOrNull<&Remark::hint>>, "What to do."},
};

constexpr Key<CheckedSource> kSource[] = {
    {"path", kText<&CheckedSource::path, type::name>, "As given; 'this shell'."},
    {"format",
     kText<&CheckedSource::format, type::one_of<"script|env_file|nccl_conf|yaml|log|environment">>},
    {"note", kNameOrNull<&CheckedSource::note>, "One sentence about the reading."},
    {"settings", kObjects<&CheckedSource::settings, kCheckedSetting>,
     "What concerns NCCL, in its order; a name twice where it is set twice."},
    {"remarks", kObjects<&CheckedSource::remarks, kRemark>},
};

template <RemarkLevel level>
constexpr Value<EnvironmentCheck> kCount = {
    type::count,
    [](const Job&, const EnvironmentCheck& check) -> Json { return count_remarks(check, level); }};

constexpr Key<EnvironmentCheck> kEnvironmentCheck[] = {
    {"schema", kSchemaName<EnvironmentCheck, "ncclog.env_check/1">},
    {"nccl_version", kNameOrNull<&EnvironmentCheck::nccl_version>,
     "Against which settings were held; null: any."},
    {"errors", kCount<RemarkLevel::Error>},
    {"warnings", kCount<RemarkLevel::Warning>},
    {"notes", kCount<RemarkLevel::Note>},
    {"sources", kObjects<&EnvironmentCheck::sources, kSource>,
     "In the order in which they were named."},
};

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
  return safe_json(write_object(Job(), kEnvironmentCheck, check).dump(2)) + "\n";
}

std::string check_schema() {
  return document_schema("urn:ncclog:env_check:1", "ncclog.env_check/1",
                         "What `ncclog env check --format json` prints. Keys that are not required "
                         "may be added; what is here stays.",
                         kEnvironmentCheck);
}

}  // namespace ncclog
