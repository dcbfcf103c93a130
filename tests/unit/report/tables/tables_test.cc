#include "report/tables/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/derive/build_job.h"
#include "support/call_log.h"
#include "support/json_schema.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using testing::CallLog;

/// Two of three ranks started; rank 1 made one call less, rank 2 is nowhere.
constexpr std::string_view kTablesLog =
    R"(trainbox:501:501 [0] NCCL INFO NCCL_DEBUG set by environment to INFO
trainbox:501:540 [0] NCCL INFO Using network Socket
trainbox:501:540 [0] NCCL INFO ncclCommInitRank comm 0x55aa rank 0 nranks 3 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9c1b0e2f - Init START
trainbox:502:541 [1] NCCL INFO ncclCommInitRank comm 0x66bb rank 1 nranks 3 cudaDev 1 nvmlDev 1 busId 43000 commId 0x9c1b0e2f - Init START
trainbox:501:540 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
trainbox:501:540 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM
trainbox:502:541 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[2] [send] via NET/Socket/0
trainbox:501:540 [0] NCCL INFO ncclCommInitRank comm 0x55aa rank 0 nranks 3 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9c1b0e2f - Init COMPLETE
trainbox:501:501 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 64 datatype 7 op 0 root 0 comm 0x55aa [nranks=3] stream 0x5
trainbox:501:501 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x2 count 64 datatype 7 op 0 root 0 comm 0x55aa [nranks=3] stream 0x5
trainbox:502:502 [1] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 64 datatype 7 op 0 root 0 comm 0x66bb [nranks=3] stream 0x5
)";

std::string csv(std::string_view table, std::string_view log) {
  return written(write_table_csv, find_table_kind(table)->build(job_from_text(log)));
}

TEST(Tables, FitTheirSchema) {
  using nlohmann::json;
  const json schema = json::parse(table_schema());
  const Job job = job_from_text(kTablesLog);
  for (const TableKind& kind : table_kinds()) {
    const json table = json::parse(written(write_table_json, kind.build(job)));
    EXPECT_EQ(join(testing::schema_errors(schema, table), "\n"), "") << kind.name;
  }
  json ranks = json::parse(written(write_table_json, ranks_table(job)));
  ranks["rows"][0].erase("host");
  EXPECT_EQ(join(testing::schema_errors(schema, ranks), "\n"), "/rows/0: lacks \"host\"");
  ranks["table"] = "of the user's columns";
  EXPECT_EQ(join(testing::schema_errors(schema, ranks), "\n"), "");
}

TEST(Tables, RowsOfTheDatabaseFitTheSchemaOfTheirTable) {
  using nlohmann::json;
  const json schema = json::parse(table_schema());
  const Report report = testing::sample_report();
  for (const TableKind& kind : all_tables()) {
    if (!kind.has_rows() || kind.build != nullptr) continue;
    Table table;
    for (const Column& column : kind.columns) table.columns.emplace_back(column.sql_name());
    table.further = [&](const RowTaker& take) { kind.each_row(report, take); };
    const json of_rows = {{"$defs", schema.at("$defs")}, {"$ref", "#/$defs/" + kind.sql_name()}};
    const std::string lines = written(write_table_jsonl, table);
    for (const std::string_view line : split(lines, '\n')) {
      if (line.empty()) continue;
      EXPECT_EQ(join(testing::schema_errors(of_rows, json::parse(line)), "\n"), "") << line;
    }
  }
}

TEST(Tables, RanksShowWhoIsBehindAndWhoNeverSpoke) {
  EXPECT_EQ(csv("ranks", kTablesLog),
            "rank,host,pid,gpu,state,end,calls,note,last_line,last_at,bus_id\n"
            "0,trainbox,501,0,init_done,unfinished,2,,trainbox:501:501 [0] NCCL INFO "
            "AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x2 count 64 datatype 7 op 0 root 0 comm "
            "0x55aa [nranks=3] stream 0x5,log.txt:10,1b000\n"
            "1,trainbox,502,1,started,unfinished,1,1 fewer collective than most,trainbox:502:502 "
            "[1] NCCL "
            "INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 64 datatype 7 op 0 root 0 "
            "comm 0x66bb [nranks=3] stream 0x5,log.txt:11,43000\n"
            "2,,,,not_seen,,,no line of it was found,,,\n");
}

TEST(Tables, CommunicatorsShowStatesAndWhoIsMissing) {
  EXPECT_EQ(csv("comms", kTablesLog),
            "id,parent,nranks,nhosts,calls,states,not_seen,odd_calls,hosts\n"
            "0x9c1b0e2f,,3,1,2,\"1 complete, 1 started, 1 not_seen\",2,1,trainbox\n");
}

