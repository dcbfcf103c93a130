// What `ncclog export` writes beyond lines of JSON and CSV: databases, answers, traces, files.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "base/error.h"
#include "report/report.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::TempDir;
using Arguments = std::vector<std::string>;

/// What `ncclog export WORDS…` prints.
std::string exported(Arguments words) {
  words.insert(words.begin(), "export");
  Console console;
  run_command_line(std::move(words), console);
  return console.out;
}

std::string export_refusal(Arguments words) {
  return testing::refusal_of([&] { exported(std::move(words)); });
}

constexpr std::string_view kExportLog =
    "n1:7:7 [0] NCCL INFO Using network Socket\n"
    "n1:7:8 [0] misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by remote peer "
    "n2<41822>\n"
    "n1:7:7 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\n";

TEST(ExportSql, AnswersAboutEventsAndTables) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kExportLog);
  EXPECT_EQ(
      exported({log, "--sql", "select kind, line from events order by line", "--format", "csv"}),
      "kind,line\nnetwork_selected,1\npeer_closed,2\nenv_set,3\n");
  EXPECT_EQ(exported({log, "--sql", "select name, value from env"}),
            "name        value\nNCCL_DEBUG  INFO\n");
  EXPECT_EQ(exported({log, "--sql", "select pid, fields->>'network' as n from events limit 1",
                      "--format", "jsonl"}),
            "{\"pid\":7,\"n\":\"Socket\"}\n");
  EXPECT_EQ(json::parse(exported({log, "--sql", "select 1.5 as x", "--format", "json"}))["rows"],
            json::parse(R"([{"x": 1.5}])"));
  EXPECT_EQ(exported({log, "--sql", "select * from losses"}), "No rows.\n");
}

TEST(ExportSql, ReadsNoLogWhereNothingIsAskedAboutOne) {
  EXPECT_EQ(exported({"--sql", "select 6 * 7 as answer"}), "answer\n    42\n");
}

TEST(ExportSql, RefusesWhatItCannotDo) {
  EXPECT_EQ(export_refusal({"-", "--sql", "select * from events e, ranks r"}),
            "export: standard input can be read once, and this takes two readings (save the log to "
            "a file first)");
  EXPECT_EQ(export_refusal({"x.log", "--format", "sqlite"}),
            "export: a database is a file (name it: -o job.db)");
  EXPECT_EQ(export_refusal({"x.log", "--sql", "select 1", "--format", "trace"}),
            "--sql: an answer is text, json, jsonl or csv");
  EXPECT_EQ(export_refusal({"x.log", "--format", "text"}),
            "--format: text and json are formats of answers to --sql ('ncclog show TABLE' prints "
            "tables; a table is exported as jsonl or csv)");
}

TEST(ExportSqlite, WritesAFileThatSqliteReads) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kExportLog);
  const std::string path = (folder.path() / "job.db").string();
  folder.add("job.db", "an older file");
  exported({log, "--format", "sqlite", "-o", path});
  EXPECT_TRUE(testing::read_file(path).starts_with("SQLite format 3"));
  EXPECT_FALSE(exists(folder.path() / "job.db.part"));
  const testing::Outcome out = testing::run_command(
      {.arguments = {"sqlite3", path, "select count(*) from events; pragma integrity_check"}});
  EXPECT_EQ(out.standard_output, "3\nok\n") << out.standard_error;
}

TEST(ExportOutput, AFailedRunLeavesWhatWasThere) {
  const TempDir folder;
  const std::string path = folder.add("out.jsonl", "before");
  EXPECT_NE(export_refusal({"/nowhere/at/all", "-o", path}), "");
  EXPECT_EQ(testing::read_file(path), "before");
  EXPECT_FALSE(exists(folder.path() / "out.jsonl.part"));
  const std::string log = folder.add("a.log", "n1:7:7 [0] NCCL INFO Using network Socket\n");
  EXPECT_EQ(exported({log, "-o", path}), "");
  EXPECT_EQ(testing::read_file(path), exported({log}));
  EXPECT_NE(export_refusal({log, "-o", folder.path().string()}).find("is a folder"),
            std::string::npos);
}

