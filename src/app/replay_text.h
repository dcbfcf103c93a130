// A replay's result for people: the verdict first, what it rests on, what nobody may conclude.
//
//   reproduced-hypothesis (likely)
//     As recorded, AllReduce, call 29 of communicator 0x9c1b… does not complete when rank 5 makes
//     another call in its place; when all ranks behave, …
//
//   Runs
//     - defect: hung in completion at AllReduce, call 29 …: as recorded

#pragma once

#include <string>

#include "replay/judge/verdict.h"
#include "report/text_layout.h"

namespace ncclog {

/// The kind with its confidence and the headline, one line whatever the style's width.
std::string replay_headline(const ReplayResult& result, const TextStyle& style);

/// All of it, with a newline at the end.
std::string replay_text(const ReplayResult& result, const TextStyle& style);

/// "2 x NVIDIA H200": the GPUs by name; empty: none. Where a launcher started tasks of their own
/// for ranks, those of the first task, and how many ranks there were.
std::string gpus_phrase(const ReplayOutcome& outcome);

}  // namespace ncclog
