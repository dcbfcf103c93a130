// The ranks of a selftest are threads; here they say what a test wants them to say.

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "replay/run/coordinator.h"

namespace ncclog::testing {
namespace {

using std::chrono::milliseconds;

/// Ranks whose words are written by hand, and the one who leads them on a thread of its own.
struct Selftest {
  explicit Selftest(size_t nranks, milliseconds limit = milliseconds(10000)) {
    RunLimits limits;
    limits.phases.fill(limit);
    progress.emplace(nranks, limits, RunClock::now());
    std::vector<Connection> ours;
    for (size_t rank = 0; rank < nranks; ++rank) {
      auto ends = make_channel();
      ours.push_back(std::move(ends.first));
      ranks.push_back(std::move(ends.second));
    }
    error = std::async(std::launch::async, [this, ours = std::move(ours)]() mutable {
      return lead_threads(std::move(ours), *progress);
    });
  }

  void say(size_t rank, const RankMessage& message) { ranks[rank].send(write_message(message)); }

  /// nullopt: none came within `patience`.
  std::optional<RunOrder> hear(size_t rank, milliseconds patience = milliseconds(10000)) {
    PollList polled;
    polled.add(ranks[rank]);
    polled.wait(patience);
    ranks[rank].receive();
    const auto line = ranks[rank].next_line();
    return line ? parse_order(*line) : std::nullopt;
  }

  /// The first error, once all ranks have gone.
  std::string end() {
    for (Connection& rank : ranks) rank.close();
    return error.get();
  }

  std::optional<RunProgress> progress;
  std::vector<Connection> ranks;
  std::future<std::string> error;
};

RankMessage at(ReplayPhase phase) { return {.kind = RankMessage::Kind::At, .at = phase}; }

TEST(LeadThreads, AllGoOnWhenAllHaveCome) {
  Selftest selftest(2);
  RankMessage leader = at(ReplayPhase::Start);
  leader.ids = {"6e"};
  selftest.say(0, leader);
  EXPECT_EQ(selftest.hear(0, milliseconds(50)), std::nullopt);
  selftest.say(1, at(ReplayPhase::Start));
  const RunOrder expected{.kind = RunOrder::Kind::Go, .phase = ReplayPhase::Init, .ids = {"6e"}};
  EXPECT_EQ(selftest.hear(0), expected);
  EXPECT_EQ(selftest.hear(1), expected);
  EXPECT_EQ(selftest.end(), "");
}

TEST(LeadThreads, NobodyWaitsForTheCompletionOfOthers) {
  Selftest selftest(1);
  selftest.say(0, at(ReplayPhase::Start));
  EXPECT_EQ(selftest.hear(0)->phase, ReplayPhase::Init);
  selftest.say(0, at(ReplayPhase::Enqueue));
  EXPECT_EQ(selftest.hear(0)->phase, ReplayPhase::Enqueue);
  selftest.say(0, at(ReplayPhase::Completion));
  EXPECT_EQ(selftest.hear(0, milliseconds(50)), std::nullopt);
  RankMessage results = at(ReplayPhase::Teardown);
  results.verified.elements = 7;
  selftest.say(0, results);
  EXPECT_EQ(selftest.hear(0)->phase, ReplayPhase::Teardown);
  EXPECT_EQ(selftest.end(), "");
  EXPECT_EQ(selftest.progress->outcomes()[0].verified.elements, 7U);
}

TEST(LeadThreads, TheFirstErrorAbortsAll) {
  Selftest selftest(2);
  selftest.say(1, {.kind = RankMessage::Kind::Error, .error = "no memory"});
  EXPECT_EQ(selftest.hear(0)->kind, RunOrder::Kind::Abort);
  selftest.say(0, {.kind = RankMessage::Kind::Error, .error = "remote"});
  EXPECT_EQ(selftest.end(), "no memory");
}

TEST(LeadThreads, APhaseThatTakesTooLongAbortsAll) {
  Selftest selftest(1, milliseconds(0));
  EXPECT_EQ(selftest.hear(0)->kind, RunOrder::Kind::Abort);
  EXPECT_EQ(selftest.end(), "the run took too long");
}

}  // namespace
}  // namespace ncclog::testing
