#include "report/write_junit.h"

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/process.h"
#include "support/sample_report.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::sample_report;
using testing::TempDir;

/// What xmllint says against the document; empty if it fits the schema.
std::string complaints(const std::string& xml) {
  const TempDir folder;
  const std::string schema = (testing::source_dir() / "tests/support/junit.xsd").string();
  const testing::Outcome out = testing::run_command(
      {.arguments = {"xmllint", "--noout", "--schema", schema, folder.add("junit.xml", xml)}});
  return out.exit_code == 0 ? std::string() : out.standard_error;
}

TEST(WriteJunit, FitsItsSchema) {
  EXPECT_EQ(complaints(write_junit(sample_report(), Severity::Error)), "");
  EXPECT_EQ(complaints(write_junit(Report(), std::nullopt)), "");
}

TEST(WriteJunit, TheSchemaRefusesOtherThings) {
  EXPECT_NE(complaints("<testsuite/>"), "");
  EXPECT_NE(complaints("<testsuite name=\"a\" tests=\"1\" failures=\"0\" errors=\"0\" "
                       "skipped=\"0\" time=\"0\"><testcase name=\"x\"/></testsuite>"),
            "");
}

std::string head_of(std::optional<Severity> fail_from) {
  const std::string xml = write_junit(sample_report(), fail_from);
  const size_t begin = xml.find("tests=");
  return xml.substr(begin, xml.find(" time=") - begin);
}

TEST(WriteJunit, FindingsFailFromTheSeverityOn) {
  EXPECT_EQ(head_of(std::nullopt), R"(tests="6" failures="0" errors="0" skipped="1")");
  EXPECT_EQ(head_of(Severity::Error), R"(tests="6" failures="1" errors="0" skipped="1")");
  EXPECT_EQ(head_of(Severity::Warning), R"(tests="6" failures="2" errors="0" skipped="1")");
  EXPECT_EQ(head_of(Severity::Info), R"(tests="6" failures="4" errors="0" skipped="1")");
}

TEST(WriteJunit, LogsOfWhichAPartIsMissingAreAnError) {
  Report report = sample_report();
  report.job.inputs[0].status = InputStatus::Cut;
  report.job.inputs[0].note = "It ends early.";
  const std::string xml = write_junit(report, std::nullopt);
  EXPECT_EQ(complaints(xml), "");
  EXPECT_NE(xml.find("<error type=\"input\" message=\"A part of the logs could not be read.\">"
                     "logs/run.txt: cut: It ends early."),
            std::string::npos)
      << xml;
}

TEST(WriteJunit, HostileTextStaysText) {
  for (const char* text : {"<script>]]>&\"", "\x1b[31m\x01\x7f\xff", "\xef\xbf\xbf\u202e`|"}) {
    Report report = sample_report();
    Finding& finding = report.diagnosis.findings[0];
    finding.title = finding.message = finding.why = text;
    finding.hosts = finding.fix = {text};
    finding.evidence[0].text = text;
    report.job.inputs[0].path = text;
    report.diagnosis.not_judged[0].question = text;
    report.diagnosis.verdict.headline = text;
    const std::string xml = write_junit(report, Severity::Info);
    EXPECT_EQ(complaints(xml), "") << xml;
    EXPECT_EQ(xml.find("<script>"), std::string::npos);
  }
}

}  // namespace
}  // namespace ncclog
