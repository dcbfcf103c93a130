#include "base/text.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>

#include "base/safe_json.h"
#include "base/wide_vectors.h"

namespace ncclog {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The bytes of the character at the start of `bytes`, which are not empty; 0: they are no UTF-8.
/// `code` is set to the character.
size_t character_length(std::string_view bytes, utf8proc_int32_t& code) {
  const auto* begin = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
  code = *begin;
  if (*begin < 0x80) return 1;
  const auto length = utf8proc_iterate(begin, static_cast<utf8proc_ssize_t>(bytes.size()), &code);
  return static_cast<size_t>(std::max<utf8proc_ssize_t>(length, 0));
}

bool is_bidi_control(uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

/// Takes no room on a screen: two names that differ in nothing else look alike.
bool is_invisible(uint32_t c) {
  return c == 0x00AD || c == 0x180E || (c >= 0x200B && c <= 0x200D) ||
         (c >= 0x2060 && c <= 0x2064) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

void append_printable(std::string& out, uint32_t c, std::string_view character) {
  if (c == '\t') {
    out += ' ';
  } else if (c < 0x20 || c == 0x7F) {
    out += fmt::format("\\x{:02x}", c);
  } else if ((c >= 0x80 && c < 0xA0) || is_bidi_control(c) || is_invisible(c) || c == 0x2028 ||
             c == 0x2029) {
    out += fmt::format("\\u{{{:04x}}}", c);
  } else {
    out += character;
  }
}

/// Numbers as ranges, with steps up to `widest`, until there are `most` bytes of it.
std::string ranges_of(std::span<const int> numbers, int widest, size_t most) {
  constexpr int kFewest = 5;  // Fewer at a step are clearer one by one.
  std::set<int64_t> left(numbers.begin(), numbers.end());
  std::string out;
  while (!left.empty() && out.size() < most) {
    const int64_t first = *left.begin();
    const auto length = [&](int step) {
      int count = 1;
      while (left.contains(first + int64_t{count} * step)) ++count;
      return count;
    };
    int step = length(1) < 3 ? 2 : 1;
    while (step > 1 && step <= widest && length(step) < kFewest) ++step;
    const int count = step > widest ? 1 : length(step);
    out += (out.empty() ? "" : ",") + std::to_string(first);
    if (count > 1) out += "-" + std::to_string(first + int64_t{count - 1} * step);
    if (step > 1 && count > 1) out += ":" + std::to_string(step);
    for (int i = 0; i < count; ++i) left.erase(first + int64_t{i} * step);
  }
  return left.empty() ? out : out + fmt::format(" and {} more", left.size());
}

}  // namespace

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin < text.size();) {
    if (is_blank(text[begin])) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < text.size() && !is_blank(text[end])) ++end;
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int64_t> parse_int(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr size_t kSurelyFit = 18;
  uint64_t value = 0;
  for (const char c : text.substr(0, kSurelyFit)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  for (const char c : text.substr(std::min(text.size(), kSurelyFit))) {
    if (!is_digit(c) || value > kMax / 10) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (value > kMax + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::optional<uint64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (!is_hex_digit(c) || value >> 60 != 0) return std::nullopt;
    const int digit = is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  return value;
}

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string ranges_text(std::span<const int> numbers) {
  return ranges_of(numbers, 1, std::string::npos);
}

std::string short_ranges(std::span<const int> numbers) {
  constexpr size_t kMost = 50;
  constexpr size_t kShort = 12;  // Steps would hardly shorten it.
  std::string plain = ranges_of(numbers, 1, kMost);
  if (plain.size() <= kShort) return plain;
  std::string stepped = ranges_of(numbers, 64, kMost);
  const bool is_whole = !plain.ends_with(" more");
  return is_whole && plain.size() <= stepped.size() ? plain : stepped;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates) {
  const size_t allowed = std::max<size_t>(1, name.size() / 3);
  std::optional<std::string_view> best;
  size_t best_distance = allowed + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string hint_for(std::string_view word, std::span<const std::string_view> names,
                     std::string_view otherwise) {
  if (const auto nearest = nearest_name(word, names))
    return fmt::format("did you mean '{}'?", *nearest);
  if (!otherwise.empty() || names.empty()) return std::string(otherwise);
  return fmt::format("one of: {}", fmt::join(names, ", "));
}

std::string plural(int64_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : one.ends_with('s') ? "es" : "s");
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string channels_text(uint64_t channels) {
  std::vector<int> numbers;
  for (int c = 0; channels != 0; ++c, channels >>= 1) {
    if ((channels & 1) != 0) numbers.push_back(c);
  }
  return ranges_text(numbers);
}

namespace {

/// Bytes of ASCII with which `bytes` begin, eight at a time where there are so many.
size_t ascii_length(std::string_view bytes) {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  size_t length = 0;
  uint64_t word = 0;
  for (; length + sizeof(word) <= bytes.size(); length += sizeof(word)) {
    std::memcpy(&word, bytes.data() + length, sizeof(word));
    if ((word & kHighBits) != 0) break;
  }
  while (length < bytes.size() && static_cast<unsigned char>(bytes[length]) < 0x80) ++length;
  return length;
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) {
  utf8proc_int32_t ignored = 0;
  while (!bytes.empty()) {
    bytes.remove_prefix(ascii_length(bytes));
    // Characters that are no ASCII come in rows: bars, other scripts.
    while (!bytes.empty() && static_cast<unsigned char>(bytes.front()) >= 0x80) {
      const size_t length = character_length(bytes, ignored);
      if (length == 0) return false;
      bytes.remove_prefix(length);
    }
  }
  return true;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  utf8proc_int32_t ignored = 0;
  while (!bytes.empty()) {
    const size_t length = character_length(bytes, ignored);
    out += length == 0 ? kReplacement : bytes.substr(0, length);
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  utf8proc_int32_t code = 0;
  while (!bytes.empty()) {
    const size_t length = character_length(bytes, code);
    if (length == 0) {
      out += kReplacement;
    } else {
      append_printable(out, static_cast<uint32_t>(code), bytes.substr(0, length));
    }
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

void append_utf8(std::string& out, uint32_t code) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(count));
}

void append_json_string(std::string& out, std::string_view bytes) {
  const size_t begin = out.size();
  std::string valid;
  if (!is_valid_utf8(bytes)) bytes = valid = to_valid_utf8(bytes);
  out += '"';
  size_t plain = 0;  // What stands before it is in `out`.
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out += bytes.substr(plain, i - plain);
    plain = i + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    }
  }
  out += bytes.substr(plain);
  out += '"';
  if (find_odd_bytes(bytes).high || bytes.find('\x7f') != bytes.npos)
    out.replace(begin, out.npos, safe_json(out.substr(begin)));
}

// Odd bytes. The inner loops run over arrays of a fixed size, so that the compiler makes vectors of
// them.

namespace {

using Byte = unsigned char;

constexpr size_t kLanes = 32;

using Bytes = std::array<Byte, kLanes>;

/// Adds what each lane sees: the bytes, joined by "or", and whether one is a control code.
NCCLOG_WIDE_VECTORS
void look_at(const char* bytes, size_t rows, Bytes& all, Bytes& control) {
  Bytes all_now = all;
  Bytes control_now = control;
  for (size_t row = 0; row < rows; ++row, bytes += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) {
      const Byte byte = static_cast<Byte>(bytes[i]);
      // Without branches, and all in bytes.
      const Byte is_low = (byte & 0xE0) == 0 ? 0xFF : 0;
      const Byte is_tab = byte == '\t' ? 0xFF : 0;
      const Byte is_newline = byte == '\n' ? 0xFF : 0;
      all_now[i] = static_cast<Byte>(all_now[i] | byte);
      control_now[i] = static_cast<Byte>(control_now[i] | (is_low & ~(is_tab | is_newline)));
    }
  }
  all = all_now;
  control = control_now;
}

/// All bytes joined by "or".
uint64_t all_of(const Bytes& bytes) {
  uint64_t all = 0;
  for (const uint64_t word : std::bit_cast<std::array<uint64_t, kLanes / 8>>(bytes)) all |= word;
  return all;
}

NCCLOG_WIDE_VECTORS
void count_rows(const char* bytes, size_t rows, Bytes& counters) {
  Bytes now{};
  for (size_t row = 0; row < rows; ++row, bytes += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) now[i] = static_cast<Byte>(now[i] + (bytes[i] == '\n'));
  }
  counters = now;
}

}  // namespace

OddBytes find_odd_bytes(std::string_view text) {
  Bytes all{};
  Bytes control{};
  if (text.size() < kLanes) {
    std::array<char, kLanes> padded{};
    padded.fill(' ');
    text.copy(padded.data(), text.size());
    look_at(padded.data(), 1, all, control);
  } else {
    look_at(text.data(), text.size() / kLanes, all, control);
    // What is left over, and some bytes before it for a second time.
    look_at(text.data() + text.size() - kLanes, 1, all, control);
  }
  return {all_of(control) != 0, (all_of(all) & 0x8080808080808080U) != 0};
}

uint64_t count_newlines(std::string_view text) {
  // A counter is one byte wide, so that a vector holds many: emptied before it can overflow.
  constexpr size_t kMaxRows = 255;
  uint64_t count = 0;
  while (text.size() >= kLanes) {
    Bytes counters;
    const size_t rows = std::min(kMaxRows, text.size() / kLanes);
    count_rows(text.data(), rows, counters);
    for (const Byte counter : counters) count += counter;
    text.remove_prefix(rows * kLanes);
  }
  return count + static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace ncclog
