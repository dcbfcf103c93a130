// An outcome as a file: what ncclog-replay writes for ncclog.
//
//   {"schema": "ncclog.replay-outcome/1", "plan": "5f0c…", "runs": [{"mode": "defect", "end":
//    "hung", "phase": "completion", "front": {"communicator": 0, "index": 28, …}, …}]}
//
// Keys are the members of replay/outcome.h; src/replay/outcome.schema.json describes it.

#pragma once

#include <string>
#include <string_view>

#include "replay/outcome.h"

namespace ncclog {

/// Equal outcomes give equal bytes. Texts that are not UTF-8 are repaired; a number that is not
/// finite is not known, and 0.
std::string write_outcome(const ReplayOutcome& outcome);

/// The outcome in `text`; `source` is its name for people. Throws Error with the place if it is not
/// one.
ReplayOutcome parse_outcome(std::string_view text, const std::string& source);

/// True if `text` is an outcome of which nothing is lost where another one takes its place: the
/// replay was refused, nothing was run.
bool is_of_a_refusal(const std::string& text);

}  // namespace ncclog
