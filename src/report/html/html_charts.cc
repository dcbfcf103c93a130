#include "report/html/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/iterations/iterations.h"
#include "model/timeline.h"
#include "report/graph/rank_paths.h"
#include "report/html/html_page.h"
#include "report/tables/count_table.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"

namespace ncclog {

// The matrix of transports: a letter and a colour a cell, so that nobody has to tell colours apart.

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

// Bars of calls by iteration.

namespace {

constexpr size_t kMaxBars = 48;
constexpr size_t kMaxSingleBars = 24;  ///< Of more iterations, neighbours that are alike share one.
constexpr size_t kColours = 8;
constexpr int kBarHeight = 16;
constexpr int kRowHeight = 21;
constexpr int kBarsWidth = 440;

/// One iteration, or neighbours that call the same.
struct Bar {
  int64_t first = 0;
  int64_t last = 0;
  const IterationPattern* pattern = nullptr;  ///< Never nullptr.
};

std::string label_of(const Bar& bar) {
  return bar.first == bar.last ? std::to_string(bar.first)
                               : fmt::format("{}-{}", bar.first, bar.last);
}

/// By iteration; neighbours that call the same share a bar where there are many.
std::vector<Bar> bars_of(const JobIterations& found) {
  std::vector<Bar> ranges;
  uint64_t all = 0;
  for (const IterationPattern& pattern : found.patterns) {
    for (const auto& [first, last] : pattern.iterations) {
      ranges.push_back({first, last, &pattern});
      all += static_cast<uint64_t>(last - first) + 1;
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Bar& a, const Bar& b) { return a.first < b.first; });
  if (all > kMaxSingleBars) return ranges;
  std::vector<Bar> bars;
  for (const Bar& range : ranges) {
    if (range.pattern->together > 1) {
      bars.push_back(range);
      continue;
    }
    for (int64_t i = range.first; i <= range.last; ++i) bars.push_back({i, i, range.pattern});
  }
  return bars;
}

uint64_t total_of(const OpCounts& calls) {
  uint64_t total = 0;
  for (const auto& [op, n] : calls) total += n;
  return total;
}

/// A colour for each operation; those beyond the colours share the last one.
std::map<std::string, size_t> colours_of(const JobIterations& found) {
  std::map<std::string, size_t> colours;
  for (const IterationPattern& pattern : found.patterns) {
    for (const auto& [op, n] : pattern.calls) colours.try_emplace(op, 0);
  }
  size_t next = 0;
  for (auto& [op, colour] : colours) colour = std::min(next++, kColours - 1);
  return colours;
}

Markup rect(int x, int y, int width, int height, const std::string& css, const std::string& title) {
  return html_element("rect",
                      {{"x", std::to_string(x)},
                       {"y", std::to_string(y)},
                       {"width", std::to_string(width)},
                       {"height", std::to_string(height)},
                       {"class", css}},
                      html_element("title", {}, plain_text(title, 200)));
}

Markup label(int x, int y, Literal anchor, const std::string& text) {
  return html_element("text",
                      {{"x", std::to_string(x)},
                       {"y", std::to_string(y)},
                       {"text-anchor", std::string(anchor.text())}},
                      plain_text(text, 60));
}

class Chart {
 public:
  Chart(const JobIterations& found, std::vector<Bar> bars)
      : bars_(std::move(bars)), colours_(colours_of(found)) {
    for (const Bar& bar : bars_) {
      most_ = std::max(most_, total_of(bar.pattern->calls));
      left_ = std::max(left_, display_width(label_of(bar)) * 8 + 12);
    }
  }

  Markup svg() const {
    Markup rows;
    for (size_t b = 0; b < bars_.size(); ++b) rows += row(bars_[b], static_cast<int>(b));
    const int height = static_cast<int>(bars_.size()) * kRowHeight + 8;
    const int width = left_ + kBarsWidth + 70;
    return html_element("svg",
                        {{"class", "drawing"},
                         {"width", std::to_string(width)},
                         {"height", std::to_string(height)},
                         {"viewBox", fmt::format("0 0 {} {}", width, height)},
                         {"role", "img"},
                         {"aria-label", "Calls of a process by iteration"}},
                        rows);
  }

