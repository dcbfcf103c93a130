#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/plan/plan_frame.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

PlannedCall collective(int communicator, uint64_t index, int stream = 0) {
  return {.communicator = communicator,
          .index = index,
          .op = "AllReduce",
          .count = 8,
          .datatype = 7,
          .stream = stream};
}

PlannedCall message(const char* op, int peer, uint64_t index = 0, int group = -1) {
  return {.communicator = 0,
          .index = index,
          .op = op,
          .count = 8,
          .datatype = 7,
          .root = peer,
          .group = group};
}

/// Two ranks, both in two communicators.
ReplayPlan plan_of_calls(std::vector<PlannedCall> first, std::vector<PlannedCall> second) {
  ReplayPlan plan;
  plan.ranks = {{.calls = std::move(first)}, {.calls = std::move(second)}};
  plan.communicators = {{.id = "0xa", .ranks = {0, 1}}, {.id = "0xb", .ranks = {0, 1}}};
  return plan;
}

std::string settled(ReplayPlan plan, SendEnds sends = SendEnds::WithItsRecv) {
  settle_clean_run(plan, sends);
  return testing::plan_words(plan);
}

TEST(CleanRun, KeepsWhatAllRanksCameTo) {
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0), collective(0, 1)},
                                  {collective(0, 0), collective(0, 1)})),
            "0: AllReduce#0 AllReduce#1\n1: AllReduce#0 AllReduce#1\n");
}

TEST(CleanRun, LeavesToTheDefectRunWhatARankDidNotComeTo) {
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0), collective(0, 1)}, {collective(0, 0)})),
            "0: AllReduce#0 -AllReduce#1\n1: AllReduce#0\n");
}

TEST(CleanRun, CallsWithOtherArgumentsDoNotMeet) {
  PlannedCall other = collective(0, 0);
  other.count = 4;
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0)}, {other})),
            "0: -AllReduce#0\n1: -AllReduce#0\n");
}

TEST(CleanRun, OppositeOrdersBlockEachOtherOnOneStreamOnly) {
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0), collective(1, 0)},
                                  {collective(1, 0), collective(0, 0)})),
            "0: -AllReduce#0 -AllReduce@1#0\n1: -AllReduce@1#0 -AllReduce#0\n");
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0, 0), collective(1, 0, 1)},
                                  {collective(1, 0, 1), collective(0, 0, 0)})),
            "0: AllReduce#0 AllReduce@1#0\n1: AllReduce@1#0 AllReduce#0\n");
}

TEST(CleanRun, CrossedMessagesEndInAGroupOnly) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), message("Recv", 1)},
                                  {message("Send", 0), message("Recv", 0)})),
            "0: -Send(1)#0 -Recv(1)#0\n1: -Send(0)#0 -Recv(0)#0\n");
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1, 0, 4), message("Recv", 1, 0, 4)},
                                  {message("Send", 0, 0, 9), message("Recv", 0, 0, 9)})),
            "0: {Send(1)#0 Recv(1)#0}\n1: {Send(0)#0 Recv(0)#0}\n");
}

TEST(CleanRun, CrossedMessagesEndWhereNcclBuffersThem) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), message("Recv", 1)},
                                  {message("Send", 0), message("Recv", 0)}),
                    SendEnds::ByItself),
            "0: Send(1)#0 Recv(1)#0\n1: Send(0)#0 Recv(0)#0\n");
}

TEST(CleanRun, AGroupWithABufferedSendStillWaitsForItsOtherCalls) {
  EXPECT_EQ(
      settled(plan_of_calls({message("Send", 1, 0, 0), message("Recv", 1, 0, 0), collective(0, 0)},
                            {message("Recv", 0), collective(0, 0)}),
              SendEnds::ByItself),
      "0: {-Send(1)#0 -Recv(1)#0} -AllReduce#0\n1: -Recv(0)#0 -AllReduce#0\n");
}

TEST(CleanRun, ABufferedSendWithoutItsRecvIsNoPartOfIt) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), collective(0, 0)}, {collective(0, 0)}),
                    SendEnds::ByItself),
            "0: -Send(1)#0 AllReduce#0\n1: AllReduce#0\n");
}

TEST(CleanRun, NoBufferHoldsWhatARankSendsItself) {
  EXPECT_EQ(
      settled(plan_of_calls({message("Send", 0), message("Recv", 0)}, {}), SendEnds::ByItself),
      "0: -Send(0)#0 -Recv(0)#0\n1: \n");
}

TEST(CleanRun, AMessageWithoutItsOtherEndHoldsUpWhatIsBehindIt) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), collective(0, 0)}, {collective(0, 0)})),
            "0: -Send(1)#0 -AllReduce#0\n1: -AllReduce#0\n");
}

TEST(CleanRun, AGroupOfWhichAPartIsMissingGoesAsAWhole) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1, 0, 0), message("Recv", 1, 0, 0)},
                                  {message("Recv", 0)})),
            "0: {-Send(1)#0 -Recv(1)#0}\n1: -Recv(0)#0\n");
}

TEST(CleanRun, AnAddedCallThatDoesNotEndIsRemoved) {
  PlannedCall added = collective(0, 1);
  added.made_in = MadeIn::Clean;
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0)}, {collective(0, 0), added})),
            "0: AllReduce#0\n1: AllReduce#0\n");
}

TEST(CleanRun, ARankMayMeetItselfInAGroup) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 0, 0, 0), message("Recv", 0, 0, 0)}, {})),
            "0: {Send(0)#0 Recv(0)#0}\n1: \n");
}

}  // namespace
}  // namespace ncclog
