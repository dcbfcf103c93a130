#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "replay/plan/build_plan.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

PlannedCall call_on(int communicator, std::string op, int root = -1, uint64_t index = 0) {
  return {.communicator = communicator,
          .index = index,
          .op = std::move(op),
          .count = 8,
          .datatype = 7,
          .root = root};
}

/// Eight ranks on two hosts in a world, pairs of neighbours in groups; rank 5 skips the world's
/// call.
ReplayPlan skipping_plan() {
  ReplayPlan plan;
  plan.communicators.push_back({.id = "0xa", .recorded_nranks = 8});
  for (int rank = 0; rank < 8; ++rank) {
    plan.communicators[0].ranks.push_back(rank);
    const int group = 1 + rank / 2;
    if (rank % 2 == 0) plan.communicators.push_back({.id = "0xb", .recorded_nranks = 2});
    plan.communicators[static_cast<size_t>(group)].ranks.push_back(rank);
    PlannedRank planned{.recorded_rank = rank, .host_group = rank / 4};
    planned.calls = {call_on(group, "AllReduce"), call_on(0, "Broadcast", 0)};
    if (rank == 5) planned.calls[1].made_in = MadeIn::Clean;
    plan.ranks.push_back(std::move(planned));
  }
  plan.hypothesis = {.kind = DefectKind::MissingCall,
                     .diverged = {5},
                     .front = FrontLine{0, 0, {0, 1, 2, 3, 4, 6, 7}, {5}}};
  plan.settings = {{"NCCL_ALGO", "Ring", {5}, ""}, {"NCCL_PROTO", "LL", {1, 2}, ""}};
  return plan;
}

/// Four ranks; rank 2 names root 3 where the others name root 0.
ReplayPlan plan_of_other_root() {
  ReplayPlan plan;
  plan.communicators = {{.id = "0xa", .ranks = {0, 1, 2, 3}, .recorded_nranks = 4}};
  for (int rank = 0; rank < 4; ++rank) {
    PlannedRank planned{.recorded_rank = rank};
    planned.calls = {call_on(0, "Broadcast", 0)};
    plan.ranks.push_back(std::move(planned));
  }
  plan.ranks[2].calls[0].made_in = MadeIn::Clean;
  plan.ranks[2].calls.push_back(call_on(0, "Broadcast", 3));
  plan.ranks[2].calls[1].made_in = MadeIn::Defect;
  plan.hypothesis = {
      .kind = DefectKind::OtherCall, .diverged = {2}, .front = FrontLine{0, 0, {0, 1, 2, 3}, {}}};
  return plan;
}

TEST(KeptRanks, TheDepartedAndAWitnessOnAnotherHost) {
  EXPECT_EQ(kept_ranks(skipping_plan(), 2), (std::vector<int>{0, 5}));
}

TEST(KeptRanks, MoreGpusKeepThoseWhoShareCommunicators) {
  EXPECT_EQ(kept_ranks(skipping_plan(), 4), (std::vector<int>{0, 1, 4, 5}));
}

TEST(KeptRanks, RootsOfTheCallInQuestionStay) {
  EXPECT_EQ(kept_ranks(plan_of_other_root(), 3), (std::vector<int>{0, 2, 3}));
  ReplayPlan plan = skipping_plan();
  for (PlannedRank& rank : plan.ranks) rank.calls[1].root = 2;
  EXPECT_EQ(kept_ranks(plan, 2), (std::vector<int>{2, 5}));
}

TEST(KeptRanks, ARootThatDidNotEnterTheCallLeavesAPlaceForAWitness) {
  ReplayPlan plan = skipping_plan();
  for (PlannedRank& rank : plan.ranks) rank.calls[1].root = 7;
  plan.hypothesis.front = FrontLine{0, 0, {0, 1, 2, 3, 4, 6}, {5, 7}};
  EXPECT_EQ(kept_ranks(plan, 2), (std::vector<int>{0, 5}));
  EXPECT_EQ(kept_ranks(plan, 3), (std::vector<int>{0, 5, 7}));
}

