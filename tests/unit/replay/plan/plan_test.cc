#include "replay/plan/plan.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/text.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

ReplayPlan four_ranks() {
  ReplayPlan plan;
  plan.ranks.resize(4);
  plan.communicators.push_back({.id = "0x1", .ranks = {0, 1, 2, 3}});
  return plan;
}

PlannedCall call(const char* op, int64_t count) {
  return {.communicator = 0, .op = op, .count = count, .datatype = 7, .root = 1};
}

TEST(BufferLayout, CallsOfAStreamBeginAtItsStart) {
  const std::vector<PlannedCall> calls{call("AllReduce", 100), call("AllGather", 10)};
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.calls, (std::vector<BufferPlace>{{false, 0, 0}, {false, 0, 0}}));
  EXPECT_EQ(layout.streams, (std::vector<BufferSizes>{{400, 400}}));
}

TEST(BufferLayout, CallsOfAGroupLieSideBySide) {
  std::vector<PlannedCall> calls{call("Send", 10), call("Recv", 10), call("Recv", 100),
                                 call("AllReduce", 1)};
  for (size_t i = 0; i < 3; ++i) calls[i].group = 0;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.calls,
            (std::vector<BufferPlace>{{false, 0, 0}, {false, 256, 0}, {false, 256, 256}, {}}));
  EXPECT_EQ(layout.streams, (std::vector<BufferSizes>{{256, 656}}));
}

TEST(BufferLayout, OtherStreamsHaveOtherArenas) {
  std::vector<PlannedCall> calls{call("AllReduce", 10), call("AllReduce", 20)};
  calls[1].stream = 2;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.streams, (std::vector<BufferSizes>{{40, 40}, {0, 0}, {80, 80}}));
}

TEST(BufferLayout, OffsetsAreKeptButOnElements) {
  std::vector<PlannedCall> calls{call("AllReduce", 10)};
  calls[0].send_offset = 16;
  calls[0].recv_offset = 7;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.calls[0], (BufferPlace{false, 16, 4}));
  EXPECT_EQ(layout.streams[0], (BufferSizes{56, 44}));
}

struct InPlaceRow {
  const char* op;
  int rank;
  int64_t send;
  int64_t receive;
  int64_t end;
};

/// Blocks of 40 bytes, root 1; the region begins at 16.
TEST(BufferLayout, InPlaceIsAsNcclHHasIt) {
  const InPlaceRow rows[] = {{"AllReduce", 2, 16, 16, 56},      {"Broadcast", 2, 16, 16, 56},
                             {"Reduce", 2, 16, 16, 56},         {"AllGather", 2, 96, 16, 176},
                             {"ReduceScatter", 2, 16, 96, 176}, {"Gather", 1, 56, 16, 176},
                             {"Scatter", 1, 16, 56, 176}};
  for (const InPlaceRow& row : rows) {
    std::vector<PlannedCall> calls{call(row.op, 10)};
    calls[0].in_place = true;
    calls[0].send_offset = calls[0].recv_offset = 16;
    const BufferLayout layout = lay_out_buffers(four_ranks(), row.rank, calls);
    EXPECT_EQ(layout.calls[0], (BufferPlace{true, row.send, row.receive})) << row.op;
    EXPECT_EQ(layout.streams[0], (BufferSizes{0, row.end})) << row.op;
  }
}

TEST(BufferLayout, ARankThatDoesNotReceiveHasNoBlocks) {
  std::vector<PlannedCall> calls{call("Gather", 10)};
  calls[0].in_place = true;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 3, calls);
  EXPECT_EQ(layout.calls[0], (BufferPlace{true, 0, 0}));
  EXPECT_EQ(layout.streams[0], (BufferSizes{0, 40}));
}

TEST(BufferLayout, AGroupEndsWhereAnotherOneBegins) {
  std::vector<PlannedCall> calls{call("Send", 1), call("Recv", 1), call("Send", 1)};
  calls[0].group = calls[1].group = 4;
  calls[2].group = 5;
  EXPECT_EQ(group_end(calls, 0), 2U);
  EXPECT_EQ(group_end(calls, 2), 3U);
  calls[0].group = calls[1].group = -1;
  EXPECT_EQ(group_end(calls, 0), 1U);
}

constexpr int64_t kMiB = int64_t{1} << 20;

