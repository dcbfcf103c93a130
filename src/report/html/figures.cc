#include "report/html/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "report/html/graph_svg.h"
#include "report/html/html_page.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

Markup key_list(const Markup& rows) { return html_element("ul", {{"class", "key"}}, rows); }

// The matrix of transports: a letter and a colour a cell, so that nobody has to tell colours apart.

constexpr size_t kMaxNameBytes = 40;

std::string words_of(const MatrixCell& cell) {
  if (!cell.detail.empty()) return cell.detail;
  std::string names;
  for (const TransportClass value : cell.classes) {
    names += (names.empty() ? "" : ", ") + std::string(row_of(value).name);
  }
  return fmt::format("{} of ranks: {}", plural(cell.pairs, "pair"), names);
}

Markup cell_markup(const MatrixCell& cell) {
  std::string letters;
  for (const TransportClass value : cell.classes) letters += row_of(value).letter;
  const bool mixed = cell.classes.size() > 1;
  const std::string css(mixed ? "mixed" : row_of(*cell.classes.begin()).css);
  return html_element("td", {{"class", css}, {"title", words_of(cell)}}, html_text(letters));
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

/// What the letters and colours mean, of those classes that occur.
Markup key_of(const TransportMatrix& matrix) {
  std::set<TransportClass> used;
  for (const auto& [place, cell] : matrix.cells) {
    used.insert(cell.classes.begin(), cell.classes.end());
  }
  Markup rows;
  for (const TransportClass value : used) {
    const TransportClassRow& row = row_of(value);
    const Markup letter =
        html_element("b", {{"class", std::string(row.css)}}, html_text(std::string(1, row.letter)));
    rows += html_element("li", {}, letter + html_text(fmt::format(" {}: {}", row.name, row.help)));
  }
  return key_list(rows);
}

Markup drawn(const TransportMatrix& matrix, const std::string& name) {
  Markup rows;
  for (size_t row = 0; row < matrix.names.size(); ++row) rows += row_markup(matrix, row);
  const Markup table = html_element("table", {{"class", "matrix"}},
                                    head_of(matrix) + html_element("tbody", {}, rows));
  return key_of(matrix) + html_scroll_box(name, table);
}

// Bars.

using Colours = std::map<std::string, size_t>;

/// A colour for each name; those beyond the colours share the last one.
Colours colours_of(const BarChart& chart) {
  constexpr size_t kColours = 8;
  Colours colours;
  for (const BarChart::Bar& bar : chart.bars) {
    for (const auto& [name, n] : bar.parts) colours.try_emplace(name, 0);
  }
  size_t next = 0;
  for (auto& [name, colour] : colours) colour = std::min(next++, kColours - 1);
  return colours;
}

Markup key_of(const Colours& colours) {
  Markup rows;
  for (const auto& [name, colour] : colours) {
    const Markup box = html_element(
        "svg", {{"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}},
        html_element("rect",
                     {{"width", "12"}, {"height", "12"}, {"class", fmt::format("b{}", colour)}}));
    rows += html_element("li", {}, box + html_literal(" ") + html_text(name, 60));
  }
  return key_list(rows);
}

Markup drawn(const BarChart& chart, const std::string& name) {
  constexpr int kHeight = 16;
  constexpr int kRowHeight = 21;
  constexpr int kWidth = 440;
  const Colours colours = colours_of(chart);
  uint64_t most = 1;
  int left = 40;
  for (const BarChart::Bar& bar : chart.bars) {
    uint64_t all = 0;
    for (const auto& [part, n] : bar.parts) all += n;
    most = std::max(most, all);
    left = std::max(left, display_width(bar.label) * 8 + 12);
  }
  const auto x_of = [&](uint64_t n) {
    return left + static_cast<int>(static_cast<double>(n) * kWidth / static_cast<double>(most));
  };
  Markup rows;
  int y = 4;
  for (const BarChart::Bar& bar : chart.bars) {
    rows += svg_text(left - 8, y + 12, "label", "end", bar.label);
    uint64_t before = 0;
    for (const auto& [part, n] : bar.parts) {
      const Box box = {x_of(before), y, std::max(1, x_of(before + n) - x_of(before)), kHeight};
      rows += svg_rect(box, fmt::format("b{}", colours.at(part)),
                       fmt::format("{}: {} {}", bar.label, n, part));
      before += n;
    }
    rows += svg_text(x_of(before) + 6, y + 12, "label", "start", std::to_string(before));
    y += kRowHeight;
  }
  return key_of(colours) + html_scroll_box(name, svg_frame(left + kWidth + 70, y + 4, name, rows));
}

// The time line: a lane for each process, over one scale of time.

/// "0.25 s", "90 s", "12 min", "3.5 h" since the beginning.
std::string since_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 300) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

class LaneDrawing {
 public:
  explicit LaneDrawing(const LaneChart& chart) : chart_(chart) {
    begin_ = INT64_MAX;
    int64_t end = INT64_MIN;
    for (const LaneChart::Lane& lane : chart.lanes) {
      begin_ = std::min(begin_, lane.first);
      end = std::max(end, lane.last);
      left_ = std::max(left_, display_width(shown_name(lane)) * 8 + 18);
    }
    span_ = std::max<int64_t>(1, end - begin_);
  }

  Markup svg(const std::string& name) const {
    constexpr int kTop = 26;
    const int height = kTop + static_cast<int>(chart_.lanes.size()) * kLaneHeight + 8;
    Markup inside = axis(height);
    int y = kTop + kLaneHeight / 2;
    for (const LaneChart::Lane& lane : chart_.lanes) {
      inside += lane_markup(lane, y);
      y += kLaneHeight;
    }
    return svg_frame(left_ + kWidth + 50, height, name, inside);
  }

 private:
  static constexpr int kLaneHeight = 22;
  static constexpr int kWidth = 760;

  static std::string shown_name(const LaneChart::Lane& lane) {
    return clip(printable(lane.name), 20);
  }

  int x_of(int64_t at) const {
    const double share = static_cast<double>(at - begin_) / static_cast<double>(span_);
    return left_ + static_cast<int>(share * kWidth);
  }

  Markup axis(int height) const {
    constexpr int kTicks = 5;
    Markup out;
    for (int tick = 0; tick < kTicks; ++tick) {
      const int x = left_ + kWidth * tick / (kTicks - 1);
      const double seconds = static_cast<double>(span_) * tick / (kTicks - 1) / 1e9;
      out += svg_path("axis", fmt::format("M{} 18V{}", x, height - 4));
      out += svg_text(x, 13, "quiet", tick == 0 ? "start" : "middle", since_text(seconds));
    }
    return out;
  }

  Markup lane_markup(const LaneChart::Lane& lane, int middle) const {
    Markup out =
        svg_text(left_ - 10, middle + 4, "label", "end", shown_name(lane)) +
        svg_path("axis", fmt::format("M{} {}H{}", x_of(lane.first), middle, x_of(lane.last)));
    for (const LaneChart::Span& span : lane.spans) {
      const int from = x_of(span.from);
      out +=
          svg_rect({from, middle - 5, std::max(3, x_of(span.to) - from), 10}, "span", span.title);
    }
    for (const LaneChart::Mark& mark : lane.marks) {
      const int x = x_of(mark.at);
      out += mark.bad
                 ? svg_path("markbad", fmt::format("M{} {}l6 11h-12z", x, middle - 7), mark.title)
                 : svg_path("mark", fmt::format("M{} {}v10h2v-10z", x - 1, middle - 5), mark.title);
    }
    return out;
  }

  const LaneChart& chart_;
  int64_t begin_ = 0;
  int64_t span_ = 1;
  int left_ = 60;
};

Markup drawn(const LaneChart& chart, const std::string& name) {
  return html_paragraph(html_literal(
             "Bars are initialisations of communicators, triangles warnings, timeouts and ends.")) +
         html_scroll_box(name, LaneDrawing(chart).svg(name));
}

Markup drawn(const Graph& graph, const std::string& name) {
  return html_scroll_box(name, graph_svg(graph));
}

}  // namespace

Markup html_figure(const Figure& figure) {
  return std::visit([&](const auto& drawing) { return drawn(drawing, figure.name); },
                    figure.drawing);
}

}  // namespace ncclog
