#include "model/rank_segment.h"

#include <algorithm>

namespace ncclog {

const CommSegment& segment_of(const Job& job, const CommRank& rank) {
  return job.logs[static_cast<size_t>(rank.log)].comms.all[static_cast<size_t>(rank.segment)];
}

int life_of(const std::vector<CommSegment>& all, size_t place) {
  return static_cast<int>(
      std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place),
                    [&](const CommSegment& other) { return other.comm == all[place].comm; }));
}

}  // namespace ncclog
