#include "model/read_log.h"

#include <utility>

namespace ncclog {

LogReader::LogReader(uint64_t unit, uint64_t input, const LineMatcher& matcher,
                     const MarkerFinder& finder)
    : shard_(unit, input, finder),
      guard_(shard_, matcher),
      events_([this](const Line& record, const Event& event, int lines) {
        guard_.add(record, event, lines);
      }) {}

Shard LogReader::finish() {
  events_.finish();
  guard_.finish();
  return std::move(shard_);
}

}  // namespace ncclog