TEST(ExportTables, OfTheDatabaseAreExportedToo) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kExportLog);
  EXPECT_EQ(exported({log, "--table", "environment", "--format", "csv"}),
            "name,value,host,pid,rank\nNCCL_DEBUG,INFO,n1,7,\n");
  EXPECT_EQ(export_refusal({log, "--table", "evidnce"}),
            "export: no table 'evidnce' (did you mean 'evidence'?)");
}

/// The trace of the paths, checked for what every event must have.
json trace_of(Arguments paths) {
  paths.insert(paths.end(), {"--format", "trace"});
  json trace = json::parse(exported(std::move(paths)));
  std::map<std::pair<int64_t, int64_t>, double> last;
  for (const json& event : trace["traceEvents"]) {
    for (const char* key : {"ph", "ts", "pid", "tid", "name"}) {
      EXPECT_TRUE(event.contains(key)) << event;
    }
    const bool of_thread = event["ph"] == "i" || event["ph"] == "B" || event["ph"] == "E";
    if (!of_thread || event["tid"] == 0) continue;
    double& before = last[{event["pid"], event["tid"]}];
    EXPECT_GE(event["ts"].get<double>(), before) << event;
    before = event["ts"];
  }
  return trace;
}

json events_of(const json& trace, std::string_view phase) {
  json found = json::array();
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

TEST(ExportTrace, InitialisationsAreSlicesOfTheirThreads) {
  const json trace = trace_of({testing::sample_logs("timestamps").string()});
  const json begun = events_of(trace, "B");
  const json ended = events_of(trace, "E");
  ASSERT_GE(begun.size(), 4U);
  EXPECT_EQ(begun.size(), ended.size());
  EXPECT_EQ(begun[0]["name"], "init of rank 0 of 4");
  EXPECT_EQ(begun[0]["pid"], ended[0]["pid"]);
  EXPECT_EQ(begun[0]["tid"], ended[0]["tid"]);
  EXPECT_GE(ended[0]["ts"], begun[0]["ts"]);
  EXPECT_EQ(trace["otherData"]["ts"], "microseconds since 2026-11-20 00:00");
  EXPECT_EQ(trace["otherData"]["clock"], "local time of each host; the zone is unknown");
  std::map<std::string, int> names;
  for (const json& event : events_of(trace, "M")) {
    if (event["name"] == "process_name") ++names[event["args"]["name"]];
  }
  EXPECT_EQ(names["rank 0 on gpu-node-01 (pid 14758)"], 1);
}

TEST(ExportTrace, WhatDidNotEndStaysOpen) {
  const TempDir folder;
  const std::string log = folder.add(
      "a.log",
      "[2026-02-03 04:05:06.250] n1:7:9 [0] NCCL INFO ncclCommInitRank comm 0x7f10a0 rank 0 nranks "
      "2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x9c1b2f0a77d01e55 - Init START\n"
      "n1:7:9 [0] NCCL INFO Using network Socket\n");
  const json trace = trace_of({log});
  EXPECT_EQ(events_of(trace, "B").size(), 1U);
  EXPECT_EQ(events_of(trace, "B")[0]["ts"], 14706250000.0);
  EXPECT_EQ(events_of(trace, "E").size(), 0U);
  EXPECT_EQ(events_of(trace, "i").size(), 0U);
  EXPECT_EQ(trace["otherData"]["lines_without_time"], "1");
}

TEST(ExportTrace, CallsAreInstantsAndTheirRecordsSlices) {
  const json trace = trace_of({testing::sample_logs("timeout-rank-skips").string()});
  const json begun = events_of(trace, "b");
  const json ended = events_of(trace, "e");
  EXPECT_EQ(trace["otherData"]["clock"], "UTC, of each host");
  ASSERT_GT(begun.size(), ended.size());
  ASSERT_GT(ended.size(), 0U);
  EXPECT_EQ(begun[0]["id"], ended[0]["id"]);
  EXPECT_GE(ended[0]["ts"], begun[0]["ts"]);
  EXPECT_NE(trace["otherData"]["lines_of_another_clock"], "0");
}

TEST(ExportTrace, DaysAreThoseOfTheCalendar) {
  const TempDir folder;
  const auto log = [&](const char* name, const std::string& day) {
    return folder.add(name,
                      "[" + day + " 00:00:00] n1:7:9 [0] NCCL INFO Using network Socket\n" +
                          "[2027-03-02 00:00:01] n1:7:9 [0] NCCL INFO Using network Socket\n");
  };
  constexpr double kDay = 24.0 * 3600 * 1e6;
  struct Row {
    const char* day;
    double days;
  };
  const Row kRows[] = {{"2027-03-01", 1}, {"2027-02-28", 2}, {"2024-02-29", 1097}};
  for (const Row& row : kRows) {
    const json events = events_of(trace_of({log("a.log", row.day)}), "i");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0]["ts"], 0.0);
    EXPECT_EQ(events[1]["ts"], row.days * kDay + 1e6) << row.day;
  }
}

