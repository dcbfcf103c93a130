#include "report/html_time_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "model/timeline.h"
#include "report/html_page.h"
#include "report/html_table.h"
#include "report/tables.h"
#include "report/text_layout.h"

namespace ncclog {
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
