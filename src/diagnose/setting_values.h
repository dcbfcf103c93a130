// Who has which value of one setting?
//
//   rank 0: NCCL_ALGO set by environment to Ring.     "Ring" → {0}
//   rank 1: nothing, and it came past the place       ""     → {1}

#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// Processes, ascending, by the value that they print; "": they provably do not have the setting.
/// Those of whom nothing is known are left out.
using SettingValues = std::map<std::string, std::vector<int>>;

SettingValues setting_values(const Job& job, const std::string& name);

}  // namespace ncclog
