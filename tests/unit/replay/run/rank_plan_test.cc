#include "replay/run/rank_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "base/collectives.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"

namespace ncclog {
namespace {

ReplayPlan plan_of(std::vector<PlannedCommunicator> communicators) {
  ReplayPlan plan;
  plan.ranks.resize(4);
  plan.communicators = std::move(communicators);
  return plan;
}

PlannedCommunicator split_off(int parent, int color, std::vector<int> ranks) {
  return {.id = "0x1", .ranks = std::move(ranks), .parent = parent, .color = color};
}

TEST(CommSteps, SiblingsOfOtherColorsComeOfOneSplit) {
  const ReplayPlan plan =
      plan_of({split_off(-1, 0, {0, 1, 2, 3}), split_off(0, 0, {0, 1}), split_off(0, 1, {2, 3}),
               split_off(0, 0, {0, 2}), split_off(-1, 0, {1, 3})});
  const std::vector<std::vector<int>> expected{{0}, {1, 2}, {3}, {4}};
  EXPECT_EQ(comm_steps(plan), expected);
}

TEST(CommSteps, ARankIsInOneCommunicatorOfASplit) {
  const ReplayPlan plan =
      plan_of({split_off(-1, 0, {0, 1, 2}), split_off(0, 0, {0, 1}), split_off(0, 1, {1, 2})});
  const std::vector<std::vector<int>> expected{{0}, {1}, {2}};
  EXPECT_EQ(comm_steps(plan), expected);
}

TEST(CommSteps, OnlyWhoLeadsMakesTheId) {
  const ReplayPlan plan =
      plan_of({split_off(-1, 0, {2, 0, 1}), split_off(0, 0, {0, 1}), split_off(-1, 0, {0, 3})});
  EXPECT_EQ(communicators_led_by(plan, 2), std::vector<int>{0});
  EXPECT_EQ(communicators_led_by(plan, 0), std::vector<int>{2});
  EXPECT_EQ(communicators_led_by(plan, 1), std::vector<int>{});
}

TEST(CommSteps, IdsSurviveAsText) {
  const std::string bytes("\x00\xff\x7f n", 5);
  EXPECT_EQ(hex_text(bytes), "00ff7f206e");
  EXPECT_EQ(bytes_of_hex("00fF7f206e", 5), bytes);
  EXPECT_EQ(bytes_of_hex("00ff7f206e", 4), std::nullopt);
  EXPECT_EQ(bytes_of_hex("00fg7f206e", 5), std::nullopt);
}

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
  const std::vector<double> times = {900, 30, 10, 20, 24};
  const CallTiming timing = timing_of(call("AllReduce", 0, 1 << 20), 5, 8, times);
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
      timing_of(call("Reduce", 0, 4), 0, 2, std::vector<double>{1, 1, 2, 4, 9, 4});
  EXPECT_EQ(timing.median_us, 3);
}

ReplayPlan two_ranks() {
  ReplayPlan plan;
  plan.ranks.resize(2);
  plan.communicators.push_back({.id = "0x1", .ranks = {1, 0}});
  return plan;
}

PlannedCall call(const char* op, int redop = 0) {
  return {.communicator = 0, .op = op, .count = 4, .datatype = 2, .redop = redop, .root = 0};
}

std::vector<bool> all(const std::vector<PlannedCall>& calls) {
  return std::vector<bool>(calls.size(), true);
}

TEST(Verification, CountsWhatWasComparedAndNamesTheFirstWrongElement) {
  const std::vector<PlannedCall> calls{call("AllGather"), call("AllReduce"), call("AllReduce")};
  const std::vector<ComparedElements> results{{}, {2, 3, 7, 0xffffffff}, {1, 0, 1, 2}};
  const Verification expected{.calls = 3,
                              .elements = 16,
                              .wrong = 3,
                              .shape_only = 0,
                              .first = WrongElement{1, 3, "7", "-1"}};
  EXPECT_EQ(verification_of(two_ranks(), 0, calls, results, all(calls)), expected);
}

TEST(Verification, TheJobsOwnReductionsAreCountedApart) {
  const std::vector<PlannedCall> calls{call("AllReduce", 7)};
  const std::vector<ComparedElements> results{{}};
  const Verification expected{.shape_only = 1};
  EXPECT_EQ(verification_of(two_ranks(), 0, calls, results, all(calls)), expected);
}

TEST(Verification, WhatWasNotCompletedIsNotJudged) {
  const std::vector<PlannedCall> calls{call("AllReduce"), call("AllReduce")};
  const std::vector<ComparedElements> results{{}, {4, 0, 7, 8}};
  const Verification verified = verification_of(two_ranks(), 0, calls, results, {true, false});
  EXPECT_EQ(verified.calls, 1U);
  EXPECT_EQ(verified.wrong, 0U);
}

/// Root 0 of the communicator is rank 1 of the plan.
TEST(Verification, ARankThatReceivesNothingComparesNothing) {
  const std::vector<PlannedCall> calls{call("Reduce"), call("Send")};
  const std::vector<ComparedElements> results(2);
  EXPECT_EQ(verification_of(two_ranks(), 0, calls, results, all(calls)), Verification{});
  EXPECT_EQ(verification_of(two_ranks(), 1, calls, results, all(calls)).calls, 1U);
}

TEST(SelftestPlan, CoversFunctionsDatatypesAndReductions) {
  std::set<std::tuple<std::string, int, int, bool>> seen;
  const ReplayPlan plan = selftest_plan(2, true);
  for (const PlannedCall& call : plan.ranks[0].calls) {
    seen.insert({call.op, call.datatype, is_reduction(call.op) ? call.redop : -1, call.in_place});
  }
  // 3 functions reduce in 5 ways and 4 move, apart and in place; AlltoAll, Send and Recv only
  // apart.
  EXPECT_EQ(seen.size(), 12U * (3 * 5 * 2 + 4 * 2 + 3));
}

TEST(SelftestPlan, OlderGpusOnlyMoveFloat8) {
  const ReplayPlan plan = selftest_plan(2, false);
  for (const PlannedCall& call : plan.ranks[0].calls) {
    EXPECT_FALSE(call.datatype >= 10 && is_reduction(call.op));
  }
}

TEST(SelftestPlan, AllRanksMakeTheSameCollectives) {
  const ReplayPlan plan = selftest_plan(3, true);
  std::map<std::pair<int, uint64_t>, std::set<std::tuple<std::string, int64_t, int, int>>> made;
  for (const PlannedRank& rank : plan.ranks) {
    EXPECT_EQ(rank.calls.size(), plan.ranks[0].calls.size());
    for (const PlannedCall& call : rank.calls) {
      if (is_message(call.op)) continue;
      made[{call.communicator, call.index}].insert({call.op, call.count, call.redop, call.root});
    }
  }
  for (const auto& [place, calls] : made) EXPECT_EQ(calls.size(), 1U);
}

TEST(SelftestPlan, TheTargetReceivesTheElement) {
  const ReplayPlan plan = selftest_plan(2, true);
  for (const Operation op : {Operation::AllReduce, Operation::AllGather}) {
    const PlantedCorruption target = selftest_target(plan, op);
    const PlannedCall& call = plan.ranks[1].calls[target.call];
    EXPECT_EQ(call.op, name_of(op));
    EXPECT_LT(target.element, shape_of(call, 0, 2).receive);
  }
}

TEST(SelftestPlan, CanBeCarriedOut) {
  const ReplayPlan plan = selftest_plan(2, true);
  EXPECT_EQ(parse_plan(write_plan(plan), "plan.json"), plan);
  EXPECT_TRUE(check_plan(plan).empty());
}

}  // namespace
}  // namespace ncclog
