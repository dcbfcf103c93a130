// From lines to a shard: the one path by which every log is read, from files and from text alike.

#pragma once

#include <vector>

#include "base/line.h"
#include "log/event_reader.h"
#include "model/shard.h"

namespace ncclog {

/// Takes the lines of one stretch in order and collects what they say. Not copyable or movable: the
/// event reader calls back into it.
class LogReader {
 public:
  /// `matcher` may be empty; it must outlive the reader.
  LogReader(uint64_t unit, uint64_t input, const LineMatcher& matcher);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  void add(const Line& line) { events_.add(line); }

  /// Ends the stretch. The reader is spent afterwards.
  Shard finish();

 private:
  void add_record(const Line& record, const Event& event, int lines);

  const LineMatcher& matcher_;
  Shard shard_;
  std::vector<int> matched_;  ///< Line patterns that match the current record.
  EventReader events_;
};

}  // namespace ncclog
