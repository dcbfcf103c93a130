#include "base/json_text.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text.h"

namespace ncclog {

void append_json_string(std::string& out, std::string_view bytes) {
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
}

}  // namespace ncclog
