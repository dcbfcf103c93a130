#include <gtest/gtest.h>

#include "replay/run/rank_plan.h"

namespace ncclog {
namespace {

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

}  // namespace
}  // namespace ncclog
