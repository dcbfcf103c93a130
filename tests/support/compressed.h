// Compressed bytes for tests, made in memory with the codecs' own writers.

#pragma once

#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <string>
#include <string_view>

#include "input/find_inputs.h"

namespace ncclog::testing {

inline constexpr Compression kCompressions[] = {Compression::Gzip, Compression::Bzip2,
                                                Compression::Xz, Compression::Zstd};

/// `text` as one member of this compression; the text itself for None.
inline std::string compressed(Compression compression, std::string_view text) {
  namespace bio = boost::iostreams;
  std::string out;
  {
    bio::filtering_ostream stream;
    switch (compression) {
      case Compression::None:
        break;
      case Compression::Gzip:
        stream.push(bio::gzip_compressor());
        break;
      case Compression::Bzip2:
        stream.push(bio::bzip2_compressor());
        break;
      case Compression::Xz:
        stream.push(bio::lzma_compressor());
        break;
      case Compression::Zstd:
        stream.push(bio::zstd_compressor());
        break;
    }
    stream.push(bio::back_inserter(out));
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  return out;
}

}  // namespace ncclog::testing
