#include <gtest/gtest.h>

#include <limits>

#include "replay/plan/plan.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

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

}  // namespace
}  // namespace ncclog
