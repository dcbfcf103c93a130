// What was the program doing when it stopped: training, or one of the rare phases between?
//
//   Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]
//
// Evaluation and checkpoints are where ranks do different amounts of work.

#pragma once

#include <optional>
#include <string>

#include "diagnose/fact.h"

namespace ncclog {

/// A phase that few steps pass through.
struct Phase {
  std::string what;  ///< As printed: "Validation".
  Evidence line;
};

/// Evaluation or checkpoint output shortly before `line` in the same stretch of input, or without
/// newline in front of it, unless training output stands between. nullopt: none that is known.
std::optional<Phase> rare_phase_before(const Job& job, const Evidence& line);

}  // namespace ncclog
