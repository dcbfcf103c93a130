#include <gtest/gtest.h>

#include <thread>

#include "replay/run/protocol.h"

namespace ncclog {
namespace {

RankMessage at(ReplayPhase phase) { return {.kind = RankMessage::Kind::At, .at = phase}; }

RankMessage entered(uint64_t calls) {
  return {.kind = RankMessage::Kind::Progress, .entered = calls};
}

TEST(RankTalk, ProgressIsReplacedUntilItIsSent) {
  RankTalk state;
  state.post_progress(entered(1));
  state.post_progress(entered(2));
  EXPECT_TRUE(state.take_posted(false).empty());
  EXPECT_EQ(state.take_posted(true), std::vector<RankMessage>{entered(2)});
  EXPECT_TRUE(state.take_posted(true).empty());
}

TEST(RankTalk, ProgressIsSentBeforeWhatFollowedIt) {
  RankTalk state;
  state.post_progress(entered(3));
  state.post(at(ReplayPhase::Completion));
  EXPECT_EQ(state.take_posted(false),
            (std::vector<RankMessage>{entered(3), at(ReplayPhase::Completion)}));
}

TEST(RankTalk, GoIsHeardWithItsIds) {
  RankTalk state;
  state.hear({.kind = RunOrder::Kind::Go, .phase = ReplayPhase::Init, .ids = {"6e"}});
  const auto order = state.await(ReplayPhase::Init);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->ids, std::vector<std::string>{"6e"});
}

TEST(RankTalk, AbortEndsTheWait) {
  RankTalk state;
  std::thread coordinator([&state] { state.hear({.kind = RunOrder::Kind::Abort}); });
  EXPECT_FALSE(state.await(ReplayPhase::Enqueue));
  coordinator.join();
  EXPECT_FALSE(state.await(ReplayPhase::Init)) << "an abort is no go";
}

TEST(RankTalk, TheEndIsWaitedForSoLong) {
  RankTalk state;
  state.await_end(std::chrono::milliseconds(1));
  std::thread worker([&state] {
    state.post(entered(7));
    state.end();
  });
  state.await_end(std::chrono::minutes(1));
  EXPECT_EQ(state.take_posted(true), std::vector<RankMessage>{entered(7)});
  worker.join();
}

}  // namespace
}  // namespace ncclog
