#include "report/write_junit.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/text_parts.h"
#include "report/xml_text.h"

namespace ncclog {
namespace {

/// What became of a test case.
enum class Result { Passed, Failed, Error, Skipped };

struct TestCase {
  std::string group;  ///< Behind "ncclog." of the class name.
  std::string name;
  Result result = Result::Passed;
  std::string type;     ///< Of a failure or error.
  std::string message;  ///< Of one that did not pass.
  std::string details;  ///< Of a failure or error.
  std::string output;   ///< What was seen; may be empty.
};

std::string list_text(std::string_view heading, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "  - " + printable(item) + "\n";
  return text.empty() ? text : fmt::format("{}:\n{}", heading, text);
}

std::string details_of(const Finding& finding) {
  return printable(finding.message) + "\n" + printable(finding.why) + "\n" +
         list_text("Check", finding.check) + list_text("Fix", finding.fix) +
         list_text("Do not", finding.do_not) + list_text("Explains", finding.explains);
}

std::string evidence_of(const Job& job, const Finding& finding) {
  constexpr size_t kMaxLineBytes = 1024;
  std::string text;
  for (const Evidence& evidence : finding.evidence) {
    const FileLine place = file_line(job, evidence.where);
    text += fmt::format("{}:{}: {}\n", printable(place.path), place.line,
                        printable(std::string_view(evidence.text).substr(0, kMaxLineBytes)));
  }
  if (finding.evidence_omitted > 0) {
    text += fmt::format("and {} more lines\n", finding.evidence_omitted);
  }
  return text;
}

TestCase case_of(const Job& job, const Finding& finding, std::optional<Severity> fail_from) {
  TestCase made{.group = std::string(to_string(finding.role)),
                .name = finding.id + ": " + finding.title,
                .output = evidence_of(job, finding)};
  if (fail_from && finding.severity <= *fail_from) {
    made.result = Result::Failed;
    made.type = to_string(finding.severity);
    made.message = finding.message;
    made.details = details_of(finding);
  } else {
    made.output = fmt::format("{}: {}\n{}", to_string(finding.severity), printable(finding.message),
                              made.output);
  }
  return made;
}

/// Whether the logs that were named could be read, as the exit status says, too.
TestCase reading_case(const Report& report) {
  TestCase made{.group = "inputs", .name = "all of the logs can be read"};
  made.output = fmt::format("{} from {}\n", plural(report.job.losses.lines, "line"),
                            plural(report.job.inputs.size(), "file"));
  for (const JobInput& input : report.job.inputs) {
    if (input.status != InputStatus::Cut && input.status != InputStatus::Unreadable) continue;
    made.result = Result::Error;
    made.type = "input";
    made.message = "A part of the logs could not be read.";
    made.details += fmt::format("{}: {}: {}\n", printable(input.path), to_string(input.status),
                                printable(input.note));
  }
  return made;
}

TestCase gap_case(const NotJudged& gap) {
  return {.group = "not_judged",
          .name = gap.question,
          .result = Result::Skipped,
          .message = gap.reason + (gap.how_to_capture.empty() ? "" : " " + gap.how_to_capture)};
}

std::vector<TestCase> cases_of(const Report& report, std::optional<Severity> fail_from) {
  std::vector<TestCase> cases = {reading_case(report)};
  for (const Finding& finding : report.diagnosis.findings) {
    cases.push_back(case_of(report.job, finding, fail_from));
  }
  for (const NotJudged& gap : report.diagnosis.not_judged) cases.push_back(gap_case(gap));
  return cases;
}

std::string result_xml(const TestCase& test) {
  const std::string message = xml_attribute(test.message);
  switch (test.result) {
    case Result::Passed:
      return {};
    case Result::Skipped:
      return fmt::format("    <skipped message=\"{}\"/>\n", message);
    case Result::Failed:
    case Result::Error:
      break;
  }
  const std::string_view element = test.result == Result::Failed ? "failure" : "error";
  return fmt::format("    <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element,
                     xml_attribute(test.type), message, xml_content(test.details));
}

std::string case_xml(const TestCase& test) {
  const std::string head = fmt::format("  <testcase classname=\"ncclog.{}\" name=\"{}\" time=\"0\"",
                                       xml_attribute(test.group), xml_attribute(test.name));
  std::string inside = result_xml(test);
  if (!test.output.empty()) {
    inside += fmt::format("    <system-out>{}</system-out>\n", xml_content(test.output));
  }
  return inside.empty() ? head + "/>\n" : head + ">\n" + inside + "  </testcase>\n";
}

size_t count(const std::vector<TestCase>& cases, Result result) {
  size_t n = 0;
  for (const TestCase& test : cases) n += test.result == result ? 1 : 0;
  return n;
}

}  // namespace

std::string write_junit(const Report& report, std::optional<Severity> fail_from) {
  const std::vector<TestCase> cases = cases_of(report, fail_from);
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format(
      "<testsuite name=\"ncclog\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"0\">\n",
      cases.size(), count(cases, Result::Failed), count(cases, Result::Error),
      count(cases, Result::Skipped));
  for (const TestCase& test : cases) xml += case_xml(test);
  return xml + "</testsuite>\n";
}

}  // namespace ncclog
