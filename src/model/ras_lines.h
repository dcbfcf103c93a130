// The lines of ncclras answers that stand in a log, kept until the job is built.
//
// An answer means something only as a whole, and a large log may be cut for reading between its
// lines. So stretches keep the lines as they are, and build_job puts them together
// (model/ras_text.h). Keeping the last ones is associative.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "log/event.h"
#include "model/ras_report.h"

namespace ncclog {

/// A kept line: without prefixes and without blanks at its ends.
struct RasLine {
  SourceRef where;
  std::string text;

  bool operator==(const RasLine&) const = default;
};

/// The last kMaxKept lines of answers, in input order.
struct RasLines {
  std::deque<RasLine> kept;

  static constexpr size_t kMaxKept = 16384;

  /// Keeps the line if it is one of an answer.
  void add(SourceRef where, const Event& event);
  void merge(RasLines&& later);
};

}  // namespace ncclog
