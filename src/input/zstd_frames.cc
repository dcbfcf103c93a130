#include "input/zstd_frames.h"

#include <algorithm>

namespace ncclog {
namespace {

constexpr uint32_t kMagic = 0xFD2FB528;
constexpr uint32_t kSkippableMagic = 0x184D2A50;  // The low four bits are free.

bool is_skippable(uint32_t magic) { return (magic & 0xFFFFFFF0) == kSkippableMagic; }

/// Whether the first `count` bytes, little-endian in `field`, can begin a frame.
bool can_be_magic(uint32_t field, int count) {
  const uint32_t mask = count >= 4 ? 0xFFFFFFFF : (1U << (8 * count)) - 1;
  return (field & mask) == (kMagic & mask) ||
         (field & mask & 0xFFFFFFF0) == (kSkippableMagic & mask);
}

/// Bytes of the frame header after its descriptor: window, dictionary id and content size.
uint64_t header_length(uint32_t descriptor) {
  constexpr uint64_t kDictionaryId[] = {0, 1, 2, 4};
  constexpr uint64_t kContentSize[] = {0, 2, 4, 8};
  const bool single_segment = (descriptor & 0x20) != 0;
  const uint32_t size_code = descriptor >> 6;
  const uint64_t content_size = size_code == 0 && single_segment ? 1 : kContentSize[size_code];
  return (single_segment ? 0 : 1) + kDictionaryId[descriptor & 3] + content_size;
}

}  // namespace

size_t ZstdFrames::next(const char* begin, const char* end) const {
  if (is_stray(begin, end)) return 0;
  return static_cast<size_t>(std::min<uint64_t>(left_, static_cast<uint64_t>(end - begin)));
}

bool ZstdFrames::is_stray(const char* begin, const char* end) const {
  if (piece_ != Piece::Magic) return false;
  uint32_t field = field_;
  int count = field_bytes_;
  for (; begin != end && count < 4; ++begin, ++count) {
    field |= static_cast<uint32_t>(static_cast<uint8_t>(*begin)) << (8 * count);
  }
  return !can_be_magic(field, count);
}

void ZstdFrames::advance(const char* begin, size_t count) {
  const bool is_field = piece_ == Piece::Magic || piece_ == Piece::SkippableSize ||
                        piece_ == Piece::Descriptor || piece_ == Piece::BlockHeader;
  for (size_t i = 0; is_field && i < count; ++i, ++field_bytes_) {
    field_ |= static_cast<uint32_t>(static_cast<uint8_t>(begin[i])) << (8 * field_bytes_);
  }
  left_ -= count;
  if (left_ == 0) finish_piece();
}

void ZstdFrames::expect(Piece piece, uint64_t length) {
  piece_ = piece;
  left_ = length;
  field_ = 0;
  field_bytes_ = 0;
}

void ZstdFrames::finish_piece() {
  switch (piece_) {
    case Piece::Magic:
      return start_frame();
    case Piece::SkippableSize:
      return field_ > 0 ? expect(Piece::Skip, field_) : expect(Piece::Magic, 4);
    case Piece::Descriptor:
      return start_header();
    case Piece::Header:
      return expect(Piece::BlockHeader, 3);
    case Piece::BlockHeader:
      return start_block();
    case Piece::Block:
      return end_block();
    case Piece::Checksum:
    case Piece::Skip:
      return expect(Piece::Magic, 4);
  }
}

void ZstdFrames::start_frame() {
  return is_skippable(field_) ? expect(Piece::SkippableSize, 4) : expect(Piece::Descriptor, 1);
}

void ZstdFrames::start_header() {
  has_checksum_ = (field_ & 4) != 0;
  const uint64_t length = header_length(field_);
  return length > 0 ? expect(Piece::Header, length) : expect(Piece::BlockHeader, 3);
}

void ZstdFrames::start_block() {
  constexpr uint32_t kRepeatedByte = 1;
  is_last_block_ = (field_ & 1) != 0;
  const uint32_t type = (field_ >> 1) & 3;
  const uint64_t length = type == kRepeatedByte ? 1 : field_ >> 3;
  return length > 0 ? expect(Piece::Block, length) : end_block();
}

void ZstdFrames::end_block() {
  if (!is_last_block_) return expect(Piece::BlockHeader, 3);
  return has_checksum_ ? expect(Piece::Checksum, 4) : expect(Piece::Magic, 4);
}

}  // namespace ncclog
