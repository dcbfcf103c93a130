#include "input/line_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/odd_bytes.h"

namespace ncclog {
namespace {

/// What of a line may start a stretch is judged by: its first piece, as far as it is kept.
std::string_view first_piece(std::string_view line) {
  return line.substr(0, std::min(line.find('\r'), kMaxLineBytes));
}

}  // namespace

LineStream::LineStream(UnitReader& input, MayStart may_start)
    : input_(input), may_start_(std::move(may_start)) {}

/// The last whole line of `block` that may start a stretch; 0 if none in its last quarter may.
size_t LineStream::find_boundary(std::string_view block) const {
  const size_t least = block.size() - block.size() / 4;
  size_t end = block.rfind('\n');
  while (end != block.npos && end > least) {
    const size_t before = block.rfind('\n', end - 1);
    if (before == block.npos || before < least) return 0;
    const size_t begin = before + 1;
    if (may_start_(first_piece(block.substr(begin, end - begin)))) return begin;
    end = before;
  }
  return 0;
}

/// Reads until the buffer is full or the input ends.
size_t LineStream::fill(char* buffer, size_t capacity) {
  size_t size = carry_.copy(buffer, capacity);
  carry_.clear();
  while (size < capacity) {
    const size_t count = input_.read_block(buffer + size, capacity - size);
    if (count == 0) break;
    size += count;
  }
  return size;
}

Stretch::Stretch(LineStream& stream, std::span<char> memory)
    : stream_(stream),
      turn_(stream.turn_),
      block_bytes_(memory.size() - kMaxLineBytes),
      is_none_(stream.is_over_),
      index_(is_none_ ? stream.stretches_ : stream.stretches_++),
      lines_([this](char* buffer, size_t) { return read_block(buffer); }, memory, stream.next_) {}

/// With the turn: bytes of the stream up to the end of the stretch, or a block in which it does not
/// end. Without: nothing more.
size_t Stretch::read_block(char* buffer) {
  if (!turn_.owns_lock() || is_none_) return 0;
  const size_t size = stream_.fill(buffer, block_bytes_);
  is_last_ = stream_.is_over_ = size < block_bytes_;
  const std::string_view block(buffer, size);
  const size_t boundary = is_last_ ? 0 : stream_.find_boundary(block);
  const std::string_view own = boundary == 0 ? block : block.substr(0, boundary);
  stream_.carry_ = block.substr(own.size());
  stream_.next_.offset += own.size();
  stream_.next_.number += count_newlines(own);
  if (is_last_ || boundary > 0) turn_.unlock();
  return own.size();
}

/// What could not be read to its end is not gone on with.
Stretch::~Stretch() {
  if (turn_.owns_lock()) stream_.is_over_ = true;
  if (is_none_) return;
  const std::lock_guard lock(stream_.counting_);
  stream_.input_.add(counts_, lines_.newlines());
}

}  // namespace ncclog
