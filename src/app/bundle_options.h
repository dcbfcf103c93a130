// What the user wants of a bundle.

#pragma once

#include <cstdint>
#include <string>

namespace ncclog {

/// How a bundle is made.
struct BundleOptions {
  std::string path;          ///< "out.tar.zst"; empty: no bundle is wanted.
  std::string mapping;       ///< Where the mapping goes; empty: beside the bundle.
  bool anonymise = true;     ///< false: all names stay, and there is no mapping.
  bool allow_leaks = false;  ///< Written even if a name is left, with a word about it.
  bool full_logs = false;    ///< The logs go in whole, however large.
  /// Logs up to this size together go in whole.
  uint64_t whole_bytes = uint64_t{8} << 20;
};

}  // namespace ncclog
