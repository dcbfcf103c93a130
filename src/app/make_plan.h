// From paths to a plan: the logs are analysed, then read a second time for the calls themselves.

#pragma once

#include <string>
#include <vector>

#include "app/console.h"
#include "app/exit_status.h"
#include "app/options.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"

namespace ncclog {

struct PlanRequest {
  InputOptions input;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  PlanOptions options;
};

struct MadePlan {
  ReplayPlan plan;
  ExitStatus status = ExitStatus::Fine;  ///< Partial: a part of the logs was cut or unreadable.
};

/// Notes about inputs go to `console.err`. Throws Error if there are no inputs, if they include
/// standard input, which cannot be read twice, or if no plan can be made of them.
MadePlan make_plan(const PlanRequest& request, Console& console);

}  // namespace ncclog
