#include "base/json_text.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text.h"

namespace ncclog {
namespace {

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

void append_valid(std::string& out, std::string_view text) {
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out += text.substr(plain, i - plain);
    append_escaped(out, text[i]);
    plain = i + 1;
  }
  out += text.substr(plain);
}

}  // namespace

void append_json_string(std::string& out, std::string_view bytes) {
  out += '"';
  if (is_valid_utf8(bytes)) {
    append_valid(out, bytes);
  } else {
    append_valid(out, to_valid_utf8(bytes));
  }
  out += '"';
}

}  // namespace ncclog
