#include "model/rank_segment.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

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
