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

#include "report/tables/table.h"

namespace ncclog {

/// Text of this program's source; never of a log.
class SourceText {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval SourceText(const char* text) : text_(text) {}
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// One attribute; its value may hold any bytes and is escaped when the element is made.
struct Attribute {
  SourceText name;
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
  friend Markup html_literal(SourceText markup);
  friend Markup html_element(SourceText tag, const std::vector<Attribute>& attributes,
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
Markup html_literal(SourceText markup);

/// <tag attributes>content</tag>; without content <tag attributes/> where HTML knows no end tag,
/// and in SVG. Attributes with an empty value are written, too.
Markup html_element(SourceText tag, const std::vector<Attribute>& attributes,
                    const Markup& content = {});

// What is a page made of: the document with its policy, style and script, sections, tables?
//
// A page is one file. Its content security policy forbids every request, and names by their hashes
// the one style sheet and the one script that may run, so that nothing a log says can ever act.
// Without the script everything can be read: tables are only searched and sorted by it. Style sheet
// and script are page.css, drawing.css and page.js beside this file. They hold no '<' and no '&',
// for a page is well-formed XML as well.

/// A whole document, with a newline at the end. `title` may hold any bytes.
std::string html_page(std::string_view title, const Markup& body);

/// A reference of a rule, as a link where its source is known: an issue of GitHub
/// ("NVIDIA/nccl#331"), a manual page ("connect(2)"), what sources.table names. Nothing else leads
/// out of a page, and no address holds more of `reference` than those forms allow.
Markup html_source(std::string_view reference);

/// <p>text</p>
Markup html_paragraph(const Markup& text);

/// A box that scrolls by itself if its content is wider than the screen; `name` says what it holds.
Markup html_scroll_box(std::string_view name, const Markup& content);

/// What is only shown to those who open it.
Markup html_details(const Markup& summary, const Markup& content, bool open = false);

// A table of report/tables/table.h on a page, with a box to search it and headings that sort it.

/// The table in a box that scrolls, its notes below it. Columns without any value are left out, and
/// so are rows beyond `most`, which a note counts. `name` is what screen readers call it.
Markup html_table(const Table& table, std::string_view name, size_t most = 600);

}  // namespace ncclog
