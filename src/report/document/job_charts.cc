#include "report/document/job_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/text.h"
#include "diagnose/iterations/iterations.h"
#include "model/timeline.h"
#include "report/tables/count_table.h"
#include "report/tables/tables.h"

namespace ncclog {

// What the processes call in each iteration.

namespace {

constexpr size_t kMaxBars = 48;
constexpr size_t kMaxSingleBars = 24;  ///< Of more iterations, neighbours that are alike share one.

/// One iteration, or neighbours that call the same.
struct Iterations {
  int64_t first = 0;
  int64_t last = 0;
  const IterationPattern* pattern = nullptr;  ///< Never nullptr.
};

/// By iteration; neighbours that call the same share a bar where there are many.
std::vector<Iterations> charted_iterations(const JobIterations& found) {
  std::vector<Iterations> ranges;
  uint64_t all = 0;
  for (const IterationPattern& pattern : found.patterns) {
    for (const auto& [first, last] : pattern.iterations) {
      ranges.push_back({first, last, &pattern});
      all += static_cast<uint64_t>(last - first) + 1;
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Iterations& a, const Iterations& b) { return a.first < b.first; });
  if (all > kMaxSingleBars) return ranges;
  std::vector<Iterations> rows;
  for (const Iterations& range : ranges) {
    if (range.pattern->together > 1) {
      rows.push_back(range);
      continue;
    }
    for (int64_t i = range.first; i <= range.last; ++i) rows.push_back({i, i, range.pattern});
  }
  return rows;
}

Figure iterations_figure(const std::vector<Iterations>& rows) {
  BarChart chart;
  Table table{.name = "iterations", .columns = {"iterations", "calls", "in_all", "processes"}};
  for (const auto& [first, last, pattern] : rows) {
    const std::string label =
        first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    uint64_t all = 0;
    for (const auto& [op, n] : pattern->calls) all += n;
    chart.bars.push_back({label, {pattern->calls.begin(), pattern->calls.end()}});
    table.rows.push_back({text_cell(label), text_cell(calls_text(pattern->calls)),
                          number_cell(static_cast<int64_t>(all)),
                          number_cell(static_cast<int64_t>(pattern->processes))});
  }
  return {"calls of a process by iteration", std::move(chart), std::move(table)};
}

}  // namespace

Section iterations_section(const Job& job) {
  Section section{.heading = "Calls by iteration", .id = "iterations", .folds = true};
  constexpr uint64_t kFew = 3;  // So few repeats of calls alone are no loop.
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  if (!found || (found->source == IterationSource::Period && found->count < kFew)) return section;
  for (const std::string& sentence : iteration_text(job, calls, *found)) {
    section.blocks.push_back(Paragraph{sentence});
  }
  std::vector<Iterations> rows = charted_iterations(*found);
  const size_t all = rows.size();
  rows.resize(std::min(all, kMaxBars));
  section.blocks.push_back(iterations_figure(rows));
  if (all > kMaxBars) {
    section.blocks.push_back(Paragraph{fmt::format(
        "{} more bars are left out; `ncclog count --by iteration,op` lists all.", all - kMaxBars)});
  }
  return section;
}

// The time line: a lane for each process.

namespace {

constexpr size_t kMaxLanes = 48;
constexpr size_t kMaxMarks = 64;  ///< Of one lane, and as many bars.

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

std::string title_of(const Milestone& milestone) {
  return fmt::format("{} {}: {}", milestone.time, milestone.what, milestone.detail);
}

/// From "init start" to the next "init end" or, if it never came, to the lane's end.
std::vector<LaneChart::Span> init_spans(const std::vector<const Milestone*>& moments) {
  std::vector<LaneChart::Span> spans;
  for (auto at = moments.begin(); at != moments.end() && spans.size() < kMaxMarks; ++at) {
    if ((*at)->what != "init start") continue;
    const auto end = std::find_if(at, moments.end(), [](const Milestone* milestone) {
      return milestone->what == "init end";
    });
    const bool ends = end != moments.end();
    spans.push_back({nanoseconds_of(**at), nanoseconds_of(ends ? **end : *moments.back()),
                     title_of(ends ? **end : **at)});
  }
  return spans;
}

LaneChart::Lane lane_of(const Process& process, const std::vector<const Milestone*>& moments) {
  LaneChart::Lane lane{.name = name_of(process),
                       .first = nanoseconds_of(*moments.front()),
                       .last = nanoseconds_of(*moments.back()),
                       .spans = init_spans(moments)};
  for (const bool bad : {false, true}) {
    for (const Milestone* milestone : moments) {
      if (is_bad(milestone->what) != bad) continue;
      lane.bad = lane.bad || bad;
      if (milestone->what.starts_with("init ") || lane.marks.size() == kMaxMarks) continue;
      lane.marks.push_back({nanoseconds_of(*milestone), bad, title_of(*milestone)});
    }
  }
  return lane;
}

/// Lanes by rank, of the processes whose milestones all carry times: theirs come first in the time
/// line.
std::vector<LaneChart::Lane> lanes_of(const Job& job, const Timeline& timeline) {
  std::map<int, std::vector<const Milestone*>> moments;
  for (const Milestone& milestone : timeline.milestones) {
    const bool is_new = !moments.contains(milestone.process);
    if (is_new && moments.size() == timeline.timed_processes) break;
    moments[milestone.process].push_back(&milestone);
  }
  std::multimap<int, LaneChart::Lane> by_rank;
  for (const auto& [process, of_process] : moments) {
    const Process& whose = job.processes[static_cast<size_t>(process)];
    by_rank.emplace(whose.rank, lane_of(whose, of_process));
  }
  std::vector<LaneChart::Lane> lanes;
  for (auto& [rank, lane] : by_rank) lanes.push_back(std::move(lane));
  return lanes;
}

/// Keeps as many lanes as fit: those with something bad in them before others, in their order.
void keep_telling_lanes(std::vector<LaneChart::Lane>& lanes) {
  const auto bad = static_cast<size_t>(
      std::count_if(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.bad; }));
  size_t bad_left = kMaxLanes;
  size_t good_left = kMaxLanes - std::min(bad, kMaxLanes);
  std::erase_if(lanes, [&](const LaneChart::Lane& lane) {
    size_t& left = lane.bad ? bad_left : good_left;
    return left == 0 || left-- == 0;
  });
}

}  // namespace

Section time_section(const Job& job) {
  Section section{.heading = "Time line", .id = "time", .folds = true};
  const Timeline timeline = build_timeline(job);
  if (timeline.milestones.empty()) return section;
  std::vector<LaneChart::Lane> lanes =
      timeline.timed_processes > 0 ? lanes_of(job, timeline) : std::vector<LaneChart::Lane>();
  if (lanes.empty()) {
    section.blocks.push_back(timeline_table(job));
    return section;
  }
  const size_t all = lanes.size();
  keep_telling_lanes(lanes);
  section.blocks.push_back(Figure{"time line", LaneChart{std::move(lanes)}, timeline_table(job)});
  if (all > kMaxLanes) {
    section.blocks.push_back(Paragraph{
        fmt::format("{} of {} processes are drawn, those with warnings first.", kMaxLanes, all)});
  }
  return section;
}

}  // namespace ncclog
