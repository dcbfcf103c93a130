#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "replay/run/rank_plan.h"

namespace ncclog {
namespace {

TEST(SelftestPlan, CoversFunctionsDatatypesAndReductions) {
  std::set<std::tuple<std::string, int, int, bool>> seen;
  const ReplayPlan plan = selftest_plan(2, true);
  for (const PlannedCall& call : plan.ranks[0].calls) {
    seen.insert({call.op, call.datatype, is_reduction(call.op) ? call.redop : -1, call.in_place});
  }
  // 3 functions reduce in 5 ways and 4 move, apart and in place; AlltoAll, Send and Recv only
  // apart.
  EXPECT_EQ(seen.size(), 12U * (3 * 5 * 2 + 4 * 2 + 3));
}

TEST(SelftestPlan, OlderGpusOnlyMoveFloat8) {
  const ReplayPlan plan = selftest_plan(2, false);
  for (const PlannedCall& call : plan.ranks[0].calls) {
    EXPECT_FALSE(call.datatype >= 10 && is_reduction(call.op));
  }
}

TEST(SelftestPlan, AllRanksMakeTheSameCollectives) {
  const ReplayPlan plan = selftest_plan(3, true);
  std::map<std::pair<int, uint64_t>, std::set<std::tuple<std::string, int64_t, int, int>>> made;
  for (const PlannedRank& rank : plan.ranks) {
    EXPECT_EQ(rank.calls.size(), plan.ranks[0].calls.size());
    for (const PlannedCall& call : rank.calls) {
      if (is_message(call.op)) continue;
      made[{call.communicator, call.index}].insert({call.op, call.count, call.redop, call.root});
    }
  }
  for (const auto& [place, calls] : made) EXPECT_EQ(calls.size(), 1U);
}

TEST(SelftestPlan, TheTargetReceivesTheElement) {
  const ReplayPlan plan = selftest_plan(2, true);
  for (const char* op : {"AllReduce", "AllGather"}) {
    const PlantedCorruption target = selftest_target(plan, op);
    const PlannedCall& call = plan.ranks[1].calls[target.call];
    EXPECT_EQ(call.op, op);
    EXPECT_LT(target.element, shape_of(call, 0, 2).received);
  }
}

TEST(SelftestPlan, CanBeCarriedOut) {
  const ReplayPlan plan = selftest_plan(2, true);
  EXPECT_EQ(parse_plan(write_plan(plan), "plan.json"), plan);
  EXPECT_TRUE(check_plan(plan).empty());
}

}  // namespace
}  // namespace ncclog
