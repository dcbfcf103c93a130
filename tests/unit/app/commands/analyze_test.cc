#include "app/commands/analyze.h"

#include <gtest/gtest.h>

#include "app/command_line.h"
#include "base/error.h"
#include "base/text.h"
#include "report/report.h"
#include "rules/load_rules.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/sample_report.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::sample_log_names;
using testing::sample_logs;

/// The report on the logs of a sample.
Report analyze(const std::string& sample, int threads = 1) {
  AnalyzeOptions options;
  options.input = {.paths = {sample_logs(sample).string()}, .threads = threads};
  return run_pipeline(options).report;
}

TEST(Analyze, EverySampleGivesAReportThatFitsTheSchema) {
  const json schema = json::parse(report_schema());
  const std::vector<std::string> names = sample_log_names();
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    const std::string text = write_json(analyze(name));
    EXPECT_EQ(join(testing::schema_errors(schema, json::parse(text)), "\n"), "") << name;
  }
}

TEST(Analyze, EveryLineIsCountedOnce) {
  for (const std::string& name : sample_log_names()) {
    const LossTable losses = analyze(name).job.losses;
    EXPECT_EQ(losses.lines,
              losses.recognised + losses.unrecognised + losses.foreign + losses.unreadable)
        << name;
  }
}

TEST(Analyze, ThreadsChangeNoByte) {
  for (const std::string& name : sample_log_names()) {
    const std::string one = write_json(analyze(name, 1));
    EXPECT_EQ(write_json(analyze(name, 3)), one) << name;
  }
}

TEST(Analyze, OrderOfArgumentsChangesNoByte) {
  const testing::TempDir folder;
  const std::string a = folder.add("a.log", "n:1:2 [0] NCCL INFO Using network Socket\n");
  const std::string b = folder.add("b.log", "m:1:2 [0] NCCL INFO Using network IB\n");
  AnalyzeOptions forwards;
  forwards.input.paths = {a, b};
  AnalyzeOptions backwards;
  backwards.input.paths = {b, a, b};
  EXPECT_EQ(write_json(run_pipeline(forwards).report), write_json(run_pipeline(backwards).report));
}

TEST(Analyze, AnInvalidRuleEndsTheRunBeforeAnythingIsRead) {
  const testing::TempDir folder;
  AnalyzeOptions options;
  options.input.paths = {"/nowhere/at/all"};
  options.rules = {folder.add("broken.yaml", "id: broken\nsevrity: error\n")};
  try {
    run_pipeline(options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(error.where().find("broken.yaml:2:1"), std::string::npos) << error.where();
  }
}

using testing::read_file;
using testing::TempDir;
using Arguments = std::vector<std::string>;

constexpr std::string_view kLog =
    "n:1:2 [0] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-a to 33030528 "
    "bytes, error: No space left on device (28)\n";

/// What the command says when it refuses; empty if it runs.
std::string analyze_refusal(const Arguments& words) {
  Console console;
  try {
    run_command_line(words, console);
  } catch (const Error& error) {
    return error.where() + ": " + error.what();
  }
  return {};
}

TEST(WriteReports, EveryFormatHasAFlagThatWritesIt) {
  const TempDir folder;
  for (const ReportKind& kind : report_kinds()) {
    const std::string path = (folder.path() / kind.name).string();
    Console console;
    write_reports(testing::sample_report(), {{{&kind, path}}}, console);
    EXPECT_EQ(read_file(path), kind.write(testing::sample_report(), {})) << kind.name;
    EXPECT_EQ(console.out, "");
    EXPECT_EQ(console.err, "wrote " + path + "\n");
  }
}

TEST(WriteReports, AReportWithoutFlagsIsMarkdownOnStandardOutput) {
  const TempDir folder;
  const std::string log = folder.add("a.log", std::string(kLog));
  Console console;
  EXPECT_EQ(run_command_line({"report", log}, console), ExitStatus::Fine);
  EXPECT_TRUE(console.out.starts_with("<!-- ncclog report -->\n## PROBLEM\n")) << console.out;
  EXPECT_EQ(console.err, "");
  Console asked;
  EXPECT_EQ(run_command_line({"report", log, "--md", "-", "--fail-on", "never"}, asked),
            ExitStatus::Fine);
  EXPECT_EQ(asked.out, console.out);
  Console printed;
  EXPECT_EQ(run_command_line({"analyze", log, "--format", "markdown"}, printed),
            ExitStatus::Findings);
  EXPECT_EQ(printed.out, console.out);
}

TEST(WriteReports, OneRunWritesSeveral) {
  const TempDir folder;
  const std::string log = folder.add("a.log", std::string(kLog));
  const std::string md = (folder.path() / "r.md").string();
  const std::string json_file = (folder.path() / "r.json").string();
  Console console;
  run_command_line({"analyze", log, "--md", md, "--json", json_file}, console);
  EXPECT_TRUE(console.out.starts_with("PROBLEM ")) << console.out;
  EXPECT_TRUE(read_file(md).starts_with("<!-- ncclog report -->\n## PROBLEM\n"));
  EXPECT_TRUE(read_file(json_file).starts_with("{\n"));
}

TEST(WriteReports, ReportsBesideTheLogsAreNotReadAsLogs) {
  const TempDir folder;
  const std::string logs = folder.path().string();
  folder.add("a.log", std::string(kLog));
  Console first;
  run_command_line({"report", logs, "--md", logs + "/r.md", "--json", logs + "/r.json"}, first);
  Console second;
  run_command_line({"analyze", logs}, second);
  EXPECT_NE(second.out.find("Read 1 line from 3 files"), std::string::npos) << second.out;
}

TEST(WriteReports, RefusesPlacesThatWouldLoseSomething) {
  const TempDir folder;
  const std::string log = folder.add("a.log", std::string(kLog));
  const std::string file = (folder.path() / "r").string();
  const std::string same = folder.path().string() + "/./r";
  EXPECT_EQ(analyze_refusal({"report", log, "--md", log}), log + ": is one of the logs to be read");
  EXPECT_EQ(read_file(log), kLog);
  EXPECT_EQ(analyze_refusal({"report", log, "--md", file, "--json", same}),
            file + ": two reports would go to this file");
  EXPECT_EQ(analyze_refusal({"report", log, "--md", "-", "--json", "-"}),
            "--md: two reports would go to standard output");
  EXPECT_EQ(analyze_refusal({"analyze", log, "--json", "-"}),
            "--json: two reports would go to standard output");
  EXPECT_EQ(analyze_refusal({"report", log, "--md", ""}), "--md: no file named");
  const std::string result = folder.add("result.json", "{}");
  for (const char* command : {"analyze", "report"}) {
    EXPECT_EQ(analyze_refusal({command, log, "--with-replay", result, "--json", result}),
              result + ": is the replay's result, which is to be read");
  }
  EXPECT_EQ(analyze_refusal({"replay", "plan", log, "-o", log}),
            log + ": is one of the logs to be read");
  EXPECT_EQ(read_file(log), kLog);
}

}  // namespace

}  // namespace ncclog
