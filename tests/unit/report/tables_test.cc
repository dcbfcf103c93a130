#include "report/tables/tables.h"

#include <gtest/gtest.h>

#include <set>

#include "model/build/build_job.h"
#include "support/call_log.h"

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

TEST(Tables, RanksShowWhoIsBehindAndWhoNeverSpoke) {
  EXPECT_EQ(
      csv("ranks", kTablesLog),
      "rank,host,pid,gpu,bus_id,state,calls,note,last_at,last_line\n"
      "0,trainbox,501,0,1b000,complete,2,,log.txt:10,trainbox:501:501 [0] NCCL INFO "
      "AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x2 count 64 datatype 7 op 0 root 0 comm "
      "0x55aa [nranks=3] stream 0x5\n"
      "1,trainbox,502,1,43000,started,1,1 fewer collective than most,log.txt:11,trainbox:502:502 "
      "[1] NCCL "
      "INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 64 datatype 7 op 0 root 0 "
      "comm 0x66bb [nranks=3] stream 0x5\n"
      "2,,,,,not_seen,,no line of it was found,,\n");
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

}  // namespace
}  // namespace ncclog
