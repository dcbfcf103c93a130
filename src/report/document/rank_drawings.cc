#include "report/document/rank_drawings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/outcome/job_span.h"
#include "diagnose/outcome/outcome.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

// How each rank stands.

/// A rank, or several that stand alike.
struct AlikeRanks {
  std::string name;  ///< "3", "pid 41".
  std::string who;   ///< "rank 3 on node-a, pid 41, GPU 3".
  RankGrid::State state = RankGrid::State::Other;
  std::string why;         ///< The same text where ranks stand alike.
  std::string last_line;   ///< May be empty.
  std::vector<int> ranks;  ///< Without those that have no number.
  size_t count = 1;

  bool is_like(const AlikeRanks& other) const { return state == other.state && why == other.why; }
  void add(const AlikeRanks& more) {
    count += more.count;
    ranks.insert(ranks.end(), more.ranks.begin(), more.ranks.end());
  }
};

using AlikeCells = std::vector<AlikeRanks>;

/// What a process that waits called last, by host, pid and GPU.
using Waiting = std::map<std::tuple<std::string, int64_t, int64_t>, std::string>;

Waiting waiting_of(const Job& job, const Finding* main) {
  Waiting waiting;
  // Ranks of a job at work wait, too; only where somebody is to blame does that say anything.
  if (main == nullptr || main->ranks.empty()) return waiting;
  for (const Waiter& waiter : find_waits(job).waiting) {
    if (waiter.process < 0) continue;
    const Process& process = nth_process(job, waiter.process);
    const int gpu = process.rank >= 0 ? process.cuda_dev : waiter.cuda_dev;
    waiting[{process.host, process.pid, gpu}] = last_call_words(job, waiter, nullptr);
  }
  return waiting;
}

RankGrid::State state_of(std::string_view end, std::string_view state) {
  if (end == "failed" || state == "failed") return RankGrid::State::Failed;
  if (state == "not_seen") return RankGrid::State::NotSeen;
  return end == "finished" ? RankGrid::State::Finished : RankGrid::State::Other;
}

/// A row of ranks_table(); `cell` gives what stands in a column.
template <typename CellOf>
AlikeRanks rank_of(CellOf cell, const Waiting& waiting, const Finding* main) {
  const auto number = [&](std::string_view column) {
    const auto* value = std::get_if<int64_t>(&cell(column));
    return value == nullptr ? -1 : *value;
  };
  const int64_t rank = number("rank");
  const int64_t pid = number("pid");
  const int64_t gpu = number("gpu");
  const std::string host = cell_text(cell("host"));
  AlikeRanks row{.name = rank >= 0 ? std::to_string(rank) : fmt::format("pid {}", pid)};
  if (rank >= 0) row.ranks = {static_cast<int>(rank)};
  row.who = rank >= 0 ? "rank " + row.name : row.name;
  if (!host.empty()) row.who += " on " + host;
  if (rank >= 0 && pid >= 0) row.who += fmt::format(", pid {}", pid);
  if (gpu >= 0) row.who += fmt::format(", GPU {}", gpu);
  const std::string state = cell_text(cell("state"));
  const std::string end = cell_text(cell("end"));
  std::vector<std::string> words = {end, column_heading(state), cell_text(cell("note"))};
  std::erase(words, "");
  row.state = state_of(end, state);
  const auto waits = waiting.find({host, pid, gpu});
  const bool is_meant = main != nullptr && std::ranges::binary_search(main->ranks, rank);
  if (is_meant) words.insert(words.begin(), "named by " + main->id);
  // Who reports a symptom is not to blame for it.
  if (is_meant && main->role == Role::Cause) {
    row.state = RankGrid::State::Attributed;
  } else if (waits != waiting.end()) {
    row.state = RankGrid::State::Waiting;
    words.insert(words.begin(), "waiting for another rank");
    if (!waits->second.empty()) row.last_line = "; last call: " + waits->second;
  }
  row.why = join(words, ", ");
  const std::string last = clip(printable(cell_text(cell("last_line"))), 160);
  if (!last.empty()) row.last_line += "; last line: " + last;
  return row;
}

RankGrid::Cell cell_of(const AlikeRanks& alike) {
  constexpr size_t kMaxLabel = 14;
  if (alike.count == 1) {
    return {alike.name, alike.state,
            fmt::format("{}: {}{}", alike.who, alike.why, alike.last_line)};
  }
  std::vector<int> ranks = alike.ranks;
  std::ranges::sort(ranks);
  const std::string all = plural(static_cast<int64_t>(alike.count), "rank");
  const std::string label = ranges_text(ranks);
  return {label.empty() || label.size() > kMaxLabel ? all : label, alike.state,
          fmt::format("{} ({}): {}", all, short_ranges(ranks), alike.why), alike.count};
}

}  // namespace

