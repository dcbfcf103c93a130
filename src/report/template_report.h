// Reports by a template: for a chat, a tracker, a mail, whatever takes text.
//
//   {"text": "{{verdict.headline}}"}  in "x.json"   → {"text": "SIGKILL ended rank 3 …"}
//
// Templates are Mustache (mustache.github.io/mustache.5.html). Their values are those of the JSON
// report by its keys: {{job.nranks}}, {{#findings}}{{id}}: {{headline}}{{/findings}}. Sections ask
// by {{#verdict.is.problem}}…{{/verdict.is.problem}}, and of a finding by is.error, is.warning, is.info,
// and is.headline of the one that the verdict names.

#pragma once

#include <span>
#include <string>

#include "base/built_in.h"
#include "report/report.h"

namespace ncclog {

struct ReportTemplate {
  /// Its end says as what values stand in it: ".json" within strings of JSON, ".html" as text of a
  /// page, ".jira" as text of Jira's markup, else as printable text.
  std::string name;
  std::string text;  ///< Mustache.
};

/// Those that the program brings: "slack.json", "jira.jira", "mail.txt". Valid for the whole program.
std::span<const EmbeddedFile> report_templates();

/// The one that is called so without its ending, "slack", else the file of that path. Throws Error if
/// there is none, or if it is no template.
ReportTemplate find_report_template(const std::string& name);

/// No control character of the report is left in it.
std::string write_by_template(const Report& report, const ReportTemplate& by);

}  // namespace ncclog