  Markup key() const {
    Markup rows;
    for (const auto& [op, colour] : colours_) {
      const Markup box = html_element(
          "svg", {{"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}},
          html_element("rect",
                       {{"width", "12"}, {"height", "12"}, {"class", fmt::format("b{}", colour)}}));
      rows += html_element("li", {}, box + html_literal(" ") + html_text(op, 60));
    }
    return html_element("ul", {{"class", "key"}}, rows);
  }

 private:
  Markup row(const Bar& bar, int index) const {
    const int y = 4 + index * kRowHeight;
    Markup out = label(left_ - 8, y + 12, "end", label_of(bar));
    uint64_t before = 0;
    for (const auto& [op, n] : bar.pattern->calls) {
      const int from = pixels(before);
      const int to = pixels(before + n);
      out += rect(left_ + from, y, std::max(1, to - from), kBarHeight,
                  fmt::format("b{}", colours_.at(op)),
                  fmt::format("iteration {}: {} {}", label_of(bar), n, op));
      before += n;
    }
    return out + label(left_ + pixels(before) + 6, y + 12, "start", std::to_string(before));
  }

  int pixels(uint64_t calls) const {
    return static_cast<int>(static_cast<double>(calls) * kBarsWidth /
                            static_cast<double>(std::max<uint64_t>(1, most_)));
  }

  std::vector<Bar> bars_;
  std::map<std::string, size_t> colours_;
  uint64_t most_ = 0;
  int left_ = 40;
};

Table pattern_table(const std::vector<Bar>& bars) {
  Table table{.name = "iterations", .columns = {"iterations", "calls", "in_all", "processes"}};
  for (const Bar& bar : bars) {
    table.rows.push_back({text_cell(label_of(bar)), text_cell(calls_text(bar.pattern->calls)),
                          number_cell(static_cast<int64_t>(total_of(bar.pattern->calls))),
                          number_cell(static_cast<int64_t>(bar.pattern->processes))});
  }
  return table;
}

}  // namespace

Markup html_iterations(const Job& job) {
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  constexpr uint64_t kFew = 3;  // So few repeats of calls alone are no loop.
  if (!found || (found->source == IterationSource::Period && found->count < kFew)) return {};
  std::vector<Bar> bars = bars_of(*found);
  const size_t all = bars.size();
  if (all > kMaxBars) bars.resize(kMaxBars);
  Markup out;
  for (const std::string& sentence : iteration_text(job, calls, *found)) {
    out += html_paragraph(sentence);
  }
  const Chart chart(*found, bars);
  out += html_element("h3", {}, html_literal("Calls that one process makes")) + chart.key() +
         html_scroll_box("chart of calls by iteration", chart.svg());
  if (all > kMaxBars) {
    out +=
        html_paragraph(fmt::format("{} more bars are left out; 'ncclog count --by iteration,op' "
                                   "lists all.",
                                   all - kMaxBars));
  }
  return out + html_details(html_literal("The same as a table"),
                            html_table(pattern_table(bars), "calls by iteration"));
}

// The time line: a lane for each process, over one scale of time.

namespace {

constexpr size_t kMaxLanes = 48;
constexpr size_t kMaxMarks = 64;  ///< Of one lane.
constexpr int kLaneHeight = 22;
constexpr int kWidth = 760;
constexpr int kTop = 26;

/// Something that happened, with its time in nanoseconds of one scale.
struct Moment {
  int64_t at = 0;
  const Milestone* milestone = nullptr;  ///< Never nullptr.
};

struct Lane {
  int process = -1;
  std::string name;
  std::vector<Moment> moments;  ///< In order.
  bool bad = false;             ///< Holds a warning, a timeout, an end before its time.
};

/// What a reader looks for first.
bool is_bad(std::string_view what) {
  static constexpr std::string_view kBad[] = {"WARN",      "watchdog", "barrier", "store",
                                              "exception", "Xid",      "aborted", "ended"};
  return std::find(std::begin(kBad), std::end(kBad), what) != std::end(kBad);
}

int64_t nanoseconds_of(const Milestone& milestone) {
  using std::chrono::sys_days;
  if (milestone.year == 0) return milestone.nanoseconds;
  const sys_days begin = std::chrono::year{milestone.year} / std::chrono::January / 1;
  return std::chrono::nanoseconds(begin.time_since_epoch()).count() + milestone.nanoseconds;
}

std::string name_of(const Process& process) {
  if (process.rank >= 0) return fmt::format("rank {}", process.rank);
  return process.pid >= 0 ? fmt::format("pid {}", process.pid) : process.host;
}

/// Lanes of the processes whose milestones all carry times: theirs come first in the time line.
std::vector<Lane> lanes_of(const Job& job, const Timeline& timeline) {
  std::map<int, Lane> lanes;
  for (const Milestone& milestone : timeline.milestones) {
    const bool is_new = !lanes.contains(milestone.process);
    if (is_new && lanes.size() == timeline.timed_processes) break;
    Lane& lane = lanes[milestone.process];
    lane.process = milestone.process;
    lane.moments.push_back({nanoseconds_of(milestone), &milestone});
    lane.bad = lane.bad || is_bad(milestone.what);
  }
  std::vector<Lane> list;
  for (auto& [process, lane] : lanes) {
    lane.name = name_of(job.processes[static_cast<size_t>(process)]);
    list.push_back(std::move(lane));
  }
  const auto rank = [&](const Lane& lane) {
    return job.processes[static_cast<size_t>(lane.process)].rank;
  };
  std::stable_sort(list.begin(), list.end(),
                   [&](const Lane& a, const Lane& b) { return rank(a) < rank(b); });
  return list;
}

/// As many lanes as fit: those with something bad in them before others, in their order.
std::vector<Lane> shown_lanes(std::vector<Lane> lanes) {
  if (lanes.size() <= kMaxLanes) return lanes;
  std::vector<size_t> order(lanes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lanes[a].bad && !lanes[b].bad; });
  order.resize(kMaxLanes);
  std::sort(order.begin(), order.end());
  std::vector<Lane> shown;
  for (const size_t i : order) shown.push_back(std::move(lanes[i]));
  return shown;
}

/// "0.25 s", "90 s", "12 min", "3.5 h" since the beginning.
std::string since_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 300) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

class TimeLine {
 public:
  explicit TimeLine(std::vector<Lane> lanes) : lanes_(std::move(lanes)) {
    begin_ = INT64_MAX;
    int64_t end = INT64_MIN;
    for (const Lane& lane : lanes_) {
      begin_ = std::min(begin_, lane.moments.front().at);
      end = std::max(end, lane.moments.back().at);
      left_ = std::max(left_, display_width(shown_name(lane)) * 8 + 18);
    }
    span_ = std::max<int64_t>(1, end - begin_);
  }

