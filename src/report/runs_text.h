// What became of each run, where the logs hold several, in the words that every format shows.
//
//   Run 1: problem (watchdog-rank-behind); failed: rank 1 reports that ALLREDUCE timed out
//   (train.log lines 1-435).
//   Run 2: healthy; finished: all 4 processes ended well (train.log lines 492-1025).

#pragma once

#include <string>
#include <vector>

#include "rules/finding.h"

namespace ncclog {

/// A sentence for each run; empty where there is one.
std::vector<std::string> run_sentences(const Diagnosis& diagnosis);

}  // namespace ncclog
