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
#include <functional>
#include <vector>

#include "base/line.h"

namespace ncclog {

/// Of a longer piece only this many bytes are delivered, as one line with `cut` set.
inline constexpr size_t kMaxLineBytes = size_t{64} << 10;

/// Cuts a stream of blocks into lines.
///
/// Allocates once, when it is made. Every byte is looked at twice, by memchr: for "\n" when its
/// block arrives, for "\r" when its line is delivered.
class LineReader {
 public:
  /// Writes at most `capacity` > 0 bytes to `buffer` and returns how many; 0 at the end.
  using ReadBlock = std::function<size_t(char* buffer, size_t capacity)>;

  /// `offset` is the place in the input of the first byte that `read_block` will deliver; it must
  /// be the start of a line.
  explicit LineReader(ReadBlock read_block, uint64_t offset = 0);

  /// Fetches the next line; false at the end of the input. `line.text` lives until the next call.
  bool next(Line& line);

  /// How many "\n" the lines so far ended with; all of the input's once `next` has returned false.
  uint64_t newlines() const { return number_ - 1; }

 private:
  size_t find(char wanted, size_t begin, size_t end) const;
  size_t find_piece_end();
  bool refill();
  void skip_byte_order_mark();
  void finish_line_end();
  void skip_rest_of_piece();
  void consume(size_t piece_end);

  ReadBlock read_block_;
  std::vector<char> buffer_;
  size_t begin_ = 0;     ///< First byte not yet delivered or dropped. begin_ <= newline_ <= end_.
  size_t end_ = 0;       ///< One past the last byte read. end_ <= buffer_.size().
  size_t newline_ = 0;   ///< The first "\n" in [begin_, end_); end_ if there is none.
  uint64_t base_;        ///< Place in the input of buffer_[0].
  uint64_t number_ = 1;  ///< Of the line that begin_ is in.
  bool is_at_end_ = false;    ///< read_block_ has returned 0.
  bool is_after_cr_ = false;  ///< The byte before begin_ is "\r"; a "\n" at begin_ belongs to it.
  bool is_cut_piece_ =
      false;  ///< [begin_, end_) starts the piece delivered last, its end not seen.
};

}  // namespace ncclog
