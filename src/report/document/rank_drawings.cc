#include "report/document/rank_drawings.h"

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
#include "diagnose/outcome/outcome.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

// How each rank stands.

/// A row of ranks_table().
struct RankRow {
  int64_t rank = -1;
  std::string host;
  std::string name;  ///< "3", "pid 41".
  std::string who;   ///< "rank 3 on node-a, pid 41, GPU 3".
  RankGrid::State state = RankGrid::State::Other;
  std::string why;        ///< The same text where ranks stand alike.
  std::string last_line;  ///< May be empty.
};

/// Where a process runs, and its GPU.
using RankPlace = std::tuple<std::string, int64_t, int64_t>;

int64_t number_in(const Cell& cell) {
  const auto* number = std::get_if<int64_t>(&cell);
  return number == nullptr ? -1 : *number;
}

class RankRows {
 public:
  RankRows(const Job& job, const Table& table, const Finding* main) : table_(table), main_(main) {
    // Ranks of a job at work wait, too; only where somebody is to blame does that say anything.
    if (main == nullptr || main->ranks.empty()) return;
    for (const Waiter& waiter : find_waits(job).waiting) {
      if (waiter.process < 0) continue;
      const Process& process = nth_process(job, waiter.process);
      const int gpu = process.rank >= 0 ? process.cuda_dev : waiter.cuda_dev;
      waiting_.emplace(RankPlace{process.host, process.pid, gpu},
                       last_call_words(job, waiter, nullptr));
    }
  }

  RankRow row(size_t n) const {
    const auto cell = [&](std::string_view column) -> const Cell& {
      const auto at = std::ranges::find(table_.columns, column) - table_.columns.begin();
      return table_.rows[n][static_cast<size_t>(at)];
    };
    RankRow row{.rank = number_in(cell("rank")), .host = cell_text(cell("host"))};
    const int64_t pid = number_in(cell("pid"));
    const int64_t gpu = number_in(cell("gpu"));
    row.name = row.rank >= 0 ? std::to_string(row.rank) : fmt::format("pid {}", pid);
    row.who = row.rank >= 0 ? "rank " + row.name : row.name;
    if (!row.host.empty()) row.who += " on " + row.host;
    if (row.rank >= 0 && pid >= 0) row.who += fmt::format(", pid {}", pid);
    if (gpu >= 0) row.who += fmt::format(", GPU {}", gpu);
    const std::string state = cell_text(cell("state"));
    const std::string end = cell_text(cell("end"));
    std::vector<std::string> words = {end, column_heading(state), cell_text(cell("note"))};
    std::erase(words, "");
    row.state = end == "failed" || state == "failed" ? RankGrid::State::Failed
                : state == "not_seen"                ? RankGrid::State::NotSeen
                : end == "finished"                  ? RankGrid::State::Finished
                                                     : RankGrid::State::Other;
    const auto waits = waiting_.find({row.host, pid, gpu});
    const bool is_named = main_ != nullptr && std::ranges::binary_search(main_->ranks, row.rank);
    if (is_named) words.insert(words.begin(), "named by " + main_->id);
    // Who reports a symptom is not to blame for it.
    if (is_named && main_->role == Role::Cause) {
      row.state = RankGrid::State::Attributed;
    } else if (waits != waiting_.end()) {
      row.state = RankGrid::State::Waiting;
      words.insert(words.begin(), "waiting for another rank");
      if (!waits->second.empty()) row.last_line = "; last call: " + waits->second;
    }
    row.why = join(words, ", ");
    const std::string last = clip(printable(cell_text(cell("last_line"))), 160);
    if (!last.empty()) row.last_line += "; last line: " + last;
    return row;
  }

 private:
  const Table& table_;
  const Finding* main_;
  std::map<RankPlace, std::string> waiting_;  ///< With what each called last.
};

/// Ranks that stand alike.
struct AlikeRanks {
  RankRow first;
  std::vector<int> ranks;  ///< Without those that have no number.
  size_t count = 0;
};

