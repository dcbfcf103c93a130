// What a plan loses that is replayed on fewer GPUs, in the sentences of its losses.
//
//   "8 ranks are replayed by 2: every communicator is smaller, and its rings and trees are others."
//   "No kept rank made the same calls as ranks 5."

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/plan.h"

namespace ncclog {

/// What went with the ranks that are not kept.
struct ShrinkLosses {
  size_t communicators = 0;
  uint64_t calls = 0;     ///< On them.
  uint64_t messages = 0;  ///< To and from ranks that are not kept.
  uint64_t roots = 0;     ///< Calls whose root became another rank.
  /// Ranks of the job that no kept rank stands for; -1: one that is not known.
  std::vector<int> alone;
};

/// One sentence each, of the whole plan and the number of ranks that are kept.
std::vector<std::string> loss_sentences(const ShrinkLosses& losses, const ReplayPlan& plan,
                                        size_t kept);

}  // namespace ncclog
