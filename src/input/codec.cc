// The filters are driven through `filter()`, which moves its pointers before it reports an error:
// as streams they would drop up to a buffer of good output when the data turns bad.

#include "input/codec.h"

#include <algorithm>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <exception>
#include <memory>
#include <string>

#include "input/gzip_members.h"
#include "input/zstd_frames.h"

namespace ncclog {
namespace {

namespace bio = boost::iostreams;

/// Runs a filter over the span. True while the filter expects more. Throws what the filter throws.
bool run_filter(auto& stream, DecodeSpan& span) {
  return stream.filter().filter(span.in, span.in_end, span.out, span.out_end, span.is_last);
}

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
    return decode(span);
  }

  DecodeStep decode(DecodeSpan& span) {
    const DecodeSpan before = span;
    const GzipResult result = stream.filter(span.in, span.in_end, span.out, span.out_end);
    between_members = result == GzipResult::MemberEnd;
    if (result == GzipResult::Corrupt) return DecodeStep::Corrupt;
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

struct CodecRow {
  Compression compression;
  Decoder (*make)();
};

constexpr CodecRow kCodecs[] = {
    {Compression::Gzip, make<Gzip>},
    {Compression::Bzip2, make<Bzip2>},
    {Compression::Xz, make<Xz>},
    {Compression::Zstd, make<Zstd>},
};

}  // namespace

Decoder make_decoder(Compression compression) {
  for (const CodecRow& row : kCodecs) {
    if (row.compression == compression) return row.make();
  }
  return {};
}

}  // namespace ncclog