RankGrid::Cell cell_of(AlikeRanks& alike) {
  constexpr size_t kMaxLabel = 14;
  std::ranges::sort(alike.ranks);
  const RankRow& row = alike.first;
  if (alike.count == 1) {
    return {row.name, row.state, fmt::format("{}: {}{}", row.who, row.why, row.last_line)};
  }
  const std::string label = ranges_text(alike.ranks);
  return {label.empty() || label.size() > kMaxLabel
              ? plural(static_cast<int64_t>(alike.count), "rank")
              : label,
          row.state,
          fmt::format("{} ({}): {}", plural(static_cast<int64_t>(alike.count), "rank"),
                      short_ranges(alike.ranks), row.why)};
}

/// Neighbours that stand alike, together where `folds`.
std::vector<AlikeRanks> cells_of(const std::vector<RankRow>& rows, bool folds) {
  std::vector<AlikeRanks> cells;
  for (const RankRow& row : rows) {
    const bool goes_on = folds && !cells.empty() && cells.back().first.why == row.why &&
                         cells.back().first.state == row.state;
    if (!goes_on) cells.push_back({row, {}, 0});
    if (row.rank >= 0) cells.back().ranks.push_back(static_cast<int>(row.rank));
    ++cells.back().count;
  }
  return cells;
}

/// Hosts whose ranks stand alike, cell by cell.
struct AlikeHosts {
  std::vector<std::string> names;
  std::vector<AlikeRanks> cells;
};

std::string key_of(const std::vector<AlikeRanks>& cells) {
  std::string key;
  for (const AlikeRanks& cell : cells) {
    key +=
        fmt::format("{} {} {}\n", cell.count, static_cast<int>(cell.first.state), cell.first.why);
  }
  return key;
}

}  // namespace

RankGrid rank_grid(const Job& job, const Table& ranks, const Finding* main) {
  constexpr size_t kMaxSingle = 1024;  ///< Ranks that have a cell each.
  constexpr size_t kMaxRows = 512;
  const bool folds = ranks.rows.size() > kMaxSingle;
  const RankRows rows(job, ranks, main);
  std::vector<std::pair<std::string, std::vector<RankRow>>> hosts;
  std::map<std::string, size_t> place_of;
  for (size_t n = 0; n < ranks.rows.size(); ++n) {
    RankRow row = rows.row(n);
    const auto [place, is_new] = place_of.try_emplace(row.host, hosts.size());
    if (is_new) hosts.push_back({row.host.empty() ? "host not known" : row.host, {}});
    hosts[place->second].second.push_back(std::move(row));
  }
  std::vector<AlikeHosts> groups;
  std::map<std::string, size_t> group_of;
  for (auto& [name, of_host] : hosts) {
    std::vector<AlikeRanks> cells = cells_of(of_host, folds);
    const auto [group, is_new] = group_of.try_emplace(folds ? key_of(cells) : name, groups.size());
    // Hosts beyond the rows that there is room for go into the last one.
    const size_t at = std::min(group->second, kMaxRows);
    if (is_new && at == groups.size()) {
      groups.push_back({{name}, std::move(cells)});
      continue;
    }
    AlikeHosts& alike = groups[at];
    alike.names.push_back(name);
    if (at == kMaxRows) {
      AlikeRanks& rest = alike.cells.front();
      alike.cells.resize(1);
      rest.first.state = RankGrid::State::Other;
      rest.first.why = "not told apart here; `ncclog show ranks` lists all";
    }
    for (size_t c = 0; c < cells.size(); ++c) {
      AlikeRanks& cell = alike.cells[std::min(c, alike.cells.size() - 1)];
      cell.count += cells[c].count;
      cell.ranks.insert(cell.ranks.end(), cells[c].ranks.begin(), cells[c].ranks.end());
    }
  }
  RankGrid grid;
  for (AlikeHosts& group : groups) {
    RankGrid::Host& host = grid.hosts.emplace_back();
    host.name = few_of(group.names, 3, ", ");
    for (AlikeRanks& cell : group.cells) host.cells.push_back(cell_of(cell));
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
  static constexpr std::string_view kDrawn[] = {"init start", "init end", "first call",
                                                "last call"};
  TimeChart::Lane lane{.name = name_of(process),
                       .first = nanoseconds_of(*moments.front()),
                       .last = nanoseconds_of(*moments.back())};
  add_spans(moments, "init start", "init end", TimeKind::Init, lane.spans);
  add_spans(moments, "first call", "last call", TimeKind::Calls, lane.spans);
  for (const Milestone* milestone : moments) {
    if (std::ranges::find(kDrawn, milestone->what) != std::end(kDrawn)) continue;
    const bool is_bad = std::ranges::find(kBad, milestone->what) != std::end(kBad);
    const int64_t at = nanoseconds_of(*milestone);
    lane.spans.push_back(
        {at, at, fmt::format("{} {}: {}", milestone->time, milestone->what, milestone->detail),
         is_bad ? TimeKind::Failure : TimeKind::Moment});
  }
  return lane;
}

/// Several lanes as one. That one of them is silent says nothing of the others.
TimeChart::Lane folded(std::string name, const std::vector<TimeChart::Lane>& lanes) {
  TimeChart::Lane all{.name = std::move(name), .first = INT64_MAX, .last = INT64_MIN};
  for (const TimeChart::Lane& lane : lanes) {
    all.first = std::min(all.first, lane.first);
    all.last = std::max(all.last, lane.last);
    for (const TimeSpan& span : lane.spans) {
      if (span.kind == TimeKind::Silence) continue;
      all.spans.push_back({span.from, span.to, lane.name + ": " + span.title, span.kind});
    }
  }
  return all;
}

bool has_failure(const TimeChart::Lane& lane) {
  return std::ranges::any_of(lane.spans,
                             [](const TimeSpan& span) { return span.kind == TimeKind::Failure; });
}

/// The input of all lines of each process that has an input for itself.
std::map<int, const InputClock*> own_clocks(const Job& job) {
  std::map<uint32_t, std::set<int>> speakers;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    if (!is_named(job.processes[p])) continue;
    for (const size_t log : job.processes[p].logs) {
      const JobUnit* unit = unit_of(job, job.logs[log].first);
      if (unit != nullptr) speakers[unit->input].insert(static_cast<int>(p));
    }
  }
  std::map<int, const InputClock*> own;
  for (const InputClock& clock : job.clocks) {
    const auto found = speakers.find(clock.input);
    if (found == speakers.end() || found->second.size() != 1) continue;
    own.emplace(*found->second.begin(), &clock);
  }
  return own;
}

