#include "input/line_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/odd_bytes.h"

namespace ncclog {
namespace {

/// Bytes that are searched for odd ones at a time: few, for lines may be skipped without a search,
/// and one odd byte has all lines beside it looked at singly.
constexpr size_t kCheckedBytes = size_t{4} << 10;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineBuffer::LineBuffer(size_t block_bytes)
    : size_(kMaxLineBytes + block_bytes), bytes_(new char[size_ + kPaddingBytes]) {
  std::fill_n(bytes_.get() + size_, kPaddingBytes, '\0');
}

// A piece is read on only while it is not too long, so a whole block always fits behind it.
LineReader::LineReader(ReadBlock read_block, uint64_t offset)
    : read_block_(std::move(read_block)),
      own_(kBlockBytes),
      data_(own_->bytes().data()),
      size_(own_->bytes().size()),
      base_(offset),
      first_number_(1),
      number_(1) {
  if (offset == 0) skip_byte_order_mark();
}

LineReader::LineReader(ReadBlock read_block, std::span<char> memory, LinePlace from)
    : read_block_(std::move(read_block)),
      data_(memory.data()),
      size_(memory.size()),
      base_(from.offset),
      first_number_(from.number),
      number_(from.number) {
  if (from.offset == 0) skip_byte_order_mark();
}

/// Everything but a whole line of ordinary bytes that lies in the buffer.
bool LineReader::next_slowly(Line& line) {
  if (is_cut_piece_) skip_rest_of_piece();
  if (is_after_cr_) finish_line_end();
  const size_t piece_end = find_piece_end();
  if (begin_ == end_) return false;
  const size_t length = piece_end - begin_;
  line.text = {data_ + begin_, std::min(length, kMaxLineBytes)};
  line.number = number_;
  line.offset = base_ + begin_;
  line.cut = length > kMaxLineBytes;
  const OddBytes odd = find_odd_bytes(begin_ < odd_until_ ? line.text : std::string_view());
  line.has_control = odd.control;
  line.has_high = odd.high;
  consume(piece_end);
  return true;
}

/// The "\r" or "\n" that ends the piece at begin_; end_ if the input ends first, or if the piece is
/// already too long.
size_t LineReader::find_piece_end() {
  size_t unseen = begin_;
  for (;;) {
    const size_t newline = find_newline();
    check_until(newline);
    const size_t found = unseen < odd_until_ ? find('\r', unseen, newline) : newline;
    if (found < end_) return found;
    const size_t seen = end_ - begin_;
    if (seen > kMaxLineBytes || !refill()) return end_;
    unseen = begin_ + seen;
  }
}

size_t LineReader::find_newline() {
  if (newline_ < begin_) newline_ = find('\n', begin_, end_);
  return newline_;
}

/// Moves [begin_, end_) to the front and reads one block behind it; false at the end of the input.
bool LineReader::refill() {
  if (is_at_end_) return false;
  const bool has_newline = find_newline() < end_;
  if (begin_ > 0) {
    std::memmove(data_, data_ + begin_, end_ - begin_);
    base_ += begin_;
    newline_ -= begin_;
    whole_until_ -= std::min(whole_until_, begin_);
    odd_until_ -= std::min(odd_until_, begin_);
    checked_until_ -= std::min(checked_until_, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const size_t got = read_block_(data_ + end_, size_ - end_);
  const size_t old_end = std::exchange(end_, end_ + got);
  if (!has_newline) newline_ = find('\n', old_end, end_);
  const size_t last = std::string_view(data_ + old_end, got).rfind('\n');
  if (last != std::string_view::npos) whole_until_ = old_end + last + 1;
  is_at_end_ = got == 0;
  return got > 0;
}

void LineReader::check_until(size_t place) {
  checked_until_ = std::max(checked_until_, begin_);
  while (checked_until_ < place) {
    const size_t count = std::min(kCheckedBytes, end_ - checked_until_);
    const bool is_odd = find_odd_bytes({data_ + checked_until_, count}) != OddBytes{};
    checked_until_ += count;
    if (is_odd) odd_until_ = checked_until_;
  }
}

void LineReader::skip_byte_order_mark() {
  while (end_ - begin_ < kByteOrderMark.size() && refill()) {
  }
  const std::string_view start(data_, end_);
  if (start.starts_with(kByteOrderMark)) begin_ += kByteOrderMark.size();
}

/// The "\r" may be the last byte of its block, so its "\n" is looked for only now.
void LineReader::finish_line_end() {
  is_after_cr_ = false;
  if (begin_ == end_ && !refill()) return;
  if (data_[begin_] == '\n') consume(begin_);
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
  const bool ends_line = data_[piece_end] == '\n';
  begin_ = piece_end + 1;
  is_after_cr_ = !ends_line;
  if (ends_line) ++number_;
}

}  // namespace ncclog
