// The filters are driven through `filter()`, which moves its pointers before it reports an error:
// as streams they would drop up to a buffer of good output when the data turns bad.

#include "input/byte_source.h"

#ifdef NCCLOG_GZIP_BY_ZLIB
#include <zlib.h>
#else
#include <isa-l/igzip_lib.h>
#endif

#include <algorithm>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

namespace bio = boost::iostreams;

/// Runs a filter over the span. True while the filter expects more. Throws what the filter throws.
bool run_filter(auto& stream, DecodeSpan& span) {
  return stream.filter().filter(span.in, span.in_end, span.out, span.out_end, span.is_last);
}

// Gzip, one member after the other.
//
//   1f 8b 08 00 | time, flags | deflate data | sum, length        one member
//
// `filter` of either library says More, Corrupt, or End where a member is complete and its sum is
// right: the next call begins another one.
//
// By ISA-L, which unpacks three to five times as fast as zlib and checks the sum on its way; by
// zlib in builds that have no ISA-L to link, such as the static executable. Neither is copyable:
// their states point into themselves.

/// Both libraries count in 32 bits.
uint32_t room(const char* begin, const char* end) {
  constexpr ptrdiff_t kMost = std::numeric_limits<int32_t>::max();
  return static_cast<uint32_t>(std::min(end - begin, kMost));
}

#ifndef NCCLOG_GZIP_BY_ZLIB
class GzipMembers {
 public:
  GzipMembers() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }
  GzipMembers(const GzipMembers&) = delete;
  GzipMembers& operator=(const GzipMembers&) = delete;

  DecodeStep filter(DecodeSpan& span) {
    if (!is_corrupt_) {
      const DecodeStep result = inflate(span);
      if (!is_corrupt_) return result;
    }
    return drain(span) ? DecodeStep::More : DecodeStep::Corrupt;
  }

 private:
  DecodeStep inflate(DecodeSpan& span) {
    // ISA-L does not write to its input, but does not say so.
    const char* const begin = span.in;
    char* const out = span.out;
    state_.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(begin));
    state_.avail_in = room(span.in, span.in_end);
    state_.next_out = reinterpret_cast<uint8_t*>(span.out);
    state_.avail_out = room(span.out, span.out_end);
    const int code = isal_inflate(&state_);
    span.in = reinterpret_cast<const char*>(state_.next_in);
    span.out = reinterpret_cast<char*>(state_.next_out);
    if (code == ISAL_INVALID_LOOKBACK || code == ISAL_INVALID_SYMBOL) drop_unmade_copy(out, span);
    is_corrupt_ = code < ISAL_DECOMP_OK;
    if (has_unknown_flags(begin, span.in)) {
      is_corrupt_ = true;
      span.out = out;  // Nothing that stands behind them in the member.
      state_.tmp_out_processed = state_.tmp_out_valid;
    }
    if (is_corrupt_ || state_.block_state != ISAL_BLOCK_FINISH) return DecodeStep::More;
    isal_inflate_reset(&state_);
    header_bytes_ = 0;
    return DecodeStep::End;
  }

  /// ISA-L does not mind flags that RFC 1952 reserves; zlib and gzip refuse such data.
  bool has_unknown_flags(const char* begin, const char* end) {
    constexpr int kFlagsAt = 3;
    constexpr int kReserved = 0xE0;
    for (; begin != end && header_bytes_ <= kFlagsAt; ++begin) {
      if (header_bytes_++ == kFlagsAt && (*begin & kReserved) != 0) return true;
    }
    return false;
  }

  /// ISA-L has counted the bytes of a copy from nowhere, and made none of them. In their place
  /// stands whatever was there; the first two are the symbol of their number, 254 more.
  void drop_unmade_copy(const char* begin, DecodeSpan& span) {
    const int left = state_.tmp_out_valid - state_.tmp_out_processed;
    const auto before_end = [&](int bytes) {
      return bytes <= left ? state_.tmp_out_buffer[state_.tmp_out_valid - bytes]
                           : static_cast<uint8_t>(span.out[left - bytes]);
    };
    for (auto bytes = static_cast<int>(std::min<ptrdiff_t>(258, left + (span.out - begin)));
         bytes >= 3; --bytes) {
      if (before_end(bytes) + 256 * before_end(bytes - 1) != 254 + bytes) continue;
      state_.tmp_out_valid -= std::min(bytes, left);
      span.out -= bytes - std::min(bytes, left);
      return;
    }
  }

  /// ISA-L unpacks into a buffer of its own first. When it meets damage there, good bytes may be
  /// left in it.
  bool drain(DecodeSpan& span) {
    const int left = state_.tmp_out_valid - state_.tmp_out_processed;
    if (left <= 0) return false;
    const auto count = std::min<ptrdiff_t>(left, span.out_end - span.out);
    span.out = std::copy_n(state_.tmp_out_buffer + state_.tmp_out_processed, count, span.out);
    state_.tmp_out_processed += static_cast<int32_t>(count);
    return true;
  }

  inflate_state state_;
  int header_bytes_ = 0;  ///< Of the member, that were read; those after the flags do not count.
  /// And what ISA-L had unpacked before may not all have been given out.
  bool is_corrupt_ = false;
};
#else
class GzipMembers {
 public:
  GzipMembers() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~GzipMembers() { inflateEnd(&stream_); }
  GzipMembers(const GzipMembers&) = delete;
  GzipMembers& operator=(const GzipMembers&) = delete;

