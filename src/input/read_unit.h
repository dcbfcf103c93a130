// One unit, read line by line, and what became of it.
//
//   Unit{input: "logs/node1.log.gz", whole}
//   -> each line to the callback, then {Cut, gzip, text, 81234 bytes, 911 lines, "The gzip data
//      ends early; what could be unpacked was read."} and one InputCut in its loss table
//
// Nothing here throws for what an input holds or lacks, and nothing reads the lines: that is the
// log layer's work.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/input_status.h"
#include "base/line.h"
#include "base/loss_table.h"
#include "input/byte_source.h"
#include "input/input_format.h"
#include "input/line_reader.h"
#include "input/units.h"

namespace ncclog {

struct ReadOptions {
  /// Bytes that a compressed input, or all members of an archive together, may expand to.
  uint64_t max_expanded = uint64_t{64} << 30;
  /// Of a LineBuffer, for the lines of one unit at a time; empty: each reader has memory of its
  /// own.
  std::span<char> memory = {};
};

/// What became of the lines that one reader delivered.
struct LineCounts {
  uint64_t lines = 0;
  LossTable losses;

  void add(const Line& line) {
    ++lines;
    if (line.cut || line.has_control || line.has_high) add_losses(line);
  }

  /// Adds `count` whole lines without control codes: those of `text`, which ends with "\n". Their
  /// bytes are looked at only if they may not be ASCII.
  void add_whole(std::string_view text, uint64_t count, bool is_ascii);

 private:
  void add_losses(const Line& line);
};

/// What reading a unit came to.
struct UnitResult {
  InputStatus status = InputStatus::Whole;
  Compression compression = Compression::None;
  Content content = Content::Empty;
  uint64_t bytes = 0;          ///< Decompressed bytes read.
  uint64_t bytes_on_disk = 0;  ///< Of the whole file, if it is a regular one.
  uint64_t newlines = 0;  ///< Line number of the next unit's first line, less 1, within the input.
  uint64_t lines = 0;     ///< Calls of the callback; pieces between lone "\r" count one by one.
  std::string note;       ///< One sentence on what is missing and why; empty if nothing is.
  LossTable losses;       ///< Only the rows of losses; lines by fate are for others to count.
};

/// Opens the stretch of the file at `path` that is `unit`.
ByteSource open_unit(const Unit& unit, const std::string& path, const ReadOptions& options);

/// Adds to `result` how reading its bytes ended.
void add_state(SourceState state, UnitResult& result);

/// A unit being read, as lines or, where its content is none, as bytes. Invariants: line counts are
/// of the lines that `next` has delivered; `next` reads nothing of an input that is not a log.
class UnitReader {
 public:
  /// `source` holds the bytes of `unit` and must outlive the reader.
  UnitReader(const Unit& unit, ByteSource& source, std::span<char> memory = {});
  UnitReader(const UnitReader&) = delete;
  UnitReader& operator=(const UnitReader&) = delete;

  Content content() const { return result_.content; }

  /// Whether its bytes can be had only one after the other, so that several threads have to take
  /// turns (input/line_stream.h) if they are many: of all but plain files on the disk.
  bool is_stream() const { return source_.is_stream(); }

  /// Fetches the next line; false at the end of the unit. `line.text` lives until the next call.
  bool next(Line& line) {
    if (!lines_) start_lines();
    if (!lines_->next(line)) return false;
    counts_.add(line);
    return true;
  }

  /// As LineReader's. `is_ascii`: the lines that are skipped are known to be ASCII.
  std::string_view ahead() const { return lines_ ? lines_->ahead() : std::string_view(); }
  bool will_refill() const { return !lines_ || lines_->will_refill(); }
  uint64_t next_number() const { return lines_ ? lines_->next_number() : 1; }
  void skip(size_t bytes, uint64_t lines, bool is_ascii = false) {
    counts_.add_whole(ahead().substr(0, bytes), lines, is_ascii);
    lines_->skip(bytes, lines);
  }

  /// Bytes of a log for those who cut its lines themselves; 0 at its end.
  size_t read_block(char* buffer, size_t capacity);

  /// Adds what became of such lines.
  void add(const LineCounts& counts, uint64_t newlines);

  /// At most `capacity` > 0 bytes of an input that is not read as lines; 0 at its end. From the
  /// first call on it counts as read, not as skipped.
  size_t read(char* buffer, size_t capacity);

  /// States that what `read` gave could not be understood, and why, in one sentence.
  void refuse(std::string why);

  /// What became of the unit; to be asked once `next` has returned false.
  UnitResult finish();

 private:
  void start_lines();

  ByteSource& source_;
  UnitResult result_;
  LineCounts counts_;
  bool is_read_ = false;  ///< Its bytes were asked for though they are no lines.
  std::string refusal_;   ///< Empty: not refused.
  uint64_t offset_;       ///< Place in the input of its first byte.
  std::span<char> memory_;
  std::optional<LineReader> lines_;  ///< Once lines were asked for.
};

/// Reads `unit` of the input at `path` and gives each line to `on_line(const Line&)`.
template <typename OnLine>
UnitResult read_unit(const Unit& unit, const std::string& path, const ReadOptions& options,
                     OnLine&& on_line) {
  ByteSource source = open_unit(unit, path, options);
  UnitReader reader(unit, source, options.memory);
  for (Line line; reader.next(line);) on_line(std::as_const(line));
  return reader.finish();
}

}  // namespace ncclog
