// Gzip by zlib, for builds that have no ISA-L to link: the static executable. Slower, and otherwise
// the same as input/isal_gzip.h.

#pragma once

#include <memory>

namespace ncclog {

/// Unpacks one member after the other.
class ZlibGzip {
 public:
  /// What a call of `filter` came to.
  enum class Result {
    More,       ///< Call again with more input, or more room.
    MemberEnd,  ///< The member is complete and its sum is right.
    Corrupt,    ///< The data contradicts itself. Output up to here is good.
  };

  ZlibGzip();
  ~ZlibGzip();
  ZlibGzip(const ZlibGzip&) = delete;
  ZlibGzip& operator=(const ZlibGzip&) = delete;

  /// Reads from [in, in_end), writes to [out, out_end), moves `in` and `out`. After MemberEnd the
  /// next call begins another member.
  Result filter(const char*& in, const char* in_end, char*& out, const char* out_end);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ncclog
