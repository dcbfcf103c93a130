#include "model/ring_check.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

struct RingCase {
  const char* name;
  RingSayings says;
  GraphCheck check;
  const char* remark;
};

// A list, whether it is whole, whether lines contradict each other, then prev and next by rank.
const RingCase kRings[] = {
    {"whole list", {{0, 2, 1}, true, false, {-1, -1, -1}, {-1, -1, -1}}, GraphCheck::Sound, ""},
    {"list and neighbours agree",
     {{0, 2, 1}, true, false, {1, 2, 0}, {2, 0, 1}},
     GraphCheck::Sound,
     ""},
    {"neighbours alone close", {{}, false, false, {2, 0, 1}, {1, 2, 0}}, GraphCheck::Sound, ""},
    {"one rank alone", {{0}, true, false, {0}, {0}}, GraphCheck::Sound, ""},
    {"rank twice",
     {{0, 1, 1}, true, false, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Broken,
     "rank 1 is listed twice"},
    {"rank too high",
     {{0, 1, 3}, true, false, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Broken,
     "rank 3 of 3 is listed"},
    {"neighbours disagree",
     {{}, false, false, {-1, -1, 0}, {2, 2, -1}},
     GraphCheck::Broken,
     "rank 1 passes on to rank 2, which receives from rank 0"},
    {"list and neighbours disagree",
     {{0, 1, 2}, true, false, {-1, -1, 0}, {2, -1, -1}},
     GraphCheck::Broken,
     "rank 0 passes on to rank 2, rank 0 lists rank 1"},
    {"closes too early",
     {{}, false, false, {1, 0, 2}, {1, 0, 2}},
     GraphCheck::Broken,
     "it closes after 2 of 3 ranks"},
    {"cut list",
     {{0, 1}, false, false, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Unknown,
     "the list is cut after 2 ranks"},
    {"ranks not seen",
     {{}, false, false, {2, -1, -1}, {1, -1, -1}},
     GraphCheck::Unknown,
     "1 of 3 ranks tell their neighbours"},
    {"lines contradict",
     {{0, 1, 1}, true, true, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Unknown,
     "its lines contradict each other"},
};

TEST(RingCheck, CallsARingBrokenOnlyWhereWholeLinesSaySo) {
  for (const RingCase& c : kRings) {
    const Ring ring = check_ring(c.says);
    EXPECT_EQ(ring.check, c.check) << c.name;
    EXPECT_EQ(ring.remark, c.remark) << c.name;
  }
}

TEST(RingCheck, FollowsNeighboursFromRankZero) {
  const Ring ring = check_ring({{}, false, false, {1, 2, 0}, {2, 0, 1}});
  EXPECT_EQ(ring.order, (std::vector<int>{0, 2, 1}));
}

struct TreeCase {
  const char* name;
  std::vector<TreePlace> places;  ///< Channel, rank, up, down.
  GraphCheck check;
  int root;
  int depth;
  const char* remark;
};

const TreeCase kTrees[] = {
    {"chain", {{0, 0, -1, {1}}, {0, 1, 0, {2}}, {0, 2, 1, {}}}, GraphCheck::Sound, 0, 2, ""},
    {"one rank", {{0, 0, -1, {}}}, GraphCheck::Sound, 0, 0, ""},
    {"parent does not know",
     {{0, 0, -1, {}}, {0, 1, 0, {}}},
     GraphCheck::Broken,
     0,
     -1,
     "rank 1 has parent 0, which does not have it as a child"},
    {"child has another parent",
     {{0, 0, -1, {1}}, {0, 1, -1, {}}},
     GraphCheck::Broken,
     -1,
     -1,
     "rank 0 has child 1, whose parent is -1"},
    {"two roots",
     {{0, 0, -1, {}}, {0, 1, -1, {}}},
     GraphCheck::Broken,
     -1,
     -1,
     "ranks 0 and 1 are both roots"},
    {"cycle",
     {{0, 0, -1, {}}, {0, 1, 2, {2}}, {0, 2, 1, {1}}},
     GraphCheck::Broken,
     0,
     -1,
     "rank 1 does not reach a root"},
    {"child too high", {{0, 0, -1, {7}}}, GraphCheck::Broken, 0, -1, "a child of rank 0 is rank 7"},
    {"parent too high",
     {{0, 0, 9, {}}},
     GraphCheck::Broken,
     -1,
     -1,
     "the parent of rank 0 is rank 9"},
    {"rank not seen",
     {{0, 0, -1, {1}}, {}},
     GraphCheck::Unknown,
     0,
     -1,
     "1 of 2 ranks tell their place"},
};

TEST(TreeCheck, WantsOneRootNoCycleAndBothEndsOfEveryEdge) {
  for (const TreeCase& c : kTrees) {
    const Tree tree = check_tree(c.places);
    EXPECT_EQ(tree.check, c.check) << c.name;
    EXPECT_EQ(tree.root, c.root) << c.name;
    EXPECT_EQ(tree.depth, c.depth) << c.name;
    EXPECT_EQ(tree.remark, c.remark) << c.name;
  }
}

}  // namespace
}  // namespace ncclog
