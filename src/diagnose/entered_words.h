// What have all ranks entered, where nobody is missing?
//
//   "all 4 ranks of communicator 0x9c… (4 ranks) made the same 28 calls"
//   "all 4 ranks of … made the same collective, and all 12 messages between ranks have both ends"

#pragma once

#include <string>
#include <vector>

#include "diagnose/call_fronts.h"
#include "model/job.h"

namespace ncclog {

/// In words for a sentence, of the first of `fronts` and of the messages of all communicators.
/// Expects closed fronts and messages that match. Empty: no call of a communicator whose ranks are
/// all known. Pure.
std::string entered_words(const Job& job, const std::vector<CallFront>& fronts);

}  // namespace ncclog
