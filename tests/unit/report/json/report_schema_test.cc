#include <gtest/gtest.h>

#include "base/text.h"
#include "report/report.h"
#include "support/json_schema.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::sample_report;
using testing::schema_errors;

json report_json_schema() { return json::parse(report_schema()); }

json written(const Report& report) { return json::parse(write_json(report)); }

std::string complaints(const json& report) {
  return join(schema_errors(report_json_schema(), report), "\n");
}

TEST(WriteJson, FitsItsSchema) { EXPECT_EQ(complaints(written(sample_report())), ""); }

TEST(WriteJson, FitsItsSchemaWhenNothingIsKnown) {
  Report report;
  report.tool.version = "1.0.0";
  report.diagnosis.verdict.headline = "Nothing to judge.";
  EXPECT_EQ(complaints(written(report)), "");
}

TEST(WriteJson, TellsWhatAReplayShowed) {
  Report report = sample_report();
  EXPECT_FALSE(written(report).contains("replay"));
  report.replay =
      ReplaySummary{.file = "result.json",
                    .kind = "not-comparable",
                    .headline = "Nothing went wrong \xff here.",
                    .changed = {"ranks of the job: recorded 8 ranks, replayed 2 ranks"}};
  const json told = written(report);
  EXPECT_EQ(complaints(told), "");
  EXPECT_EQ(told["replay"]["kind"], "not-comparable");
  EXPECT_EQ(told["replay"]["confidence"], nullptr);
  EXPECT_EQ(told["replay"]["changed"].size(), 1u);
}

TEST(WriteJson, TellsHowTheJobStandsToAProfile) {
  Report report = sample_report();
  EXPECT_FALSE(written(report).contains("expectations"));
  report.profile = Profile{"ours",
                           "Our cluster",
                           {},
                           {{.severity = Severity::Error,
                             .text = "network: IB",
                             .outcome = {.value = false, .what = "network Socket"},
                             .word = "broken"},
                            {.severity = Severity::Info,
                             .text = "nvls: true",
                             .outcome = {.what = "no line"},
                             .word = "unknown",
                             .how_to_capture = "set it"}}};
  const json told = written(report);
  EXPECT_EQ(complaints(told), "");
  EXPECT_EQ(told["expectations"], json::parse(R"({"profile": "ours", "title": "Our cluster",
    "results": [
      {"expectation": "network: IB", "severity": "error", "outcome": "broken",
       "what": "network Socket", "how_to_capture": null},
      {"expectation": "nvls: true", "severity": "info", "outcome": "unknown",
       "what": "no line", "how_to_capture": "set it"}]})"));
}

TEST(WriteJson, SchemaRefusesWhatIsNotInIt) {
  struct Row {
    const char* pointer;
    json value;
    const char* complaint;
  };
  const Row kRows[] = {
      {"/extra", 1, "/: has unknown \"extra\""},
      {"/findings/0/extra", 1, "/findings/0: has unknown \"extra\""},
      {"/verdict/status", "fine",
       "/verdict/status: \"fine\" is none of "
       "[\"problem\",\"suspicious\",\"clean\",\"nothing_found\",\"cannot_judge\"]"},
      {"/verdict/finding", "No_Id",
       "/verdict/finding: \"No_Id\" does not match \"^[a-z0-9]+(-[a-z0-9]+)*$\""},
      {"/job/nranks", -1, "/job/nranks: -1 is below 0"},
      {"/job/nranks", "8", "/job/nranks: not of type [\"integer\",\"null\"]"},
      {"/inputs/0/note", "", "/inputs/0/note: empty"},
      {"/findings/0/ranks", {1, 1}, "/findings/0/ranks: has duplicates"},
      {"/schema", "ncclog.report/2", "/schema: not \"ncclog.report/3\""},
      {"/findings/0/check/0", "df -h", "/findings/0/check/0: not of type \"object\""},
      {"/findings/0/utc", "2026-02-03 04:05:06",
       "/findings/0/utc: \"2026-02-03 04:05:06\" does not match "
       "\"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\\\.[0-9]+)?Z$\""},
  };
  for (const Row& row : kRows) {
    json report = written(sample_report());
    report[json::json_pointer(row.pointer)] = row.value;
    EXPECT_EQ(complaints(report), row.complaint);
  }
  json report = written(sample_report());
  report.erase("losses");
  EXPECT_EQ(complaints(report), "/: lacks \"losses\"");
}