TEST(Tables, CollectivesAreComparedWithMostRanks) {
  struct Row {
    std::vector<int> calls;  ///< By rank; one rank more is not seen.
    uint64_t usual;
  };
  const Row kRows[] = {{{4, 4, 6}, 4}, {{3, 5}, 5}, {{1, 2, 2, 9}, 9}, {{4}, 4}};
  for (const Row& row : kRows) {
    const int seen = static_cast<int>(row.calls.size());
    CallLog log;
    for (int rank = 0; rank < seen; ++rank) {
      log.init(rank, seen + 1, 1);
      for (int call = 0; call < row.calls[static_cast<size_t>(rank)]; ++call) log.call(rank, 1);
    }
    const Job job = job_from_text(log.text());
    EXPECT_EQ(usual_collectives(job, job.communicators.front()), row.usual);
  }
  EXPECT_EQ(usual_collectives(Job{}, Communicator{}), 0u);
}

TEST(Tables, StagesOfAPipelineDifferInMessagesAndAreNotOdd) {
  CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1);
  for (int stage = 0; stage + 1 < 3; ++stage) {
    log.call(stage, 1, "Send", 8, stage + 1).call(stage + 1, 1, "Recv", 8, stage);
  }
  for (int rank = 0; rank < 3; ++rank) log.call(rank, 1);
  const Job job = job_from_text(log.text());
  const Table ranks = ranks_table(job);
  for (const auto& row : ranks.rows) EXPECT_TRUE(row[7] == text_cell(""));
  const Table comms = communicators_table(job);
  EXPECT_TRUE(comms.rows.front()[7] == text_cell(""));
}

TEST(Tables, SettingsNameTheRanksThatReportThem) {
  EXPECT_EQ(csv("env", kTablesLog), "name,value,ranks,processes\nNCCL_DEBUG,INFO,0,1\n");
}

TEST(Tables, ChannelsAreCountedPerConnection) {
  EXPECT_EQ(csv("channels", kTablesLog),
            "src_rank,dst_rank,transport,path,channels,which,hosts\n"
            "0,1,P2P,P2P/CUMEM,2,\"0,1\",trainbox\n"
            "1,2,NET,NET/Socket/0,1,0,trainbox\n");
}

TEST(Tables, NetworkNamesNetworkAndPlugin) {
  const Table table = network_table(job_from_text(kTablesLog));
  EXPECT_EQ(table.notes, std::vector<std::string>{"Network: Socket; plugin: unknown."});
}

TEST(Tables, EveryKindSaysSoWhenThereIsNothing) {
  const Job job = job_from_text("nothing of interest\n");
  for (const TableKind& kind : table_kinds()) {
    const Table table = kind.build(job);
    EXPECT_TRUE(table.rows.empty()) << kind.name;
    EXPECT_FALSE(table.notes.empty()) << kind.name;
    EXPECT_EQ(table.name, kind.name);
  }
}

TEST(Tables, EveryRowHasOneCellPerColumn) {
  const Job job = job_from_text(kTablesLog);
  for (const TableKind& kind : table_kinds()) {
    const Table table = kind.build(job);
    EXPECT_EQ(std::set<std::string>(table.columns.begin(), table.columns.end()).size(),
              table.columns.size());
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << kind.name;
  }
}

TEST(TableKinds, NamesAreUniqueAndEverythingIsDescribed) {
  std::set<std::string_view> tables;
  for (const TableKind& table : all_tables()) {
    EXPECT_TRUE(tables.insert(table.name).second) << table.name;
    EXPECT_EQ(find_sql_table(table.sql_name()), &table);
    EXPECT_FALSE(table.help.empty()) << table.name;
    std::set<std::string_view> columns;
    std::set<std::string_view> sql_columns;
    for (const Column& column : table.columns) {
      EXPECT_TRUE(columns.insert(column.name).second) << table.name << "." << column.name;
      EXPECT_TRUE(sql_columns.insert(column.sql_name()).second) << table.name << "." << column.name;
      EXPECT_FALSE(column.help.empty()) << table.name << "." << column.name;
      EXPECT_TRUE(column.type == "TEXT" || column.type == "INTEGER" || column.type == "REAL");
    }
  }
}

TEST(TableKinds, RowsHaveACellForEachColumn) {
  const Report report = testing::sample_report();
  for (const TableKind& table : all_tables()) {
    table.each_row(report, [&](std::span<const Cell> cells) {
      EXPECT_EQ(cells.size(), table.columns.size()) << table.name;
      return true;
    });
  }
}

TEST(TableKinds, OfShowHaveNamesThatSqlTakes) {
  const std::map<std::string_view, std::string_view> kRenamed = {{"of", "of_what"},
                                                                 {"on", "hangs_on"},
                                                                 {"check", "verdict"},
                                                                 {"group", "process_group"},
                                                                 {"end", "end_state"}};
  for (const TableKind& kind : table_kinds()) {
    EXPECT_EQ(kind.sql_name().find('-'), std::string::npos) << kind.name;
    EXPECT_EQ(kind.sql_help(), "as 'show " + std::string(kind.name) + "'");
    const Table table = kind.build({});
    EXPECT_TRUE(std::ranges::equal(table.columns, kind.columns, {}, {}, &Column::name));
    for (const Column& column : kind.columns) {
      const auto renamed = kRenamed.find(column.name);
      EXPECT_EQ(column.sql_name(), renamed == kRenamed.end() ? column.name : renamed->second);
    }
  }
}

