// What part of a job do these lines cover?
//
//   nine lines with the Init START of two ranks      "the start of 2 ranks, no end"
//   a whole log that was copied while the job ran    "8 ranks at work (120 calls each), no end"
//   NCCL_DEBUG=WARN and three lines                  "lines of 3 processes, no end"
//
// For the headline of a log in which nothing was found: what was not seen is not judged.

#pragma once

#include <string>

#include "model/job.h"

namespace ncclog {

/// A clause that says so.
std::string extent_words(const Job& job);

}  // namespace ncclog