TEST(WriteJson, SaysWhatTheFindingSays) {
  const json finding = written(sample_report()).at("findings").at(0);
  EXPECT_EQ(finding, json::parse(R"({
    "id": "shm-no-space", "severity": "error", "confidence": "certain", "role": "cause",
    "title": "Shared memory is full",
    "message": "Rank 1 on trainbox could not extend a segment: /dev/shm is full.",
    "headline": "Rank 1 on trainbox could not extend a segment.",
    "subject": {"host": "trainbox", "rank": 1, "pid": 502, "communicator": null},
    "hosts": ["trainbox"], "ranks": [1], "time": null, "utc": null,
    "evidence": [{"file": "logs/run.txt", "line": 2, "time": null, "utc": null, "text":
      "trainbox:502:541 [1] misc/shmutils.cc:87 NCCL WARN Error: failed \u001b[31m to \ufffd extend"}],
    "evidence_omitted": 3,
    "check": [{"why": "`df -h /dev/shm`"}],
    "fix": ["Start the container with --shm-size=1g or with --ipc=host."],
    "do_not": ["Set NCCL_SHM_DISABLE=1: it hides the limit and slows everything down."],
    "references": [], "explains": ["peer-closed-secondary"]})"));
}

TEST(WriteJson, FindingHasTheTimeOfItsEarliestLine) {
  Report report = sample_report();
  Finding& finding = report.diagnosis.findings[0];
  const std::string line = " n1:7:9 [0] NCCL WARN Connection closed";
  finding.evidence = {{.text = "2026-02-03T04:05:07.5+02:00" + line},
                      {.text = "2026-02-03T02:05:06Z" + line},
                      {.text = "[2026-02-03 01:00:00]" + line}};
  const json told = written(report).at("findings").at(0);
  EXPECT_EQ(complaints(written(report)), "");
  EXPECT_EQ(told["time"], "2026-02-03T02:05:06Z");
  EXPECT_EQ(told["utc"], "2026-02-03T02:05:06Z");
  EXPECT_EQ(told["evidence"][0]["time"], "2026-02-03T04:05:07.5+02:00");
  EXPECT_EQ(told["evidence"][0]["utc"], "2026-02-03T02:05:07.500Z");
  EXPECT_EQ(told["evidence"][2]["time"], "2026-02-03 01:00:00");
  EXPECT_EQ(told["evidence"][2]["utc"], nullptr);
}

TEST(WriteJson, UnknownIsNull) {
  Report report = sample_report();
  report.diagnosis.verdict.finding.clear();
  report.diagnosis.findings[0].subject = {};
  const json written_report = written(report);
  EXPECT_EQ(written_report.at("verdict").at("finding"), nullptr);
  EXPECT_EQ(written_report.at("findings").at(0).at("subject"),
            json::parse(R"({"host": null, "rank": null, "pid": null, "communicator": null})"));
  EXPECT_EQ(written_report.at("job").at("iterations"), nullptr);
  EXPECT_EQ(written_report.at("job").at("network"),
            json::parse(R"({"name": "Socket", "plugin": null, "interfaces": []})"));
}

TEST(WriteJson, CutsLongEvidenceBetweenCharacters) {
  Report report = sample_report();
  report.diagnosis.findings[0].evidence[0].text = std::string(kMaxEvidenceBytes - 1, 'x') + "ééé";
  const json text = written(report).at("findings").at(0).at("evidence").at(0).at("text");
  EXPECT_EQ(text, std::string(kMaxEvidenceBytes - 1, 'x') + "…");
}

TEST(WriteJson, ListsOnlyLossesThatHappened) {
  Report report = sample_report();
  report.job.losses.add(Loss::NulBytes, 2);
  const json rows = written(report).at("losses").at("rows");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.at(0).at("name"), "nul_bytes");
  EXPECT_EQ(rows.at(0).at("count"), 2);
}

}  // namespace
}  // namespace ncclog
