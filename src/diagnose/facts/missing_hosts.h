// Of which hosts is no line here?
//
//   --expect-hosts n[1-8], lines of n1 to n7   → n8: what happened there is unknown

#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// Of the hosts on which it ran, as the user or Slurm says, those of which no line is here
/// (coverage.cc).
std::vector<std::string> missing_hosts(const Job& job);

}  // namespace ncclog
