#include "report/unescape.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// Appends a character as UTF-8.
void append_character(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | (code >> 12 & 0x0F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// The number that `digits` are, all of them; false if they are none.
bool parse_code(std::string_view digits, int base, uint32_t& code) {
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  return !digits.empty() && end.ptr == digits.data() + digits.size();
}

/// Copies `text`; where `mark` stands, `take(rest, out)` may write what the escape means, and says
/// how long it is: 0 for none.
template <typename Take>
std::string unescaped(std::string_view text, char mark, Take&& take) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find(mark, at), text.size());
    out += text.substr(at, next - at);
    at = next;
    if (at == text.size()) break;
    const size_t length = take(text.substr(at), out);
    if (length == 0) out += mark;
    at += length == 0 ? 1 : length;
  }
  return out;
}

size_t take_entity(std::string_view rest, std::string& out) {
  constexpr size_t kLongest = 10;
  const size_t end = rest.substr(0, kLongest).find(';');
  if (end == rest.npos) return 0;
  const std::string_view name = rest.substr(1, end - 1);
  constexpr std::pair<std::string_view, char> kNames[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNames) {
    if (name != known) continue;
    out += character;
    return end + 1;
  }
  uint32_t code = 0;
  const bool hexadecimal = name.starts_with("#x") || name.starts_with("#X");
  if (!name.starts_with('#') ||
      !parse_code(name.substr(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10, code))
    return 0;
  append_character(out, code);
  return end + 1;
}

}  // namespace

std::string without_percent_escapes(std::string_view text) {
  return unescaped(text, '%', [](std::string_view rest, std::string& out) -> size_t {
    uint32_t code = 0;
    if (rest.size() < 3 || !parse_code(rest.substr(1, 2), 16, code)) return 0;
    out += static_cast<char>(code);
    return 3;
  });
}

std::string without_backslashes(std::string_view text) {
  return unescaped(text, '\\', [](std::string_view rest, std::string& out) -> size_t {
    if (rest.size() < 2) return 0;
    uint32_t code = 0;
    if (rest[1] == 'u' && rest.size() >= 6 && parse_code(rest.substr(2, 4), 16, code)) {
      append_character(out, code);
      return 6;
    }
    if (is_word(rest[1])) return 0;
    out += rest[1];
    return 2;
  });
}

std::string without_entities(std::string_view text) { return unescaped(text, '&', take_entity); }

}  // namespace ncclog
