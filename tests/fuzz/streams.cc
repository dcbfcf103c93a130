// Any bytes as a compressed stream and as an archive. What comes out depends on the bytes alone, not
// on the blocks in which they come, and is bounded.

#include <zlib.h>

#include <algorithm>

#include "fuzz/fuzz.h"
#include "input/byte_source.h"
#include "input/input_walk.h"

namespace ncclog::fuzz {
namespace {

constexpr uint64_t kMostExpanded = uint64_t{1} << 20;

struct Unpacked {
  std::string text;
  SourceState state = SourceState::Good;
  std::string note;
};

Unpacked unpack(std::string_view bytes, size_t block) {
  RawBytes raw;
  raw.read = [&](char* buffer, size_t capacity) {
    const size_t count = bytes.copy(buffer, std::min(capacity, block));
    bytes.remove_prefix(count);
    return count;
  };
  raw.error = [] { return std::string(); };
  ByteSource source(std::move(raw), {.max_expanded = kMostExpanded});
  Unpacked unpacked;
  std::string buffer(size_t{64} << 10, '\0');
  while (const size_t count = source.read(buffer.data(), buffer.size())) {
    unpacked.text.append(buffer, 0, count);
    require(unpacked.text.size() <= std::max(kMostExpanded, kHeadBytes + uint64_t{0}));
  }
  unpacked.state = source.state();
  unpacked.note = source.note();
  require(source.expanded() == unpacked.text.size());
  return unpacked;
}

/// What zlib makes of one whole gzip member or more; false: they are none.
bool gunzip(std::string_view bytes, std::string& text) {
  bool is_whole = false;
  while (!bytes.empty()) {
    z_stream stream{};
    require(inflateInit2(&stream, 15 + 16) == Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string buffer(4096, '\0');
    int status = Z_OK;
    while (status == Z_OK && text.size() <= kMostExpanded) {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      status = inflate(&stream, Z_NO_FLUSH);
      text.append(buffer, 0, buffer.size() - stream.avail_out);
    }
    bytes.remove_prefix(bytes.size() - stream.avail_in);
    inflateEnd(&stream);
    is_whole = status == Z_STREAM_END;
    if (!is_whole) return false;
  }
  return is_whole && text.size() < kMostExpanded;
}

}  // namespace

/// The first byte is the size of small blocks.
void fuzz_codec(std::string_view bytes) {
  const size_t block = 1 + take_byte(bytes);
  const Unpacked whole = unpack(bytes, size_t{1} << 16);
  const Unpacked pieces = unpack(bytes, block);
  const Compression compression = sniff_compression(bytes);
  if (whole.state == SourceState::Good || pieces.state == SourceState::Good) {
    require_equal(pieces.note, whole.note);
    require(pieces.text == whole.text && pieces.state == whole.state);
  } else if (compression == Compression::Gzip) {
    // How far a damaged block is unpacked depends on the pieces in which it comes, what of it not.
    require(whole.text.starts_with(pieces.text) || pieces.text.starts_with(whole.text));
  }
  std::string plain;
  if (compression == Compression::Gzip && gunzip(bytes, plain)) {
    require(whole.state == SourceState::Good && whole.text == plain);
  }
}

void fuzz_archive(std::string_view bytes) {
  const MemoryFile file(bytes);
  InputWalk walk(Unit(), file.path(), {.max_expanded = kMostExpanded});
  uint64_t expanded = 0;
  while (UnitReader* input = walk.next()) {
    if (is_log(input->content())) {
      for (Line line; input->next(line);) expanded += line.text.size();
    } else {
      std::string buffer(4096, '\0');
      while (const size_t count = input->read(buffer.data(), buffer.size())) expanded += count;
    }
    require(walk.current().path.starts_with(file.path()));
  }
  require(expanded <= 2 * kMostExpanded + bytes.size());
  require(!walk.take().empty());
}

}  // namespace ncclog::fuzz
