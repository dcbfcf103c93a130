// The bytes of one input, decompressed, as far as they can be had.
//
//   cut.log.gz, 4000 of 9000 bytes   -> the text up to there, then state() == SourceState::Cut,
//                                       note() == "The gzip data ends early; ..."
//
// Where they lie does not matter: in a file, at standard input, or in a member of an archive.
// Opening and reading never throw for what the file holds or lacks: the state says how it ended.
//
//   RawBytes     the bytes as they lie on the disk or in an archive
//   Decoder      turns compressed bytes into plain ones, UTF-16 into UTF-8 (input/codec.cc)
//   ByteSource   the same bytes, decompressed and as UTF-8

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "input/find_inputs.h"

namespace ncclog {

/// How much this process has read so far, for those who show progress: bytes as they lie on the
/// disk or come through a pipe, so packed ones count packed, and what is read twice counts twice.
/// Of all threads; it only grows. Added to once a block, so it costs nothing that can be measured.
inline std::atomic<uint64_t>& bytes_read() {
  static constinit std::atomic<uint64_t> bytes = 0;
  return bytes;
}

/// A range that ends where the file does.
inline constexpr uint64_t kToEnd = std::numeric_limits<uint64_t>::max();

// How is one compressed stream turned into bytes, without losing what came before an error?
//
// A codec is a function that moves two pointers: it eats compressed bytes and writes plain ones,
// and says how that went. One row per compression, so that a faster decoder replaces one row.
//
// All codecs read on over concatenated members (`cat a.gz b.gz`). How late their output is, which
// is what a stream that ends early loses: gzip and xz nothing that the bytes determine, zstd the
// last block (up to 128 KiB of plain bytes), bzip2 the last block (up to 900 KB).

/// What a step of decoding met.
enum class DecodeStep {
  More,     ///< All well; call again with more input or more room.
  End,      ///< The input is used up and every member of it is complete.
  Starved,  ///< The input is used up inside a member.
  Stray,    ///< All members are complete, and what follows is not one.
  Corrupt,  ///< The data contradicts itself. Output up to here is good.
};

/// What one step works on: reads from [in, in_end), writes to [out, out_end), moves `in` and `out`.
struct DecodeSpan {
  const char* in;
  const char* in_end;
  char* out;
  char* out_end;
  bool is_last;  ///< No input follows [in, in_end).
};

/// Holds the state of one stream. Never throws for bad data. With `is_last` and unchanged input it
/// comes to an end: some call says something other than More, or moves a pointer.
using Decoder = std::function<DecodeStep(DecodeSpan&)>;

/// A decoder for one stream compressed this way. Empty for Compression::None.
Decoder make_decoder(Compression compression);

/// A decoder of UTF-16, which is not None, to UTF-8, without the byte order mark. Surrogates
/// without their other half become what they would be in UTF-8, and half a character at the end
/// 0xFF: neither is valid, so that they are counted and shown like other such bytes.
Decoder make_decoder(Utf16 order);

// One input.

/// How reading has gone so far.
enum class SourceState {
  Good,        ///< Nothing is known to be missing; after the end: all of it was read.
  Cut,         ///< What was delivered is good, but more is missing.
  SizeLimit,   ///< A compressed input expands past the limit; delivered up to it.
  Unreadable,  ///< Could not be opened, read or decoded at all; nothing was delivered.
};

/// Bytes as they lie in a file or in an archive.
struct RawBytes {
  /// Writes at most `capacity` > 0 bytes to `buffer` and returns how many; 0 at the end.
  std::function<size_t(char* buffer, size_t capacity)> read;
  std::function<std::string()> error;  ///< Why `read` ended too early; empty if it did not.
  std::function<void(uint64_t position)> seek;  ///< Goes on at that byte; empty: cannot.
  /// From now on `read` gives the first block of a hole alone, where a file has holes: a job that
  /// writes on after its log was cut to nothing leaves one as long as the log was. Empty: cannot.
  std::function<void()> skip_holes;
  uint64_t regular_size = 0;  ///< As ByteSource::regular_size.
};

/// Bytes [begin, end) of the file at `path`; a range other than the whole needs a regular file. "-"
/// is standard input, from where it stands. The one place that talks to the system; nothing throws.
RawBytes open_file(const std::string& path, uint64_t begin = 0, uint64_t end = kToEnd);

/// Where in a file the next bytes at or after `position` are that are in no hole; its end: nowhere.
uint64_t next_data(const std::string& path, uint64_t position);

struct SourceOptions {
  /// Bytes [begin, end) of a plain regular file; taken as they are, magic bytes or not.
  uint64_t begin = 0;
  uint64_t end = kToEnd;
  uint64_t max_expanded = uint64_t{64} << 30;  ///< Bytes that a compressed input may expand to.
  uint64_t spent = 0;  ///< Bytes that other parts of the input have already expanded to.
};

/// One input, read forwards once.
///
/// UTF-16 is delivered as UTF-8, one after the other as what is packed. Concatenated members are one
/// stream. Bytes after the last complete member are left out and
/// noted. How much of a stream that ends early is delivered depends on the codec.
///
/// Invariants: raw_[raw_begin_, raw_end_) was read and not yet used; head_[0, head_given_) was
/// delivered by `read`; once `is_over_` no more bytes come.
class ByteSource {
 public:
  /// Opens the file and reads its head. `path` "-" is standard input.
  explicit ByteSource(const std::string& path, const SourceOptions& options = {});
  /// Reads the head. The range in `options` is for files only.
  explicit ByteSource(RawBytes raw, const SourceOptions& options = {});
  ByteSource(ByteSource&&) noexcept = default;
  ByteSource& operator=(ByteSource&&) noexcept = default;

