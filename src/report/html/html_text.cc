#include "report/html/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// U+FFFE and U+FFFF are valid UTF-8 and yet no characters of XML.
bool is_noncharacter(std::string_view text, size_t at) {
  return text.substr(at, 2) == "\xEF\xBF" && at + 2 < text.size() &&
         (text[at + 2] == '\xBE' || text[at + 2] == '\xBF');
}

/// `text` is printable().
std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (is_noncharacter(text, i)) {
          out += "\\u{fff";
          out += text[i + 2] == '\xBE' ? "e}" : "f}";
          i += 2;
        } else {
          out += text[i];
        }
    }
  }
  return out;
}

/// The first `most` bytes, without the beginning of a character that ends behind them.
std::string_view first_bytes(std::string_view bytes, size_t most) {
  if (bytes.size() <= most) return bytes;
  constexpr size_t kLongestCharacter = 4;
  size_t end = most;
  while (end > 0 && most - end < kLongestCharacter &&
         (static_cast<unsigned char>(bytes[end]) & 0xC0) == 0x80) {
    --end;
  }
  return bytes.substr(0, end);
}

/// True if some character is of a writing that runs from right to left: Hebrew, Arabic and their
/// neighbours, U+0590 to U+08FF, U+FB1D to U+FDFF, U+FE70 to U+FEFE, U+10800 to U+10FFF, U+1E800
/// to U+1EFFF. `text` is valid UTF-8.
bool runs_from_right(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0xD6) continue;
    const auto second = static_cast<unsigned char>(text[i + 1]);
    const auto third = static_cast<unsigned char>(i + 2 < text.size() ? text[i + 2] : 0);
    if (first == 0xD6 && second >= 0x90) return true;
    if (first >= 0xD7 && first <= 0xDF) return true;
    if (first == 0xE0 && second >= 0xA0 && second <= 0xA3) return true;
    if (first == 0xEF && second >= 0xAC && second <= 0xB7) return second > 0xAC || third >= 0x9D;
    if (first == 0xEF && (second == 0xB9 || second == 0xBA) && third >= 0xB0) return true;
    if (first == 0xF0 && second == 0x90 && third >= 0xA0) return true;
    if (first == 0xF0 && second == 0x9E && third >= 0xA0) return true;
  }
  return false;
}

/// Elements of HTML that have no end tag, and those of SVG that we leave empty.
bool is_void(std::string_view tag) {
  static constexpr std::array<std::string_view, 9> kVoid = {
      "br", "circle", "input", "line", "link", "meta", "path", "polygon", "rect"};
  return std::find(kVoid.begin(), kVoid.end(), tag) != kVoid.end();
}

std::string attributes_text(const std::vector<Attribute>& attributes) {
  std::string out;
  for (const auto& [name, value] : attributes) {
    const std::string_view shown = first_bytes(value, kMaxShownBytes);
    out += ' ';
    out += name.text();
    out += "=\"" + escaped(printable(shown)) + (shown.size() < value.size() ? "…\"" : "\"");
  }
  return out;
}

}  // namespace

Markup& Markup::operator+=(const Markup& more) {
  bytes_ += more.bytes_;
  return *this;
}

Markup html_text(std::string_view bytes, size_t most) {
  const std::string_view shown = first_bytes(bytes, most);
  std::string out = escaped(printable(shown));
  if (runs_from_right(out)) out = "<bdi>" + out + "</bdi>";
  if (shown.size() < bytes.size()) {
    out += fmt::format("<span class=\"cut\">… ({} more bytes)</span>", bytes.size() - shown.size());
  }
  return Markup(std::move(out));
}

Markup plain_text(std::string_view bytes, size_t most) {
  const std::string_view shown = first_bytes(bytes, most);
  return Markup(escaped(printable(shown)) + (shown.size() < bytes.size() ? "…" : ""));
}

Markup html_literal(Literal markup) { return Markup(std::string(markup.text())); }

Markup html_element(Literal tag, const std::vector<Attribute>& attributes, const Markup& content) {
  std::string out = "<";
  out += tag.text();
  out += attributes_text(attributes);
  if (content.empty() && is_void(tag.text())) return Markup(out + "/>");
  out += '>';
  out += content.bytes();
  out += "</";
  out += tag.text();
  out += '>';
  return Markup(std::move(out));
}

}  // namespace ncclog