  Markup svg() const {
    const int height = kTop + static_cast<int>(lanes_.size()) * kLaneHeight + 8;
    const int width = left_ + kWidth + 50;
    Markup inside = axis(height);
    for (size_t i = 0; i < lanes_.size(); ++i) {
      inside += lane_markup(lanes_[i], kTop + static_cast<int>(i) * kLaneHeight);
    }
    return html_element("svg",
                        {{"class", "drawing"},
                         {"width", std::to_string(width)},
                         {"height", std::to_string(height)},
                         {"viewBox", fmt::format("0 0 {} {}", width, height)},
                         {"role", "img"},
                         {"aria-label", "Time line of the processes"}},
                        inside);
  }

 private:
  static std::string shown_name(const Lane& lane) { return clip(printable(lane.name), 20); }

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
      out += html_element("line", {{"class", "axis"},
                                   {"x1", std::to_string(x)},
                                   {"x2", std::to_string(x)},
                                   {"y1", "18"},
                                   {"y2", std::to_string(height - 4)}});
      out += html_element("text",
                          {{"class", "quiet"},
                           {"x", std::to_string(x)},
                           {"y", "13"},
                           {"text-anchor", tick == 0 ? "start" : "middle"}},
                          plain_text(since_text(seconds)));
    }
    return out;
  }

