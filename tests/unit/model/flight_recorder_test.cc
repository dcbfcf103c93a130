#include "model/flight_recorder.h"

#include <gtest/gtest.h>

#include "model/derive/build_job.h"
#include "model/shard/shard.h"

namespace ncclog {
namespace {

TEST(FlightRecorderModel, NamesFunctionsAsNcclDoes) {
  EXPECT_EQ(recorded_operation("nccl:all_reduce_barrier"), Operation::AllReduce);
  EXPECT_EQ(recorded_operation("nccl:_all_gather_base"), Operation::AllGather);
  EXPECT_EQ(recorded_operation("nccl:send 3->2"), Operation::Send);
  EXPECT_EQ(recorded_operation("nccl:coalesced"), Operation::Unknown);
  EXPECT_EQ(recorded_operation("gloo:all_reduce"), Operation::Unknown);
  EXPECT_EQ(recorded_operation(""), Operation::Unknown);
}

/// "in out": the sizes on which ranks agree.
std::string agreed_text(std::string_view profiling_name) {
  const AgreedSizes agreed = agreed_sizes(find_recorded_alias(profiling_name));
  return std::string(agreed.in ? "in" : "") + (agreed.out ? " out" : "");
}

TEST(FlightRecorderModel, ListsNeedNotAgreeOnARanksOwnPart) {
  EXPECT_EQ(agreed_text("nccl:_all_gather_base"), "in out");
  EXPECT_EQ(agreed_text("nccl:all_gather"), " out");
  EXPECT_EQ(agreed_text("nccl:reduce_scatter"), "in");
  EXPECT_EQ(agreed_text("nccl:gather"), "in");
  EXPECT_EQ(agreed_text("nccl:scatter"), " out");
  EXPECT_EQ(agreed_text("nccl:all_to_all"), "");
  EXPECT_EQ(agreed_text("nccl:unknown"), "in out");
}

TEST(FlightRecorderModel, WritesSizesAsPyTorchDoes) {
  EXPECT_EQ(sizes_text({}), "");
  EXPECT_EQ(sizes_text({{}}), "[]");
  EXPECT_EQ(sizes_text({{2, 4}, {1}}), "[2, 4] [1]");
  EXPECT_EQ(sizes_text({{2}, {1}, {3}}, 1), "[2] and 2 more");
}

FlightRecorderDump dump_of(uint64_t unit, int rank, std::vector<int> world) {
  FlightRecorderDump dump;
  dump.where.unit = unit;
  dump.rank = rank;
  dump.groups.push_back({.name = "0", .ranks = std::move(world)});
  return dump;
}

Shard shard_of(FlightRecorderDump dump) {
  Shard shard;
  shard.add(std::move(dump));
  return shard;
}

TEST(FlightRecorderModel, DumpsMergeInAnyGroupingAndAreSortedByRank) {
  const auto job_of = [](bool from_the_right) {
    Shard a = shard_of(dump_of(0, 2, {0, 1, 2}));
    Shard b = shard_of(dump_of(1, -1, {}));
    Shard c = shard_of(dump_of(2, 1, {0, 1, 2}));
    if (from_the_right) {
      b.merge(std::move(c));
      a.merge(std::move(b));
    } else {
      a.merge(std::move(b));
      a.merge(std::move(c));
    }
    return build_job(std::move(a), {}, {}, {});
  };
  const Job job = job_of(false);
  ASSERT_EQ(job.flight_recorders.size(), 3U);
  EXPECT_EQ(job.flight_recorders[0].rank, 1);
  EXPECT_EQ(job.flight_recorders[1].rank, 2);
  EXPECT_EQ(job.flight_recorders[2].rank, -1);
  EXPECT_EQ(job_of(true).flight_recorders, job.flight_recorders);
}

constexpr std::string_view kTwoRanks =
    "trainbox:501:540 [0] NCCL INFO ncclCommInitRank comm 0x55aa rank 0 nranks 2 cudaDev 0 nvmlDev "
    "0 busId 1b000 commId 0x9c1b0e2f - Init COMPLETE\n"
    "trainbox:502:541 [1] NCCL INFO ncclCommInitRank comm 0x66bb rank 1 nranks 2 cudaDev 1 nvmlDev "
    "1 busId 43000 commId 0x9c1b0e2f - Init COMPLETE\n";

int process_of(FlightRecorderDump dump) {
  Shard shard = read_text(kTwoRanks);
  shard.add(std::move(dump));
  const Job job = build_job(std::move(shard), {JobInput{.path = "log.txt"}}, {{0, 0, 1}}, {});
  return job.flight_recorders.at(0).process;
}

TEST(FlightRecorderModel, ADumpIsTiedToItsProcessOnlyWhereTheWorldsAreTheSame) {
  EXPECT_EQ(process_of(dump_of(0, 1, {0, 1})), 1);
  EXPECT_EQ(process_of(dump_of(0, 1, {0, 1, 2, 3})), -1);
  EXPECT_EQ(process_of(dump_of(0, -1, {0, 1})), -1);
  EXPECT_EQ(process_of(dump_of(0, 1, {})), -1);
}

struct FitCase {
  std::string_view what;
  CallSignature call;
  std::string_view op;
  int64_t in;
  int64_t out;
  bool fits;
};

const FitCase kFits[] = {
    {"what all give", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, true},
    {"another size", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 9, 9, false},
    {"another function", {"Broadcast", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, false},
    {"an AllGather counts what one rank gives",
     {"AllGather", 8, 7, 0, 0},
     "_ALLGATHER_BASE",
     8,
     64,
     true},
    {"up to 2.21 in bytes", {"AllGather", 32, 0, 0, 0}, "_ALLGATHER_BASE", 8, 64, true},
    {"a ReduceScatter counts what one rank gets",
     {"ReduceScatter", 8, 7, 0, 0},
     "_REDUCE_SCATTER_BASE",
     64,
     8,
     true},
    {"an all-to-all is many calls", {"Send", 8, 7, 0, 0}, "ALLTOALL_BASE", 8, 8, false},
    {"no size printed", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", -1, -1, false},
};

TEST(FlightRecorderModel, WorksFitCallsByOperationAndSize) {
  for (const FitCase& row : kFits) {
    EXPECT_EQ(is_call_of_work(row.call, row.op, row.in, row.out), row.fits) << row.what;
  }
}

}  // namespace
}  // namespace ncclog
