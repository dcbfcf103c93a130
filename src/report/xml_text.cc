#include "report/xml_text.h"

#include "base/text.h"

namespace ncclog {
namespace {

/// U+FFFE and U+FFFF are characters in UTF-8 and none in XML.
bool begins_noncharacter(std::string_view text) {
  return text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
}

void append_escaped(std::string& out, std::string_view line) {
  const std::string shown = printable(line);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (begins_noncharacter(std::string_view(shown).substr(i))) {
      out += "\uFFFD";
      i += 2;
    } else if (shown[i] == '<') {
      out += "&lt;";
    } else if (shown[i] == '>') {
      out += "&gt;";
    } else if (shown[i] == '&') {
      out += "&amp;";
    } else if (shown[i] == '"') {
      out += "&quot;";
    } else {
      out += shown[i];
    }
  }
}

}  // namespace

std::string xml_attribute(std::string_view bytes) {
  std::string out;
  append_escaped(out, bytes);
  return out;
}

std::string xml_content(std::string_view bytes) {
  std::string out;
  bool first = true;
  for (const std::string_view line : split(bytes, '\n')) {
    if (!first) out += '\n';
    first = false;
    append_escaped(out, line);
  }
  return out;
}

}  // namespace ncclog
