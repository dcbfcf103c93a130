#include "report/html/html_text.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "report/html/page_files.h"

namespace ncclog {
namespace {

/// `text` is printable().
std::string escaped(std::string_view text) {
  // U+FFFE and U+FFFF are valid UTF-8 and yet no characters of XML.
  static constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"&", "&amp;"},
      {"<", "&lt;"},
      {">", "&gt;"},
      {"\"", "&quot;"},
      {"'", "&#39;"},
      {"\xEF\xBF\xBE", "\\u{fffe}"},
      {"\xEF\xBF\xBF", "\\u{ffff}"}};
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const size_t plain = std::min(text.find_first_of("&<>\"'\xEF"), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto* escape = std::ranges::find_if(
        kEscapes, [&](const auto& each) { return text.starts_with(each.first); });
    const bool is_known = escape != std::end(kEscapes);
    out += is_known ? escape->second : text.substr(0, 1);
    text.remove_prefix(is_known ? escape->first.size() : 1);
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

// Pages and tables.

Markup head(std::string_view title) {
  // Names by their hashes the one style sheet and the one script that may run.
  const std::string policy = fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; "
      "base-uri 'none'; form-action 'none'",
      sha256_base64(std::string(kDrawingStyle) + kPageStyle), sha256_base64(kPageScript));
  return html_element("meta", {{"charset", "utf-8"}}) +
         html_element("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}}) +
         html_element("meta",
                      {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
         html_element("meta", {{"name", "referrer"}, {"content", "no-referrer"}}) +
         html_element("title", {}, plain_text(title, 160)) +
         html_element("link", {{"rel", "icon"}, {"href", "data:,"}}) +
         html_element("style", {}, html_literal(kDrawingStyle) + html_literal(kPageStyle));
}

/// A table of fewer rows is seen at a glance.
constexpr size_t kRowsWorthSearching = 5;

Markup head_row(const Table& table, const std::vector<ShownColumn>& columns) {
  Markup cells;
  for (const ShownColumn& column : columns) {
    std::vector<Attribute> attributes = {{"scope", "col"}};
    if (column.numeric) attributes.push_back({"class", "num"});
    cells += html_element("th", attributes, html_text(column_heading(table.columns[column.index])));
  }
  return html_element("thead", {}, html_element("tr", {}, cells));
}

Markup body_row(const std::vector<Cell>& row, const std::vector<ShownColumn>& columns) {
  constexpr size_t kMaxBytes = 240;
  Markup cells;
  for (const ShownColumn& column : columns) {
    const Markup text = html_text(cell_text(row[column.index]), kMaxBytes);
    std::vector<Attribute> attributes;
    if (column.numeric || column.wide) {
      attributes.push_back({"class", column.numeric ? "num" : "wide"});
    }
    const bool heads = &column == &columns.front();
    if (heads) attributes.push_back({"scope", "row"});
    cells += heads ? html_element("th", attributes, text) : html_element("td", attributes, text);
  }
  return html_element("tr", {}, cells) + html_literal("\n");
}

/// Hidden until the script shows it.
Markup search_box(std::string_view name) {
  const Markup input = html_element("input", {{"type", "search"},
                                              {"aria-label", "Search " + std::string(name)},
                                              {"placeholder", "Search"},
                                              {"autocomplete", "off"}});
  return html_element("div", {{"class", "find"}, {"hidden", ""}},
                      input + html_element("span", {{"role", "status"}, {"class", "quiet"}}));
}

}  // namespace

Markup& Markup::operator+=(const Markup& more) {
  bytes_ += more.bytes_;
  return *this;
}

Markup html_text(std::string_view bytes, size_t most) {
  const std::string_view shown = first_bytes(bytes, most);
  std::string out = escaped(printable(shown));
  // Some character is of a writing that runs from right to left: Hebrew, Arabic, their neighbours.
  static const RE2 kFromRight(
      R"([\x{590}-\x{8FF}\x{FB1D}-\x{FDFF}\x{FE70}-\x{FEFE}\x{10800}-\x{10FFF}\x{1E800}-\x{1EFFF}])");
  if (RE2::PartialMatch(out, kFromRight)) out = "<bdi>" + out + "</bdi>";
  if (shown.size() < bytes.size()) {
    out += fmt::format("<span class=\"cut\">… ({} more bytes)</span>", bytes.size() - shown.size());
  }
  return Markup(std::move(out));
}

Markup plain_text(std::string_view bytes, size_t most) {
  const std::string_view shown = first_bytes(bytes, most);
  return Markup(escaped(printable(shown)) + (shown.size() < bytes.size() ? "…" : ""));
}

Markup html_literal(SourceText markup) { return Markup(std::string(markup.text())); }

Markup html_element(SourceText tag, const std::vector<Attribute>& attributes,
                    const Markup& content) {
  // Elements of HTML that have no end tag, and those of SVG that we leave empty.
  static constexpr std::string_view kVoid[] = {"br",   "circle", "input",   "line", "link",
                                               "meta", "path",   "polygon", "rect"};
  std::string out = "<";
  out += tag.text();
  out += attributes_text(attributes);
  if (content.empty() && std::ranges::find(kVoid, tag.text()) != std::end(kVoid))
    return Markup(out + "/>");
  out += '>';
  out += content.bytes();
  out += "</";
  out += tag.text();
  out += '>';
  return Markup(std::move(out));
}

std::string html_page(std::string_view title, const Markup& body) {
  const Markup script = html_element("script", {}, html_literal(kPageScript));
  const Markup document =
      html_element("html", {{"lang", "en"}},
                   html_element("head", {}, head(title)) + html_element("body", {}, body + script));
  return "<!DOCTYPE html>\n" + document.bytes() + "\n";
}

Markup html_source(std::string_view reference) {
  static constexpr std::pair<std::string_view, std::string_view> kSources[] = {
#include "report/html/sources.inc"
  };
  static const RE2 kIssue(R"((\w[\w.-]*/\w[\w.-]*)#([0-9]+))");
  static const RE2 kManual(R"((\w+)\(([1-8])\))");
  std::string name;
  std::string number;
  std::string address;
  if (RE2::FullMatch(reference, kIssue, &name, &number)) {
    address = fmt::format("https://github.com/{}/issues/{}", name, number);
  } else if (RE2::FullMatch(reference, kManual, &name, &number)) {
    address = fmt::format("https://man7.org/linux/man-pages/man{1}/{0}.{1}.html", name, number);
  } else {
    const auto* source = std::ranges::find_if(
        kSources, [&](const auto& row) { return reference.starts_with(row.first); });
    if (source == std::end(kSources)) return html_text(reference);
    address = source->second;
  }
  return html_element("a", {{"href", address}, {"rel", "noreferrer"}}, html_text(reference));
}

Markup html_paragraph(const Markup& text) {
  return html_element("p", {}, text) + html_literal("\n");
}

Markup html_scroll_box(std::string_view name, const Markup& content) {
  return html_element("div",
                      {{"class", "scroll"},
                       {"tabindex", "0"},
                       {"role", "region"},
                       {"aria-label", std::string(name)}},
                      content) +
         html_literal("\n");
}

Markup html_details(const Markup& summary, const Markup& content, bool open) {
  std::vector<Attribute> attributes;
  if (open) attributes.push_back({"open", ""});
  return html_element("details", attributes, html_element("summary", {}, summary) + content) +
         html_literal("\n");
}

Markup html_table(const Table& table, std::string_view name, size_t most) {
  const std::vector<ShownColumn> columns = shown_columns(table);
  Markup out;
  if (!columns.empty()) {
    Markup rows;
    for (size_t r = 0; r < std::min(table.rows.size(), most); ++r) {
      rows += body_row(table.rows[r], columns);
    }
    const Markup body = html_element("tbody", {}, rows);
    if (table.rows.size() >= kRowsWorthSearching) out += search_box(name);
    out += html_scroll_box(
        name, html_element("table", {{"class", "sortable"}}, head_row(table, columns) + body));
  }
  if (table.rows.size() > most) {
    out +=
        html_paragraph(html_text(fmt::format("{} of {} rows are shown; 'ncclog show {}' lists all.",
                                             most, table.rows.size(), table.name)));
  }
  for (const std::string& note : table.notes) {
    out += html_element("p", {{"class", "quiet"}}, html_text(note));
  }
  return out;
}

}  // namespace ncclog
