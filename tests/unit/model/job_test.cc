#include "model/job.h"

#include <gtest/gtest.h>

#include <string>

namespace ncclog {
namespace {

struct Asked {
  mutable int times = 0;
  std::string name;
  Answers answers;
};

std::string greeting(const Asked& asked) {
  ++asked.times;
  return "hello " + asked.name;
}

size_t length(const Asked& asked) { return asked.answers.of<&greeting>(asked).size(); }

TEST(Answers, AreDerivedOnceAndKeptApartByFunction) {
  const Asked asked{.times = 0, .name = "node-a", .answers = {}};
  EXPECT_EQ(asked.answers.of<&greeting>(asked), "hello node-a");
  EXPECT_EQ(asked.answers.of<&length>(asked), 12u);
  EXPECT_EQ(&asked.answers.of<&greeting>(asked), &asked.answers.of<&greeting>(asked));
  EXPECT_EQ(asked.times, 1);
}

TEST(Answers, DoNotGoWithACopyThatMayBeChanged) {
  const Asked asked{.times = 0, .name = "node-a", .answers = {}};
  EXPECT_EQ(asked.answers.of<&greeting>(asked), "hello node-a");
  Asked copy = asked;
  copy.name = "node-b";
  EXPECT_EQ(copy.answers.of<&greeting>(copy), "hello node-b");
  Asked moved = std::move(copy);
  moved.name = "node-c";
  EXPECT_EQ(moved.answers.of<&greeting>(moved), "hello node-c");
  moved = asked;
  EXPECT_EQ(moved.answers.of<&greeting>(moved), "hello node-a");
}

TEST(RankSegment, LivesOfAPointerAreNumberedInTheirOrder) {
  std::vector<CommSegment> all(4);
  all[0].comm = 0x3ccb6960;
  all[1].comm = 0x5ac01200;
  all[2].comm = 0x3ccb6960;
  all[3].comm = 0x3ccb6960;
  EXPECT_EQ(life_of(all, 0), 0);
  EXPECT_EQ(life_of(all, 1), 0);
  EXPECT_EQ(life_of(all, 2), 1);
  EXPECT_EQ(life_of(all, 3), 2);
}

TEST(RankSegment, IsTheOneOfTheRanksLog) {
  Job job;
  job.logs.resize(2);
  job.logs[1].comms.all.resize(2);
  job.logs[1].comms.all[1].comm = 7;
  CommRank rank;
  rank.log = 1;
  rank.segment = 1;
  EXPECT_EQ(segment_of(job, rank).comm, 7U);
}

}  // namespace

}  // namespace ncclog
