// A line of the input, and where it stands.
//
//   unit 3, line 812   "n1:7:9 [0] include/socket.h:390 NCCL WARN Connect to …"
//
// Every claim of a report leads back to such a place.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ncclog {

/// A line of the input, named so that results of separately read stretches can be joined as they
/// are.
///
/// A unit is a whole input, a stretch of a large one, or a member of an archive. Units are numbered
/// in input order, with gaps: how many members an archive has is not known before it is read. Lines
/// are counted from 1 inside the unit. The pair orders all lines of a run. Which file and which
/// line of it this is follows from the run's unit table (model/job.h).
struct SourceRef {
  uint64_t unit = 0;
  uint64_t line = 0;  ///< 1-based inside the unit; 0 = no line.

  bool is_known() const { return line != 0; }

  auto operator<=>(const SourceRef&) const = default;
};

/// A line as the reader hands it over, without its line end.
struct Line {
  std::string_view text;  ///< Owned by the reader, valid until its next line is asked for.
  uint64_t number = 0;    ///< 1-based within the unit that is read.
  uint64_t offset = 0;    ///< Byte at which the line starts in the (decompressed) input.
  /// `text` is the beginning, or may be: the line was longer than the reader keeps, the input ends
  /// without a line end, or another record begins behind this one (is_followed in
  /// log/event_reader.h).
  bool cut = false;
  /// False: `text` surely holds no byte below 0x20 but tabs, so no terminal code and no NUL. True
  /// wherever nobody has looked, as in a text made of several lines.
  bool has_control = true;
  bool has_high = true;  ///< False: `text` is surely ASCII.
};

/// Lines one behind the other in memory, from its beginning on.
struct LineRun {
  size_t bytes = 0;      ///< With their line ends.
  uint64_t lines = 0;    ///< All of them; pieces between lone "\r" are lines, too.
  uint64_t numbers = 0;  ///< Those that end with "\n": by so many the number of the next is higher.
  bool is_ascii = true;  ///< False: nobody has looked.
};

}  // namespace ncclog