/// Long pauses between the lines of a process.
void add_silences(const Beats& beats, int year, int64_t span, TimeChart::Lane& lane) {
  constexpr int64_t kShortest = 5 * kNanoseconds;
  constexpr size_t kMost = 6;
  for (const Pause& pause : beats.pauses | std::views::take(kMost)) {
    const int64_t from = nanoseconds_of(year, pause.before.nanoseconds);
    const int64_t to = nanoseconds_of(year, pause.after.nanoseconds);
    if (to - from < std::max(kShortest, span / 20) || from < lane.first || to > lane.last) continue;
    lane.spans.push_back({from, to, "no line for " + duration_words(to - from), TimeKind::Silence});
  }
}

/// A lane for each process by rank; beyond kMaxLanes one for each host, and beyond so many hosts
/// those with failures first, the rest in the last one.
std::vector<TimeChart::Lane> lanes_of(const Job& job, const std::vector<Milestone>& dated) {
  constexpr size_t kMaxLanes = 64;
  const std::map<int, const InputClock*> clocks = own_clocks(job);
  std::multimap<int, std::pair<int, TimeChart::Lane>> by_rank;
  std::map<int, std::vector<const Milestone*>> moments;
  for (const Milestone& milestone : dated) moments[milestone.process].push_back(&milestone);
  for (const auto& [process, of_process] : moments) {
    TimeChart::Lane lane = lane_of(nth_process(job, process), of_process);
    if (const auto clock = clocks.find(process); clock != clocks.end()) {
      const Milestone& first = *of_process.front();
      add_silences(clock->second->pulse.clock(first.has_zone).all, first.year,
                   lane.last - lane.first, lane);
    }
    by_rank.emplace(nth_process(job, process).rank, std::pair(process, std::move(lane)));
  }
  std::vector<TimeChart::Lane> lanes;
  std::vector<std::pair<std::string, std::vector<TimeChart::Lane>>> hosts;
  std::map<std::string, size_t> place_of;
  for (auto& [rank, of_process] : by_rank) {
    auto& [process, lane] = of_process;
    const std::string& host = nth_process(job, process).host;
    const auto [place, is_new] = place_of.try_emplace(host, hosts.size());
    if (is_new) hosts.push_back({host.empty() ? "host not known" : host, {}});
    hosts[place->second].second.push_back(std::move(lane));
  }
  for (auto& [host, of_host] : hosts) {
    if (by_rank.size() > kMaxLanes) {
      lanes.push_back(folded(host, of_host));
    } else {
      std::ranges::move(of_host, std::back_inserter(lanes));
    }
  }
  if (lanes.size() > kMaxLanes) {
    std::ranges::stable_partition(lanes, has_failure);
    const std::vector<TimeChart::Lane> rest(lanes.begin() + kMaxLanes - 1, lanes.end());
    lanes.resize(kMaxLanes - 1);
    lanes.push_back(folded(fmt::format("{} others", rest.size()), rest));
  }
  // Few lanes have room for what happened close together; many would make the page heavy.
  constexpr size_t kFewLanes = 16;
  const int64_t span = nanoseconds_of(dated.back()) - nanoseconds_of(dated.front());
  const int64_t near = span / (lanes.size() <= kFewLanes ? 128 : 32);
  for (TimeChart::Lane& lane : lanes) join_spans(lane.spans, near);
  return lanes;
}

