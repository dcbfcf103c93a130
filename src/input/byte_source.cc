#include "input/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/posix.h"

namespace ncclog {

namespace {

uint64_t data_from(int descriptor, uint64_t position, uint64_t size) {
  const off_t data = lseek(descriptor, static_cast<off_t>(position), SEEK_DATA);
  if (data >= 0) return std::max(position, static_cast<uint64_t>(data));
  // ENXIO: there is none up to the end. Anything else: nobody knows, so that all of it is read.
  return errno == ENXIO ? std::max(position, size) : position;
}

/// An open file, pipe or standard input, read forwards once.
///
/// Invariant: no byte at or past `end` is ever delivered. Failures are kept as text and end the
/// stream.
struct RawFile {
  RawFile(const std::string& path, uint64_t from, uint64_t to)
      : position(from), end(std::max(from, to)) {
    const bool is_stdin = path == kStdinPath;
    descriptor = Descriptor(is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    struct stat file = {};
    if (!descriptor.is_open() || fstat(descriptor.get(), &file) != 0) {
      const bool is_forbidden = errno == EACCES;
      fail();
      if (is_forbidden && stat(path.c_str(), &file) == 0) {
        error +=
            fmt::format(" (it belongs to uid {}, mode {:04o})", file.st_uid, file.st_mode & 07777U);
      }
      return;
    }
    if (is_stdin || !S_ISREG(file.st_mode)) return;
    is_seekable = true;
    regular_size = static_cast<uint64_t>(file.st_size);
    // Advice only, and not worth a call for files that the first read-ahead covers.
    constexpr uint64_t kWorthAdvice = uint64_t{1} << 20;
    if (regular_size > kWorthAdvice) {
      (void)posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    }
  }

  size_t read(char* buffer, size_t capacity) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(capacity, end - position));
    if (!descriptor.is_open() || wanted == 0) return 0;
    ssize_t got = 0;
    do {
      got = is_seekable ? pread(descriptor.get(), buffer, wanted, static_cast<off_t>(position))
                        : ::read(descriptor.get(), buffer, wanted);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      fail();
      return 0;
    }
    position += static_cast<uint64_t>(got);
    bytes_read().fetch_add(static_cast<uint64_t>(got), std::memory_order_relaxed);
    if (is_seekable && got == 0) find_lost_end();
    if (skips_holes && is_hole({buffer, static_cast<size_t>(got)}))
      position = std::min(end, data_from(descriptor.get(), position, regular_size));
    return static_cast<size_t>(got);
  }

  /// A file that is written anew while it is read is shorter than it was.
  void find_lost_end() {
    struct stat file = {};
    const bool is_known = fstat(descriptor.get(), &file) == 0;
    if (!is_known || position >= std::min(end, regular_size)) return;
    if (static_cast<uint64_t>(file.st_size) < regular_size) error = "the file became shorter";
  }

  static bool is_hole(std::string_view block) {
    constexpr size_t kBlock = 4096;  // Of file systems; shorter runs of NULs are the log's own.
    return block.size() >= kBlock && block.find_first_not_of('\0') == block.npos;
  }

  void fail() {
    // Not strerror: its buffer is shared by all threads.
    error = std::generic_category().message(errno);
    descriptor.close();
  }

  Descriptor descriptor;
  bool is_seekable = false;  ///< Read with pread at `position`.
  bool skips_holes = false;  ///< A block of NULs stands for all that follow it.
  uint64_t position;         ///< Of the next byte.
  uint64_t end;
  uint64_t regular_size = 0;
  std::string error;
};

}  // namespace

RawBytes open_file(const std::string& path, uint64_t begin, uint64_t end) {
  const auto file = std::make_shared<RawFile>(path, begin, end);
  RawBytes bytes;
  bytes.read = [file](char* buffer, size_t capacity) { return file->read(buffer, capacity); };
  bytes.error = [file] { return file->error; };
  if (file->is_seekable) {
    bytes.skip_holes = [file] { file->skips_holes = true; };
    bytes.seek = [file](uint64_t position) { file->position = std::min(position, file->end); };
  }
  bytes.regular_size = file->regular_size;
  return bytes;
}

uint64_t next_data(const std::string& path, uint64_t position) {
  const RawFile file(path, position, kToEnd);
  if (!file.is_seekable) return position;
  return data_from(file.descriptor.get(), position, file.regular_size);
}

// Bytes decompressed.

/// Read at a time of what is decoded.
static constexpr size_t kDecodedBlock = size_t{128} << 10;

/// Reads one more block after what is left of the last one.
void ByteSource::fill() {
  std::memmove(raw_.data(), raw_.data() + raw_begin_, raw_end_ - raw_begin_);
  raw_end_ -= raw_begin_;
  raw_begin_ = 0;
  const size_t got = from_.read(raw_.data() + raw_end_, raw_.size() - raw_end_);
  raw_end_ += got;
  is_raw_over_ = got == 0;
}

void ByteSource::end(SourceState how, std::string why) {
  is_over_ = true;
  state_ = how;
  note_ = std::move(why);
}

void ByteSource::end_of_raw() {
  const std::string error = from_.error();
  if (error.empty()) return end(SourceState::Good, {});
  const bool nothing = expanded_ == 0;
  end(nothing ? SourceState::Unreadable : SourceState::Cut,
      fmt::format("Reading {}: {}.", nothing ? "failed" : "stopped early", error));
}

