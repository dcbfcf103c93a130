#include <gtest/gtest.h>

#include "replay/run/rank_plan.h"

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
  const std::vector<CommStep> expected{{-1, {0}}, {0, {1, 2}}, {0, {3}}, {-1, {4}}};
  EXPECT_EQ(comm_steps(plan), expected);
}

TEST(CommSteps, ARankIsInOneCommunicatorOfASplit) {
  const ReplayPlan plan =
      plan_of({split_off(-1, 0, {0, 1, 2}), split_off(0, 0, {0, 1}), split_off(0, 1, {1, 2})});
  const std::vector<CommStep> expected{{-1, {0}}, {0, {1}}, {0, {2}}};
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

}  // namespace
}  // namespace ncclog