TEST(KeptRanks, BothEndsOfAMessageStay) {
  ReplayPlan plan = skipping_plan();
  plan.hypothesis.kind = DefectKind::Message;
  plan.hypothesis.diverged = {6};
  plan.hypothesis.front = FrontLine{0, 0, {3}, {6}};
  EXPECT_EQ(kept_ranks(plan, 2), (std::vector<int>{3, 6}));
}

TEST(KeptRanks, OfManyDepartedHalfLeaveRoomForWitnesses) {
  ReplayPlan plan = skipping_plan();
  plan.hypothesis.diverged = {3, 4, 5, 6, 7};
  EXPECT_EQ(kept_ranks(plan, 4), (std::vector<int>{0, 1, 3, 4}));
}

TEST(ShrinkPlan, RenamesEverythingAndKeepsTheOrder) {
  const ReplayPlan small = shrink_plan(skipping_plan(), 2);
  EXPECT_EQ(testing::plan_words(small),
            "0: Broadcast#0\n"
            "1: +Broadcast#0\n"
            "missing-call by 1 at 0#0, entered 0, missing 1\n");
  ASSERT_EQ(small.communicators.size(), 1u);
  EXPECT_EQ(small.communicators[0].ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(small.communicators[0].recorded_nranks, 8);
  EXPECT_EQ(small.ranks[1].recorded_rank, 5);
  EXPECT_EQ(host_group_count(small), 2);
  EXPECT_EQ(small.ranks[0].calls[0].root, 0);
  EXPECT_EQ(small.ranks[0].left_out, 1u);
}

TEST(ShrinkPlan, KeptRanksStandForThoseWithTheSameCalls) {
  const ReplayPlan small = shrink_plan(skipping_plan(), 2);
  EXPECT_EQ(small.ranks[0].stands_for, (std::vector<int>{1, 2, 3, 4, 6, 7}));
  EXPECT_TRUE(small.ranks[1].stands_for.empty());
}

TEST(ShrinkPlan, SettingsOfRanksThatAreNotKeptGo) {
  const ReplayPlan small = shrink_plan(skipping_plan(), 2);
  ASSERT_EQ(small.settings.size(), 1u);
  EXPECT_EQ(small.settings[0], (PlannedSetting{"NCCL_ALGO", "Ring", {1}, ""}));
}

TEST(ShrinkPlan, SaysWhatIsLost) {
  ReplayPlan plan = skipping_plan();
  plan.ranks[0].calls.push_back(call_on(0, "Send", 3));
  plan.ranks[3].calls.push_back(call_on(0, "Recv", 0));
  for (const size_t kept : {0u, 5u}) plan.ranks[kept].calls.push_back(call_on(0, "Reduce", 2, 1));
  EXPECT_EQ(shrink_plan(plan, 2).losses,
            (std::vector<std::string>{
                "8 ranks are replayed by 2: every communicator is smaller, and its rings and "
                "trees are others.",
                "No kept rank made the same calls as ranks 1-4,6,7.",
                "4 of 5 communicators are not made, because fewer than two of their ranks are "
                "kept; 2 calls on them are left out.",
                "1 message to or from ranks that are not kept is left out.",
                "The root of 2 calls is not kept: the lowest kept rank takes its part."}));
}

TEST(ShrinkPlan, LeavesASmallPlanAlone) {
  EXPECT_EQ(shrink_plan(skipping_plan(), 8), skipping_plan());
}

TEST(ShrinkPlan, RefusesAPlanThatTestsNothingAnyMore) {
  try {
    shrink_plan(plan_of_other_root(), 2);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "with 2 GPUs both runs would make the same calls: what departs from the others "
                 "names ranks that are left out");
    EXPECT_EQ(error.hint(), "3 GPUs will do");
  }
  EXPECT_EQ(testing::plan_words(shrink_plan(plan_of_other_root(), 3)),
            "0: Broadcast#0\n"
            "1: +Broadcast#0 -Broadcast#0\n"
            "2: Broadcast#0\n"
            "other-call by 1 at 0#0, entered 0,1,2, missing \n");
}

TEST(ShrinkPlan, OneGpuIsNotEnough) { EXPECT_THROW(shrink_plan(skipping_plan(), 1), Error); }

}  // namespace
}  // namespace ncclog