  DecodeStep filter(DecodeSpan& span) {
    if (is_corrupt_) return DecodeStep::Corrupt;
    // zlib does not write to its input, but says so only if asked to.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(span.in));
    stream_.avail_in = room(span.in, span.in_end);
    stream_.next_out = reinterpret_cast<Bytef*>(span.out);
    stream_.avail_out = room(span.out, span.out_end);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    span.in = reinterpret_cast<const char*>(stream_.next_in);
    span.out = reinterpret_cast<char*>(stream_.next_out);
    if (code == Z_STREAM_END) {
      inflateReset(&stream_);
      return DecodeStep::End;
    }
    // Z_BUF_ERROR: nothing to be done with what was given, which is for the caller to judge.
    is_corrupt_ = code != Z_OK && code != Z_BUF_ERROR;
    return is_corrupt_ ? DecodeStep::Corrupt : DecodeStep::More;
  }

 private:
  z_stream stream_{};
  bool is_corrupt_ = false;
};
#endif

struct Gzip {
  GzipMembers stream;
  bool between_members = false;

  DecodeStep operator()(DecodeSpan& span) {
    if (between_members) {
      // Tapes and pipes pad with zeros; gzip ignores them too.
      span.in = std::find_if(span.in, span.in_end, [](char c) { return c != '\0'; });
      if (span.in == span.in_end) return span.is_last ? DecodeStep::End : DecodeStep::More;
      if (*span.in != '\x1f') return DecodeStep::Stray;
    }
    const DecodeSpan before = span;
    const DecodeStep result = stream.filter(span);
    between_members = result == DecodeStep::End;
    if (result == DecodeStep::Corrupt) return DecodeStep::Corrupt;
    const bool is_stuck = !between_members && span.in == before.in && span.out == before.out;
    return is_stuck && span.is_last ? DecodeStep::Starved : DecodeStep::More;
  }
};

struct Bzip2 {
  bio::bzip2_decompressor stream;

  DecodeStep operator()(DecodeSpan& span) {
    try {
      return run_filter(stream, span) ? DecodeStep::More : DecodeStep::End;
    } catch (const bio::bzip2_error& error) {
      if (error.error() == bio::bzip2::unexpected_eof) return DecodeStep::Starved;
      // The first member's magic was right, or this codec would not have been chosen.
      const bool is_magic = error.error() == bio::bzip2::data_error_magic;
      return is_magic ? DecodeStep::Stray : DecodeStep::Corrupt;
    }
  }
};

/// liblzma takes stray bytes after a stream for a damaged stream header, and says so once it has
/// all 12 bytes of one. With fewer, they look like a second stream that was cut: Starved.
struct Xz {
  static constexpr size_t kHeaderBytes = 12;
  static constexpr std::string_view kMagic{
      "\xfd"
      "7zXZ\0",
      6};
  bio::lzma_decompressor stream;
  std::string tail;  ///< The last bytes that were eaten: the end of a footer and a header.

  DecodeStep operator()(DecodeSpan& span) {
    const char* before = span.in;
    try {
      const bool more = run_filter(stream, span);
      remember(before, span.in);
      return more ? DecodeStep::More : DecodeStep::End;
    } catch (const bio::lzma_error& error) {
      remember(before, span.in);
      if (error.error() == bio::lzma::buf_error) {
        return span.is_last ? DecodeStep::Starved : DecodeStep::More;
      }
      return is_stray_header() ? DecodeStep::Stray : DecodeStep::Corrupt;
    }
  }

  void remember(const char* begin, const char* end) {
    constexpr size_t kTailBytes = kHeaderBytes + 2;
    const size_t eaten = static_cast<size_t>(end - begin);
    tail.append(end - std::min(eaten, kTailBytes), std::min(eaten, kTailBytes));
    if (tail.size() > kTailBytes) tail.erase(0, tail.size() - kTailBytes);
  }