PlannedCall call_of(const char* op, int64_t count, int stream, int group) {
  PlannedCall call;
  call.communicator = 0;
  call.op = op;
  call.count = count;
  call.datatype = 7;
  call.root = 0;
  call.stream = stream;
  call.group = group;
  return call;
}

int64_t buffers(std::vector<PlannedCall> calls) {
  ReplayPlan plan;
  plan.ranks.resize(2);
  plan.communicators = {{.ranks = {0, 1}}};
  plan.ranks[0].calls = std::move(calls);
  return replay_cost(plan).buffers;
}

TEST(ReplayCost, TakesTheArenasOfAllStreams) {
  EXPECT_EQ(buffers({}), 0);
  EXPECT_EQ(buffers({call_of("AllReduce", 100, 0, -1)}), 800);
  EXPECT_EQ(buffers({call_of("AllGather", 100, 0, -1)}), 1200);
  EXPECT_EQ(buffers({call_of("AllReduce", 100, 0, -1), call_of("Send", 300, 0, -1)}), 1600);
  EXPECT_EQ(buffers({call_of("AllReduce", 100, 0, -1), call_of("Send", 300, 1, -1)}), 2000);
  // What follows in a group begins at a boundary of 256 bytes.
  EXPECT_EQ(buffers({call_of("Send", 100, 0, 3), call_of("Recv", 300, 0, 3)}), 512 + 1200);
  EXPECT_EQ(buffers({call_of("Send", 100, 0, 3), call_of("Recv", 300, 0, 4)}), 1600);
}

TEST(ReplayCost, CallsOfTheTwoRunsAreNotMadeAtOnce) {
  PlannedCall clean = call_of("AllReduce", 100, 0, 0);
  clean.made_in = MadeIn::Clean;
  PlannedCall defect = call_of("AllReduce", 200, 0, 0);
  defect.made_in = MadeIn::Defect;
  EXPECT_EQ(buffers({clean, defect}), 1600);
}

TEST(ReplayCost, InPlaceIsOneBuffer) {
  PlannedCall call = call_of("AllGather", 100, 0, -1);
  call.in_place = true;
  EXPECT_EQ(buffers({call}), 800);
}

TEST(ReplayCost, EstimatesNcclByItsChannels) {
  ReplayPlan plan;
  plan.ranks.resize(2);
  const int64_t bare = replay_cost(plan).nccl;
  plan.communicators = {{.ranks = {0, 1}, .channels = 1}};
  const int64_t one = replay_cost(plan).nccl - bare;
  EXPECT_GT(one, 8 * kMiB);
  plan.communicators[0].channels = 24;
  EXPECT_EQ(replay_cost(plan).nccl - bare, 24 * one);
  plan.settings = {{"NCCL_BUFFSIZE", "8388608", {}, ""}};
  EXPECT_EQ(replay_cost(plan).nccl - bare, 24 * (one + 2 * 4 * kMiB));
}

TEST(ReplayCost, DoesNotRunOver) {
  const PlannedCall call = call_of("Send", int64_t{1} << 60, 0, 0);
  EXPECT_EQ(buffers(std::vector<PlannedCall>(9, call)), std::numeric_limits<int64_t>::max());
}

TEST(ReplayCost, AddsUpDeadlines) {
  EXPECT_EQ(longest_seconds({1, 2, 3, 4, 5}, 1), 62);
  EXPECT_EQ(longest_seconds({1, 2, 3, 4, 5}, 3), 186);
}

TEST(ReplayCost, AnotherDeadlineIsOfCallsAndWhatFollowsThem) {
  const ReplayDeadlines planned{1, 2, 3, 4, 5};
  EXPECT_EQ(with_deadline(planned, 0), planned);
  EXPECT_EQ(with_deadline(planned, 9), (ReplayDeadlines{1, 2, 9, 9, 9}));
}

TEST(ReplayCost, TimingTakesTimeUpToALimit) {
  EXPECT_EQ(timing_seconds(-1), 0);
  EXPECT_EQ(timing_seconds(20), 40);
  EXPECT_EQ(timing_seconds(std::numeric_limits<int>::max()), 300);
}

TEST(ReplayCost, SaysItInWords) {
  const ReplayPlan plan = testing::sample_plan();
  EXPECT_EQ(runs_of(plan), 2);
  EXPECT_EQ(runs_of(ReplayPlan()), 1);
  EXPECT_EQ(cost_words(plan, 2), "2 GPUs with about 0.9 GiB free on each, and at most 6 min 34 s");
}

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
