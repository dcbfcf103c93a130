#include "report/template_report.h"

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "report/html/html_text.h"

namespace ncclog {
namespace {

using kainjow::mustache::data;
using nlohmann::json;

/// Empty and absent values are false where a section asks for them.
data data_of(const json& value) {
  if (value.is_null()) return data(data::type::bool_false);
  if (value.is_boolean()) return {value.get<bool>()};
  if (value.is_string()) {
    const std::string text = printable(value.get_ref<const std::string&>());
    return text.empty() ? data(data::type::bool_false) : data(text);
  }
  if (value.is_array()) {
    data list(data::type::list);
    for (const json& item : value) list.push_back(data_of(item));
    return list;
  }
  if (!value.is_object()) return {value.dump()};
  data object(data::type::object);
  for (const auto& [key, item] : value.items()) object.set(key, data_of(item));
  return object;
}

std::string json_string(const std::string& text) {
  const std::string quoted = json(text).dump();
  return quoted.substr(1, quoted.size() - 2);
}

/// What means something in Jira's markup is text behind a backslash.
std::string jira_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("{}[]!|*\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string page_text(const std::string& text) { return html_text(text).bytes(); }

/// As what a value stands in a template, by the end of its name.
struct Escaping {
  std::string_view ending;
  std::string (*escape)(const std::string& text);
};

constexpr Escaping kEscapings[] = {
    {".json", json_string}, {".html", page_text}, {".jira", jira_text}};

}  // namespace

ReportTemplate find_report_template(const std::string& name) {
  const auto shipped = std::ranges::find_if(report_templates(), [&](const EmbeddedFile& file) {
    return file.path.substr(0, file.path.find('.')) == name;
  });
  ReportTemplate found =
      shipped == report_templates().end()
          ? ReportTemplate{name, read_file(name)}
          : ReportTemplate{std::string(shipped->path), std::string(shipped->text)};
  const kainjow::mustache::mustache mustache{found.text};
  if (!mustache.is_valid())
    throw Error(mustache.error_message(), name, "templates are Mustache: 'ncclog help reports'");
  return found;
}

std::string write_by_template(const Report& report, const ReportTemplate& by) {
  kainjow::mustache::mustache mustache{by.text};
  const auto* escaping = std::ranges::find_if(
      kEscapings, [&](const Escaping& row) { return by.name.ends_with(row.ending); });
  mustache.set_custom_escape([&](const std::string& value) {
    return escaping == std::end(kEscapings) ? value : escaping->escape(value);
  });
  json values = json::parse(write_json(report));
  json& verdict = values["verdict"];
  verdict["is"][verdict["status"].get<std::string>()] = true;
  for (json& finding : values["findings"]) {
    finding["is"] = {{finding["severity"].get<std::string>(), true},
                     {"headline", finding["id"] == verdict["finding"]}};
  }
  return mustache.render(data_of(values));
}

}  // namespace ncclog