  /// A stream's footer ends with "YZ".
  bool is_stray_header() const {
    return tail.size() == kHeaderBytes + 2 && tail.starts_with("YZ") &&
           std::string_view(tail).substr(2, kMagic.size()) != kMagic;
  }
};

// Where do the pieces of a zstd stream begin and end?
//
//   28 b5 2f fd | 24 | 5c | 2d 00 00 | 5 bytes | .. | 31 40 ff 2e
//   magic       descriptor, header, block header, block, checksum
//
// The zstd filter at hand neither says whether the input stopped inside a frame nor how much it
// produced before an error. Both follow from the framing (RFC 8878, section 3.1): feed the filter
// one piece at a time, and look whether the last piece ended a frame.

/// Follows the framing of a zstd stream, byte by byte, without decoding it.
///
/// Invariant: `left_` > 0 bytes of the piece `piece_` have not been seen yet, unless the stream is
/// no zstd from here on.
class ZstdFrames {
 public:
  /// The number of bytes of [begin, end) that can be decoded as one piece: never more than the rest
  /// of one block.
  size_t next(const char* begin, const char* end) const {
    return static_cast<size_t>(std::min<uint64_t>(left_, static_cast<uint64_t>(end - begin)));
  }

  /// `count` bytes from `begin` were used; at most what `next` gave.
  void advance(const char* begin, size_t count) {
    const bool is_field = piece_ == Piece::Magic || piece_ == Piece::SkippableSize ||
                          piece_ == Piece::Descriptor || piece_ == Piece::BlockHeader;
    if (is_field) add_to_field(begin, begin + count, field_, field_bytes_);
    left_ -= count;
    if (left_ == 0) finish_piece();
  }

  /// All frames so far are complete.
  bool at_boundary() const { return piece_ == Piece::Magic && left_ == 4; }

  /// What stands where a frame should start is not zstd.
  bool is_stray(const char* begin, const char* end) const {
    if (piece_ != Piece::Magic) return false;
    uint32_t field = field_;
    int count = field_bytes_;
    add_to_field(begin, begin + next(begin, end), field, count);
    const uint32_t mask = count >= 4 ? 0xFFFFFFFF : (1U << (8 * count)) - 1;
    return (field & mask) != (kMagic & mask) &&
           (field & mask & kSkippableMask) != (kSkippableMagic & mask);
  }

 private:
  enum class Piece { Magic, SkippableSize, Descriptor, Header, BlockHeader, Block, Checksum, Skip };

  static constexpr uint32_t kMagic = 0xFD2FB528;
  static constexpr uint32_t kSkippableMagic = 0x184D2A50;
  static constexpr uint32_t kSkippableMask = 0xFFFFFFF0;  ///< The low four bits are free.

  static void add_to_field(const char* begin, const char* end, uint32_t& field, int& bytes) {
    for (; begin != end; ++begin, ++bytes) {
      field |= static_cast<uint32_t>(static_cast<uint8_t>(*begin)) << (8 * bytes);
    }
  }

  void expect(Piece piece, uint64_t length) {
    piece_ = piece;
    left_ = length;
    field_ = 0;
    field_bytes_ = 0;
  }

