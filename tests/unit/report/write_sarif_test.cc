#include "report/write_sarif.h"

#include <gtest/gtest.h>

#include "app/analyze.h"
#include "base/text.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::sample_report;

json written(const Report& report) { return json::parse(write_sarif(report)); }

/// What does not fit the schema, one complaint a line.
std::string complaints(const json& log) {
  static const json kSchema =
      json::parse(testing::read_file(testing::source_dir() / "tests/support/sarif.schema.json"));
  return join(testing::schema_errors(kSchema, log), "\n");
}

TEST(WriteSarif, FitsTheStandard) { EXPECT_EQ(complaints(written(sample_report())), ""); }

TEST(WriteSarif, FitsTheStandardWhenNothingIsKnown) {
  Report report;
  report.tool.version = "1.0.0";
  EXPECT_EQ(complaints(written(report)), "");
  EXPECT_EQ(written(report)["runs"][0]["results"], json::array());
}

TEST(WriteSarif, TheSchemaRefusesWhatIsNotInTheStandard) {
  struct Row {
    const char* pointer;
    json value;
    const char* complaint;
  };
  const Row kRows[] = {
      {"/version", "2.0.0", "/version: not \"2.1.0\""},
      {"/runs/0/results/0/severity", "error", "/runs/0/results/0: has unknown \"severity\""},
      {"/runs/0/results/0/level", "info",
       "/runs/0/results/0/level: \"info\" is none of [\"none\",\"note\",\"warning\",\"error\"]"},
      {"/runs/0/results/0/locations/0/physicalLocation/region/startLine", 0,
       "/runs/0/results/0/locations/0/physicalLocation/region/startLine: 0 is below 1"},
      {"/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "a b",
       "/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri: \"a b\" does not "
       "match \"^([A-Za-z0-9._~!/-]|%[0-9A-F]{2}|file:///)+$\""},
  };
  for (const Row& row : kRows) {
    json log = written(sample_report());
    log[json::json_pointer(row.pointer)] = row.value;
    EXPECT_EQ(complaints(log), row.complaint);
  }
}

TEST(WriteSarif, AFindingIsAResultAtItsFirstLine) {
  const json run = written(sample_report())["runs"][0];
  const json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "shm-no-space");
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["message"]["text"],
            "Rank 1 on trainbox could not extend a segment: /dev/shm is full.");
  const json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "logs/run.txt");
  EXPECT_EQ(place["region"]["startLine"], 2);
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "shm-no-space");
  EXPECT_NE(run["tool"]["driver"]["rules"][0]["help"]["text"].get<std::string>().find(
                "Fix:\n- Start the container with --shm-size=1g"),
            std::string::npos);
  EXPECT_EQ(run["results"][2]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
            "trainbox");
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"][0]["level"], "note");
}

std::string fingerprint_of(const Report& report) {
  return written(report)["runs"][0]["results"][0]["partialFingerprints"]["ncclogFinding/v1"];
}

TEST(WriteSarif, FingerprintsDependOnWhomAndWhatOnly) {
  Report report = sample_report();
  const std::string before = fingerprint_of(report);
  report.diagnosis.findings[0].evidence.clear();
  report.diagnosis.findings[0].message = "Another wording.";
  EXPECT_EQ(fingerprint_of(report), before);
  report.diagnosis.findings[0].ranks = {2};
  EXPECT_NE(fingerprint_of(report), before);
}

TEST(WriteSarif, SuppressedFindingsSayWhy) {
  Report report = sample_report();
  OverlayEffect effect;
  effect.finding = report.diagnosis.findings[2];
  effect.reason = "known until the switch is replaced";
  report.diagnosis.findings.erase(report.diagnosis.findings.begin() + 2);
  report.diagnosis.overlays = {effect};
  const json log = written(report);
  EXPECT_EQ(complaints(log), "");
  EXPECT_EQ(log["runs"][0]["results"].back()["suppressions"],
            json::parse(R"([{"kind": "external", "status": "accepted",
                             "justification": "known until the switch is replaced"}])"));
}

TEST(WriteSarif, HostileTextIsNeitherLinkNorPlaceholderNorControl) {
  struct Row {
    const char* message;
    const char* text;
  };
  const Row kRows[] = {
      {"[click](http://example.org) {0}", "[click\\](http://example.org) {{0}}"},
      {"<script>`|]]>", "<script>`|]]>"},
      {"a\x1b[31m\u202e\xff", "a\\x1b[31m\\u{{202e}}\uFFFD"},
  };
  for (const Row& row : kRows) {
    Report report = sample_report();
    report.diagnosis.findings[0].message = row.message;
    report.job.inputs[0].path = "logs/<a b>\xff#?.txt";
    const json log = written(report);
    EXPECT_EQ(complaints(log), "");
    EXPECT_EQ(log["runs"][0]["results"][0]["message"]["text"], row.text);
    EXPECT_EQ(log["runs"][0]["artifacts"][0]["location"]["uri"], "logs/%3Ca%20b%3E%FF%23%3F.txt");
  }
}

}  // namespace
}  // namespace ncclog
