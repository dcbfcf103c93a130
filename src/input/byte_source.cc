#include "input/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "input/codec.h"
#include "input/find_inputs.h"

namespace ncclog {
RawFile::RawFile(const std::string& path, uint64_t begin, uint64_t end)
    : position_(begin), end_(std::max(begin, end)) {
  const bool is_stdin = path == kStdinPath;
  descriptor_ = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                         : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  struct stat file {};
  if (descriptor_ < 0 || fstat(descriptor_, &file) != 0) {
    fail();
    return;
  }
  if (is_stdin || !S_ISREG(file.st_mode)) return;
  seekable_ = true;
  regular_size_ = static_cast<uint64_t>(file.st_size);
  // Advice only, and not worth a call for files that the first read-ahead covers.
  constexpr uint64_t kWorthAdvice = uint64_t{1} << 20;
  if (regular_size_ > kWorthAdvice) {
    (void)posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
}

RawFile::~RawFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

size_t RawFile::read(char* buffer, size_t capacity) {
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(capacity, end_ - position_));
  if (descriptor_ < 0 || wanted == 0) return 0;
  ssize_t got = 0;
  do {
    got = seekable_ ? pread(descriptor_, buffer, wanted, static_cast<off_t>(position_))
                    : ::read(descriptor_, buffer, wanted);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    fail();
    return 0;
  }
  position_ += static_cast<uint64_t>(got);
  bytes_read().fetch_add(static_cast<uint64_t>(got), std::memory_order_relaxed);
  return static_cast<size_t>(got);
}

void RawFile::fail() {
  // Not strerror: its buffer is shared by all threads.
  error_ = std::generic_category().message(errno);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

// Bytes decompressed.

namespace {

/// What is read of an input before its compression is known, and what is read at a time of one that
/// is compressed.
constexpr size_t kFirstBlock = kHeadBytes;
constexpr size_t kRawBlock = size_t{128} << 10;

}  // namespace

/// Invariants: raw[raw_begin, raw_end) was read and not yet used; head[0, head_given) was delivered
/// by `read`; once `is_over` no more bytes come; `expanded` bytes came out of `pull` so far.
struct ByteSource::Stream {
  RawBytes from;
  uint64_t max_expanded;
  uint64_t spent;
  bool is_range;
  std::vector<char> raw = std::vector<char>(kFirstBlock);
  size_t raw_begin = 0;
  size_t raw_end = 0;
  bool is_raw_over = false;
  bool is_over = false;
  Compression compression = Compression::None;
  Decoder decoder;
  uint64_t expanded = 0;
  std::string head;
  size_t head_given = 0;
  SourceState state = SourceState::Good;
  std::string note;

  Stream(RawBytes bytes, const SourceOptions& options)
      : from(std::move(bytes)),
        max_expanded(options.max_expanded),
        spent(options.spent),
        is_range(options.begin != 0 || options.end != kToEnd) {}

  void fill();
  void start();
  void end(SourceState how, std::string why);
  void end_of_raw();
  void end_decoding(DecodeStep step);
  DecodeStep decode(char*& out, char* out_end);
  size_t pull(char* buffer, size_t capacity);
  size_t pull_plain(char* buffer, size_t capacity);
  size_t pull_decoded(char* buffer, size_t capacity);
  size_t keep_below_limit(size_t count);
};

/// Reads one more block behind what is left of the last one.
void ByteSource::Stream::fill() {
  std::memmove(raw.data(), raw.data() + raw_begin, raw_end - raw_begin);
  raw_end -= raw_begin;
  raw_begin = 0;
  const size_t got = from.read(raw.data() + raw_end, raw.size() - raw_end);
  raw_end += got;
  is_raw_over = got == 0;
}

/// A pipe may hand over its magic byte by byte.
void ByteSource::Stream::start() {
  constexpr size_t kMagicBytes = 6;
  while (raw_end - raw_begin < kMagicBytes && !is_raw_over) fill();
  const std::string_view magic(raw.data() + raw_begin, raw_end - raw_begin);
  if (!is_range) compression = sniff_compression(magic);
  decoder = make_decoder(compression);
  if (decoder) raw.resize(kRawBlock);
  head.resize(kHeadBytes);
  size_t size = 0;
  while (size < kHeadBytes && !is_over) size += pull(head.data() + size, kHeadBytes - size);
  head.resize(size);
}

void ByteSource::Stream::end(SourceState how, std::string why) {
  is_over = true;
  state = how;
  note = std::move(why);
}

void ByteSource::Stream::end_of_raw() {
  const std::string error = from.error();
  if (error.empty()) return end(SourceState::Good, {});
  const bool nothing = expanded == 0;
  end(nothing ? SourceState::Unreadable : SourceState::Cut,
      fmt::format("Reading {}: {}.", nothing ? "failed" : "stopped early", error));
}

void ByteSource::Stream::end_decoding(DecodeStep step) {
  const std::string_view name = to_string(compression);
  if (!from.error().empty()) return end_of_raw();
  switch (step) {
    case DecodeStep::Foreign:
      return end(SourceState::Good,
                 fmt::format("Bytes after the end of the {} data were left out.", name));
    case DecodeStep::Starved:
      return end(SourceState::Cut,
                 fmt::format("The {} data ends early; what could be unpacked was read.", name));
    case DecodeStep::Corrupt:
      if (expanded == 0) {
        return end(SourceState::Unreadable, fmt::format("The {} data cannot be unpacked.", name));
      }
      return end(SourceState::Cut,
                 fmt::format("The {} data is damaged; what came before was read.", name));
    case DecodeStep::More:
    case DecodeStep::End:
      return end(SourceState::Good, {});
  }
}

size_t ByteSource::Stream::pull_plain(char* buffer, size_t capacity) {
  size_t count = std::min(capacity, raw_end - raw_begin);
  if (count > 0) {
    std::memcpy(buffer, raw.data() + raw_begin, count);
    raw_begin += count;
  } else {
    count = from.read(buffer, capacity);
  }
  if (count == 0) end_of_raw();
  expanded += count;
  return count;
}

/// One step, then one more block of input if it ran dry.
DecodeStep ByteSource::Stream::decode(char*& out, char* out_end) {
  if (raw_begin == raw_end && !is_raw_over) fill();
  const char* begin = raw.data() + raw_begin;
  DecodeSpan span{begin, raw.data() + raw_end, out, out_end, is_raw_over};
  const DecodeStep step = decoder(span);
  raw_begin += static_cast<size_t>(span.in - begin);
  out = span.out;
  return step;
}

size_t ByteSource::Stream::pull_decoded(char* buffer, size_t capacity) {
  char* out = buffer;
  DecodeStep step = DecodeStep::More;
  while (step == DecodeStep::More && out == buffer) step = decode(out, buffer + capacity);
  const size_t count = keep_below_limit(static_cast<size_t>(out - buffer));
  expanded += count;
  if (step != DecodeStep::More && !is_over) end_decoding(step);
  return count;
}

/// Reaching the limit is no loss; only a byte past it is.
size_t ByteSource::Stream::keep_below_limit(size_t count) {
  const uint64_t used = spent + expanded;
  const uint64_t room = max_expanded - std::min(max_expanded, used);
  if (count <= room) return count;
  end(SourceState::SizeLimit,
      fmt::format("Expands past the limit of {} bytes; read up to there.", max_expanded));
  return static_cast<size_t>(room);
}

size_t ByteSource::Stream::pull(char* buffer, size_t capacity) {
  if (is_over) return 0;
  return decoder ? pull_decoded(buffer, capacity) : pull_plain(buffer, capacity);
}

namespace {

/// Bytes [begin, end) of the file. `path` "-" is standard input.
RawBytes open_file(const std::string& path, uint64_t begin, uint64_t end) {
  const auto file = std::make_shared<RawFile>(path, begin, end);
  RawBytes bytes;
  bytes.read = [file](char* buffer, size_t capacity) { return file->read(buffer, capacity); };
  bytes.error = [file] { return file->error(); };
  if (file->is_seekable()) bytes.seek = [file](uint64_t position) { file->seek(position); };
  bytes.regular_size = file->regular_size();
  return bytes;
}

}  // namespace

ByteSource::ByteSource(const std::string& path, const SourceOptions& options)
    : ByteSource(open_file(path, options.begin, options.end), options) {}

ByteSource::ByteSource(RawBytes raw, const SourceOptions& options)
    : stream_(std::make_unique<Stream>(std::move(raw), options)) {
  stream_->start();
}

ByteSource::~ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;

size_t ByteSource::read(char* buffer, size_t capacity) {
  Stream& stream = *stream_;
  if (stream.head_given == stream.head.size()) return stream.pull(buffer, capacity);
  const size_t count = stream.head.copy(buffer, capacity, stream.head_given);
  stream.head_given += count;
  return count;
}

bool ByteSource::is_stream() const {
  return stream_->compression != Compression::None || !stream_->from.seek;
}

bool ByteSource::can_seek() const {
  return stream_->compression == Compression::None && !stream_->is_range && stream_->from.seek;
}

void ByteSource::seek(uint64_t position) {
  Stream& stream = *stream_;
  stream.from.seek(position);
  stream.raw_begin = stream.raw_end = 0;
  stream.head_given = stream.head.size();
  stream.is_over = false;
}

uint64_t ByteSource::expanded() const { return stream_->expanded; }
std::string_view ByteSource::head() const { return stream_->head; }
Compression ByteSource::compression() const { return stream_->compression; }
SourceState ByteSource::state() const { return stream_->state; }
const std::string& ByteSource::note() const { return stream_->note; }
uint64_t ByteSource::regular_size() const { return stream_->from.regular_size; }

}  // namespace ncclog
