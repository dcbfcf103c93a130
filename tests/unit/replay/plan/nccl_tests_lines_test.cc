#include <gtest/gtest.h>

#include "base/text.h"
#include "replay/plan/plan.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

TEST(NcclTestsLines, MakesTheCallAtTheFront) {
  EXPECT_EQ(
      nccl_tests_lines(testing::sample_plan()),
      "# One process holds all GPUs, on one host: add -t, or mpirun, as the job was laid "
      "out.\n"
      "# All ranks make this call alone, over and over: its order among others, groups,\n"
      "# streams and offsets of buffers are not as recorded. Messages go around a ring of all\n"
      "# ranks, the job's own reductions are sums, and of a buffer for all ranks each rank's "
      "part\n"
      "# is rounded down to 16 bytes.\n"
      "# No rank of nccl-tests departs from the others: the defect itself cannot be shown.\n"
      "\n"
      "# AllReduce of 1048576 float32 (avg), 2 ranks\n"
      "NCCL_ALGO=Ring NCCL_NVLS_ENABLE=0 all_reduce_perf -b 4194304 -e 4194304 -d float "
      "-o avg -g 2 -n 20 -w 5 -c 1\n");
}

TEST(NcclTestsLines, TurnsMulticastOffOnce) {
  ReplayPlan plan = testing::sample_plan();
  plan.settings = {{"NCCL_NVLS_ENABLE", "0", {}, ""}};
  const std::string text = nccl_tests_lines(plan);
  EXPECT_NE(text.find("\nNCCL_NVLS_ENABLE=0 all_reduce_perf"), std::string::npos) << text;
}

/// Lines for a plan of one call on two ranks, without those that are the same for all plans.
std::string lines_for(const PlannedCall& call) {
  ReplayPlan plan;
  plan.ranks.resize(2);
  plan.communicators = {{.ranks = {0, 1}}};
  plan.ranks[0].calls = {call};
  const std::string text = nccl_tests_lines(plan);
  return text.substr(text.find("\n\n") + 2);
}

PlannedCall call_of(const char* op, int64_t count, int datatype, int redop, int root) {
  PlannedCall call;
  call.communicator = 0;
  call.op = op;
  call.count = count;
  call.datatype = datatype;
  call.redop = redop;
  call.root = root;
  return call;
}

TEST(NcclTestsLines, KnowsTheProgramSizeAndNamesOfEachFunction) {
  struct Row {
    PlannedCall call;
    const char* lines;
  };
  const Row kRows[] = {
      {call_of("Broadcast", 10, 6, 0, 1),
       "# Broadcast of 10 float16 with root 1, 2 ranks\n"
       "NCCL_NVLS_ENABLE=0 broadcast_perf -b 20 -e 20 -d half -r 1 -g 2 -n 20 -w 5 -c 1\n"},
      {call_of("Reduce", 10, 10, 2, 0),
       "# Reduce of 10 float8e4m3 (max) with root 0, 2 ranks\n"
       "NCCL_NVLS_ENABLE=0 reduce_perf -b 10 -e 10 -d f8e4m3 -o max -r 0 -g 2 -n 20 -w 5 -c 1\n"},
      {call_of("AllGather", 16, 9, 0, -1),
       "# AllGather of 16 bfloat16, 2 ranks\n"
       "NCCL_NVLS_ENABLE=0 all_gather_perf -b 64 -e 64 -d bfloat16 -g 2 -n 20 -w 5 -c 1\n"},
      {call_of("ReduceScatter", 5, 8, 9, -1),
       "# ReduceScatter of 5 float64 (user), 2 ranks\n"
       "NCCL_NVLS_ENABLE=0 reduce_scatter_perf -b 80 -e 80 -d double -o sum -g 2 -n 20 -w 5 "
       "-c 1\n"},
      {call_of("Send", 4, 4, 0, 1),
       "# Send of 4 int64 to rank 1, 2 ranks\n"
       "NCCL_NVLS_ENABLE=0 sendrecv_perf -b 32 -e 32 -d int64 -g 2 -n 20 -w 5 -c 1\n"},
      {call_of("AllReduce", 0, 7, 0, -1),
       "# AllReduce of 0 float32 (sum), 2 ranks\n"
       "# nccl-tests cannot make this call.\n"},
  };
  for (const Row& row : kRows) EXPECT_EQ(lines_for(row.call), row.lines);
}

TEST(NcclTestsLines, MakesTheMessageThatIsOwedAndNoCollectiveOfItsNumber) {
  ReplayPlan plan;
  plan.ranks.resize(3);
  plan.communicators = {{.ranks = {0, 1, 2}}};
  plan.ranks[0].calls = {call_of("AllReduce", 64, 7, 0, -1), call_of("Send", 4, 4, 0, 1),
                         call_of("Send", 8, 4, 0, 2)};
  plan.hypothesis = {
      .kind = DefectKind::Message, .diverged = {2}, .front = FrontLine{0, 0, {0}, {2}}};
  const std::string text = nccl_tests_lines(plan);
  EXPECT_NE(text.find("# Send of 8 int64 to rank 2, 3 ranks\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("AllReduce"), std::string::npos) << text;
  EXPECT_EQ(text.find("to rank 1"), std::string::npos) << text;
}

TEST(NcclTestsLines, ShowsEachShapeOnceAndNotAllOfThem) {
  ReplayPlan plan;
  plan.ranks.resize(2);
  plan.communicators = {{.ranks = {0, 1}}};
  for (int64_t i = 0; i < 40; ++i) {
    plan.ranks[0].calls.push_back(call_of("AllReduce", 1 + i / 2, 7, 0, -1));
  }
  const std::string text = nccl_tests_lines(plan);
  size_t programs = 0;
  for (const std::string_view line : split(text, '\n')) {
    programs += line.find("all_reduce_perf") != line.npos ? 1 : 0;
  }
  EXPECT_EQ(programs, 8U);
}

TEST(NcclTestsLines, QuotesSettingsAndSaysWhichItCannotMake) {
  ReplayPlan plan = testing::sample_plan();
  plan.settings = {{"NCCL_ALGO", "allreduce:ring;bcast:tree", {}, ""},
                   {"NCCL_P2P_LEVEL", "it's", {}, ""},
                   {"NCCL_PROTO", "LL", {1}, ""},
                   {"NCCL_IB_HCA", "mlx5_0", {}, "not here"}};
  const std::string text = nccl_tests_lines(plan);
  EXPECT_NE(text.find("\nNCCL_ALGO='allreduce:ring;bcast:tree' NCCL_P2P_LEVEL='it'\\''s' "
                      "NCCL_NVLS_ENABLE=0 all_reduce_perf "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("# Not set: NCCL_PROTO=LL, which only ranks[1] of the plan had.\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace ncclog
