#include "report/html_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/html_page.h"
#include "report/text_parts.h"
#include "report/transport_matrix.h"

namespace ncclog {
namespace {

constexpr size_t kMaxNameBytes = 40;

std::string letters_of(const MatrixCell& cell) {
  std::string letters;
  for (const TransportClass value : cell.classes) letters += row_of(value).letter;
  return letters;
}

std::string words_of(const MatrixCell& cell) {
  if (!cell.detail.empty()) return cell.detail;
  std::string names;
  for (const TransportClass value : cell.classes) {
    names += (names.empty() ? "" : ", ") + std::string(row_of(value).name);
  }
  return fmt::format("{} of ranks: {}", plural(cell.pairs, "pair"), names);
}

Markup cell_markup(const MatrixCell& cell) {
  const bool mixed = cell.classes.size() > 1;
  const std::string css(mixed ? "mixed" : row_of(*cell.classes.begin()).css);
  return html_element("td", {{"class", css}, {"title", words_of(cell)}},
                      html_text(letters_of(cell)));
}

Markup head_of(const TransportMatrix& matrix) {
  Markup cells = html_element("th", {{"scope", "col"}}, html_literal("from\xC2\xA0\\\xC2\xA0to"));
  for (const std::string& name : matrix.names) {
    std::vector<Attribute> attributes = {{"scope", "col"}};
    if (matrix.hosts_per_row > 0) attributes.push_back({"class", "host"});
    cells += html_element("th", attributes, html_text(name, kMaxNameBytes));
  }
  return html_element("thead", {}, html_element("tr", {}, cells));
}

Markup row_markup(const TransportMatrix& matrix, size_t row) {
  static const Markup kNothing = html_element("td", {});
  Markup cells =
      html_element("th", {{"scope", "row"}}, html_text(matrix.names[row], kMaxNameBytes));
  for (size_t column = 0; column < matrix.names.size(); ++column) {
    const auto cell = matrix.cells.find({row, column});
    cells += cell == matrix.cells.end() ? kNothing : cell_markup(cell->second);
  }
  return html_element("tr", {}, cells) + html_literal("\n");
}

std::string what_rows_are(const TransportMatrix& matrix) {
  if (matrix.hosts_per_row == 0) return "From each rank (row) to each rank (column).";
  if (matrix.hosts_per_row == 1) {
    return fmt::format("{} ranks, so rows and columns are hosts.", matrix.ranks);
  }
  return fmt::format("{} ranks, so rows and columns are hosts, {} neighbours each.", matrix.ranks,
                     matrix.hosts_per_row);
}

}  // namespace

Markup html_matrix(const RankPaths& paths) {
  Markup out;
  if (!paths.pairs.empty()) {
    const TransportMatrix matrix = transport_matrix(paths);
    out = html_paragraph(what_rows_are(matrix));
    Markup rows;
    for (size_t row = 0; row < matrix.names.size(); ++row) rows += row_markup(matrix, row);
    out += html_scroll_box("transport matrix",
                           html_element("table", {{"class", "matrix"}},
                                        head_of(matrix) + html_element("tbody", {}, rows)));
  }
  if (paths.torn > 0) {
    out += html_paragraph(fmt::format("{} of processes whose lines are torn: left out.",
                                      plural(paths.torn, "connection")));
  }
  if (paths.unplaced > 0) {
    out += html_paragraph(fmt::format(
        "{} left out: the log names ranks of several communicators alike, and does not tell which "
        "process is at the other end.",
        paths.unplaced == 1 ? "1 connection is"
                            : fmt::format("{} connections are", paths.unplaced)));
  }
  return out;
}

Markup html_transport_key(const RankPaths& paths) {
  std::set<TransportClass> used;
  for (const auto& [ends, path] : paths.pairs)
    used.insert(path.classes.begin(), path.classes.end());
  Markup rows;
  for (const TransportClass value : used) {
    const TransportClassRow& row = row_of(value);
    const Markup letter =
        html_element("b", {{"class", std::string(row.css)}}, html_text(std::string(1, row.letter)));
    rows += html_element("li", {}, letter + html_text(fmt::format(" {}: {}", row.name, row.help)));
  }
  return rows.empty() ? Markup() : html_element("ul", {{"class", "key"}}, rows);
}

}  // namespace ncclog