RankGrid rank_grid(const Job& job, const Table& ranks, const Finding* main) {
  constexpr size_t kMaxSingle = 1024;  ///< Ranks that have a cell each.
  constexpr size_t kMaxRows = 512;
  const bool folds = ranks.rows.size() > kMaxSingle;
  const Waiting waiting = waiting_of(job, main);
  std::vector<std::pair<std::string, AlikeCells>> hosts;
  std::map<std::string, size_t> place_of;
  for (const std::vector<Cell>& row : ranks.rows) {
    const auto cell = [&](std::string_view column) -> const Cell& {
      return row[static_cast<size_t>(std::ranges::find(ranks.columns, column) -
                                     ranks.columns.begin())];
    };
    const std::string host = cell_text(cell("host"));
    const auto [place, is_new] = place_of.try_emplace(host, hosts.size());
    if (is_new) hosts.push_back({host.empty() ? "host not known" : host, {}});
    AlikeCells& cells = hosts[place->second].second;
    AlikeRanks rank = rank_of(cell, waiting, main);
    if (folds && !cells.empty() && cells.back().is_like(rank)) {
      cells.back().add(rank);
    } else {
      cells.push_back(std::move(rank));
    }
  }
  std::vector<std::pair<std::vector<std::string>, AlikeCells>> groups;
  std::map<std::string, size_t> group_of;
  for (auto& [name, cells] : hosts) {
    std::string key = folds ? std::string() : name;
    for (const AlikeRanks& cell : cells) {
      key += fmt::format("\n{} {} {}", cell.count, static_cast<int>(cell.state), cell.why);
    }
    const auto [group, is_new] = group_of.try_emplace(key, groups.size());
    if (is_new) {
      groups.emplace_back(std::vector<std::string>{name}, std::move(cells));
      continue;
    }
    auto& [names, alike] = groups[group->second];
    names.push_back(name);
    for (size_t c = 0; c < cells.size(); ++c) alike[c].add(cells[c]);
  }
  RankGrid grid;
  for (const auto& [names, cells] : groups | std::views::take(kMaxRows)) {
    RankGrid::Host& host = grid.hosts.emplace_back(few_of(names, 3, ", "));
    for (const AlikeRanks& cell : cells) host.cells.push_back(cell_of(cell));
  }
  if (groups.size() > kMaxRows) {
    grid.hosts.push_back({plural(static_cast<int64_t>(groups.size() - kMaxRows), "more host"),
                          {{"…", RankGrid::State::Other, "`ncclog show ranks` lists all"}}});
  }
  return grid;
}

// The time line.

