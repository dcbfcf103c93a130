#include "model/comm_segment.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace ncclog {
namespace {

CommInit init(uint64_t comm, std::string_view phase, int rank = 0) {
  CommInit message;
  message.comm = {comm};
  message.rank = rank;
  message.nranks = 2;
  message.comm_id = {0xabc};
  message.phase = phase;
  return message;
}

CommEnd end(uint64_t comm, std::string_view action = "Destroy") {
  CommEnd message;
  message.comm = {comm};
  message.action = action;
  message.phase = "COMPLETE";
  return message;
}

using Step = std::function<void(CommSegments&, SourceRef)>;

Step start(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) { c.add(at, init(comm, "START")); };
}
Step complete(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) { c.add(at, init(comm, "COMPLETE")); };
}
Step ended(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) { c.add(at, end(comm)); };
}
Step call(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) {
    c.add_call(at, "", comm, 2, {"AllReduce", 1, 7, 0, 0});
  };
}

Step announced(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) {
    CallInit message;
    message.function = "ncclCommInitRank";
    message.comm = {comm};
    message.rank = 1;
    message.nranks = 4;
    message.comm_id = {0xdef};
    c.add(at, message);
  };
}

Step layout(uint64_t comm) {
  return [=](CommSegments& c, SourceRef) {
    CommLayout message;
    message.comm = {comm};
    message.nnodes = 2;
    c.add(message);
  };
}

CommSegments run(const std::vector<Step>& steps, size_t begin, size_t end) {
  CommSegments segments;
  for (size_t i = begin; i < end; ++i) steps[i](segments, {0, i + 1});
  return segments;
}

CommSegments run(const std::vector<Step>& steps) { return run(steps, 0, steps.size()); }

TEST(CommSegments, StartCompleteCallsAndDestroyAreOneLife) {
  const CommSegments segments = run({start(1), complete(1), call(1), call(1), ended(1)});
  ASSERT_EQ(segments.all.size(), 1u);
  EXPECT_EQ(segments.all[0].started, (SourceRef{0, 1}));
  EXPECT_EQ(segments.all[0].completed, (SourceRef{0, 2}));
  EXPECT_EQ(segments.all[0].ended, (SourceRef{0, 5}));
  EXPECT_EQ(segments.all[0].end, CommFate::Destroyed);
  EXPECT_EQ(segments.all[0].calls.total, 2u);
}

TEST(CommSegments, APointerThatComesBackAfterDestroyIsAnotherLife) {
  const CommSegments segments =
      run({start(1), complete(1), ended(1), start(1), complete(1), call(1)});
  ASSERT_EQ(segments.all.size(), 2u);
  EXPECT_EQ(segments.all[0].calls.total, 0u);
  EXPECT_EQ(segments.all[1].calls.total, 1u);
}

TEST(CommSegments, ANewStartIsAnotherLifeWhereTheReleaseHidesDestroy) {
  EXPECT_EQ(run({start(1), complete(1), start(1), complete(1)}).all.size(), 2u);
  EXPECT_EQ(run({start(1), start(1)}).all.size(), 2u);
}

TEST(CommSegments, CallsWithoutInitialisationLinesAreKept) {
  const CommSegments segments = run({call(5), call(5), call(6)});
  ASSERT_EQ(segments.all.size(), 2u);
  EXPECT_EQ(segments.all[0].rank, -1);
  EXPECT_EQ(segments.all[0].nranks, 2);
  EXPECT_EQ(segments.all[0].calls.total, 2u);
}

TEST(CommSegments, ACompletionAfterACallIsAnotherLife) {
  const CommSegments segments = run({complete(1), call(1), complete(1), call(1), call(1)});
  ASSERT_EQ(segments.all.size(), 2u);
  EXPECT_EQ(segments.all[0].calls.total, 1u);
  EXPECT_EQ(segments.all[1].calls.total, 2u);
}

TEST(CommSegments, ACallLineNamesRankSizeAndIdWhereNoOtherLineDoes) {
  const CommSegments segments = run({announced(1), call(1), call(1)});
  ASSERT_EQ(segments.all.size(), 1u);
  EXPECT_EQ(segments.all[0].rank, 1);
  EXPECT_EQ(segments.all[0].nranks, 4);
  EXPECT_EQ(segments.all[0].comm_id, 0xdefu);
}

TEST(CommSegments, ACallLineBehindTheInitialisationIsNoOtherLife) {
  EXPECT_EQ(run({start(1), complete(1), announced(1), call(1)}).all.size(), 1u);
}

TEST(CommSegments, ACallLineBehindACallIsAnotherLife) {
  EXPECT_EQ(run({announced(1), call(1), announced(1), call(1)}).all.size(), 2u);
}

TEST(CommSegments, ManyCommunicatorsAreFoundWithoutSearching) {
  constexpr uint64_t kCommunicators = 200'000;
  CommSegments first;
  CommSegments second;
  for (uint64_t comm = 1; comm <= kCommunicators; ++comm) {
    start(comm)(first, {0, comm});
    call(comm)(second, {1, comm});
  }
  first.merge(std::move(second));
  ASSERT_EQ(first.all.size(), kCommunicators);
  EXPECT_EQ(first.all.front().calls.total, 1u);
  EXPECT_EQ(first.all.back().calls.total, 1u);
}

TEST(CommSegments, CuttingAnywhereAndMergingGivesTheSameLives) {
  const std::vector<std::vector<Step>> lives = {
      {start(1), complete(1), call(1), ended(1), start(1), complete(1), call(1), call(1)},
      {start(1), complete(1), start(2), complete(2), call(1), call(2), call(1), ended(2), call(1)},
      {call(1), call(1), ended(1), call(1), call(1)},
      {start(1), start(1), complete(1), call(1), start(1)},
      {complete(1), call(1), complete(1), call(1)},
      {ended(1), ended(1), call(1)},
      {complete(1), call(1), layout(1), complete(1), call(1)},
      {start(1), layout(1), complete(1), layout(1), complete(1)},
      {announced(1), complete(1), announced(1), call(1), announced(1), complete(1), call(1)},
      {start(1), complete(1), announced(1), call(1), call(1), announced(1), ended(1)},
      {layout(1), start(1), layout(1), call(1), complete(1), ended(1), layout(1)},
  };
  for (const std::vector<Step>& steps : lives) {
    for (size_t i = 0; i <= steps.size(); ++i) {
      for (size_t j = i; j <= steps.size(); ++j) {
        CommSegments left = run(steps, 0, i);
        left.merge(run(steps, i, j));
        left.merge(run(steps, j, steps.size()));
        CommSegments tail = run(steps, i, j);
        tail.merge(run(steps, j, steps.size()));
        CommSegments right = run(steps, 0, i);
        right.merge(std::move(tail));
        EXPECT_EQ(left, run(steps)) << "cut at " << i << " and " << j;
        EXPECT_EQ(right, run(steps)) << "cut at " << i << " and " << j;
      }
    }
  }
}

TEST(CommSegments, RankThatTheCommunicatorDoesNotHaveWasMisread) {
  CommSegments comms;
  CommLayout torn;
  torn.comm = {0x1};
  torn.rank = 16;
  comms.add(torn);
  comms.add({0, 2}, init(0x1, "COMPLETE", 1));
  ASSERT_EQ(comms.all.size(), 1u);
  EXPECT_EQ(comms.all[0].rank, 1);
}

}  // namespace
}  // namespace ncclog
