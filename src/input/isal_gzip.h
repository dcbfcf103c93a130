// Gzip at the speed of ISA-L, driven as the filters of Boost.Iostreams are.
//
//   1f 8b 08 00 | time, flags | deflate data | sum, length        one member
//
// ISA-L unpacks three to five times as fast as zlib and checks the sum on its way.

#pragma once

#include <isa-l/igzip_lib.h>

namespace ncclog {

/// Unpacks one member after the other. Not copyable: ISA-L's state points into itself.
class IsalGzip {
 public:
  /// What a call of `filter` came to.
  enum class Result {
    More,       ///< Call again with more input, or more room.
    MemberEnd,  ///< The member is complete and its sum is right.
    Corrupt,    ///< The data contradicts itself. Output up to here is good.
  };

  IsalGzip();
  IsalGzip(const IsalGzip&) = delete;
  IsalGzip& operator=(const IsalGzip&) = delete;

  /// Reads from [in, in_end), writes to [out, out_end), moves `in` and `out`. After MemberEnd the
  /// next call begins another member.
  Result filter(const char*& in, const char* in_end, char*& out, const char* out_end);

 private:
  Result inflate(const char*& in, const char* in_end, char*& out, const char* out_end);
  bool has_unknown_flags(const char* begin, const char* end);
  bool drain(char*& out, const char* out_end);

  inflate_state state_;
  int header_bytes_ = 0;  ///< Of the member, that were read; those behind the flags do not count.
  bool is_corrupt_ =
      false;  ///< And what ISA-L had unpacked before may not all have been given out.
};

}  // namespace ncclog
