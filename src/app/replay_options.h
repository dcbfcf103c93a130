// What the user typed behind `ncclog replay`, before anything is looked at.

#pragma once

#include <string>
#include <vector>

namespace ncclog {

struct ReplayCheckOptions {
  std::vector<std::string> plans;  ///< Files, "-"; empty: a mistake.
  bool nccl_tests = false;         ///< Print command lines of nccl-tests instead.
};

}  // namespace ncclog
