// Blocks of bytes in, lines out, in bounded memory, whatever the bytes are.
//
//   "a\n"  "b\r\n"  "10%\r20%\r\n"  "\n"  "last"
//   1 a    2 b      3 10%  3 20%    4     5 last
//
// A line ends with "\n", "\r\n" or a lone "\r", as progress bars print it; the last one may have no
// end. Lines are numbered as grep and editors do, by "\n" alone, because people jump to what the
// report cites: pieces between lone "\r" share their line's number and differ by offset. Empty
// pieces and lines are delivered. A UTF-8 byte order mark at the start of the input is left out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/line.h"

namespace ncclog {

/// Of a longer piece only this many bytes are delivered, as one line with `cut` set.
inline constexpr size_t kMaxLineBytes = size_t{64} << 10;

/// Bytes that a LineReader of its own memory asks for at a time: they stay in the processor's cache
/// until their lines are read.
inline constexpr size_t kBlockBytes = size_t{256} << 10;

/// Memory in which lines are cut, so that readers that follow each other can share it.
class LineBuffer {
 public:
  /// Takes blocks of `block_bytes` > 0, behind the piece of a line that the last one ended with.
  explicit LineBuffer(size_t block_bytes = kBlockBytes);

  /// For a LineReader. kPaddingBytes behind it may be read as well.
  std::span<char> bytes() const { return {bytes_.get(), size_}; }

  /// Readable bytes of no meaning behind the end of what a LineReader shows.
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
    return true;
  }

  /// The whole lines that lie in memory already, from the next one on, with their line ends. Empty
  /// if there are none, or if the next piece does not start a line. Lives as `line.text` does.
  std::string_view ahead() const {
    if (is_after_cr_ || is_cut_piece_ || begin_ >= whole_until_) return {};
    return {data_ + begin_, whole_until_ - begin_};
  }

  /// Passes the first `bytes` of `ahead`: `lines` whole lines that end with "\n" alone.
  void skip(size_t bytes, uint64_t lines) {
    begin_ += bytes;
    number_ += lines;
  }

  /// Whether the next call of `next` may overwrite what was delivered before; if not, all lines
  /// since the last call that did are still there.
  bool will_refill() const {
    // Behind a "\r" there may be the "\n" that belongs to it, and nothing else.
    return is_cut_piece_ || begin_ + (is_after_cr_ ? 1 : 0) >= whole_until_;
  }

  /// The number of the line that `next` gives.
  uint64_t next_number() const { return number_; }

  /// How many "\n" the lines so far ended with; all of the input's once `next` has returned false.
  uint64_t newlines() const { return number_ - first_number_; }

 private:
  /// The first `wanted` in [begin, end), or `end`.
  size_t find(char wanted, size_t begin, size_t end) const {
    if (begin == end) return end;
    const void* found = std::memchr(data_ + begin, wanted, end - begin);
    return found == nullptr ? end : static_cast<size_t>(static_cast<const char*>(found) - data_);
  }

  bool next_slowly(Line& line);
  size_t find_piece_end();
  bool refill();
  void check_until(size_t place);
  void skip_byte_order_mark();
  void finish_line_end();
  void skip_rest_of_piece();
  void consume(size_t piece_end);
  size_t find_newline();

  ReadBlock read_block_;
  std::optional<LineBuffer> own_;  ///< Empty if the memory is borrowed.
  char* data_;
  size_t size_;         ///< Of data_.
  size_t begin_ = 0;    ///< First byte not yet delivered or dropped. begin_ <= end_.
  size_t end_ = 0;      ///< One past the last byte read. end_ <= size_.
  size_t newline_ = 0;  ///< The first "\n" in [begin_, end_); end_: none; < begin_: not looked for.
  size_t whole_until_ = 0;  ///< One past the last "\n" in [0, end_); 0 if there is none.
  size_t odd_until_ = 0;  ///< Bytes in [odd_until_, checked_until_) are ASCII and no control codes.
  size_t checked_until_ = 0;  ///< odd_until_ <= checked_until_ <= end_.
  uint64_t base_;             ///< Place in the input of data_[0].
  uint64_t first_number_;
  uint64_t number_;           ///< Of the line that begin_ is in.
  bool is_at_end_ = false;    ///< read_block_ has returned 0.
  bool is_after_cr_ = false;  ///< The byte before begin_ is "\r"; a "\n" at begin_ belongs to it.
  bool is_cut_piece_ =
      false;  ///< [begin_, end_) starts the piece delivered last, its end not seen.
};

}  // namespace ncclog