namespace {

using TimeSpan = TimeChart::Span;
using TimeKind = TimeChart::Kind;

constexpr int64_t kNanoseconds = 1'000'000'000;

std::chrono::sys_days begin_of(int year) {
  return std::chrono::year{year == 0 ? 1970 : year} / std::chrono::January / 1;
}

int64_t nanoseconds_of(int year, int64_t since_year) {
  return std::chrono::nanoseconds(begin_of(year).time_since_epoch()).count() + since_year;
}

int64_t nanoseconds_of(const Milestone& milestone) {
  return nanoseconds_of(milestone.year, milestone.nanoseconds);
}

std::string name_of(const Process& process) {
  if (process.rank >= 0) return fmt::format("rank {}", process.rank);
  if (process.pid >= 0) return fmt::format("pid {}", process.pid);
  return process.host.empty() ? "others" : process.host;
}

/// From each milestone `begin` to the next one `end`, which tells more; to the lane's end if none
/// came.
void add_spans(const std::vector<const Milestone*>& moments, std::string_view begin,
               std::string_view end, TimeKind kind, std::vector<TimeSpan>& spans) {
  for (auto at = moments.begin(); at != moments.end(); ++at) {
    if ((*at)->what != begin) continue;
    const auto last = std::find_if(
        at, moments.end(), [&](const Milestone* milestone) { return milestone->what == end; });
    const Milestone& told = last == moments.end() ? **at : **last;
    spans.push_back({nanoseconds_of(**at),
                     nanoseconds_of(last == moments.end() ? *moments.back() : **last),
                     fmt::format("{} {}: {}", told.time, told.what, told.detail), kind});
  }
}

/// Sorts by kind and joins those of a kind that overlap, or are less than `near` apart.
void join_spans(std::vector<TimeSpan>& spans, int64_t near) {
  std::ranges::stable_sort(spans, {},
                           [](const TimeSpan& span) { return std::tuple(span.kind, span.from); });
  std::vector<TimeSpan> joined;
  for (TimeSpan& span : spans) {
    TimeSpan* last = joined.empty() ? nullptr : &joined.back();
    const bool is_moment = span.from == span.to;
    if (last == nullptr || last->kind != span.kind || span.from > last->to + near) {
      joined.push_back(std::move(span));
      continue;
    }
    // A chain of moments is no span.
    if (!is_moment) last->to = std::max(last->to, span.to);
    const bool is_said = last->title.ends_with(" and more") || last->title == span.title;
    if (!is_said) last->title += " and more";
  }
  spans = std::move(joined);
}

TimeChart::Lane lane_of(const Process& process, const std::vector<const Milestone*>& moments) {
  // What a reader looks for first.
  static constexpr std::string_view kBad[] = {"WARN",      "watchdog", "barrier", "store",
                                              "exception", "Xid",      "aborted", "ended"};
  TimeChart::Lane lane{.name = name_of(process),
                       .first = nanoseconds_of(*moments.front()),
                       .last = nanoseconds_of(*moments.back())};
  add_spans(moments, "init start", "init end", TimeKind::Init, lane.spans);
  add_spans(moments, "first call", "last call", TimeKind::Calls, lane.spans);
  for (const Milestone* milestone : moments) {
    if (milestone->what.starts_with("init ") || milestone->what.ends_with(" call")) continue;
    const bool is_bad = std::ranges::find(kBad, milestone->what) != std::end(kBad);
    const int64_t at = nanoseconds_of(*milestone);
    lane.spans.push_back(
        {at, at, fmt::format("{} {}: {}", milestone->time, milestone->what, milestone->detail),
         is_bad ? TimeKind::Failure : TimeKind::Moment});
  }
  return lane;
}

/// Several lanes as one. That one of them is silent says nothing of the others.
void add_lane(const TimeChart::Lane& more, TimeChart::Lane& all) {
  all.first = std::min(all.first, more.first);
  all.last = std::max(all.last, more.last);
  all.spans.insert(all.spans.end(), more.spans.begin(), more.spans.end());
  std::erase_if(all.spans, [](const TimeSpan& span) { return span.kind == TimeKind::Silence; });
}

/// The clock of the input of each process that has one for itself.
std::map<int, const InputClock*> own_clocks(const Job& job) {
  std::map<uint32_t, std::set<int>> speakers;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      const JobUnit* unit = unit_of(job, job.logs[log].first);
      const bool speaks = unit != nullptr && is_named(job.processes[p]);
      if (speaks) speakers[unit->input].insert(static_cast<int>(p));
    }
  }
  std::map<int, const InputClock*> own;
  for (const InputClock& clock : job.clocks) {
    const std::set<int>& of_input = speakers[clock.input];
    if (of_input.size() == 1) own.emplace(*of_input.begin(), &clock);
  }
  return own;
}

/// Long pauses between the lines of a process.
void add_silences(const Beats& beats, int year, TimeChart::Lane& lane) {
  constexpr int64_t kShortest = 5 * kNanoseconds;
  constexpr size_t kMost = 6;
  for (const Pause& pause : beats.pauses | std::views::take(kMost)) {
    const int64_t from = nanoseconds_of(year, pause.before.nanoseconds);
    const int64_t to = nanoseconds_of(year, pause.after.nanoseconds);
    const bool is_long = to - from >= std::max(kShortest, (lane.last - lane.first) / 20);
    if (!is_long || from < lane.first || to > lane.last) continue;
    lane.spans.push_back({from, to, "no line for " + duration_words(to - from), TimeKind::Silence});
  }
}

/// A lane for each process by rank; beyond kMaxLanes one for each host, and beyond so many hosts
/// those with failures first, the rest in the last one.
std::vector<TimeChart::Lane> lanes_of(const Job& job, const std::vector<Milestone>& dated) {
  constexpr size_t kMaxLanes = 64;
  std::map<std::pair<int, int>, std::vector<const Milestone*>> moments;  // By rank and process.
  for (const Milestone& milestone : dated) {
    moments[{nth_process(job, milestone.process).rank, milestone.process}].push_back(&milestone);
  }
  const bool by_host = moments.size() > kMaxLanes;
  const std::map<int, const InputClock*> clocks = own_clocks(job);
  std::vector<TimeChart::Lane> lanes;
  std::map<std::string, size_t> place_of;
  for (const auto& [whose, of_process] : moments) {
    const Process& process = nth_process(job, whose.second);
    TimeChart::Lane lane = lane_of(process, of_process);
    if (const auto clock = clocks.find(whose.second); clock != clocks.end()) {
      const Milestone& first = *of_process.front();
      add_silences(clock->second->pulse.clock(first.has_zone).all, first.year, lane);
    }
    if (by_host) {
      for (TimeSpan& span : lane.spans) span.title = lane.name + ": " + span.title;
    }
    const std::string host = process.host.empty() ? "host not known" : process.host;
    const auto [place, is_new] =
        place_of.try_emplace(by_host ? host : std::to_string(whose.second), lanes.size());
    if (!is_new) {
      add_lane(lane, lanes[place->second]);
      continue;
    }
    if (by_host) lane.name = host;
    lanes.push_back(std::move(lane));
  }
  if (lanes.size() > kMaxLanes) {
    std::ranges::stable_partition(lanes, [](const TimeChart::Lane& lane) {
      return std::ranges::count(lane.spans, TimeKind::Failure, &TimeSpan::kind) > 0;
    });
    TimeChart::Lane& rest = lanes[kMaxLanes - 1];
    rest.name = fmt::format("{} others", lanes.size() - kMaxLanes + 1);
    for (size_t i = kMaxLanes; i < lanes.size(); ++i) add_lane(lanes[i], rest);
    lanes.resize(kMaxLanes);
  }
  // Few lanes have room for what happened close together; many would make the page heavy.
  constexpr size_t kFewLanes = 16;
  const int64_t span = nanoseconds_of(dated.back()) - nanoseconds_of(dated.front());
  for (TimeChart::Lane& lane : lanes) {
    join_spans(lane.spans, span / (lanes.size() <= kFewLanes ? 128 : 32));
  }
  return lanes;
}

