#include "base/safe_json.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace ncclog {

std::string safe_json(std::string json) {
  constexpr char kDel = '\x7f';
  if (!find_odd_bytes(json).high && json.find(kDel) == json.npos) return json;
  std::string out;
  for (std::string_view rest = json; !rest.empty();) {
    const auto first = static_cast<unsigned char>(rest.front());
    const auto length = static_cast<size_t>(std::max<int>(utf8proc_utf8class[first], 1));
    const std::string_view character = rest.substr(0, length);
    rest.remove_prefix(character.size());
    if (first < kDel || printable(character) == character) {
      out += character;
      continue;
    }
    utf8proc_int32_t code = kDel;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()),
                     static_cast<utf8proc_ssize_t>(character.size()), &code);
    const auto c = static_cast<uint32_t>(code);
    out += c <= 0xFFFF
               ? fmt::format("\\u{:04x}", c)
               : fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (c >> 10), 0xDC00 + (c & 0x3FF));
  }
  return out;
}

}  // namespace ncclog
