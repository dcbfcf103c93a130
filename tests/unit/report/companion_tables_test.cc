// The tables of what stands beside the logs: Flight Recorder dumps and answers of the RAS service.

#include <gtest/gtest.h>

#include "model/build/build_job.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

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
