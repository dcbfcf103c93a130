// What drawings are made of: rectangles, paths and texts of SVG, with a title each that browsers
// show of a shape that is pointed at.

#pragma once

#include <string>
#include <string_view>

#include "report/document/document.h"
#include "report/html/html_text.h"

namespace ncclog {

/// A rectangle; x and y of its upper left corner.
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  int right() const { return x + width; }
  int bottom() const { return y + height; }
  int middle_x() const { return x + width / 2; }
  int middle_y() const { return y + height / 2; }
};

Markup svg_title(std::string_view title);
/// `x` in pixels, or a share of the width: "12.5%".
Markup svg_text(const std::string& x, int y, SourceText css, std::string_view anchor,
                std::string_view text);
Markup svg_text(int x, int y, SourceText css, std::string_view anchor, std::string_view text);
Markup svg_rect(const Box& box, std::string_view css, std::string_view title = {});
Markup svg_path(SourceText css, const std::string& path, std::string_view title = {});

/// One <svg> element of that size; `name` is what screen readers call it, empty where a title tells
/// it.
Markup svg_frame(int width, int height, std::string_view name, const Markup& inside);

/// Pixels that a text of the drawing's size takes: estimated, for no font is asked.
int text_width(std::string_view text);

/// What colours and letters stand for, from items of a list.
Markup key_list(const Markup& rows);

// Charts, with their keys, in boxes that scroll (charts.cc).

Markup drawn(const RankGrid& grid, const std::string& name);
Markup drawn(const TimeChart& chart, const std::string& name);
Markup drawn(const std::vector<Bar>& bars, const std::string& name);
Markup drawn(const CurveChart& chart, const std::string& name);

}  // namespace ncclog
