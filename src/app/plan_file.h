// A replay's plan as the user names it: read, understood, and known by its bytes.

#pragma once

#include <string>

#include "replay/plan/plan.h"

namespace ncclog {

struct PlanFile {
  std::string path;  ///< "-": standard input.
  std::string hash;  ///< SHA-256 of its bytes.
  ReplayPlan plan;   ///< As it stands there; whether it makes sense is replay/plan/check_plan.h's.
};

/// All bytes of a file of a replay, "-" for standard input. Throws Error if it cannot be read or is
/// longer than kMaxReplayText.
std::string read_replay_file(const std::string& path);

/// Throws Error if the file cannot be read or holds no plan.
PlanFile load_plan(const std::string& path);

}  // namespace ncclog
