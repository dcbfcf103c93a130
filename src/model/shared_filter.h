// One filter of other programs' lines for all readers of a run, made when the first of them has use
// for it: a short log starts without.

#pragma once

#include <mutex>
#include <optional>

#include "log/foreign_filter.h"
#include "log/iteration_marker.h"
#include "model/shard.h"

namespace ncclog {

/// Any number of threads may use one.
class SharedFilter {
 public:
  /// Lets lines go in which neither `matcher` nor `finder` can find anything. Both must outlive it.
  SharedFilter(const LineMatcher& matcher, const MarkerFinder& finder)
      : matcher_(matcher), finder_(finder) {}

  /// nullptr if any line may matter. Valid as long as this.
  const ForeignFilter* get() const;

 private:
  const LineMatcher& matcher_;
  const MarkerFinder& finder_;
  mutable std::once_flag once_;
  mutable std::optional<ForeignFilter> filter_;
};

}  // namespace ncclog
