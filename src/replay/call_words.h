// A planned call in words: "AllReduce of 1048576 float32 (sum)", "Send of 16 int8 to rank 3".

#pragma once

#include <string>

#include "replay/plan.h"

namespace ncclog {

/// Roots and peers are ranks in the communicator.
std::string words_of(const PlannedCall& call);

}  // namespace ncclog
