// Which of the calls that the lines tell of were not compared with those of the other ranks?
//
//   rank 3's lines are torn        → "the calls of rank 3 were not compared (lines are torn)"
//   rank 3's file ends early, and its communicator's end is not in it                → likewise
//   ranks 0-3 made the same calls, and rank 2's log lacks the line of the fifth      → "": they were
//   no line of a call              → "": there is nothing to compare, and coverage says so
//
// What differs may be what a failure comes from, so a job of which calls were not compared is not
// known to be clean.

#pragma once

#include <string>

#include "model/job.h"

namespace ncclog {

/// A clause that says so; empty where everything was compared.
std::string uncompared_words(const Job& job);

}  // namespace ncclog
