#include "input/gzip_members.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace ncclog {
namespace {

/// Both libraries count in 32 bits.
uint32_t room(const char* begin, const char* end) {
  constexpr ptrdiff_t kMost = std::numeric_limits<int32_t>::max();
  return static_cast<uint32_t>(std::min(end - begin, kMost));
}

}  // namespace

#ifndef NCCLOG_GZIP_BY_ZLIB
IsalGzip::IsalGzip() {
  isal_inflate_init(&state_);
  state_.crc_flag = ISAL_GZIP;
}

GzipResult IsalGzip::filter(const char*& in, const char* in_end, char*& out, const char* out_end) {
  if (!is_corrupt_) {
    const GzipResult result = inflate(in, in_end, out, out_end);
    if (!is_corrupt_) return result;
  }
  return drain(out, out_end) ? GzipResult::More : GzipResult::Corrupt;
}

GzipResult IsalGzip::inflate(const char*& in, const char* in_end, char*& out, const char* out_end) {
  // ISA-L does not write to its input, but does not say so.
  const auto* const begin = reinterpret_cast<const uint8_t*>(in);
  state_.next_in = const_cast<uint8_t*>(begin);
  state_.avail_in = room(in, in_end);
  state_.next_out = reinterpret_cast<uint8_t*>(out);
  state_.avail_out = room(out, out_end);
  const int code = isal_inflate(&state_);
  in += state_.next_in - begin;
  out = reinterpret_cast<char*>(state_.next_out);
  is_corrupt_ =
      code < ISAL_DECOMP_OK || has_unknown_flags(reinterpret_cast<const char*>(begin), in);
  if (is_corrupt_ || state_.block_state != ISAL_BLOCK_FINISH) return GzipResult::More;
  isal_inflate_reset(&state_);
  header_bytes_ = 0;
  return GzipResult::MemberEnd;
}

/// ISA-L does not mind flags that RFC 1952 reserves; zlib and gzip refuse such data.
bool IsalGzip::has_unknown_flags(const char* begin, const char* end) {
  constexpr int kFlagsAt = 3;
  constexpr int kReserved = 0xE0;
  for (; begin != end && header_bytes_ <= kFlagsAt; ++begin) {
    if (header_bytes_++ == kFlagsAt && (*begin & kReserved) != 0) return true;
  }
  return false;
}

/// ISA-L unpacks into a buffer of its own first. When it meets damage there, good bytes may be left
/// in it.
bool IsalGzip::drain(char*& out, const char* out_end) {
  const int left = state_.tmp_out_valid - state_.tmp_out_processed;
  if (left <= 0) return false;
  const auto count = std::min<ptrdiff_t>(left, out_end - out);
  out = std::copy_n(state_.tmp_out_buffer + state_.tmp_out_processed, count, out);
  state_.tmp_out_processed += static_cast<int32_t>(count);
  return true;
}
#endif

ZlibGzip::ZlibGzip() {
  constexpr int kGzipOnly = 16;
  if (inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
}

ZlibGzip::~ZlibGzip() { inflateEnd(&stream_); }

GzipResult ZlibGzip::filter(const char*& in, const char* in_end, char*& out, const char* out_end) {
  if (is_corrupt_) return GzipResult::Corrupt;
  // zlib does not write to its input, but says so only if asked to.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in));
  stream_.avail_in = room(in, in_end);
  stream_.next_out = reinterpret_cast<Bytef*>(out);
  stream_.avail_out = room(out, out_end);
  const int code = inflate(&stream_, Z_NO_FLUSH);
  in = reinterpret_cast<const char*>(stream_.next_in);
  out = reinterpret_cast<char*>(stream_.next_out);
  if (code == Z_STREAM_END) {
    inflateReset(&stream_);
    return GzipResult::MemberEnd;
  }
  // Z_BUF_ERROR: nothing to be done with what was given, which is for the caller to judge.
  is_corrupt_ = code != Z_OK && code != Z_BUF_ERROR;
  return is_corrupt_ ? GzipResult::Corrupt : GzipResult::More;
}

}  // namespace ncclog
