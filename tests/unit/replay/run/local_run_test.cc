#include <gtest/gtest.h>

#include "replay/run/protocol.h"

namespace ncclog {
namespace {

using namespace std::chrono_literals;

RankMessage at(ReplayPhase phase) { return {.kind = RankMessage::Kind::At, .at = phase}; }

TEST(LocalBoard, AllGoOnWhenAllHaveCome) {
  LocalBoard board(2, 10s);
  RankMessage leader = at(ReplayPhase::Start);
  leader.ids = {{0, "6e"}};
  board.say(0, leader);
  EXPECT_EQ(board.hear(0, 0ms), std::nullopt);
  board.say(1, at(ReplayPhase::Start));
  const RunOrder expected{
      .kind = RunOrder::Kind::Go, .phase = ReplayPhase::Init, .ids = {{0, "6e"}}};
  EXPECT_EQ(board.hear(0, 0ms), expected);
  EXPECT_EQ(board.hear(1, 0ms), expected);
  EXPECT_EQ(board.hear(1, 0ms), std::nullopt);
}

TEST(LocalBoard, NobodyWaitsForTheCompletionOfOthers) {
  LocalBoard board(1, 10s);
  board.say(0, at(ReplayPhase::Completion));
  EXPECT_EQ(board.hear(0, 0ms), std::nullopt);
  board.say(0, at(ReplayPhase::Teardown));
  EXPECT_EQ(board.hear(0, 0ms)->phase, ReplayPhase::Teardown);
}

TEST(LocalBoard, TheFirstErrorAbortsAll) {
  LocalBoard board(2, 10s);
  board.say(1, {.kind = RankMessage::Kind::Error, .error = "no memory"});
  board.say(0, {.kind = RankMessage::Kind::Error, .error = "remote"});
  EXPECT_EQ(board.hear(0, 0ms)->kind, RunOrder::Kind::Abort);
  EXPECT_EQ(board.error(), "no memory");
}

TEST(LocalBoard, PatienceEnds) {
  LocalBoard board(1, 0ms);
  EXPECT_EQ(board.hear(0, 1ms)->kind, RunOrder::Kind::Abort);
  EXPECT_EQ(board.error(), "the run took too long");
}

}  // namespace
}  // namespace ncclog
