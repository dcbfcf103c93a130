// Where do the pieces of a zstd stream begin and end?
//
//   28 b5 2f fd | 24 | 5c | 2d 00 00 | 5 bytes | .. | 31 40 ff 2e
//   magic       descriptor, header, block header, block, checksum
//
// The zstd filter at hand neither says whether the input stopped inside a frame nor how much it
// produced before an error. Both follow from the framing (RFC 8878, section 3.1): feed the filter
// one piece at a time, and look whether the last piece ended a frame.

#pragma once

#include <cstddef>
#include <cstdint>

namespace ncclog {

/// Follows the framing of a zstd stream, byte by byte, without decoding it.
///
/// Invariant: `left_` > 0 bytes of the piece `piece_` have not been seen yet, unless the stream is
/// no zstd from here on.
class ZstdFrames {
 public:
  /// The number of bytes of [begin, end) that can be decoded as one piece: never more than the rest
  /// of one block. 0 only if the range is empty or is_stray().
  size_t next(const char* begin, const char* end) const;

  /// `count` bytes from `begin` were used; at most what `next` gave.
  void advance(const char* begin, size_t count);

  /// All frames so far are complete.
  bool at_boundary() const { return piece_ == Piece::Magic && left_ == 4; }

  /// What stands where a frame should start is not zstd.
  bool is_stray(const char* begin, const char* end) const;

 private:
  enum class Piece { Magic, SkippableSize, Descriptor, Header, BlockHeader, Block, Checksum, Skip };

  void expect(Piece piece, uint64_t length);
  void finish_piece();
  void start_frame();
  void start_header();
  void start_block();
  void end_block();

  Piece piece_ = Piece::Magic;
  uint64_t left_ = 4;
  uint32_t field_ = 0;  ///< The bytes seen of a magic, size, descriptor or block header, LE.
  int field_bytes_ = 0;
  bool has_checksum_ = false;
  bool is_last_block_ = false;
};

}  // namespace ncclog
