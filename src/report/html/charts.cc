#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "report/html/svg.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr size_t kMaxTitleBytes = 300;

// Bars.

using Colours = std::map<std::string, size_t>;

/// A colour for each name; those beyond the colours share the last one.
Colours colours_of(const std::vector<Bar>& bars) {
  constexpr size_t kColours = 8;
  Colours colours;
  for (const Bar& bar : bars) {
    for (const auto& [name, n] : bar.parts) colours.try_emplace(name, 0);
  }
  size_t next = 0;
  for (auto& [name, colour] : colours) colour = std::min(next++, kColours - 1);
  return colours;
}

/// What a colour stands for, in a key.
Markup key_row(std::string_view css, std::string_view name) {
  const Markup box = html_element(
      "svg", {{"class", "drawing"}, {"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}},
      html_element("rect", {{"width", "12"}, {"height", "12"}, {"class", std::string(css)}}));
  return html_element("li", {}, box + html_literal(" ") + html_text(name, 60));
}

// The time line. Places are shares of the width: it fits any screen, and grows wider without its
// texts.

/// 1, 2 or 5 times a power of ten, of which at most `most` lie within `span`.
double round_step(double span, int most) {
  double step = std::pow(10, std::floor(std::log10(span / most)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (span / step <= most) break;
    step *= factor;
  }
  return step;
}

/// Where a moment stands on the drawing.
struct TimeScale {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t span() const { return std::max<int64_t>(1, end - begin); }
  /// "12.50%"; room is left at both edges for what stands there.
  std::string share(int64_t length) const {
    return fmt::format("{:.2f}%", 96 * static_cast<double>(length) / static_cast<double>(span()));
  }
  std::string at(int64_t moment) const { return share(moment - begin + span() / 96); }
};

/// A rectangle whose place and width may be shares of the width.
Markup share_rect(std::string_view css, const std::string& x, int y, const std::string& width,
                  int height, std::string_view title = {}) {
  return html_element("rect",
                      {{"class", std::string(css)},
                       {"x", x},
                       {"y", std::to_string(y)},
                       {"width", width},
                       {"height", std::to_string(height)}},
                      svg_title(title));
}

/// Lines of a grid in round steps of time since the beginning, down to `bottom`.
Markup grid_of(const TimeScale& scale, int bottom) {
  static constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}, {86'400, "days"}};
  constexpr int kMostSteps = 6;
  const double seconds = static_cast<double>(scale.span()) / 1e9;
  const auto* unit = std::begin(kUnits);
  while (unit + 1 != std::end(kUnits) && seconds >= 2 * unit[1].first) ++unit;
  const double all = seconds / unit->first;
  const double step = round_step(all, kMostSteps);
  Markup out;
  for (int tick = 0; tick * step <= all; ++tick) {
    const double at = tick * step;
    const std::string x = scale.at(scale.begin + static_cast<int64_t>(at * unit->first * 1e9));
    const std::string_view anchor = tick == 0 ? "start" : at > 0.9 * all ? "end" : "middle";
    out += share_rect("axis", x, 18, "1", bottom - 18) +
           svg_text(x, 13, "quiet", anchor, fmt::format("{:.4g} {}", at, unit->second));
  }
  return out;
}

constexpr std::pair<std::string_view, std::string_view> kSpanKinds[] = {
    {"span", "initialisation of a communicator"},
    {"calls", "calls, from the first to the last"},
    {"silence", "silence: no line with a time"},
    {"mark", "something else that is worth knowing"},
    {"markbad", "a warning, a time-out, a failure"}};

Markup lane_markup(const TimeChart::Lane& lane, const TimeScale& scale, int middle) {
  Markup out =
      share_rect("axis", scale.at(lane.first), middle, scale.share(lane.last - lane.first), 1);
  for (const TimeChart::Span& span : lane.spans) {
    const bool is_short = span.to - span.from < scale.span() / 256;
    const std::string width = span.kind == TimeChart::Kind::Failure ? "10"
                              : is_short                            ? "3"
                                         : scale.share(span.to - span.from);
    out += share_rect(kSpanKinds[static_cast<size_t>(span.kind)].first, scale.at(span.from),
                      middle - 5, width, 10, span.title);
  }
  return out;
}

/// Kinds of what is drawn.
Markup key_of(const TimeChart& chart) {
  std::set<TimeChart::Kind> used;
  for (const TimeChart::Lane& lane : chart.lanes) {
    for (const TimeChart::Span& span : lane.spans) used.insert(span.kind);
  }
  Markup rows;
  for (const TimeChart::Kind kind : used) {
    const auto& [css, words] = kSpanKinds[static_cast<size_t>(kind)];
    rows += key_row(css, words);
  }
  return key_list(rows);
}

// Curves of bandwidth over size.

/// Where a size and a bandwidth stand on the drawing.
struct CurveScale {
  double first = 63;  ///< Powers of two.
  double last = 0;
  double most = 0;  ///< GB/s, a multiple of the step.
  double step = 1;

  static constexpr int kLeft = 64;
  static constexpr int kTop = 12;
  static constexpr int kWidth = 620;
  static constexpr int kHeight = 240;

  int x_of(double bytes) const {
    const double span = std::max(1.0, last - first);
    return kLeft + static_cast<int>((std::log2(bytes) - first) / span * kWidth);
  }
  int y_of(double bandwidth) const {
    return kTop + kHeight - static_cast<int>(bandwidth / most * kHeight);
  }
};

CurveScale scale_of(const CurveChart& chart) {
  CurveScale scale;
  for (const CurveChart::Curve& curve : chart.curves) {
    for (const auto& [bytes, bandwidth] : curve.points) {
      scale.first = std::min(scale.first, std::floor(std::log2(static_cast<double>(bytes))));
      scale.last = std::max(scale.last, std::ceil(std::log2(static_cast<double>(bytes))));
      scale.most = std::max(scale.most, bandwidth);
    }
  }
  for (const CurveChart::Level& level : chart.lines) scale.most = std::max(scale.most, level.at);
  if (scale.most <= 0) scale.most = 1;
  scale.step = round_step(scale.most * 1.04, 5);
  scale.most = std::ceil(scale.most * 1.04 / scale.step) * scale.step;
  return scale;
}

/// "8 B", "64 KiB", "8 GiB" of a power of two.
std::string power_text(int power) {
  static constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return fmt::format("{} {}", 1 << (power % 10), kUnits[power / 10]);
}

/// Lines of a grid, with what they stand for.
Markup grid_of(const CurveScale& scale) {
  using S = CurveScale;
  Markup out;
  const int every = std::max(2, static_cast<int>((scale.last - scale.first) / 8) + 1);
  for (int power = static_cast<int>(scale.first); power <= scale.last; power += every) {
    const int x = scale.x_of(std::exp2(power));
    out += svg_path("axis", fmt::format("M{} {}v{}", x, S::kTop, S::kHeight));
    out += svg_text(x, S::kTop + S::kHeight + 16, "quiet", "middle", power_text(power));
  }
  for (int tick = 0; tick * scale.step < scale.most * 1.01; ++tick) {
    const double at = tick * scale.step;
    out += svg_path("axis", fmt::format("M{} {}h{}", S::kLeft, scale.y_of(at), S::kWidth));
    out += svg_text(S::kLeft - 8, scale.y_of(at) + 4, "quiet", "end", fmt::format("{:.4g}", at));
  }
  return out;
}

}  // namespace

Markup svg_title(std::string_view title) {
  return title.empty() ? Markup() : html_element("title", {}, plain_text(title, kMaxTitleBytes));
}

Markup svg_text(const std::string& x, int y, SourceText css, std::string_view anchor,
                std::string_view text) {
  return html_element("text",
                      {{"x", x},
                       {"y", std::to_string(y)},
                       {"class", std::string(css.text())},
                       {"text-anchor", std::string(anchor)}},
                      plain_text(text, kMaxTitleBytes));
}

Markup svg_text(int x, int y, SourceText css, std::string_view anchor, std::string_view text) {
  return svg_text(std::to_string(x), y, css, anchor, text);
}

Markup svg_rect(const Box& box, std::string_view css, std::string_view title) {
  return html_element("rect",
                      {{"x", std::to_string(box.x)},
                       {"y", std::to_string(box.y)},
                       {"width", std::to_string(box.width)},
                       {"height", std::to_string(box.height)},
                       {"rx", "4"},
                       {"class", std::string(css)}},
                      svg_title(title));
}

Markup svg_path(SourceText css, const std::string& path, std::string_view title) {
  return html_element("path", {{"class", std::string(css.text())}, {"d", path}}, svg_title(title));
}

Markup svg_frame(int width, int height, std::string_view name, const Markup& inside) {
  std::vector<Attribute> attributes = {{"class", "drawing"},
                                       {"width", std::to_string(width)},
                                       {"height", std::to_string(height)},
                                       {"viewBox", fmt::format("0 0 {} {}", width, height)},
                                       {"role", "img"}};
  if (!name.empty()) attributes.push_back({"aria-label", std::string(name)});
  return html_element("svg", attributes, inside);
}

int text_width(std::string_view text) { return display_width(text) * 15 / 2; }

Markup key_list(const Markup& rows) { return html_element("ul", {{"class", "key"}}, rows); }

Markup drawn(const std::vector<Bar>& bars, const std::string& name) {
  constexpr int kHeight = 16;
  constexpr int kRowHeight = 21;
  constexpr int kWidth = 440;
  const Colours colours = colours_of(bars);
  uint64_t most = 1;
  int left = 40;
  for (const Bar& bar : bars) {
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
  for (const Bar& bar : bars) {
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
  Markup keys;
  for (const auto& [part, colour] : colours) keys += key_row(fmt::format("b{}", colour), part);
  return key_list(keys) + html_scroll_box(name, svg_frame(left + kWidth + 70, y + 4, name, rows));
}

Markup drawn(const TimeChart& chart, const std::string& name) {
  constexpr int kLaneHeight = 20;
  constexpr int kTop = 24;
  constexpr int kMaxName = 16;
  const TimeScale scale = {chart.begin, chart.end};
  const int bottom = kTop + static_cast<int>(chart.lanes.size()) * kLaneHeight + 4;
  const int height = bottom + (chart.verdict ? 18 : 4);
  Markup lanes = grid_of(scale, bottom);
  Markup names;
  int width = 0;
  int y = kTop + kLaneHeight / 2;
  for (const TimeChart::Lane& lane : chart.lanes) {
    const std::string shown = clip(printable(lane.name), kMaxName);
    width = std::max(width, text_width(shown) + 8);
    names += svg_text(0, y + 4, "label", "start", shown);
    lanes += lane_markup(lane, scale, y);
    y += kLaneHeight;
  }
  if (chart.verdict) {
    const std::string x = scale.at(chart.verdict->from);
    const bool is_right = chart.verdict->from - scale.begin > scale.span() / 2;
    lanes +=
        share_rect("moment", x, 18, "2", bottom - 18, chart.verdict->title) +
        svg_text(x, bottom + 13, "quiet", is_right ? "end" : "start", "what the verdict is about");
  }
  const Markup plot = html_element("svg",
                                   {{"class", "drawing"},
                                    {"width", "100%"},
                                    {"height", std::to_string(height)},
                                    {"role", "img"},
                                    {"aria-label", name}},
                                   lanes);
  return key_of(chart) + html_element("div", {{"class", "lanes"}},
                                      svg_frame(width, height, "names of the lanes", names) +
                                          html_scroll_box(name, plot));
}

Markup drawn(const RankGrid& grid, const std::string& name) {
  // A letter comes with each class.
  static constexpr std::pair<std::string_view, std::string_view> kStates[] = {
      {"ga", "attributed: the verdict names it"},
      {"gw", "waiting for another rank"},
      {"gf", "failed"},
      {"gn", "not seen"},
      {"gd", "finished"},
      {"go", "none of these"}};
  constexpr size_t kMaxStops = 32;  ///< Of the Tab key; arrows reach all cells.
  std::map<RankGrid::State, size_t> counts;
  for (const RankGrid::Host& host : grid.hosts) {
    for (const RankGrid::Cell& cell : host.cells) ++counts[cell.state];
  }
  const auto usual =
      std::ranges::max_element(counts, {}, [](const auto& row) { return row.second; });
  Markup keys;
  for (const auto& [state, count] : counts) {
    const auto& [css, words] = kStates[static_cast<size_t>(state)];
    keys += html_element(
        "li", {},
        html_element("b", {{"class", std::string(css)}}) + html_literal(" ") + html_text(words));
  }
  Markup hosts;
  size_t stops = 0;
  for (const RankGrid::Host& host : grid.hosts) {
    Markup cells = html_element("span", {{"class", "quiet"}}, html_text(host.name, 80));
    for (const RankGrid::Cell& cell : host.cells) {
      const bool stops_here = stops < kMaxStops && (stops == 0 || cell.state != usual->first);
      if (stops_here) ++stops;
      cells += html_element("b",
                            {{"class", std::string(kStates[static_cast<size_t>(cell.state)].first)},
                             {"tabindex", stops_here ? "0" : "-1"},
                             {"role", "img"},
                             {"aria-label", cell.reason}},
                            html_text(cell.ranks, 24));
    }
    hosts += html_element("div", {}, cells) + html_literal("\n");
  }
  return key_list(keys) +
         html_element("div", {{"class", "grid"}, {"role", "group"}, {"aria-label", name}}, hosts);
}

Markup drawn(const CurveChart& chart, const std::string& name) {
  static constexpr SourceText kLines[] = {"c0", "c1", "c2", "c3"};
  const CurveScale scale = scale_of(chart);
  Markup out = grid_of(scale);
  Markup keys;
  for (const CurveChart::Level& level : chart.lines) {
    const int y = scale.y_of(level.at);
    out += svg_path("side", fmt::format("M{} {}h{}", CurveScale::kLeft, y, CurveScale::kWidth));
    out += svg_text(CurveScale::kLeft + 6, y - 4, "quiet", "start",
                    fmt::format("{}: {:.4g} GB/s", level.name, level.at));
  }
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const CurveChart::Curve& curve = chart.curves[i];
    // Two curves are usual; beyond four they share the last colour.
    const size_t colour = std::min(i, std::size(kLines) - 1);
    std::string path;
    for (const auto& [bytes, bandwidth] : curve.points) {
      const int x = scale.x_of(static_cast<double>(bytes));
      const int y = scale.y_of(bandwidth);
      path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', x, y);
      out += svg_rect({x - 2, y - 2, 5, 5}, fmt::format("b{}", colour),
                      fmt::format("{}: {} bytes, {:.4g} GB/s", curve.name, bytes, bandwidth));
    }
    out += svg_path(kLines[colour], path);
    keys += key_row(fmt::format("b{}", colour), curve.name);
  }
  return html_paragraph(html_literal("Bus bandwidth in GB/s over the size of the buffer.")) +
         key_list(keys) +
         html_scroll_box(name, svg_frame(CurveScale::kLeft + CurveScale::kWidth + 40,
                                         CurveScale::kTop + CurveScale::kHeight + 26, name, out));
}

}  // namespace ncclog