TEST(ExportTrace, LogsWithoutTimesAreRefusedWithAdvice) {
  const TempDir folder;
  const std::string why = export_refusal({folder.add("a.log", kExportLog), "--format", "trace"});
  EXPECT_EQ(why.find("export: no line carries a time"), 0U) << why;
  EXPECT_NE(why.find("NCCL_DEBUG_TIMESTAMP_LEVELS=ALL"), std::string::npos) << why;
}

TEST(ExportTrace, HostileTextAndTimesStayInert) {
  const TempDir folder;
  for (const char* text : {"<script>|`]]>", "\x1b[31m\x01\xff", "\u202e\"\\", "9999-99-99 99:99"}) {
    const std::string log =
        folder.add("<b>\"a.log", std::string("[9999-12-31 23:59:59] n1:7:9 [0] NCCL INFO ") + text +
                                     "\n[0001-01-01 00:00:00] n1:7:9 [0] NCCL INFO " + text +
                                     "\n[2026-02-03 04:05:06] n1:7:9 [0] NCCL INFO " + text + "\n");
    const json events = events_of(trace_of({log}), "i");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0]["name"], "unrecognised");
  }
}

/// lnav as somebody has it who installed the format and nothing else.
testing::Outcome run_lnav(const TempDir& home, Arguments arguments) {
  home.add(".lnav/formats/installed/nccl.json", lnav_format());
  arguments.insert(arguments.begin(), {"lnav", "-n"});
  return testing::run_command(
      {.arguments = std::move(arguments),
       .folder = home.path().string(),
       .environment = {{"HOME", home.path().string()}, {"XDG_CONFIG_HOME", ""}, {"TERM", "dumb"}}});
}

TEST(ExportLnav, PrintsTheFormatFile) {
  EXPECT_EQ(exported({"--format", "lnav"}),
            testing::read_file(testing::source_dir() / "src/report/nccl.lnav.json"));
}

TEST(ExportLnav, LnavTakesTheFormatAndRecognisesLines) {
  const TempDir home;
  const testing::Outcome check = run_lnav(home, {"-C"});
  if (check.exit_code == 127) GTEST_SKIP() << "lnav is not installed";
  EXPECT_EQ(check.exit_code, 0) << check.standard_error;
  struct Row {
    const char* log;
    const char* answer;
  };
  const Row kRows[] = {
      {"timestamps/logs/nccl-log.gpu-node-01.14758.txt", "83,1,14758,14758,info\n"},
      {"shm-too-small/logs/nccl-log.gpu-node-01.1607.txt", "59,1,1607,1607,\"info,warning\"\n"},
      {"call-trace/logs/nccl-log.gpu-node-01.14624.txt", "35,1,14624,14624,\"debug,info\"\n"},
      {"timestamps/logs/stdout.log", "5,0,<NULL>,<NULL>,warning\n"},
  };
  for (const Row& row : kRows) {
    const std::string log = (testing::source_dir() / "sample_logs" / row.log).string();
    const testing::Outcome out = run_lnav(
        home, {"-c",
               ";SELECT count(*) AS n, count(DISTINCT host) AS hosts, min(pid) AS first, max(pid) "
               "AS last, group_concat(DISTINCT log_level) AS levels FROM nccl_log WHERE log_level "
               "!= 'unknown'",
               "-c", ":write-csv-to -", log});
    EXPECT_EQ(out.standard_output, std::string("n,hosts,first,last,levels\n") + row.answer)
        << row.log << out.standard_error;
  }
}

}  // namespace

}  // namespace ncclog
