// Letters and digits of ASCII, whatever the locale is.

#pragma once

#include <string>
#include <string_view>

#include "base/text.h"

namespace ncclog {

constexpr bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }

constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// `text` with the letters of ASCII in lower case; all other bytes stay.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower_case(c);
  return result;
}

}  // namespace ncclog
