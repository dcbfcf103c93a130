// What a replay of the job on other GPUs showed, as far as a report tells it.
//
//   replay  reproduced-hypothesis (likely): As recorded, AllReduce, call 29 of communicator … does
//           not complete when rank 5 makes another call in its place; …
//           2 x NVIDIA H200, NCCL 2.28.9; not as recorded: ranks of the job …
//           Do not conclude: where in the program it comes from …
//
// It is made of a result of `ncclog replay run`. One that is not of these logs is named, with the
// reason, and supports nothing.

#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace ncclog {

/// Its outcome in one sentence, for a report of one line: "A replay on 2 x NVIDIA H200, NCCL 2.28.9
/// came out as reproduced-fault (likely)."
std::string replay_sentence(const ReplaySummary& replay);

/// What reports for people say of it, one paragraph each, the outcome first.
std::vector<std::string> replay_paragraphs(const ReplaySummary& replay);

}  // namespace ncclog
