// From the bytes of an input to its lines, in stretches that threads read at the same time.
//
//   logs/a.txt   100 MiB  -> unit 0 [0, 33554519)  unit 1 [33554519, 67109001)  unit 2 ...
//   logs/b.gz             -> unit 3, whole
//
//   cut_units    which stretches are read; all boundaries are found before anything is read
//   LineReader   blocks of bytes in, lines out, in bounded memory, whatever the bytes are
//   UnitReader   the lines of one unit, and what became of it
//   LineStream   one packed stream, from which threads take turns to unpack a stretch each
//
// Nothing here throws for what an input holds or lacks, and nothing looks at what lines say: that
// is the log layer's work.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
#include "base/loss_table.h"
#include "input/byte_source.h"
#include "input/find_inputs.h"

namespace ncclog {

/// A whole input, or a stretch of a large plain file.
struct Unit {
  uint32_t index = 0;  ///< Its place in the run, over all inputs: SourceRef::unit.
  uint32_t input = 0;  ///< Index of its input.
  uint64_t begin = 0;  ///< First byte.
  uint64_t end = 0;    ///< One past its last byte, if not `whole`; else unused and 0.
  bool whole = true;   ///< The input is this unit; it is read to its end, wherever that is.

  bool operator==(const Unit&) const = default;
};

struct CutOptions {
  /// Files larger than this are cut, into stretches of at least this many bytes; at least 1.
  uint64_t unit_bytes = uint64_t{32} << 20;

  /// Whether a unit may start with this line, given without its line end. Empty: any line will do.
  std::function<bool(std::string_view line)> may_start_unit = {};
};

/// The units of `inputs` (paths as find_inputs returns them), in input order, indexed from 0.
///
/// Neighbours cannot disagree on a boundary: a line belongs to the unit in which it starts, and
/// every boundary is the start of a line.
/// Only plain regular text files are cut; the last stretch of one ends where the file ended now.
/// Where no line may start a unit within 1 MiB, the stretch is made longer instead.
std::vector<Unit> cut_units(std::span<const std::string> inputs, const CutOptions& options);

// Blocks of bytes in, lines out, in bounded memory, whatever the bytes are.
//
//   "a\n"  "b\r\n"  "10%\r20%\r\n"  "\n"  "last"
//   1 a    2 b      3 10%  3 20%    4     5 last
//
// A line ends with "\n", "\r\n" or a lone "\r", as progress bars print it; the last one may have no
// end. Lines are numbered as grep and editors do, by "\n" alone, because people jump to what the
// report cites: pieces between lone "\r" share their line's number and differ by offset. Empty
// pieces and lines are delivered. A UTF-8 byte order mark at the start of the input is left out.

/// Of a longer piece only this many bytes are delivered, as one line with `cut` set.
inline constexpr size_t kMaxLineBytes = size_t{64} << 10;

/// Bytes that a LineReader of its own memory asks for at a time: they stay in the processor's cache
/// until their lines are read.
inline constexpr size_t kBlockBytes = size_t{256} << 10;

/// Memory in which lines are cut, so that readers that follow each other can share it.
class LineBuffer {
 public:
  /// Takes blocks of `block_bytes` > 0, after the piece of a line that the last one ended with.
  explicit LineBuffer(size_t block_bytes = kBlockBytes);

  /// For a LineReader. kPaddingBytes after it may be read as well.
  std::span<char> bytes() const { return {bytes_.get(), size_}; }

  /// Readable bytes of no meaning after the end of what a LineReader shows.
  static constexpr size_t kPaddingBytes = 64;

 private:
  size_t size_;
  std::unique_ptr<char[]> bytes_;
};

/// Where in an input reading begins.
struct LinePlace {
  uint64_t offset = 0;  ///< Of a line's first byte.
  uint64_t number = 1;  ///< Of that line.
};

/// Cuts a stream of blocks into lines.
///
/// Allocates nothing after it was made. Bytes are searched for odd ones once, some thousands at a
/// time; where there are none, a line costs one memchr for its "\n".
class LineReader {
 public:
  /// Writes at most `capacity` > 0 bytes to `buffer` and returns how many; 0 at the end.
  using ReadBlock = std::function<size_t(char* buffer, size_t capacity)>;

  /// `offset` is the place in the input of the first byte that `read_block` will deliver; it must
  /// be the start of a line.
  explicit LineReader(ReadBlock read_block, uint64_t offset = 0);

  /// The same in memory of a LineBuffer, more than kMaxLineBytes of it, which must outlive the
  /// reader and serves no other meanwhile.
  LineReader(ReadBlock read_block, std::span<char> memory, LinePlace from);

  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Fetches the next line; false at the end of the input. `line.text` lives until the next call.
  bool next(Line& line) {
    if (newline_ < begin_) newline_ = find('\n', begin_, end_);
    const size_t length = newline_ - begin_;
    const bool is_plain = begin_ >= odd_until_ && newline_ < checked_until_;
    if (!is_plain || is_after_cr_ || is_cut_piece_ || length > kMaxLineBytes) {
      return next_slowly(line);
    }
    line = {{data_ + begin_, length}, number_++, base_ + begin_, false, false, false};
    begin_ = newline_ + 1;
    ++lines_;
    return true;
  }

  /// The whole lines and pieces that lie in memory already, from the next one on, with their ends.
  /// Empty if there are none. Lives as `line.text` does.
  std::string_view ahead() const {
    if (is_cut_piece_ || begin_ >= whole_until_) return {};
    return {data_ + begin_, whole_until_ - begin_};
  }

