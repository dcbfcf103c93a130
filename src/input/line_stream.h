// How do several threads read one stream that only one of them can unpack at a time?
//
//   logs.txt.gz   thread 1   unpacks [0, 4190022)        then reads its lines
//                 thread 2         waits   unpacks [4190022, 8383901)   then reads its lines
//                 thread 1                          waits   unpacks [8383901, …
//
// The threads take turns: whoever has the turn unpacks a stretch into memory of its own and passes
// the turn on before it looks at the lines. Nothing is copied between threads, and no thread waits
// unless unpacking alone is what takes the time. Stretches are cut at lines that may start a unit,
// at places that depend on the bytes only; offsets and line numbers are those of the whole stream.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "input/line_reader.h"
#include "input/read_unit.h"

namespace ncclog {

/// A stream of lines from which stretches are taken. Invariant: whoever holds `turn_` may change
/// the rest and read from `input_`; between turns, `next_` is the place of `carry_`'s first byte,
/// and what is in `carry_` was read from `input_` but belongs to the next stretch.
class LineStream {
 public:
  /// Whether a stretch may start with this line, given without its line end.
  using MayStart = std::function<bool(std::string_view line)>;

  /// `input` must be a log of which nothing was read; it must outlive the stream.
  LineStream(UnitReader& input, MayStart may_start);
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

 private:
  friend class Stretch;

  size_t find_boundary(std::string_view block) const;
  size_t fill(char* buffer, size_t capacity);

  UnitReader& input_;
  MayStart may_start_;
  std::mutex turn_;
  std::mutex
      counting_;  ///< For what `input_` is told of lines: nobody waits for the turn to do that.
  std::string carry_;
  LinePlace next_;
  uint32_t stretches_ = 0;  ///< Taken so far.
  bool is_over_ = false;    ///< The last stretch was taken.
};

/// One stretch, from when its thread gets the turn until its lines are read.
class Stretch {
 public:
  /// Waits for the turn. The lines will lie in `memory`, more than kMaxLineBytes of it; all threads
  /// must give the same amount.
  Stretch(LineStream& stream, std::span<char> memory);
  ~Stretch();
  Stretch(const Stretch&) = delete;
  Stretch& operator=(const Stretch&) = delete;

  /// The stream was at its end before this stretch.
  bool is_none() const { return is_none_; }

  /// Whether the stream ends with this stretch, as far as its thread has read: certain once the
  /// turn was passed on.
  bool is_last() const { return is_last_; }

  /// 0, 1, … in the order of the stream.
  uint32_t index() const { return index_; }

  /// Fetches the next line; false at the end of the stretch. `line.text` lives until the next call.
  bool next(Line& line) {
    if (!lines_.next(line)) return false;
    counts_.add(line);
    return true;
  }

  /// As LineReader's. `is_ascii`: the lines that are skipped are known to be ASCII.
  std::string_view ahead() const { return lines_.ahead(); }
  bool will_refill() const { return lines_.will_refill(); }
  uint64_t next_number() const { return lines_.next_number(); }
  void skip(size_t bytes, uint64_t lines, bool is_ascii = false) {
    counts_.add_whole(ahead().substr(0, bytes), lines, is_ascii);
    lines_.skip(bytes, lines);
  }

 private:
  size_t read_block(char* buffer);

  LineStream& stream_;
  std::unique_lock<std::mutex> turn_;
  size_t block_bytes_;  ///< Read at a time, whatever room there is: stretches depend on it.
  bool is_none_;
  bool is_last_ = false;
  uint32_t index_ = 0;
  LineCounts counts_;
  LineReader lines_;  ///< Reads when it is made, and is last for that.
};

}  // namespace ncclog
