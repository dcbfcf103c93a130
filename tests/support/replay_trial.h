// A plan of two ranks for tests of what carries replays out.
//
//   rank 0: AllReduce 20, 21, 22      rank 1: the same; in the defect run it does not make 22

#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>

#include "replay/plan/plan.h"

namespace ncclog::testing {

/// Whoever carries a run out adopts its orphans. When this ends, the test's process adopts none any
/// more, and has no ended one left: the tests after it begin as they would by themselves.
struct AdoptsNobodyAfterwards {
  AdoptsNobodyAfterwards() = default;
  AdoptsNobodyAfterwards(const AdoptsNobodyAfterwards&) = delete;
  AdoptsNobodyAfterwards& operator=(const AdoptsNobodyAfterwards&) = delete;
  ~AdoptsNobodyAfterwards() {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
};

/// Two ranks that were on two hosts, one communicator, a missing call.
inline ReplayPlan two_rank_plan() {
  ReplayPlan plan;
  plan.tool_version = "1.0.0";
  plan.nccl_versions = {"2.28.9"};
  plan.recorded_nranks = 2;
  plan.recorded_nhosts = 2;
  plan.communicators.push_back({.id = "0x1", .ranks = {0, 1}, .recorded_nranks = 2});
  for (int rank = 0; rank < 2; ++rank) {
    plan.ranks.push_back({.recorded_rank = rank, .host = "node", .host_group = rank});
    for (uint64_t index = 20; index < 23; ++index) {
      PlannedCall call{.communicator = 0, .index = index, .op = "AllReduce", .count = 4};
      call.datatype = 7;
      if (rank == 1 && index == 22) call.made_in = MadeIn::Clean;
      plan.ranks[rank].calls.push_back(call);
    }
  }
  plan.hypothesis = {.finding = "rank-behind",
                     .title = "Rank 1 did not enter AllReduce 22",
                     .kind = DefectKind::MissingCall,
                     .diverged = {1},
                     .front = FrontLine{0, 22, {0}, {1}}};
  return plan;
}

}  // namespace ncclog::testing
