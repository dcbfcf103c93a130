#include <gtest/gtest.h>

#include "replay/run/rank_plan.h"

namespace ncclog {
namespace {

PlannedCall call(const char* op, uint64_t index, int64_t count, MadeIn made_in = MadeIn::Both) {
  return {.communicator = 0,
          .index = index,
          .op = op,
          .count = count,
          .datatype = 7,
          .made_in = made_in};
}

ReplayPlan two_ranks(std::vector<PlannedCall> first, std::vector<PlannedCall> second) {
  ReplayPlan plan;
  plan.ranks.resize(2);
  plan.communicators.push_back({.id = "0x1", .ranks = {0, 1}});
  plan.ranks[0].calls = std::move(first);
  plan.ranks[1].calls = std::move(second);
  return plan;
}

TEST(CallTimes, TheRecordedFrontIsTimed) {
  ReplayPlan plan = two_ranks({call("AllReduce", 3, 9), call("AllReduce", 4, 1)},
                              {call("AllReduce", 3, 9), call("AllReduce", 4, 1, MadeIn::Clean)});
  plan.hypothesis.front = FrontLine{.communicator = 0, .index = 4, .entered = {0}, .missing = {1}};
  EXPECT_EQ(choose_timed_call(plan), (CallPlace{0, 4}));
}

TEST(CallTimes, ElseTheLargestThatAllMake) {
  const ReplayPlan plan =
      two_ranks({call("AllReduce", 3, 9), call("Send", 0, 1000), call("AllReduce", 4, 99)},
                {call("AllReduce", 3, 9), call("Recv", 0, 1000)});
  EXPECT_EQ(choose_timed_call(plan), (CallPlace{0, 3}));
}

TEST(CallTimes, OfEqualsAllReduceIsTimed) {
  const std::vector<PlannedCall> calls{call("Broadcast", 0, 9), call("AllReduce", 1, 9),
                                       call("Broadcast", 2, 9), call("AllReduce", 3, 9)};
  EXPECT_EQ(choose_timed_call(two_ranks(calls, calls)), (CallPlace{0, 1}));
}

TEST(CallTimes, MessagesAreNotTimed) {
  const ReplayPlan plan = two_ranks({call("Send", 0, 8)}, {call("Recv", 0, 8)});
  EXPECT_EQ(choose_timed_call(plan), std::nullopt);
  EXPECT_EQ(choose_timed_call(ReplayPlan{}), std::nullopt);
}

TEST(CallTimes, BandwidthsAreThoseOfNcclTests) {
  const CallTiming timing = timing_of(call("AllReduce", 0, 1 << 20), 5, 8,
                                      {.cold = 900, .warm = {30, 10, 20}, .series = 8});
  EXPECT_EQ(timing.call, 5U);
  EXPECT_EQ(timing.runs, 3);
  EXPECT_EQ(timing.bytes, 4 << 20);
  EXPECT_EQ(timing.median_us, 20);
  EXPECT_EQ(timing.least_us, 10);
  EXPECT_EQ(timing.most_us, 30);
  EXPECT_DOUBLE_EQ(timing.algbw, (4 << 20) / 20e3);
  EXPECT_DOUBLE_EQ(timing.busbw, (4 << 20) / 20e3 * 1.75);
  EXPECT_DOUBLE_EQ(timing.series_busbw, (4 << 20) / 8e3 * 1.75);
}

TEST(CallTimes, TheMedianOfAnEvenNumberIsInTheMiddle) {
  const CallTiming timing =
      timing_of(call("Reduce", 0, 4), 0, 2, {.cold = 1, .warm = {1, 2, 4, 9}, .series = 1});
  EXPECT_EQ(timing.median_us, 3);
}

}  // namespace
}  // namespace ncclog
