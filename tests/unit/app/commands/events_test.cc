#include "app/commands/events.h"

#include <gtest/gtest.h>

#include "report/tables/tables.h"

namespace ncclog {
namespace {

std::string json_of(std::string_view line) {
  return event_json(event_cells({"logs/a.txt", 7, line, parse_event(line, all_wordings())}));
}

TEST(WriteEvent, JsonHasWhatTheLineSays) {
  struct Row {
    const char* line;
    const char* json;
  };
  const Row kRows[] = {
      {"node07:41:42 [3] NCCL INFO Using network AWS Libfabric",
       R"({"file":"logs/a.txt","line":7,"host":"node07","pid":41,"tid":42,"cuda_dev":3,)"
       R"("level":"INFO","kind":"network_selected","fields":{"network":"AWS Libfabric"}})"},
      {"node07:41:42 [3] NCCL INFO comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 5",
       R"({"file":"logs/a.txt","line":7,"host":"node07","pid":41,"tid":42,"cuda_dev":3,)"
       R"("level":"INFO","kind":"comm_announced","fields":{"comm":"0x7f10a0","rank":3,)"
       R"("nranks":16,"cuda_dev":3,"nvml_dev":5}})"},
      {"[2026-02-03 04:05:06] node07:41:42 [3] NCCL INFO Using network Socket",
       R"({"file":"logs/a.txt","line":7,"time":"2026-02-03 04:05:06","host":"node07","pid":41,)"
       R"("tid":42,"cuda_dev":3,"level":"INFO","kind":"network_selected",)"
       R"("fields":{"network":"Socket"}})"},
      {"NCCL version 2.20.5+cuda12.4",
       R"({"file":"logs/a.txt","line":7,"level":"VERSION","kind":"nccl_version",)"
       R"("fields":{"version":"2.20.5","cuda":"12.4"}})"},
      {"node07:41:41 NCCL CALL ncclFrobnicate(\"x\xff\")",
       R"({"file":"logs/a.txt","line":7,"host":"node07","pid":41,"tid":41,"level":"CALL",)"
       "\"kind\":\"unrecognised\",\"fields\":{},\"text\":\"ncclFrobnicate(\\\"x\uFFFD\\\")\"}"},
  };
  for (const Row& row : kRows) EXPECT_EQ(json_of(row.line), std::string(row.json) + "\n");
}

TEST(WriteEvent, CsvHasTheSameInColumns) {
  constexpr std::string_view kStamped =
      "[2026-02-03 04:05:06] node07:41:42 [3] NCCL INFO Using network Socket";
  constexpr std::string_view kPlain = "NCCL INFO Frobnicated";
  std::string out = written(write_table_csv, table_of("events"));
  out += csv_row(event_cells({"a.txt", 7, kStamped, parse_event(kStamped, all_wordings())}));
  out += csv_row(event_cells({"a.txt", 8, kPlain, parse_event(kPlain, all_wordings())}));
  EXPECT_EQ(out,
            "file,line,time,host,pid,tid,cuda_dev,level,kind,fields,text,severity,origin,meaning\n"
            "a.txt,7,2026-02-03 04:05:06,node07,41,42,3,INFO,network_selected,"
            "\"{\"\"network\"\":\"\"Socket\"\"}\",,,,\n"
            "a.txt,8,,,,,,INFO,unrecognised,{},Frobnicated,,,\n");
}

TEST(WriteEvent, WarnsHaveSeverityOriginAndMeaning) {
  const std::string members =
      R"("severity":"fatal","origin":"symptom","meaning":"The other end closed the connection, )";
  EXPECT_NE(json_of("n:1:2 [0] misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by "
                    "remote peer n2<41822>")
                .find(members),
            std::string::npos);
  EXPECT_EQ(json_of("n:1:2 [0] NCCL INFO socketProgress: Connection closed by remote peer n2<41>")
                .find("severity"),
            std::string::npos);
}

TEST(WriteEvent, NumbersTooLargeForANumberStayText) {
  const std::string text = json_of(
      "node07:41:42 [3] NCCL INFO comm 0x7f10a0 rank 3 nranks 99999999999999999999 cudaDev 3 "
      "nvmlDev 5");
  EXPECT_NE(text.find(R"("nranks":"99999999999999999999")"), std::string::npos) << text;
}

TEST(WriteEvent, ForeignLinesWithoutKindAreLeftOut) {
  EXPECT_FALSE(is_exported(parse_event("loading weights", all_wordings())));
  EXPECT_TRUE(is_exported(parse_event("n:1:2 [0] NCCL INFO no such thing", all_wordings())));
  EXPECT_TRUE(is_exported(parse_event("ValueError: no such thing", all_wordings())));
}

FlightRecorderDump sample_dump() {
  FlightRecorderDump dump;
  dump.rank = 3;
  dump.entries.push_back({});
  dump.entries.push_back({.record_id = 7,
                          .pg_id = 0,
                          .group = "0",
                          .description = "default_pg",
                          .collective_seq_id = 8,
                          .p2p_seq_id = 0,
                          .op_id = 8,
                          .is_p2p = false,
                          .profiling_name = "nccl:all_reduce",
                          .state = RecordedState::Started,
                          .input_sizes = {{2, 4}, {}},
                          .input_dtypes = {"Float", "\xff"},
                          .time_created_ns = 1767607200123456789,
                          .duration_ms = 0.25,
                          .timeout_ms = 600000,
                          .retired = true,
                          .frame = {"<module>", "train.py", 54}});
  return dump;
}

TEST(WriteRecorded, JsonHasWhatTheEntrySays) {
  const std::string out = event_json(recorded_cells("logs/fr_3", sample_dump(), 1));
  EXPECT_EQ(out, R"({"file":"logs/fr_3","line":null,"level":"","kind":"flight_recorder_entry",)"
                 R"("fields":{"entry":1,"rank":3,"record_id":7,"pg_id":0,"group":"0",)"
                 R"("group_name":"default_pg","collective_seq_id":8,"p2p_seq_id":0,"op_id":8,)"
                 R"("is_p2p":false,"profiling_name":"nccl:all_reduce","function":"AllReduce",)"
                 R"("state":"started","retired":true,"input_sizes":[[2,4],[]],)"
                 "\"input_dtypes\":[\"Float\",\"\uFFFD\"],"
                 R"("time_created_ns":1767607200123456789,"duration_ms":0.25,"timeout_ms":600000,)"
                 R"("frame_function":"<module>","frame_file":"train.py","frame_line":54}})"
                 "\n");
}

TEST(WriteRecorded, WhatADumpDoesNotSayIsLeftOut) {
  FlightRecorderDump dump = sample_dump();
  dump.rank = -1;
  const std::string out = event_json(recorded_cells("x", dump, 0));
  EXPECT_EQ(out, R"({"file":"x","line":null,"level":"","kind":"flight_recorder_entry",)"
                 R"("fields":{"entry":0}})"
                 "\n");
}

TEST(WriteRecorded, CsvHasTheColumnsOfEvents) {
  FlightRecorderDump dump;
  dump.entries.emplace_back();
  EXPECT_EQ(csv_row(recorded_cells("x", dump, 0)),
            "x,,,,,,,,flight_recorder_entry,\"{\"\"entry\"\":0}\",,,,\n");
}

}  // namespace

}  // namespace ncclog
