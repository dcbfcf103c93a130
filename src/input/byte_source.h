// The bytes of one input, decompressed, as far as they can be had.
//
//   cut.log.gz, 4000 of 9000 bytes   -> the text up to there, then state() == SourceState::Cut,
//                                       note() == "The gzip data ends early; ..."
//
// Opening and reading never throw for what the file holds or lacks: the state says how it ended.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "input/input_format.h"
#include "input/raw_file.h"

namespace ncclog {

/// How reading has gone so far.
enum class SourceState {
  Good,        ///< Nothing is known to be missing; after the end: all of it was read.
  Cut,         ///< What was delivered is good, but more is missing.
  SizeLimit,   ///< A compressed input expands past the limit; delivered up to it.
  Unreadable,  ///< Could not be opened, read or decoded at all; nothing was delivered.
};

struct SourceOptions {
  /// Bytes [begin, end) of a plain regular file; taken as they are, magic bytes or not.
  uint64_t begin = 0;
  uint64_t end = kToEnd;
  uint64_t max_expanded = uint64_t{64} << 30;  ///< Bytes that a compressed input may expand to.
};

/// One input, read forwards once.
///
/// Concatenated members are one stream. Bytes after the last complete member are left out and
/// noted. How much of a stream that ends early is delivered depends on the codec (input/codec.h).
class ByteSource {
 public:
  /// Opens the file and reads its head. `path` "-" is standard input.
  explicit ByteSource(const std::string& path, const SourceOptions& options = {});
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;

  /// At most `capacity` > 0 further bytes into `buffer`; 0 once nothing more will come.
  size_t read(char* buffer, size_t capacity);

  /// The first bytes, at most kHeadBytes, which `read` delivers as well. Owned by the source.
  std::string_view head() const;

  Compression compression() const;

  /// Final once `read` has returned 0.
  SourceState state() const;

  /// One sentence on what is missing or was left out; empty if nothing is.
  const std::string& note() const;

  /// The size of a regular file on the disk when it was opened; 0 for anything else.
  uint64_t regular_size() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace ncclog