/// When the first of the lines was printed that show the finding, as far as they tell.
std::optional<TimeSpan> moment_of(const Job& job, const Finding& finding, const Milestone& like) {
  std::optional<TimeSpan> first;
  for (const Evidence& evidence : finding.evidence) {
    const LineTime time = time_of_line(evidence.text);
    if (!time.known() || time.has_zone != like.has_zone) continue;
    const int64_t at = nanoseconds_of(time.year == 0 ? like.year : time.year, time.nanoseconds);
    if (first && first->from <= at) continue;
    first = {at, at,
             fmt::format("{} {}: {}", time.text, finding.id, place_name(job, evidence.where)),
             TimeKind::Failure};
  }
  return first;
}

/// "2026-11-20 20:54:52", "11-20 20:54:52" without a year, "20:54:52" without the date.
std::string moment_words(const Milestone& milestone, bool with_date) {
  const auto seconds = std::chrono::seconds(milestone.nanoseconds / kNanoseconds);
  const auto clock = std::chrono::hh_mm_ss(seconds % std::chrono::days(1));
  const std::string time = fmt::format("{:02}:{:02}:{:02}", clock.hours().count(),
                                       clock.minutes().count(), clock.seconds().count());
  if (!with_date) return time;
  // Every year is counted as if it had 366 days (LineTime), as 1972 has.
  const std::chrono::year_month_day day =
      begin_of(1972) + std::chrono::floor<std::chrono::days>(seconds);
  const std::string year = milestone.year == 0 ? "" : fmt::format("{:04}-", milestone.year);
  return fmt::format("{}{:02}-{:02} {}", year, static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()), time);
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
  const Milestone& first = dated.front();
  const Milestone& last = dated.back();
  constexpr int64_t kOneDay = 86'400 * kNanoseconds;
  const bool is_one_day = first.nanoseconds / kOneDay == last.nanoseconds / kOneDay;
  const int64_t span = nanoseconds_of(last) - nanoseconds_of(first);
  std::string words = moment_words(first, true);
  if (span > 0) {
    words += fmt::format(" to {} ({})", moment_words(last, !is_one_day), duration_words(span));
  }
  return first.has_zone ? words + ", UTC" : words;
}

Section time_section(const Job& job, const std::vector<Milestone>& dated, const Finding* main) {
  Section section{.heading = "Time line", .id = "time", .folds = true};
  Table table = timeline_table(job);
  if (table.rows.empty()) return section;
  // Of a single moment nothing can be drawn.
  if (dated.empty() || nanoseconds_of(dated.front()) == nanoseconds_of(dated.back())) {
    section.blocks.push_back(std::move(table));
    return section;
  }
  TimeChart chart{.lanes = lanes_of(job, dated), .verdict = std::nullopt};
  if (main != nullptr) chart.verdict = moment_of(job, *main, dated.front());
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