  Markup lane_markup(const Lane& lane, int y) const {
    const int middle = y + kLaneHeight / 2;
    Markup out = html_element("text",
                              {{"x", std::to_string(left_ - 10)},
                               {"y", std::to_string(middle + 4)},
                               {"text-anchor", "end"}},
                              plain_text(shown_name(lane)));
    out += html_element("line", {{"class", "axis"},
                                 {"x1", std::to_string(x_of(lane.moments.front().at))},
                                 {"x2", std::to_string(x_of(lane.moments.back().at))},
                                 {"y1", std::to_string(middle)},
                                 {"y2", std::to_string(middle)}});
    return out + init_bars(lane, middle) + marks(lane, middle);
  }

  static Markup title_of(const Milestone& milestone) {
    return html_element(
        "title", {},
        plain_text(fmt::format("{} {}: {}", milestone.time, milestone.what, milestone.detail),
                   300));
  }

  /// From "init start" to the next "init end" or, if it never came, to the lane's end.
  Markup init_bars(const Lane& lane, int middle) const {
    Markup out;
    size_t drawn = 0;
    for (size_t m = 0; m < lane.moments.size() && drawn < kMaxMarks; ++m) {
      if (lane.moments[m].milestone->what != "init start") continue;
      const auto end =
          std::find_if(lane.moments.begin() + static_cast<std::ptrdiff_t>(m), lane.moments.end(),
                       [](const Moment& moment) { return moment.milestone->what == "init end"; });
      const int from = x_of(lane.moments[m].at);
      const int to = x_of(end == lane.moments.end() ? lane.moments.back().at : end->at);
      const Milestone& told =
          end == lane.moments.end() ? *lane.moments[m].milestone : *end->milestone;
      out += html_element("rect",
                          {{"class", "span"},
                           {"x", std::to_string(from)},
                           {"y", std::to_string(middle - 5)},
                           {"width", std::to_string(std::max(3, to - from))},
                           {"height", "10"}},
                          title_of(told));
      ++drawn;
    }
    return out;
  }

  Markup marks(const Lane& lane, int middle) const {
    Markup out;
    size_t drawn = 0;
    for (const bool bad : {false, true}) {
      for (const Moment& moment : lane.moments) {
        const std::string& what = moment.milestone->what;
        if (is_bad(what) != bad || what.starts_with("init ") || drawn == kMaxMarks) continue;
        ++drawn;
        const int x = x_of(moment.at);
        const std::string shape = bad ? fmt::format("M{} {}l6 11h-12z", x, middle - 7)
                                      : fmt::format("M{} {}v10h2v-10z", x - 1, middle - 5);
        out += html_element("path", {{"class", bad ? "markbad" : "mark"}, {"d", shape}},
                            title_of(*moment.milestone));
      }
    }
    return out;
  }

  std::vector<Lane> lanes_;
  int64_t begin_ = 0;
  int64_t span_ = 1;
  int left_ = 60;
};

}  // namespace

Markup html_time_line(const Job& job) {
  const Timeline timeline = build_timeline(job);
  if (timeline.milestones.empty()) return {};
  Markup out;
  std::vector<Lane> lanes = lanes_of(job, timeline);
  if (timeline.timed_processes > 0 && !lanes.empty()) {
    const size_t all = lanes.size();
    lanes = shown_lanes(std::move(lanes));
    out += html_paragraph(
        "Bars are initialisations of communicators, triangles warnings, timeouts and ends.");
    out += html_scroll_box("time line", TimeLine(std::move(lanes)).svg());
    if (all > kMaxLanes) {
      out += html_paragraph(
          fmt::format("{} of {} processes are drawn, those with warnings first.", kMaxLanes, all));
    }
  }
  return out + html_details(html_literal("Milestones of each process"),
                            html_table(timeline_table(job), "milestones", {.rows = 300}));
}

}  // namespace ncclog
