// Which of the segments of a log is a rank's, and which life of its pointer is it?
//
//   0x3ccb6960 init … destroy     segment 0, life 0
//   0x5ac01200 init …             segment 1, life 0
//   0x3ccb6960 init …             segment 2, life 1
//
// A log that is read a second time shows its lives in the same order. So a life is found again by
// its pointer and its number, where places of segments may have moved.

#pragma once

#include <cstddef>
#include <vector>

#include "model/comm_segment.h"
#include "model/job.h"

namespace ncclog {

/// The segment that holds the rank's lines. `rank` has to have one: log and segment are not -1.
/// Owned by the job.
const CommSegment& segment_of(const Job& job, const CommRank& rank);

/// How many lives of the same pointer stand before that place.
int life_of(const std::vector<CommSegment>& all, size_t place);

}  // namespace ncclog