TEST(TableKinds, AreFoundInAnyCase) {
  EXPECT_EQ(find_sql_table("Findings"), find_sql_table("findings"));
  EXPECT_EQ(find_sql_table("finding"), nullptr);
  EXPECT_EQ(find_sql_table("members"), find_sql_table("comm_members"));
}

TEST(TableKinds, DocumentationFitsTheWidth) {
  const std::string text = tables_text(80);
  EXPECT_NE(text.find("findings          what the rules found\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  severity        TEXT     error, warning, info\n"), std::string::npos);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(display_width(std::string_view(text).substr(at, end - at)), 80);
    at = end + 1;
  }
}

// The tables of what stands beside the logs: Flight Recorder dumps and answers of the RAS service.

Job job_with_dump(FlightRecorderDump dump) {
  Job job;
  job.inputs.push_back({.path = "fr_3"});
  job.units.push_back({0, 0, 1});
  job.flight_recorders.push_back(std::move(dump));
  return job;
}

FlightRecorderEntry entry(std::string group, int64_t seq, RecordedState state) {
  return {.pg_id = 4,
          .group = std::move(group),
          .collective_seq_id = seq,
          .p2p_seq_id = 90 + seq,
          .is_p2p = false,
          .profiling_name = "nccl:all_reduce",
          .state = state,
          .input_sizes = {{2}, {3}, {4}, {5}, {6}},
          .output_sizes = {{2}},
          .input_dtypes = {"Float", "Float"},
          .output_dtypes = {"Half"},
          .frame = {"step", "train.py", 54}};
}

TEST(FlightRecorderTable, ShowsTheOldestCallThatIsNotCompleted) {
  FlightRecorderDump dump;
  dump.rank = 3;
  dump.groups.push_back({.pg_id = 4,
                         .name = "0",
                         .description = "default_pg",
                         .ranks = {3, 0, 1, 2},
                         .last_enqueued = 3,
                         .last_started = -1,
                         .last_completed = 1});
  dump.groups.push_back({.pg_id = 9});
  dump.entries = {entry("0", 1, RecordedState::Completed), entry("1", 1, RecordedState::Scheduled),
                  entry("0", 2, RecordedState::Started), entry("0", 3, RecordedState::Scheduled)};
  EXPECT_EQ(written(write_table_csv, flight_recorder_table(job_with_dump(std::move(dump)))),
            "rank,group,group_name,group_ranks,entries,enqueued,started,completed,open_seq,open_op,"
            "open_state,open_input,open_output,open_dtypes,open_frame,dump\n"
            "3,0,default_pg,0-3,3,3,-1,1,2,nccl:all_reduce,started,[2] [3] [4] [5] and 1 more,[2],"
            "Float Half,train.py:54 step,fr_3\n"
            "3,,,,0,,,,,,,,,,,fr_3\n");
}

TEST(FlightRecorderTable, EntriesWithoutNameBelongToTheirNumber) {
  FlightRecorderDump dump;
  dump.groups.push_back({.pg_id = 4});
  FlightRecorderEntry send = entry("", 2, RecordedState::Scheduled);
  send.is_p2p = true;
  dump.entries = {send};
  const Table table = flight_recorder_table(job_with_dump(std::move(dump)));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][4], Cell(int64_t{1}));
  EXPECT_EQ(table.rows[0][8], Cell(int64_t{92}));
}

TEST(FlightRecorderTable, SaysHowToGetADumpWhereThereIsNone) {
  const Table table = flight_recorder_table({});
  EXPECT_TRUE(table.rows.empty());
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_NE(table.notes[0].find("TORCH_NCCL_TRACE_BUFFER_SIZE"), std::string::npos);
}

TEST(RasTable, ShowsCommunicatorsAndStatements) {
  const Job job = job_from_text(
      "NCCL version 2.28.9 compiled with CUDA 13.0\n"
      "    0         1         4         8        32        31   RUNNING  MISMATCH\n"
      "Encountered 2 communication timeouts while gathering communicator data\n"
      "#0-0 (cf264af53edbe986) MISMATCH\n"
      "  Communicator ranks have different AllReduce operation counts\n"
      "  26 ranks have launched up to operation 6650\n"
      "  Rank 3 has launched up to operation 6649 -- GPU 3 managed by process 48 on node "
      "10.1.2.3\n");
  EXPECT_EQ(written(write_table_csv, ras_table(job)),
            "communicator,problem,what,value,count,ranks,members,at\n"
            ",MISMATCH,communicator of 32 ranks,RUNNING,1,,,log.txt:1\n"
            "cf264af53edbe986,MISMATCH,AllReduce operation counts,6650,26,,,log.txt:1\n"
            "cf264af53edbe986,MISMATCH,AllReduce operation counts,6649,1,3,10.1.2.3 pid 48 GPU 3,"
            "log.txt:1\n");
  EXPECT_NE(ras_table(job).notes.at(0).find("2 timeouts"), std::string::npos);
}

TEST(RasTable, SaysHowToAskWhereNobodyDid) {
  const Table table = ras_table({});
  EXPECT_TRUE(table.rows.empty());
  EXPECT_NE(table.notes.at(0).find("ncclras"), std::string::npos);
}

}  // namespace
}  // namespace ncclog
