#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "import/import.h"
#include "support/paths.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::sample_logs;

TEST(FlightRecorder, ReadsEveryDumpOfTheSamples) {
  size_t dumps = 0;
  for (const auto& file :
       fs::recursive_directory_iterator(sample_logs("x").parent_path().parent_path())) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with("fr_")) continue;
    const auto [dump, problem] =
        import_flight_recorder(read_file(file.path()), file.path().string());
    EXPECT_EQ(problem, "") << file.path();
    EXPECT_EQ("fr_" + std::to_string(dump.rank), name);
    EXPECT_EQ(dump.version, "2.10");
    ASSERT_EQ(dump.groups.size(), 1U);
    EXPECT_EQ(dump.groups[0].description, "default_pg");
    EXPECT_EQ(dump.groups[0].last_enqueued, static_cast<int64_t>(dump.entries.size()));
    ++dumps;
  }
  EXPECT_EQ(dumps, 18U);
}

TEST(FlightRecorder, ReadsWhatPyTorchPickles) {
  const auto [dump, problem] =
      import_flight_recorder(read_file(sample_logs("size-mismatch") / "fr_3"), "fr_3");
  ASSERT_EQ(problem, "");
  EXPECT_EQ(dump.nccl_version, "2.28.9");
  const FlightRecorderGroup group = {.pg_id = 0,
                                     .name = "0",
                                     .description = "default_pg",
                                     .ranks = {0, 1, 2, 3},
                                     .last_enqueued = 20,
                                     .last_started = -1,
                                     .last_completed = 19};
  EXPECT_EQ(dump.groups, std::vector{group});
  ASSERT_EQ(dump.entries.size(), 20U);
  const FlightRecorderEntry& last = dump.entries.back();
  EXPECT_EQ(last.record_id, 19);
  EXPECT_EQ(last.pg_id, 0);
  EXPECT_EQ(last.group, "0");
  EXPECT_EQ(last.description, "default_pg");
  EXPECT_EQ(last.collective_seq_id, 20);
  EXPECT_EQ(last.p2p_seq_id, 0);
  EXPECT_EQ(last.op_id, 20);
  EXPECT_EQ(last.is_p2p, false);
  EXPECT_EQ(last.profiling_name, "nccl:all_reduce");
  EXPECT_EQ(last.state, RecordedState::Scheduled);
  EXPECT_EQ(last.input_sizes, TensorSizes{{524288}});
  EXPECT_EQ(last.output_sizes, TensorSizes{{524288}});
  EXPECT_EQ(last.input_dtypes, std::vector<std::string>{"Float"});
  EXPECT_EQ(last.time_started_ns, -1);
  EXPECT_EQ(last.time_completed_ns, -1);
  EXPECT_EQ(last.timeout_ms, 20000);
  EXPECT_EQ(last.retired, false);
  EXPECT_EQ(last.frame, (CodeFrame{"<module>", "/workspace/pretrain/src/train_rank.py", 50}));
  EXPECT_GT(dump.entries.front().time_created_ns, 0);
  EXPECT_EQ(dump.entries.front().state, RecordedState::Completed);
}

