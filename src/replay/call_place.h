// Where in a plan is a call, and where did a run come to its end?
//
//   communicator 0, index 28  →  "AllReduce, call 29 of communicator 0x9c1b…"
//
// A place is a communicator and the recorded number of a call on it. Ranks that meet there may make
// different calls: that is what a mismatch is.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "replay/outcome.h"
#include "replay/plan.h"

namespace ncclog {

/// A call by communicator and number: all ranks that make it mean the same one. Defaults: none.
struct CallPlace {
  int communicator = -1;  ///< Into ReplayPlan::communicators.
  uint64_t index = 0;     ///< PlannedCall::index.

  bool operator==(const CallPlace&) const = default;
};

/// The place of a call, or of what a front line stands before.
CallPlace place_of(const PlannedCall& call);
CallPlace place_of(const FrontLine& front);

/// Where the defect should show: the recorded front line; where the job did not stand still, the
/// first call that a departed rank makes otherwise, with nobody entered or missing. nullopt: the
/// plan is of a healthy stretch.
std::optional<FrontLine> expected_place(const ReplayPlan& plan);

/// Where a run came to its end: its front line; else the first call that a rank with an error had
/// not completed; else the first one with a wrong element. nullopt: no call is to blame.
std::optional<CallPlace> stop_of(const ReplayPlan& plan, const RunOutcome& run);

/// "AllReduce, call 29 of communicator 0x9c1b…": what ranks that behave call there.
std::string place_text(const ReplayPlan& plan, const CallPlace& place);

/// "rank 5", "ranks 0-4,6,7": ranks of the plan by their recorded numbers.
std::string ranks_phrase(const ReplayPlan& plan, std::span<const int> ranks);

}  // namespace ncclog
