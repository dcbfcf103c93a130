#include "input/line_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace ncclog {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

// A piece is read on only while it is not too long, so a whole block always fits behind it.
LineReader::LineReader(ReadBlock read_block, uint64_t offset)
    : read_block_(std::move(read_block)), buffer_(kMaxLineBytes + kBlockBytes), base_(offset) {
  if (offset == 0) skip_byte_order_mark();
}

bool LineReader::next(Line& line) {
  if (is_cut_piece_) skip_rest_of_piece();
  if (is_after_cr_) finish_line_end();
  const size_t piece_end = find_piece_end();
  if (begin_ == end_) return false;
  const size_t length = piece_end - begin_;
  line.text = {buffer_.data() + begin_, std::min(length, kMaxLineBytes)};
  line.number = number_;
  line.offset = base_ + begin_;
  line.cut = length > kMaxLineBytes;
  consume(piece_end);
  return true;
}

/// The first `wanted` in [begin, end), or `end`.
size_t LineReader::find(char wanted, size_t begin, size_t end) const {
  if (begin == end) return end;
  const char* data = buffer_.data();
  const void* found = std::memchr(data + begin, wanted, end - begin);
  return found == nullptr ? end : static_cast<size_t>(static_cast<const char*>(found) - data);
}

/// The "\r" or "\n" that ends the piece at begin_; end_ if the input ends first, or if the piece is
/// already too long.
size_t LineReader::find_piece_end() {
  size_t unseen = begin_;
  for (;;) {
    const size_t found = find('\r', unseen, newline_);
    if (found < end_) return found;
    const size_t seen = end_ - begin_;
    if (seen > kMaxLineBytes || !refill()) return end_;
    unseen = begin_ + seen;
  }
}

/// Moves [begin_, end_) to the front and reads one block behind it; false at the end of the input.
bool LineReader::refill() {
  if (is_at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    base_ += begin_;
    newline_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  const bool has_newline = newline_ < end_;
  const size_t got = read_block_(buffer_.data() + end_, buffer_.size() - end_);
  const size_t old_end = std::exchange(end_, end_ + got);
  if (!has_newline) newline_ = find('\n', old_end, end_);
  is_at_end_ = got == 0;
  return got > 0;
}

void LineReader::skip_byte_order_mark() {
  while (end_ - begin_ < kByteOrderMark.size() && refill()) {
  }
  const std::string_view start(buffer_.data(), end_);
  if (start.starts_with(kByteOrderMark)) begin_ += kByteOrderMark.size();
}

/// The "\r" may be the last byte of its block, so its "\n" is looked for only now.
void LineReader::finish_line_end() {
  is_after_cr_ = false;
  if (begin_ == end_ && !refill()) return;
  if (buffer_[begin_] == '\n') consume(begin_);
}

void LineReader::skip_rest_of_piece() {
  is_cut_piece_ = false;
  size_t piece_end = end_;
  while (piece_end == end_) {
    begin_ = newline_ = end_;
    if (!refill()) return;
    piece_end = find_piece_end();
  }
  consume(piece_end);
}

/// Moves past a piece and its end; one whose end is not in the buffer stays, for its view's sake.
void LineReader::consume(size_t piece_end) {
  if (piece_end == end_) {
    is_cut_piece_ = !is_at_end_;
    if (is_at_end_) begin_ = end_;
    return;
  }
  const bool ends_line = buffer_[piece_end] == '\n';
  begin_ = piece_end + 1;
  is_after_cr_ = !ends_line;
  if (!ends_line) return;
  ++number_;
  newline_ = find('\n', begin_, end_);
}

}  // namespace ncclog