TEST(FlightRecorder, ReadsTheJsonForm) {
  const auto [dump, problem] = import_flight_recorder(R"({
    "version": "2.4",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"},
                  "9f3c": {"name": "9f3c", "desc": "mesh_tp", "ranks": "[2, 3]"}},
    "pg_status": {"0": {"last_enqueued_collective": "7", "last_started_collective": "-1",
                        "last_completed_collective": "6"},
                  "1": {"last_enqueued_collective": "2", "last_completed_collective": "2"}},
    "entries": [
      {"record_id": 41, "pg_id": 1, "process_group": ["9f3c", "mesh_tp"], "collective_seq_id": 0,
       "p2p_seq_id": 2, "op_id": 2, "is_p2p": true, "profiling_name": "nccl:send 0->1",
       "input_sizes": [[2, 4], []], "input_dtypes": ["BFloat16", "Float"], "state": "started",
       "time_created_ns": 1767607200123456789, "time_discovered_started_ns": 1767607200223456789,
       "time_discovered_completed_ns": 0, "duration_ms": 0.25, "timeout_ms": 600000,
       "retired": false}]})",
                                                      "dumps/nccl_trace_rank_3.json");
  ASSERT_EQ(problem, "");
  EXPECT_EQ(dump.rank, 3);
  EXPECT_EQ(dump.version, "2.4");
  EXPECT_EQ(dump.nccl_version, "");
  const FlightRecorderGroup tp = {.pg_id = 1,
                                  .name = "9f3c",
                                  .description = "mesh_tp",
                                  .ranks = {2, 3},
                                  .last_enqueued = 2,
                                  .last_started = std::nullopt,
                                  .last_completed = 2};
  ASSERT_EQ(dump.groups.size(), 3U);
  // No entry ties the name "0" to the number 0, so they stay apart.
  EXPECT_EQ(dump.groups[0].name, "0");
  EXPECT_EQ(dump.groups[0].pg_id, -1);
  EXPECT_EQ(dump.groups[1].name, "");
  EXPECT_EQ(dump.groups[1].last_enqueued, 7);
  EXPECT_EQ(dump.groups[1].last_started, -1);
  EXPECT_EQ(dump.groups[2], tp);
  ASSERT_EQ(dump.entries.size(), 1U);
  const FlightRecorderEntry& entry = dump.entries[0];
  EXPECT_EQ(entry.p2p_seq_id, 2);
  EXPECT_EQ(entry.is_p2p, true);
  EXPECT_EQ(entry.state, RecordedState::Started);
  EXPECT_EQ(entry.input_sizes, (TensorSizes{{2, 4}, {}}));
  EXPECT_EQ(entry.time_created_ns, 1767607200123456789);
  EXPECT_EQ(entry.time_started_ns, 1767607200223456789);
  EXPECT_EQ(entry.time_completed_ns, -1);
  EXPECT_EQ(entry.duration_ms, 0.25);
  EXPECT_EQ(entry.frame, CodeFrame());
}

TEST(FlightRecorder, WhatASchemaLacksStaysUnknown) {
  const auto [dump, problem] = import_flight_recorder(
      R"({"version": "2.0", "entries": [{"seq_id": 5, "profiling_name": "nccl:broadcast"}, 7]})",
      "trace_1");
  ASSERT_EQ(problem, "");
  EXPECT_EQ(dump.rank, 1);
  EXPECT_TRUE(dump.groups.empty());
  ASSERT_EQ(dump.entries.size(), 2U);
  const FlightRecorderEntry entry = {.collective_seq_id = 5, .profiling_name = "nccl:broadcast"};
  EXPECT_EQ(dump.entries[0], entry);
  EXPECT_EQ(dump.entries[1], FlightRecorderEntry());
}

struct RefusedDump {
  std::string bytes;
  const char* problem;
};

const RefusedDump kRefusedDumps[] = {
    {R"({"version": "2.4"})", "it has none of a dump's keys"},
    {"[]", "byte 0 (0x5b) is no pickle opcode"},
    {R"({"entries": [)", "the JSON text is malformed or cut at byte 14"},
    {"\x80\x02}X", "BINUNICODE at byte 3 announces 4 bytes, but 0 follow"},
};

TEST(FlightRecorder, RefusesWhatIsNoDump) {
  for (const RefusedDump& row : kRefusedDumps) {
    EXPECT_EQ(import_flight_recorder(row.bytes, "fr_0").problem, row.problem) << row.bytes;
  }
}

/// "entries" is a list that holds one entry very often, which holds one long text very often.
std::string repeating_pickle() {
  std::string bytes = "\x80\x02}";
  const auto text = [&](std::string_view value) {
    bytes += 'T';
    for (int shift = 0; shift < 32; shift += 8) {
      bytes += static_cast<char>((value.size() >> shift) & 0xFF);
    }
    bytes += value;
  };
  const auto repeat = [&](char memo, int times) {
    bytes += "](";
    for (int i = 0; i < times; ++i) bytes += std::string("h") + memo;
    bytes += 'e';
  };
  text("entries");
  bytes += "}";
  text("input_dtypes");
  text(std::string(10000, 'x'));
  bytes += std::string("q\1") + "0";
  repeat('\1', 10000);
  bytes +=
      "sq\2"
      "0";
  repeat('\2', 10000);
  return bytes + "s.";
}