void ByteSource::end_decoding(DecodeStep step) {
  if (utf16_) return end(utf16_->state(), utf16_->note());
  const std::string_view name = to_string(compression_);
  if (!from_.error().empty()) return end_of_raw();
  switch (step) {
    case DecodeStep::Stray:
      return end(SourceState::Good,
                 fmt::format("Bytes after the end of the {} data were left out.", name));
    case DecodeStep::Starved:
      return end(SourceState::Cut,
                 fmt::format("The {} data ends early; what could be unpacked was read.", name));
    case DecodeStep::Corrupt:
      if (expanded_ == 0) {
        return end(SourceState::Unreadable, fmt::format("The {} data cannot be unpacked.", name));
      }
      return end(SourceState::Cut,
                 fmt::format("The {} data is damaged; what came before was read.", name));
    case DecodeStep::More:
    case DecodeStep::End:
      return end(SourceState::Good, {});
  }
}

size_t ByteSource::pull_plain(char* buffer, size_t capacity) {
  size_t count = std::min(capacity, raw_end_ - raw_begin_);
  if (count > 0) {
    std::memcpy(buffer, raw_.data() + raw_begin_, count);
    raw_begin_ += count;
  } else {
    count = from_.read(buffer, capacity);
  }
  if (count == 0) end_of_raw();
  expanded_ += count;
  return count;
}

/// One step, then one more block of input if it ran dry.
DecodeStep ByteSource::decode(char*& out, char* out_end) {
  if (raw_begin_ == raw_end_ && !is_raw_over_) fill();
  const char* begin = raw_.data() + raw_begin_;
  DecodeSpan span{begin, raw_.data() + raw_end_, out, out_end, is_raw_over_};
  const DecodeStep step = decoder_(span);
  raw_begin_ += static_cast<size_t>(span.in - begin);
  out = span.out;
  return step;
}

size_t ByteSource::pull_decoded(char* buffer, size_t capacity) {
  char* out = buffer;
  DecodeStep step = DecodeStep::More;
  while (step == DecodeStep::More && out == buffer) step = decode(out, buffer + capacity);
  const size_t count = keep_below_limit(static_cast<size_t>(out - buffer));
  expanded_ += count;
  if (step != DecodeStep::More && !is_over_) end_decoding(step);
  return count;
}

/// Reaching the limit is no loss; only a byte past it is.
size_t ByteSource::keep_below_limit(size_t count) {
  const uint64_t used = spent_ + expanded_;
  const uint64_t room = max_expanded_ - std::min(max_expanded_, used);
  if (count <= room) return count;
  end(SourceState::SizeLimit,
      fmt::format("Expands past the limit of {} bytes; read up to there.", max_expanded_));
  return static_cast<size_t>(room);
}

size_t ByteSource::pull(char* buffer, size_t capacity) {
  if (is_over_) return 0;
  return decoder_ ? pull_decoded(buffer, capacity) : pull_plain(buffer, capacity);
}

ByteSource::ByteSource(const std::string& path, const SourceOptions& options)
    : ByteSource(open_file(path, options.begin, options.end), options) {}

ByteSource::ByteSource(RawBytes raw, const SourceOptions& options)
    : from_(std::move(raw)),
      max_expanded_(options.max_expanded),
      spent_(options.spent),
      is_range_(options.begin != 0 || options.end != kToEnd),
      raw_(kHeadBytes) {
  // A pipe may hand over its magic byte by byte.
  constexpr size_t kMagicBytes = 6;
  while (raw_end_ - raw_begin_ < kMagicBytes && !is_raw_over_) fill();
  const std::string_view magic(raw_.data() + raw_begin_, raw_end_ - raw_begin_);
  if (!is_range_) compression_ = sniff_compression(magic);
  decoder_ = make_decoder(compression_);
  if (decoder_) raw_.resize(kDecodedBlock);
  read_head();
  const Utf16 order = is_range_ ? Utf16::None : sniff_utf16(head_);
  if (order != Utf16::None) decode_utf16(order);
}

void ByteSource::read_head() {
  head_.resize(kHeadBytes);
  size_t size = 0;
  while (size < kHeadBytes && !is_over_) size += pull(head_.data() + size, kHeadBytes - size);
  head_.resize(size);
}

/// Becomes a source that reads from what it was. That one knows why it ends, and its limits.
void ByteSource::decode_utf16(Utf16 order) {
  const auto source = std::make_shared<ByteSource>(std::move(*this));
  RawBytes bytes;
  bytes.read = [source](char* buffer, size_t capacity) { return source->read(buffer, capacity); };
  bytes.error = [] { return std::string(); };
  bytes.regular_size = source->regular_size();
  from_ = std::move(bytes);
  utf16_ = source;
  max_expanded_ = kToEnd;
  raw_.assign(kDecodedBlock, '\0');
  raw_begin_ = raw_end_ = head_given_ = 0;
  is_raw_over_ = is_over_ = false;
  decoder_ = make_decoder(order);
  expanded_ = 0;
  state_ = SourceState::Good;
  note_.clear();
  read_head();
}

size_t ByteSource::read(char* buffer, size_t capacity) {
  if (head_given_ == head_.size()) return pull(buffer, capacity);
  const size_t count = head_.copy(buffer, capacity, head_given_);
  head_given_ += count;
  return count;
}

void ByteSource::seek(uint64_t position) {
  from_.seek(position);
  raw_begin_ = raw_end_ = 0;
  head_given_ = head_.size();
  is_over_ = false;
}

}  // namespace ncclog
