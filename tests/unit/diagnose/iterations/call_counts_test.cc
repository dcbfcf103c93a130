#include "diagnose/iterations/call_counts.h"

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/derive/build_job.h"
#include "report/tables/tables.h"
#include "support/call_lines.h"

namespace ncclog {
namespace {

using testing::call_lines;

std::string counted(const std::string& log, const std::vector<CountBy>& by) {
  const Job job = job_from_text(log);
  const JobCalls calls = job_calls(job);
  const auto iterations = find_iterations(job, calls, {});
  return written(write_table_csv,
                 count_table(job, calls, iterations ? &*iterations : nullptr, by, true));
}

const std::string kLog = call_lines(
    "41:r 42:r #iteration: 0 | x# 41:BGR 42:BGR #iteration: 1 | x# 41:GR 42:GR #iteration: 2 | x# "
    "41:GR 42:GR 41:r 42:r");

TEST(CallCounts, AreSumsOverWhatIsAskedFor) {
  EXPECT_EQ(counted(kLog, {CountBy::Op}),
            "op,calls,elements,bytes,processes,bound\n"
            "AllGather,6,6144,24576,2,\n"
            "AllReduce,10,6148,24592,2,\n"
            "Broadcast,2,2048,8192,2,\n");
  EXPECT_EQ(counted(kLog, {CountBy::Size, CountBy::Op}),
            "size,op,calls,elements,bytes,processes,bound\n"
            "4,AllReduce,4,4,16,2,\n"
            "4096,AllGather,6,6144,24576,2,\n"
            "4096,AllReduce,6,6144,24576,2,\n"
            "4096,Broadcast,2,2048,8192,2,\n");
  EXPECT_EQ(counted(kLog, {CountBy::Rank}),
            "rank,host,pid,calls,elements,bytes,bound\n"
            ",node-a,41,9,7170,28680,\n"
            ",node-a,42,9,7170,28680,\n");
  EXPECT_EQ(counted(kLog, {CountBy::Comm, CountBy::Host}),
            "comm,host,calls,elements,bytes,processes,bound\n"
            "inferred-1,node-a,18,14340,57360,2,\n");
}

TEST(CallCounts, ByIterationShowWhatLiesOutsideApart) {
  EXPECT_EQ(counted(kLog, {CountBy::Iteration, CountBy::Op}),
            "iteration,op,calls,elements,bytes,processes,bound\n"
            "before,AllReduce,2,2,8,2,\n"
            "0,AllGather,2,2048,8192,2,\n"
            "0,AllReduce,2,2048,8192,2,\n"
            "0,Broadcast,2,2048,8192,2,\n"
            "1,AllGather,2,2048,8192,2,\n"
            "1,AllReduce,2,2048,8192,2,\n"
            "2,AllGather,2,2048,8192,2,\n"
            "2,AllReduce,2,2048,8192,2,\n"
            "after,AllReduce,2,2,8,2,\n");
  EXPECT_EQ(counted(kLog, {CountBy::StepPattern, CountBy::Op}),
            "iterations,op,calls,elements,bytes,processes,bound\n"
            "before,AllReduce,2,2,8,2,\n"
            "0,AllGather,2,2048,8192,2,\n"
            "0,AllReduce,2,2048,8192,2,\n"
            "0,Broadcast,2,2048,8192,2,\n"
            "1-2,AllGather,4,4096,16384,2,\n"
            "1-2,AllReduce,4,4096,16384,2,\n"
            "after,AllReduce,2,2,8,2,\n");
}

TEST(CallCounts, ManyIterationsThatSayTheSameShareARowOfText) {
  std::string words = "41:r 42:r";
  for (int i = 0; i < 300; ++i) words += i == 100 ? " 41:BGR 42:BGR" : " 41:GR 42:GR";
  const Job job = job_from_text(call_lines(words));
  const JobCalls calls = job_calls(job);
  const auto iterations = find_iterations(job, calls, {});
  ASSERT_TRUE(iterations);
  const std::vector<CountBy> by = {CountBy::Iteration, CountBy::Op};
  const Table table = count_table(job, calls, &*iterations, by, true);
  EXPECT_LE(table.rows.size(), 9u);
  EXPECT_NE(written(write_table_csv, table).find("\n1-"), std::string::npos);
  EXPECT_NE(table.notes.front().find("--format csv"), std::string::npos);
  size_t rows = 0;
  std::vector<std::string> numbers;
  const Table stream = count_table(job, calls, &*iterations, by, false);
  stream.each_row([&](std::span<const Cell> cells) {
    ++rows;
    if (const auto* number = std::get_if<std::string>(&cells[0])) numbers.push_back(*number);
    return true;
  });
  EXPECT_GT(rows, 600u);
  EXPECT_EQ(numbers.size(), rows);
  EXPECT_EQ(std::set<std::string>(numbers.begin(), numbers.end()).count("1-99"), 0u);
  EXPECT_EQ(stream.notes.front().find("--format csv"), std::string::npos);
}

TEST(CallCounts, MessagesOfChangingSizesAreSummedExactlyButNotByIteration) {
  const std::string log = call_lines("41:>R>R>R>R>R");
  const std::string sums = counted(log, {CountBy::Op});
  EXPECT_EQ(sums.find("Send,5,,"), sums.npos) << sums;
  EXPECT_NE(counted(log, {CountBy::Iteration, CountBy::Op}).find("1,Send,1,,,1,"),
            std::string::npos);
}

TEST(CallCounts, AProcessIsCountedFromOneSource) {
  constexpr std::string_view kBoth =
      "node-a:41:41 NCCL CALL ncclAllReduce(1,1,8,7,0,0,0xa,(nil))\n"
      "node-a:41:41 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype "
      "7 op 0 root 0 comm 0xa [nranks=2] stream (nil)\n"
      "node-a:42:42 NCCL CALL ncclAllReduce(1,1,8,7,0,0,0xb,(nil))\n";
  EXPECT_EQ(counted(std::string(kBoth), {CountBy::Op}),
            "op,calls,elements,bytes,processes,bound\n"
            "AllReduce,2,16,64,2,\n");
}

TEST(CallCounts, BytesThatOldReleasesPrintAreNoElements) {
  constexpr std::string_view kLine =
      "node-a:41:41 [0] NCCL INFO AllGather: opCount 0 sendbuff 0x1 recvbuff 0x1 count 4096 "
      "datatype 0 op 0 root 0 comm 0xa [nranks=2] stream (nil)\n";
  const std::string old = "NCCL version 2.18.3+cuda12.1\n" + std::string(kLine);
  EXPECT_EQ(counted(old, {CountBy::Op}),
            "op,calls,elements,bytes,processes,bound\nAllGather,1,,4096,1,\n");
  const std::string today = "NCCL version 2.28.9+cuda13.0\n" + std::string(kLine);
  EXPECT_EQ(counted(today, {CountBy::Op}),
            "op,calls,elements,bytes,processes,bound\nAllGather,1,4096,4096,1,\n");
}

TEST(CallSizes, FollowTheRelease) {
  struct Row {
    std::string_view op;
    int datatype;
    std::vector<std::string> versions;
    bool in_bytes;
  };
  const Row rows[] = {
      {"AllGather", 0, {"2.7.3"}, true},   {"Broadcast", 0, {"2.21.5"}, true},
      {"AllGather", 0, {}, true},          {"AllGather", 0, {"2.22.3"}, false},
      {"AllGather", 0, {"2.6.4"}, false},  {"AllGather", 7, {"2.18.3"}, false},
      {"AllReduce", 0, {"2.18.3"}, false}, {"AllGather", 0, {"2.28.9", "2.18.3"}, true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(may_count_bytes({row.op, row.datatype}, row.versions), row.in_bytes)
        << row.op << " " << row.datatype;
  }
  EXPECT_EQ(bytes_of(10, 7), 40u);
  EXPECT_EQ(bytes_of(10, 99), std::nullopt);
  EXPECT_EQ(bytes_of(UINT64_MAX, 7), std::nullopt);
  EXPECT_EQ(torch_type_bytes("BFloat16"), 2);
  EXPECT_EQ(torch_type_bytes("Quaternion"), std::nullopt);
}

}  // namespace

}  // namespace ncclog