TEST(FlightRecorder, RefusesWhatGrowsWhenItIsReadOut) {
  const std::string bytes = repeating_pickle();
  ASSERT_LT(bytes.size(), 60000U);
  EXPECT_EQ(import_flight_recorder(bytes, "fr_0").problem, "it refers to the same parts too often");
}

struct RankRow {
  const char* path;
  const char* groups;  ///< Of pg_config.
  int rank;
};

constexpr RankRow kRankRows[] = {
    {"fr_2", R"({"0": {"ranks": "[0, 1, 2, 3]"}})", 2},
    {"fr_2", R"({"0": {"ranks": [0, 1, 2, 3]}})", 2},
    {"fr_4", R"({"0": {"ranks": "[0, 1, 2, 3]"}})", -1},
    {"dump", R"({"0": {"ranks": "[0, 1, 2, 3]"}})", -1},
    {"dump",
     R"({"0": {"ranks": "[0, 1, 2, 3]"}, "1": {"ranks": "[2, 3]"}, "2": {"ranks": "[1, 3]"}})", 3},
    {"fr_2",
     R"({"0": {"ranks": "[0, 1, 2, 3]"}, "1": {"ranks": "[2, 3]"}, "2": {"ranks": "[1, 3]"}})", 3},
    {"fr_2", R"({"0": {"ranks": "[0, 1]"}, "1": {"ranks": "[2, 3]"}})", -1},
    {"run7/fr_5", "{}", 5},
    {"run7/dump", "{}", -1},
    {"fr_5", R"({"0": {"ranks": "none"}})", 5},
};

TEST(FlightRecorder, TheNameGivesTheRankUnlessTheGroupsContradict) {
  for (const RankRow& row : kRankRows) {
    const std::string json = std::string(R"({"pg_config": )") + row.groups + "}";
    EXPECT_EQ(import_flight_recorder(json, row.path).value.rank, row.rank)
        << row.path << " " << row.groups;
  }
}

struct NameRow {
  const char* path;
  int rank;
};

constexpr NameRow kNames[] = {
    {"fr_3", 3},
    {"/tmp/nccl_trace_rank_12", 12},
    {"comm_lib_trace_rank_0", 0},
    {"a/fr_3.json.gz", 3},
    {"logs_7/trace", -1},
    {"fr_", -1},
    {"", -1},
    {"fr_99999999999999999999", -1},
    {"fr_20260105", -1},
    {"fr_3.", -1},
};

TEST(FlightRecorder, TheRankIsTheNumberAtTheEndOfTheName) {
  for (const NameRow& row : kNames) EXPECT_EQ(rank_in_name(row.path), row.rank) << row.path;
}

TEST(ImportFlightRecorder, SeveralMayStandBehindOneAnother) {
  const std::string zero =
      R"({"version":"2.10","pg_config":{"1":{"name":"1","ranks":"[0]"}},"entries":[]})";
  const std::string one =
      R"({"version":"2.10","pg_config":{"a}\"":{"name":"1","ranks":"[1]"}},"entries":[]})";
  const std::string pickle = read_file(sample_logs("size-mismatch") / "fr_3");
  struct {
    std::string bytes;
    std::vector<int> ranks;
    size_t rest = 0;  // Bytes that are none of a dump's.
  } const rows[] = {
      {zero, {0}},
      {zero + one, {0, 1}},
      {"[" + zero + ", " + one + "]", {0, 1}},
      {one + "\nstep 1 loss 2\n", {1}, 15},
      {pickle + zero + "n1:1:1 [0] NCCL INFO x", {-1, 0}, 22},
      {zero + one.substr(0, 20), {0}, 20},
  };
  for (const auto& row : rows) {
    const FlightRecorderDumps dumps = import_flight_recorders(row.bytes, "nccl_trace_rank_0");
    std::vector<int> ranks;
    for (const FlightRecorderDump& dump : dumps.dumps) ranks.push_back(dump.rank);
    EXPECT_EQ(ranks, row.ranks) << row.bytes.substr(0, 200);
    EXPECT_EQ(dumps.used + row.rest, row.bytes.size()) << row.bytes.substr(0, 200);
    EXPECT_EQ(dumps.problem, "");
  }
}

}  // namespace
}  // namespace ncclog
