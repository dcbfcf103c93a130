// From lines to a shard: the one path by which every log is read, from files and from text alike.

#pragma once

#include "base/line.h"
#include "log/event_reader.h"
#include "model/shard.h"
#include "model/tear_guard.h"

namespace ncclog {

/// Takes the lines of one stretch in order and collects what they say. Not copyable or movable: the
/// event reader calls back into it.
class LogReader {
 public:
  /// `matcher` may be empty; it must outlive the reader.
  LogReader(uint64_t unit, uint64_t input, const LineMatcher& matcher,
            const MarkerFinder& finder = MarkerFinder());
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  void add(const Line& line) { events_.add(line); }

  /// Ends the stretch. The reader is spent afterwards.
  Shard finish();

 private:
  Shard shard_;
  TearGuard guard_;
  EventReader events_;
};

}  // namespace ncclog
