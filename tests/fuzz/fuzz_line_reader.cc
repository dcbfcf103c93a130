// Any bytes, in blocks of any sizes, through the line reader: the pieces it delivers lie in order
// inside the input, are bounded, and hold no line end; the newlines it counts are the input's.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "input/line_reader.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// The first byte of the input says how the sizes of blocks vary.
size_t block_size(uint8_t seed, size_t round) {
  if (seed == 0) return size_t{1} << 20;
  return 1 + (round * 2654435761U >> 7) % seed;
}

void check_line(const ncclog::Line& line, std::string_view input, uint64_t& next_offset) {
  require(line.offset >= next_offset);
  require(line.text.size() <= ncclog::kMaxLineBytes);
  require(line.offset + line.text.size() <= input.size());
  require(line.text == input.substr(line.offset, line.text.size()));
  require(line.text.find_first_of("\r\n") == line.text.npos);
  require(!line.cut || line.text.size() == ncclog::kMaxLineBytes);
  next_offset = line.offset + line.text.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string_view rest = input;
  size_t round = 0;
  ncclog::LineReader reader([&](char* buffer, size_t capacity) {
    const size_t count = rest.copy(buffer, std::min(capacity, block_size(data[0], ++round)));
    rest.remove_prefix(count);
    return count;
  });
  uint64_t next_offset = 0;
  for (ncclog::Line line; reader.next(line);) check_line(line, input, next_offset);
  require(reader.newlines() == static_cast<uint64_t>(std::ranges::count(input, '\n')));
  return 0;
}