/// When the first of the lines was printed that show the finding, as far as the chart shows it.
std::optional<TimeSpan> moment_of(const Job& job, const Finding& finding, const TimeChart& chart,
                                  const Milestone& like) {
  std::optional<TimeSpan> first;
  for (const Evidence& evidence : finding.evidence) {
    const LineTime time = time_of_line(evidence.text);
    const int64_t at = nanoseconds_of(time.year == 0 ? like.year : time.year, time.nanoseconds);
    const bool fits = time.known() && time.has_zone == like.has_zone && at >= chart.begin;
    if (!fits || at > (first ? first->from - 1 : chart.end)) continue;
    const std::string place = place_name(job, evidence.where);
    first = {at, at, fmt::format("{} {}: {}", time.text, finding.id, place)};
  }
  return first;
}

/// "2026-11-20 20:54:52", "11-20 20:54:52" without a year.
std::string moment_words(const Milestone& milestone) {
  // Every year is counted as if it had 366 days (LineTime), as 1972 has.
  const std::chrono::sys_seconds at =
      begin_of(1972) + std::chrono::seconds(milestone.nanoseconds / kNanoseconds);
  const std::string year = milestone.year == 0 ? "" : fmt::format("{:04}-", milestone.year);
  return fmt::format("{}{:%m-%d %H:%M:%S}", year, at);
}

}  // namespace

std::vector<Milestone> dated_milestones(const Job& job) {
  std::vector<Milestone> dated = build_timeline(job).milestones;
  int year = 0;
  int64_t zoned = 0;
  for (const Milestone& milestone : dated) {
    year = std::max(year, milestone.year);
    if (!milestone.time.empty()) zoned += milestone.has_zone ? 1 : -1;
  }
  std::erase_if(dated, [&](const Milestone& milestone) {
    return milestone.time.empty() || milestone.has_zone != (zoned > 0);
  });
  for (Milestone& milestone : dated) {
    if (milestone.year == 0) milestone.year = year;
  }
  std::ranges::stable_sort(dated, {}, [](const Milestone& made) { return nanoseconds_of(made); });
  return dated;
}

std::string time_words(const std::vector<Milestone>& dated) {
  if (dated.empty()) return {};
  std::string words = moment_words(dated.front());
  const int64_t span = nanoseconds_of(dated.back()) - nanoseconds_of(dated.front());
  if (span > 0) {
    words += fmt::format(" to {} ({})", moment_words(dated.back()), duration_words(span));
  }
  return dated.front().has_zone ? words + ", UTC" : words;
}

Section time_section(const Job& job, const std::vector<Milestone>& dated, const Finding* main) {
  Section section{.heading = "Time line", .id = "time", .folds = true};
  Table table = timeline_table(job);
  if (table.rows.empty()) return section;
  TimeChart chart;
  if (!dated.empty()) chart.begin = nanoseconds_of(dated.front());
  if (!dated.empty()) chart.end = nanoseconds_of(dated.back());
  // Of a single moment nothing can be drawn.
  if (chart.begin == chart.end) {
    section.blocks.push_back(std::move(table));
    return section;
  }
  chart.lanes = lanes_of(job, dated);
  if (main != nullptr) chart.verdict = moment_of(job, *main, chart, dated.front());
  std::string text = fmt::format("{}. Hosts' clocks may differ.", time_words(dated));
  if (dated.size() < table.rows.size()) {
    text += fmt::format(" Lines without a time are not drawn: {} of {}.",
                        table.rows.size() - dated.size(), table.rows.size());
  }
  section.blocks.push_back(Paragraph{std::move(text)});
  section.blocks.push_back(Figure{"time line", std::move(chart), std::move(table)});
  return section;
}

}  // namespace ncclog
