#include "app/write_recorded.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

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
  std::string out;
  append_recorded_json(out, "logs/fr_3", sample_dump(), 1);
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
  std::string out;
  append_recorded_json(out, "x", dump, 0);
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
