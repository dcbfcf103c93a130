#include "report/template_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

Report hostile_report() {
  Report report;
  report.diagnosis.verdict = {.status = VerdictStatus::Problem, .finding = "torn"};
  report.diagnosis.verdict.headline = "Rank \"3\" <!channel> {code}\n\x1b[2J!x.png! & 5 %";
  report.diagnosis.findings.resize(2);
  report.diagnosis.findings[0].id = "torn";
  report.diagnosis.findings[0].severity = Severity::Error;
  report.diagnosis.findings[0].fix = {"one", "two"};
  report.diagnosis.findings[1].id = "note";
  return report;
}

std::string written_by(const char* name, const char* text) {
  return write_by_template(hostile_report(), {name, text});
}

TEST(TemplateReport, PutsValuesIntoATextAsItsNameSays) {
  constexpr const char* kHeadline = "{{verdict.headline}}";
  EXPECT_EQ(written_by("x.txt", kHeadline),
            "Rank \"3\" <!channel> {code}\\x0a\\x1b[2J!x.png! & 5 %");
  EXPECT_EQ(written_by("x.jira", kHeadline),
            "Rank \"3\" <\\!channel> \\{code\\}\\\\x0a\\\\x1b\\[2J\\!x.png\\! & 5 %");
  EXPECT_EQ(written_by("x.html", kHeadline).find('<'), std::string::npos);
  const std::string quoted = '"' + written_by("x.json", kHeadline) + '"';
  EXPECT_EQ(nlohmann::json::parse(quoted), written_by("x.txt", kHeadline));
}

TEST(TemplateReport, AsksForTheVerdictAndForFindings) {
  EXPECT_EQ(written_by("x",
                       "{{#verdict.is.problem}}!{{/verdict.is.problem}}"
                       "{{#verdict.is.clean}}?{{/verdict.is.clean}}"),
            "!");
  EXPECT_EQ(written_by("x",
                       "{{#findings}}{{id}}{{#is.headline}}*{{/is.headline}}"
                       "{{#is.error}}!{{/is.error}}{{#fix}} {{.}}{{/fix}};{{/findings}}"),
            "torn*! one two;note;");
  EXPECT_EQ(written_by("x", "{{no.such.key}}{{> part}}{{^job.iterations}}none{{/job.iterations}}"),
            "none");
}

TEST(TemplateReport, ShippedOnesAreMadeOfEveryReport) {
  for (const char* name : {"slack", "jira", "mail"}) {
    const ReportTemplate shipped = find_report_template(name);
    for (const Report& report : {Report(), hostile_report()}) {
      const std::string text = write_by_template(report, shipped);
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
      if (!shipped.name.ends_with(".json")) continue;
      EXPECT_TRUE(nlohmann::json::accept(text)) << text;
    }
  }
}

TEST(TemplateReport, RefusesWhatIsNoTemplate) {
  const testing::TempDir folder;
  folder.add("torn.txt", "{{#findings}}");
  EXPECT_THROW(find_report_template((folder.path() / "torn.txt").string()), Error);
  EXPECT_THROW(find_report_template((folder.path() / "none.txt").string()), Error);
}

}  // namespace
}  // namespace ncclog