  /// Passes the first lines of `ahead`, which are without control codes. Their bytes are looked at
  /// only if they may not be ASCII.
  void skip(const LineRun& run);

  /// Whether the next call of `next` may overwrite what was delivered before; if not, all lines
  /// since the last call that did are still there.
  bool will_refill() const { return is_cut_piece_ || begin_ >= whole_until_; }

  /// The number of the line that `next` gives.
  uint64_t next_number() const { return number_; }

  /// How many "\n" the lines so far ended with; all of the input's once `next` has returned false.
  uint64_t newlines() const { return number_ - first_number_; }

  /// How many lines were delivered or passed, and what of them is lost or misread.
  uint64_t lines() const { return lines_; }
  const LossTable& losses() const { return losses_; }

 private:
  /// The first `wanted` in [begin, end), or `end`.
  size_t find(char wanted, size_t begin, size_t end) const {
    if (begin == end) return end;
    const void* found = std::memchr(data_ + begin, wanted, end - begin);
    return found == nullptr ? end : static_cast<size_t>(static_cast<const char*>(found) - data_);
  }

  bool next_slowly(Line& line);
  void add_losses(const Line& line);
  size_t find_piece_end();
  bool refill();
  void check_until(size_t place);
  void skip_byte_order_mark();
  void finish_line_end();
  void skip_rest_of_piece();
  void consume(size_t piece_end);
  size_t find_newline();
  void find_whole_pieces(size_t from);

  ReadBlock read_block_;
  std::optional<LineBuffer> own_;  ///< Empty if the memory is borrowed.
  char* data_;
  size_t size_;         ///< Of data_.
  size_t begin_ = 0;    ///< First byte not yet delivered or dropped. begin_ <= end_.
  size_t end_ = 0;      ///< One past the last byte read. end_ <= size_.
  size_t newline_ = 0;  ///< The first "\n" in [begin_, end_); end_: none; < begin_: not looked for.
  size_t whole_until_ = 0;  ///< One past the last end of a piece in [0, end_); 0: there is none.
  size_t odd_until_ = 0;  ///< Bytes in [odd_until_, checked_until_) are ASCII and no control codes.
  size_t checked_until_ = 0;  ///< odd_until_ <= checked_until_ <= end_.
  uint64_t base_;             ///< Place in the input of data_[0].
  uint64_t first_number_;
  uint64_t number_;         ///< Of the line that begin_ is in.
  bool is_at_end_ = false;  ///< read_block_ has returned 0.
  /// The byte before begin_ is "\r"; a "\n" at begin_, which was not there yet, belongs to it.
  bool is_after_cr_ = false;
  /// [begin_, end_) starts the piece delivered last, its end not seen.
  bool is_cut_piece_ = false;
  uint64_t lines_ = 0;
  LossTable losses_;
};

// One unit, read line by line, and what became of it.
//
//   Unit{input: "logs/node1.log.gz", whole}
//   -> each line to the callback, then {Cut, gzip, text, 81234 bytes, 911 lines, "The gzip data
//      ends early; what could be unpacked was read."} and one InputCut in its loss table

struct ReadOptions {
  /// Bytes that a compressed input, or all members of an archive together, may expand to.
  uint64_t max_expanded = uint64_t{64} << 30;
  /// Of a LineBuffer, for the lines of one unit at a time; empty: each reader has memory of its
  /// own.
  std::span<char> memory = {};
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

/// A unit being read, as lines or, where its content is none, as bytes. Invariant: `next` reads
/// nothing of an input that is not a log.
class UnitReader {
 public:
  /// `source` holds the bytes of `unit` and must outlive the reader.
  UnitReader(const Unit& unit, ByteSource& source, std::span<char> memory = {});
  UnitReader(const UnitReader&) = delete;
  UnitReader& operator=(const UnitReader&) = delete;

  Content content() const { return result_.content; }

  /// Whether its bytes can be had only one after the other, so that several threads have to take
  /// turns (LineStream) if they are many: of all but plain files on the disk.
  bool is_stream() const { return source_.is_stream(); }

  /// Fetches the next line; false at the end of the unit. `line.text` lives until the next call.
  bool next(Line& line) {
    if (!lines_) start_lines();
    return lines_->next(line);
  }

  /// As LineReader's.
  std::string_view ahead() const { return lines_ ? lines_->ahead() : std::string_view(); }
  bool will_refill() const { return !lines_ || lines_->will_refill(); }
  uint64_t next_number() const { return lines_ ? lines_->next_number() : 1; }
  void skip(const LineRun& run) { lines_->skip(run); }

  /// Bytes of a log for those who cut its lines themselves; 0 at its end.
  size_t read_block(char* buffer, size_t capacity);

  /// Adds what became of such lines.
  void add(const LineReader& lines);

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
  bool is_read_ = false;  ///< Its bytes were asked for, even if they are no lines.
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
  /// For the counts of lines that `input_` gets: nobody waits for the turn to do that.
  std::mutex counting_;
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
  bool next(Line& line) { return lines_.next(line); }

  /// As LineReader's.
  std::string_view ahead() const { return lines_.ahead(); }
  bool will_refill() const { return lines_.will_refill(); }
  uint64_t next_number() const { return lines_.next_number(); }
  void skip(const LineRun& run) { lines_.skip(run); }

 private:
  size_t read_block(char* buffer);

  LineStream& stream_;
  std::unique_lock<std::mutex> turn_;
  size_t block_bytes_;  ///< Read at a time, whatever room there is: stretches depend on it.
  bool is_none_;
  bool is_last_ = false;
  uint32_t index_ = 0;
  LineReader lines_;  ///< Reads when it is made, and is last for that.
};

}  // namespace ncclog
