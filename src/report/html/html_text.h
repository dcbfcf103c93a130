// HTML and SVG in which nothing from a log can become markup.
//
//   html_text("<b>&")                                   &lt;b&gt;&amp;
//   html_element("td", {{"class", "num"}}, html_text(host))   <td class="num">gpu-node-01</td>
//
// A Markup is made here and nowhere else. Names of tags and attributes are literals of this
// program, which the compiler checks; all other text is escaped on its way in. What comes out is
// well-formed as XML, too, so that one parser can judge pages and drawings.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// Text of this program's source; never of a log.
class Literal {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval Literal(const char* text) : text_(text) {}
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// One attribute; its value may hold any bytes and is escaped when the element is made.
struct Attribute {
  Literal name;
  std::string value;
};

/// A piece of a page: well-formed, valid UTF-8, without a byte of a log that could steer anything.
class Markup {
 public:
  Markup() = default;

  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  Markup& operator+=(const Markup& more);
  friend Markup operator+(Markup first, const Markup& second) { return first += second; }

 private:
  explicit Markup(std::string bytes) : bytes_(std::move(bytes)) {}

  friend Markup html_text(std::string_view bytes, size_t most);
  friend Markup plain_text(std::string_view bytes, size_t most);
  friend Markup html_literal(Literal markup);
  friend Markup html_element(Literal tag, const std::vector<Attribute>& attributes,
                             const Markup& content);

  std::string bytes_;
};

/// Bytes of one text that are shown; what is longer says how much is missing.
inline constexpr size_t kMaxShownBytes = 4096;

/// `bytes`, which may be anything, as text: controls and marks that turn the writing direction are
/// shown as escapes, text that runs from right to left is kept apart from what stands beside it.
Markup html_text(std::string_view bytes, size_t most = kMaxShownBytes);

/// The same without any element in it, for titles and for the text of SVG, which is a paragraph of
/// its own whatever its direction.
Markup plain_text(std::string_view bytes, size_t most = kMaxShownBytes);

/// Markup that this program holds as it is.
Markup html_literal(Literal markup);

/// <tag attributes>content</tag>; without content <tag attributes/> where HTML knows no end tag,
/// and in SVG. Attributes with an empty value are written, too.
Markup html_element(Literal tag, const std::vector<Attribute>& attributes,
                    const Markup& content = {});

}  // namespace ncclog
