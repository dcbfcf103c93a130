// The bytes of a file as they lie on the disk: the one place that talks to the operating system.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace ncclog {

/// A range that ends where the file does.
inline constexpr uint64_t kToEnd = std::numeric_limits<uint64_t>::max();

/// An open file, pipe or standard input, read forwards once.
///
/// Invariants: `descriptor_` is open and ours, or -1 and nothing can be read; no byte at or past
/// `end_` is ever delivered. Failures are kept as text and end the stream; nothing throws.
class RawFile {
 public:
  /// Opens `path` ("-" is standard input, from where it stands) for the bytes [begin, end). A range
  /// other than the whole needs a regular file.
  explicit RawFile(const std::string& path, uint64_t begin = 0, uint64_t end = kToEnd);
  ~RawFile();
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  /// At most `capacity` bytes into `buffer`; 0 at the end of the range, of the file, or on failure.
  size_t read(char* buffer, size_t capacity);

  /// Whether it is a regular file, so that `seek` may be called.
  bool is_seekable() const { return seekable_; }

  /// Goes on at byte `position` of a regular file.
  void seek(uint64_t position) { position_ = std::min(position, end_); }

  /// What the operating system said when opening or reading failed; empty if neither has.
  const std::string& error() const { return error_; }

  /// The size of a regular file when it was opened; 0 for pipes, standard input and failures.
  uint64_t regular_size() const { return regular_size_; }

 private:
  void fail();

  int descriptor_ = -1;
  bool seekable_ = false;  ///< Read with pread at position_.
  uint64_t position_ = 0;  ///< Of the next byte.
  uint64_t end_ = kToEnd;
  uint64_t regular_size_ = 0;
  std::string error_;
};

}  // namespace ncclog
