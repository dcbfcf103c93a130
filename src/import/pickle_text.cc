#include "import/pickle_text.h"

#include <cstdint>

#include "base/text.h"

namespace ncclog {
namespace {

void append_utf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Exactly `digits` hexadecimal digits at the start of `text`.
std::optional<uint32_t> hex_digits(std::string_view text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  uint32_t code = 0;
  for (const char c : text.substr(0, digits)) {
    if (!is_hex_digit(c)) return std::nullopt;
    code = code * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return code;
}

/// Letters that stand for one character after a backslash; 0 for others.
char simple_escape(char letter) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeant = "\\'\"\a\b\f\n\r\t\v";
  const size_t at = kLetters.find(letter);
  return at == kLetters.npos ? '\0' : kMeant[at];
}

}  // namespace

std::optional<std::string> decode_python_string(std::string_view quoted) {
  quoted = trim(quoted);
  const bool has_quotes = quoted.size() >= 2 && quoted.front() == quoted.back() &&
                          (quoted.front() == '\'' || quoted.front() == '"');
  if (!has_quotes) return std::nullopt;
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string out;
  while (!rest.empty()) {
    if (rest.front() != '\\') {
      out += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    if (rest.size() < 2) return std::nullopt;
    if (rest[1] == 'x') {
      const auto byte = hex_digits(rest.substr(2), 2);
      if (!byte) return std::nullopt;
      out += static_cast<char>(*byte);
      rest.remove_prefix(4);
      continue;
    }
    const char meant = simple_escape(rest[1]);
    if (meant == '\0') return std::nullopt;
    out += meant;
    rest.remove_prefix(2);
  }
  return out;
}

std::optional<std::string> decode_raw_unicode(std::string_view escaped) {
  std::string out;
  while (!escaped.empty()) {
    const bool is_short = escaped.starts_with("\\u");
    if (!is_short && !escaped.starts_with("\\U")) {
      append_utf8(static_cast<uint8_t>(escaped.front()), out);
      escaped.remove_prefix(1);
      continue;
    }
    const size_t digits = is_short ? 4 : 8;
    const auto code = hex_digits(escaped.substr(2), digits);
    if (!code || *code > 0x10FFFF) return std::nullopt;
    append_utf8(*code, out);
    escaped.remove_prefix(2 + digits);
  }
  return out;
}

}  // namespace ncclog
