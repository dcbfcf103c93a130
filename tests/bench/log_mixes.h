// The mixes that `generate_log` chooses from, and what they share.

#pragma once

#include "bench/log_text.h"

namespace ncclog::testing {

void write_collectives(LogText& log);
void write_inits(LogText& log);
void write_ordered_inits(LogText& log);
void write_random_collectives(LogText& log);
void write_rehosted_inits(LogText& log);
void write_steps(LogText& log);
void write_storm(LogText& log);
void write_training(LogText& log);

/// The lines of an init that say who is who, five for each rank.
void write_short_init(LogText& log);

/// The calls that ranks make: 64 AllGather and 32 ReduceScatter of 32 layers, one AllReduce, and
/// again.
class CollectiveCalls {
 public:
  explicit CollectiveCalls(LogText& log) : log_(log) {}

  /// Each rank makes the next call; `before` may write what stands in front of a rank's line. A log
  /// never ends between them: a job in which some ranks are behind is not healthy.
  template <typename Before>
  void next(Before&& before) {
    for (int rank : log_.shuffled_ranks()) {
      before(rank);
      write(rank);
    }
    ++calls_;
  }

 private:
  void write(int rank);

  LogText& log_;
  uint64_t calls_ = 0;  ///< By each rank so far.
};

}  // namespace ncclog::testing
