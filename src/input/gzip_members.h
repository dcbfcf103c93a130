// Gzip, one member after the other, driven as the filters of Boost.Iostreams are.
//
//   1f 8b 08 00 | time, flags | deflate data | sum, length        one member
//
// By ISA-L, which unpacks three to five times as fast as zlib and checks the sum on its way; by
// zlib in builds that have no ISA-L to link, such as the static executable. Neither is copyable:
// their states point into themselves.

#pragma once

#ifndef NCCLOG_GZIP_BY_ZLIB
#include <isa-l/igzip_lib.h>
#endif
#include <zlib.h>

namespace ncclog {

/// What a call of `filter` came to.
enum class GzipResult {
  More,       ///< Call again with more input, or more room.
  MemberEnd,  ///< The member is complete and its sum is right.
  Corrupt,    ///< The data contradicts itself. Output up to here is good.
};

// Of both, `filter` reads from [in, in_end), writes to [out, out_end), moves `in` and `out`. After
// MemberEnd the next call begins another member.

#ifndef NCCLOG_GZIP_BY_ZLIB
class IsalGzip {
 public:
  IsalGzip();
  IsalGzip(const IsalGzip&) = delete;
  IsalGzip& operator=(const IsalGzip&) = delete;

  GzipResult filter(const char*& in, const char* in_end, char*& out, const char* out_end);

 private:
  GzipResult inflate(const char*& in, const char* in_end, char*& out, const char* out_end);
  bool has_unknown_flags(const char* begin, const char* end);
  bool drain(char*& out, const char* out_end);

  inflate_state state_;
  int header_bytes_ = 0;  ///< Of the member, that were read; those after the flags do not count.
  /// And what ISA-L had unpacked before may not all have been given out.
  bool is_corrupt_ = false;
};
using GzipMembers = IsalGzip;
#endif

class ZlibGzip {
 public:
  ZlibGzip();
  ~ZlibGzip();
  ZlibGzip(const ZlibGzip&) = delete;
  ZlibGzip& operator=(const ZlibGzip&) = delete;

  GzipResult filter(const char*& in, const char* in_end, char*& out, const char* out_end);

 private:
  z_stream stream_{};
  bool is_corrupt_ = false;
};
#ifdef NCCLOG_GZIP_BY_ZLIB
using GzipMembers = ZlibGzip;
#endif

}  // namespace ncclog