  void finish_piece() {
    switch (piece_) {
      case Piece::Magic:
        if ((field_ & kSkippableMask) == kSkippableMagic) return expect(Piece::SkippableSize, 4);
        return expect(Piece::Descriptor, 1);
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

  /// The rest of the frame's header: window, dictionary id and content size.
  void start_header() {
    constexpr uint64_t kDictionaryId[] = {0, 1, 2, 4};
    constexpr uint64_t kContentSize[] = {0, 2, 4, 8};
    has_checksum_ = (field_ & 4) != 0;
    const bool single_segment = (field_ & 0x20) != 0;
    const uint32_t size_code = field_ >> 6;
    const uint64_t content_size = size_code == 0 && single_segment ? 1 : kContentSize[size_code];
    const uint64_t length = (single_segment ? 0 : 1) + kDictionaryId[field_ & 3] + content_size;
    return length > 0 ? expect(Piece::Header, length) : expect(Piece::BlockHeader, 3);
  }

  void start_block() {
    constexpr uint32_t kRepeatedByte = 1;
    is_last_block_ = (field_ & 1) != 0;
    const uint32_t type = (field_ >> 1) & 3;
    const uint64_t length = type == kRepeatedByte ? 1 : field_ >> 3;
    return length > 0 ? expect(Piece::Block, length) : end_block();
  }

  void end_block() {
    if (!is_last_block_) return expect(Piece::BlockHeader, 3);
    return has_checksum_ ? expect(Piece::Checksum, 4) : expect(Piece::Magic, 4);
  }

  Piece piece_ = Piece::Magic;
  uint64_t left_ = 4;
  uint32_t field_ = 0;  ///< The bytes seen of a magic, size, descriptor or block header, LE.
  int field_bytes_ = 0;
  bool has_checksum_ = false;
  bool is_last_block_ = false;
};

struct Zstd {
  bio::zstd_decompressor stream;
  ZstdFrames frames;

  DecodeStep operator()(DecodeSpan& span) {
    if (span.in != span.in_end && frames.is_stray(span.in, span.in_end)) return DecodeStep::Stray;
    const char* in_before = span.in;
    const char* out_before = span.out;
    DecodeSpan piece = span;
    piece.in_end = span.in + frames.next(span.in, span.in_end);
    try {
      run_filter(stream, piece);
    } catch (const bio::zstd_error&) {
      return DecodeStep::Corrupt;
    }
    frames.advance(in_before, static_cast<size_t>(piece.in - in_before));
    span.in = piece.in;
    span.out = piece.out;
    const bool is_over = span.is_last && span.in == span.in_end && span.out == out_before;
    if (!is_over) return DecodeStep::More;
    return frames.at_boundary() ? DecodeStep::End : DecodeStep::Starved;
  }
};

// UTF-16, character by character: a block of input may end anywhere inside one.
//
//   ff fe | 4e 00 | 3d d8 00 de   ->   4e | f0 9f 98 80
//   mark    "N"     a surrogate pair

class Utf16Characters {
 public:
  explicit Utf16Characters(bool is_big) : is_big_(is_big) {}

  DecodeStep operator()(DecodeSpan& span) {
    while (true) {
      const size_t count = ready_.copy(span.out, static_cast<size_t>(span.out_end - span.out));
      ready_.erase(0, count);
      span.out += count;
      if (!ready_.empty()) return DecodeStep::More;
      pass_ascii(span);
      if (span.in != span.in_end) {
        add(*span.in++);
      } else if (!span.is_last) {
        return DecodeStep::More;
      } else if (high_ != 0 || half_) {
        if (high_ != 0) append_utf8(ready_, std::exchange(high_, 0));
        if (half_) ready_ += '\xff';
        half_.reset();
      } else {
        return DecodeStep::End;
      }
    }
  }

 private:
  uint32_t unit(char first, char second) const {
    const auto high = static_cast<uint8_t>(is_big_ ? first : second);
    return uint32_t{high} << 8 | static_cast<uint8_t>(is_big_ ? second : first);
  }

  /// Most of a log.
  void pass_ascii(DecodeSpan& span) {
    if (half_ || high_ != 0) return;
    while (span.in_end - span.in >= 2 && span.out != span.out_end) {
      const uint32_t code = unit(span.in[0], span.in[1]);
      if (code > 0x7F) return;
      *span.out++ = static_cast<char>(code);
      span.in += 2;
      is_first_ = false;
    }
  }

  void add(char byte) {
    if (!half_) {
      half_ = byte;
      return;
    }
    const uint32_t code = unit(*half_, byte);
    half_.reset();
    const uint32_t high = std::exchange(high_, 0);
    const bool is_low = code >= 0xDC00 && code < 0xE000;
    if (high != 0 && is_low) {
      return append_utf8(ready_, 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00));
    }
    if (high != 0) append_utf8(ready_, high);
    if (code >= 0xD800 && code < 0xDC00) {
      high_ = code;
    } else if (!is_first_ || code != 0xFEFF) {
      append_utf8(ready_, code);
    }
    is_first_ = false;
  }

  bool is_big_;
  bool is_first_ = true;
  std::optional<char> half_;  ///< Of a character.
  uint32_t high_ = 0;         ///< A surrogate whose other half has not come; 0: none.
  std::string ready_;         ///< What found no room yet: a character or two.
};

/// Filters are not copyable in a way that copies their state; std::function wants to copy.
template <typename Codec>
Decoder make() {
  return [codec = std::make_shared<Codec>()](DecodeSpan& span) {
    try {
      return (*codec)(span);
    } catch (const std::exception&) {
      return DecodeStep::Corrupt;
    }
  };
}

}  // namespace

Decoder make_decoder(Utf16 order) { return Utf16Characters(order == Utf16::BigEndian); }

Decoder make_decoder(Compression compression) {
  switch (compression) {
    case Compression::None:
      return {};
    case Compression::Gzip:
      return make<Gzip>();
    case Compression::Bzip2:
      return make<Bzip2>();
    case Compression::Xz:
      return make<Xz>();
    case Compression::Zstd:
      return make<Zstd>();
  }
  return {};
}

}  // namespace ncclog
