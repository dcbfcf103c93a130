// The line reader, in blocks of any sizes, and with lines passed by, delivers what a plain one does
// that has all bytes at once.

#include "input/line_reader.h"

#include <algorithm>

#include "fuzz/fuzz.h"

namespace ncclog::fuzz {
namespace {

std::vector<Line> plain_lines(std::string_view input) {
  std::vector<Line> lines;
  size_t at = input.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (uint64_t number = 1; at < input.size();) {
    const size_t end = std::min(input.find_first_of("\r\n", at), input.size());
    const bool is_cut = end - at > kMaxLineBytes || end == input.size();
    lines.push_back({input.substr(at, std::min(end - at, kMaxLineBytes)), number, at, is_cut});
    const bool is_pair = input.substr(end, 2) == "\r\n";
    if (is_pair || input.substr(end, 1) == "\n") ++number;
    at = end + (is_pair ? 2 : 1);
  }
  return lines;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; }

/// A line with which `ahead` begins and that may be passed by; 0: there is none.
size_t passable(std::string_view ahead) {
  const size_t end = ahead.find('\n');
  if (end == ahead.npos) return 0;
  const bool is_plain = std::ranges::none_of(ahead.substr(0, end), is_control);
  return is_plain && end <= kMaxLineBytes ? end + 1 : 0;
}

/// Reads `input` in blocks of sizes that `sizes` tells, and passes lines by where it may.
void read_as_plain(std::string_view input, uint8_t sizes, bool passes_lines) {
  static LineBuffer memory(2 * kMaxLineBytes);
  const std::vector<Line> wanted = plain_lines(input);
  std::string_view rest = input;
  size_t round = 0;
  const auto block_size = [&] {
    return sizes == 0 ? input.size() + 1 : 1 + (++round * 2654435761U >> 7) % (sizes * size_t{64});
  };
  const auto read_block = [&](char* buffer, size_t capacity) {
    const size_t count = rest.copy(buffer, std::min(capacity, block_size()));
    rest.remove_prefix(count);
    return count;
  };
  LineReader reader(read_block, memory.bytes(), {});
  auto next = wanted.begin();
  for (Line line; reader.next(line); ++next) {
    require(next != wanted.end());
    require(line.text == next->text && line.offset == next->offset);
    require(line.number == next->number && line.cut == next->cut);
    require(line.has_control || std::ranges::none_of(line.text, is_control));
    require(line.has_high ||
            std::ranges::all_of(line.text, [](char c) { return (c & 0x80) == 0; }));
    const size_t passed = passes_lines ? passable(reader.ahead()) : 0;
    if (passed == 0) continue;
    require(++next != wanted.end() && next->text == reader.ahead().substr(0, passed - 1));
    reader.skip({passed, 1, 1, false});
  }
  require(next == wanted.end());
  require(reader.lines() == wanted.size());
  require(reader.newlines() == static_cast<uint64_t>(std::ranges::count(input, '\n')));
}

}  // namespace

/// The first byte says how the sizes of blocks vary, the second whether lines are passed by.
void fuzz_line_reader(std::string_view bytes) {
  const uint8_t sizes = take_byte(bytes);
  const uint8_t passes_lines = take_byte(bytes);
  read_as_plain(bytes, sizes, passes_lines % 2 == 1);
}

/// The same of the text again and again, longer than a line that is kept.
void fuzz_long_lines(std::string_view bytes) {
  const uint8_t sizes = take_byte(bytes);
  std::string input(bytes);
  while (!input.empty() && input.size() <= 2 * kMaxLineBytes) input += input;
  read_as_plain(input, sizes, false);
}

}  // namespace ncclog::fuzz