  /// At most `capacity` > 0 further bytes into `buffer`; 0 once nothing more will come.
  size_t read(char* buffer, size_t capacity);

  /// Whether its bytes can be had only one after the other: of all but plain regular files.
  bool is_stream() const { return compression_ != Compression::None || !from_.seek; }

  /// Whether `seek` may be called: of uncompressed regular files.
  bool can_seek() const { return !is_stream() && !is_range_; }

  /// Lets `read` go on at byte `position`.
  void seek(uint64_t position);

  /// As RawBytes has it, for what is text and not packed.
  void skip_holes() {
    if (compression_ == Compression::None && from_.skip_holes) from_.skip_holes();
  }

  /// How many bytes came out so far, the head included.
  uint64_t expanded() const { return expanded_; }

  /// The first bytes, at most kHeadBytes, which `read` delivers as well. Owned by the source.
  std::string_view head() const { return head_; }

  Compression compression() const { return compression_; }

  /// Final once `read` has returned 0.
  SourceState state() const { return state_; }

  /// One sentence on what is missing or was left out; empty if nothing is.
  const std::string& note() const { return note_; }

  /// The size of a regular file on the disk when it was opened; 0 for anything else.
  uint64_t regular_size() const { return from_.regular_size; }

 private:
  void read_head();
  void decode_utf16(Utf16 order);
  void fill();
  void end(SourceState how, std::string why);
  void end_of_raw();
  void end_decoding(DecodeStep step);
  DecodeStep decode(char*& out, char* out_end);
  size_t pull(char* buffer, size_t capacity);
  size_t pull_plain(char* buffer, size_t capacity);
  size_t pull_decoded(char* buffer, size_t capacity);
  size_t keep_below_limit(size_t count);

  RawBytes from_;
  std::shared_ptr<ByteSource> utf16_;  ///< From which `from_` reads; empty: the text is none.
  uint64_t max_expanded_;
  uint64_t spent_;
  bool is_range_;
  std::vector<char> raw_;
  size_t raw_begin_ = 0;
  size_t raw_end_ = 0;
  bool is_raw_over_ = false;
  bool is_over_ = false;
  Compression compression_ = Compression::None;
  Decoder decoder_;
  uint64_t expanded_ = 0;
  std::string head_;
  size_t head_given_ = 0;
  SourceState state_ = SourceState::Good;
  std::string note_;
};

}  // namespace ncclog
