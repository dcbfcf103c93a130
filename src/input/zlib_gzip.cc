#include "input/zlib_gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>

namespace ncclog {
namespace {

/// zlib counts in 32 bits.
uInt room(const char* begin, const char* end) {
  constexpr ptrdiff_t kMost = std::numeric_limits<int32_t>::max();
  return static_cast<uInt>(std::min(end - begin, kMost));
}

}  // namespace

struct ZlibGzip::State {
  z_stream stream{};
  bool is_corrupt = false;
};

ZlibGzip::ZlibGzip() : state_(std::make_unique<State>()) {
  constexpr int kGzipOnly = 16;
  if (inflateInit2(&state_->stream, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
}

ZlibGzip::~ZlibGzip() { inflateEnd(&state_->stream); }

ZlibGzip::Result ZlibGzip::filter(const char*& in, const char* in_end, char*& out,
                                  const char* out_end) {
  if (state_->is_corrupt) return Result::Corrupt;
  z_stream& stream = state_->stream;
  // zlib does not write to its input, but says so only if asked to.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in));
  stream.avail_in = room(in, in_end);
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = room(out, out_end);
  const int code = inflate(&stream, Z_NO_FLUSH);
  in = reinterpret_cast<const char*>(stream.next_in);
  out = reinterpret_cast<char*>(stream.next_out);
  if (code == Z_STREAM_END) {
    inflateReset(&stream);
    return Result::MemberEnd;
  }
  // Z_BUF_ERROR: nothing to be done with what was given, which is for the caller to judge.
  state_->is_corrupt = code != Z_OK && code != Z_BUF_ERROR;
  return state_->is_corrupt ? Result::Corrupt : Result::More;
}

}  // namespace ncclog
