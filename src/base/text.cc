#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace ncclog {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length in bytes of the valid UTF-8 character at the start of `bytes`; 0 if there is none.
size_t utf8_length(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto follows = [&](size_t i) { return i < bytes.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return follows(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    const bool overlong = b == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = b == 0xED && byte(1) > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const bool outside = (b == 0xF0 && byte(1) < 0x90) || (b == 0xF4 && byte(1) > 0x8F);
    return outside ? 0 : 4;
  }
  return 0;
}

uint32_t code_point(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    case 3:
      return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    default:
      return (byte(0) & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 |
             (byte(3) & 0x3Fu);
  }
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

void append_printable(std::string& out, std::string_view character) {
  const uint32_t c = code_point(character);
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
  constexpr size_t kAlwaysFit = 18;
  uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c) || (text.size() > kAlwaysFit && value > kMax / 10)) return std::nullopt;
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

std::string ranges_text(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(numbers[i]);
    if (last > i) out += (last == i + 1 ? "," : "-") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return out;
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
  while (!bytes.empty()) {
    bytes.remove_prefix(ascii_length(bytes));
    if (bytes.empty()) return true;
    const size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = utf8_length(bytes);
    out += length == 0 ? kReplacement : bytes.substr(0, length);
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = utf8_length(bytes);
    if (length == 0) {
      out += kReplacement;
    } else {
      append_printable(out, bytes.substr(0, length));
    }
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

}  // namespace ncclog
