#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

constexpr size_t kRangesShown = 8;
constexpr size_t kOddShown = 8;
constexpr size_t kDepartingShown = 6;
constexpr size_t kDeparturesKept = 10000;

/// "iteration 0", "iterations 1-5, 7".
std::string iterations_text(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
  std::vector<std::string> parts;
  for (const auto& [first, last] : ranges) {
    if (parts.size() == kRangesShown) {
      parts.push_back(fmt::format("and {} more ranges", ranges.size() - kRangesShown));
      break;
    }
    parts.push_back(range_text(first, last));
  }
  const bool one = ranges.size() == 1 && ranges[0].first == ranges[0].second;
  return (one ? "iteration " : "iterations ") + join(parts, ", ");
}

uint64_t count_of(const OpCounts& counts, const std::string& op) {
  const auto found = counts.find(op);
  return found == counts.end() ? 0 : found->second;
}

/// "+ 1 Broadcast, - 1 AllReduce"; empty if nothing differs.
std::string difference_text(const OpCounts& calls, const OpCounts& usual) {
  OpCounts both = calls;
  both.insert(usual.begin(), usual.end());
  std::vector<std::string> parts;
  for (const auto& [op, n] : both) {
    const uint64_t here = count_of(calls, op);
    const uint64_t there = count_of(usual, op);
    if (here > there) parts.push_back(fmt::format("+ {} {}", here - there, op));
    if (here < there) parts.push_back(fmt::format("- {} {}", there - here, op));
  }
  return join(parts, ", ");
}

/// What a process calls unlike most in some iterations.
struct Departure {
  int64_t first = 0;
  int64_t last = 0;
  std::string difference;

  auto operator<=>(const Departure&) const = default;
};
using Departures = std::map<Departure, std::vector<int>>;  ///< With the processes that depart so.

// The sentences about the iterations of a job.

void add_cut(const JobIterations& found, std::vector<std::string>& all) {
  int64_t aligned = 0;
  int64_t raw = 0;  // Cut where the markers stand.
  for (const ProcessIterations& process : found.processes) {
    if (process.by_marker) ++(found.exact || process.period == 0 ? raw : aligned);
  }
  const std::string marker = found.preset.empty()
                                 ? std::string("the marker that was asked for")
                                 : fmt::format("the lines of preset '{}'", found.preset);
  const std::string drift = fmt::format(
      "That is one process's clock: when it ticks, others have made up to {} too many, or have "
      "up to {} still to make",
      plural(found.ahead, "call"), found.behind);
  if (aligned > 0) {
    all.push_back(fmt::format(
        "Iterations begin at {}. {}; each process is cut where its own calls begin anew.", marker,
        drift));
  }
  if (raw > 0 && found.exact) {
    all.push_back(fmt::format("Iterations are cut exactly at {}. {}.", marker, drift));
  } else if (raw > 0) {
    all.push_back(fmt::format("In {} nothing repeats itself: {} cut where they stand.",
                              plural(raw, "process"), marker));
  }
}

/// How much of their calls the repeats explain, in processes that are cut by them alone.
void add_certainty(const JobCalls& calls, const JobIterations& found,
                   std::vector<std::string>& all) {
  std::map<size_t, size_t> periods;
  size_t least = 0;
  size_t most = 0;
  double covered = 1;
  size_t processes = 0;
  for (const ProcessIterations& process : found.processes) {
    if (process.by_marker || process.repeats == 0) continue;
    least = processes == 0 ? process.repeats : std::min(least, process.repeats);
    most = std::max(most, process.repeats);
    const auto total = static_cast<double>(calls.processes[process.calls].track->tape.kept());
    covered = std::min(covered, static_cast<double>(process.repeats * process.period) / total);
    ++periods[process.period];
    ++processes;
  }
  if (processes == 0) return;
  const auto usual = std::ranges::max_element(
      periods, [](const auto& a, const auto& b) { return a.second < b.second; });
  all.push_back(fmt::format(
      "{} {} no marker in {} own {}: iterations are the calls that {} over and over. {} calls "
      "repeat {} times in one piece; that is {}% of a process's calls or more.",
      plural(processes, "process"), processes == 1 ? "has" : "have",
      processes == 1 ? "its" : "their", processes == 1 ? "file" : "files",
      processes == 1 ? "it makes" : "they make", usual->first,
      range_text(static_cast<int64_t>(least), static_cast<int64_t>(most)),
      static_cast<int>(100 * covered)));
}

/// True if a process calls something else in one of those iterations.
bool is_departed_from(const IterationPattern& pattern, const Departures& departures) {
  return std::ranges::any_of(departures, [&](const auto& entry) {
    return std::ranges::any_of(pattern.iterations, [&](const auto& range) {
      return entry.first.first <= range.second && range.first <= entry.first.last;
    });
  });
}

std::string in_processes(const IterationPattern& pattern, const Departures& departures) {
  const bool all_alike = pattern.processes == pattern.present;
  if (all_alike && is_departed_from(pattern, departures)) {
    return fmt::format(" in most of {}", plural(pattern.present, "process"));
  }
  if (all_alike) {
    return fmt::format(" in {}{}", pattern.present == 1 ? "" : "each of ",
                       plural(pattern.present, "process"));
  }
  return fmt::format(" in {} of {}", pattern.processes, plural(pattern.present, "process"));
}

void add_odd(const IterationPattern& pattern, const IterationPattern& usual, int64_t first,
             const Departures& departures, std::vector<std::string>& all) {
  const std::string iterations = iterations_text(pattern.iterations);
  const bool one = iterations.starts_with("iteration ");
  const bool fewer = pattern.present < usual.present;
  const std::string where = fewer ? in_processes(pattern, departures) : "";
  if (pattern.together > 1) {
    all.push_back(fmt::format("{} cannot be told apart: together {}{}.", iterations,
                              calls_text(pattern.calls), where));
    return;
  }
  const std::string difference = difference_text(pattern.calls, usual.calls);
  if (difference.empty()) {
    if (fewer) all.push_back(fmt::format("{}: the same{}.", iterations, where));
    return;
  }
  // What the first iteration alone adds is set-up rather than a checkpoint.
  const bool later = pattern.iterations.front().first != first;
  const bool adds = later && std::ranges::all_of(usual.calls, [&](const auto& entry) {
                      return count_of(pattern.calls, entry.first) >= entry.second;
                    });
  all.push_back(fmt::format("{} {}: {}{}{}{}.", iterations, one ? "differs" : "differ", difference,
                            where, adds ? " (a checkpoint or an evaluation?)" : "",
                            pattern.cut_short ? "; the calls end there" : ""));
}

void add_patterns(const JobIterations& found, const Departures& departures,
                  std::vector<std::string>& all) {
  const IterationPattern& usual = found.patterns[usual_pattern(found.patterns)];
  const bool one =
      usual.iterations.size() == 1 && usual.iterations[0].first == usual.iterations[0].second;
  all.push_back(fmt::format("{} {}: {}{}{}.", iterations_text(usual.iterations),
                            one                  ? "calls"
                            : usual.together > 1 ? "call together"
                                                 : "are identical",
                            calls_text(usual.calls), in_processes(usual, departures),
                            usual.cut_short ? ", and the calls end there" : ""));
  int64_t first = usual.iterations.front().first;
  for (const IterationPattern& pattern : found.patterns) {
    first = std::min(first, pattern.iterations.front().first);
  }
  size_t shown = 0;
  for (const IterationPattern& pattern : found.patterns) {
    if (&pattern == &usual) continue;
    if (++shown > kOddShown) continue;
    add_odd(pattern, usual, first, departures, all);
  }
  if (shown > kOddShown) {
    all.push_back(fmt::format("{} more kinds of iterations are left out here.", shown - kOddShown));
  }
}

Departures departures_of(const JobCalls& calls, const JobIterations& found) {
  Departures departures;
  // What most processes call: by first iteration of a range, its last one and the pattern.
  std::map<int64_t, std::pair<int64_t, const IterationPattern*>> ranges;
  for (const IterationPattern& pattern : found.patterns) {
    for (const auto& [first, last] : pattern.iterations) ranges[first] = {last, &pattern};
  }
  for (const ProcessIterations& process : found.processes) {
    const ProcessCalls& made = calls.processes[process.calls];
    for (const IterationRun& run : process.runs) {
      const OpCounts own = by_operation(made, process.counts[run.calls]);
      // A run may reach over iterations in which most processes do different things.
      auto range = ranges.upper_bound(run.first);
      if (range != ranges.begin()) --range;
      for (; range != ranges.end() && range->first <= run.last; ++range) {
        const auto& [last, pattern] = range->second;
        const bool same = own == pattern->calls && run.cut_short == pattern->cut_short;
        if (last < run.first || same || departures.size() > kDeparturesKept) continue;
        std::string difference = difference_text(own, pattern->calls);
        if (difference.empty()) difference = "the same calls";
        if (run.cut_short) difference += "; its calls end there";
        departures[{std::max(range->first, run.first), std::min(last, run.last), difference}]
            .push_back(made.process);
      }
    }
  }
  return departures;
}

/// "rank 5", "ranks 0-3 (4 processes)", "2 processes (pid 41 on node-a, …)".
std::string processes_text(const Job& job, const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (const int p : processes) ranks.push_back(job.processes[p].rank);
  const bool known = std::ranges::all_of(ranks, [](int rank) { return rank >= 0; });
  if (known) return ranks_phrase(ranks);
  const Process& one = job.processes[processes.front()];
  const std::string first = one.rank >= 0 ? fmt::format("rank {}", one.rank)
                                          : fmt::format("pid {} on {}", one.pid, one.host);
  return processes.size() == 1
             ? first
             : fmt::format("{} and {} more processes", first, processes.size() - 1);
}

void add_departing(const Job& job, const Departures& departures, std::vector<std::string>& all) {
  size_t shown = 0;
  for (const auto& [departure, processes] : departures) {
    if (++shown > kDepartingShown) break;
    all.push_back(fmt::format("{} unlike most processes in {}: {}.", processes_text(job, processes),
                              iterations_text({{departure.first, departure.last}}),
                              departure.difference));
  }
  if (departures.size() > kDepartingShown) {
    all.push_back(fmt::format(
        "{} more differences between processes are left out here; --by step-pattern,rank,op "
        "shows all.",
        departures.size() - kDepartingShown));
  }
}

/// What most processes call outside of their iterations.
void add_outside(const JobCalls& calls, const JobIterations& found, std::vector<std::string>& all) {
  std::map<std::pair<OpCounts, OpCounts>, size_t> outside;
  for (const ProcessIterations& process : found.processes) {
    if (process.runs.empty()) continue;
    const ProcessCalls& made = calls.processes[process.calls];
    ++outside[{by_operation(made, process.before), by_operation(made, process.after)}];
  }
  const auto usual = std::ranges::max_element(
      outside, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (usual == outside.end()) return;
  std::vector<std::string> parts;
  const auto& [before, after] = usual->first;
  if (!before.empty()) parts.push_back("before the first iteration: " + calls_text(before));
  if (!after.empty()) parts.push_back("after the last one: " + calls_text(after));
  if (!parts.empty()) {
    all.push_back(
        fmt::format("{}{}.", join(parts, "; "), outside.size() > 1 ? "; in most processes" : ""));
  }
  if (found.unsplit > 0) {
    all.push_back(fmt::format("In {} no iteration was found; its calls are \"before\".",
                              plural(found.unsplit, "process")));
  }
}

}  // namespace

std::string calls_text(const OpCounts& calls) {
  std::vector<std::pair<std::string, uint64_t>> sorted(calls.begin(), calls.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [op, n] : sorted) parts.push_back(fmt::format("{} {}", n, op));
  return parts.empty() ? "no calls" : join(parts, ", ");
}

std::vector<std::string> iteration_text(const Job& job, const JobCalls& calls,
                                        const JobIterations& found) {
  const Departures departures = departures_of(calls, found);
  std::vector<std::string> all;
  add_cut(found, all);
  add_certainty(calls, found, all);
  add_patterns(found, departures, all);
  add_departing(job, departures, all);
  add_outside(calls, found, all);
  return all;
}

// Rows of counts, folded and single.

namespace {

using RowSpan = std::span<const CountRow>;

/// Where the iteration stands among the keys; by.size() if it does not.
size_t iteration_key(const std::vector<CountBy>& by) {
  return static_cast<size_t>(std::ranges::find(by, CountBy::Iteration) - by.begin());
}

/// True if the keys [begin, end) of both are the same.
bool same_keys(const CountRow& a, const CountRow& b, size_t begin, size_t end) {
  return std::ranges::equal(std::span(a.keys).subspan(begin, end - begin),
                            std::span(b.keys).subspan(begin, end - begin));
}

/// The rows at the beginning that share the keys up to the iteration.
RowSpan first_group(RowSpan rows, size_t iteration) {
  const auto end = std::ranges::find_if_not(
      rows, [&](const CountRow& row) { return same_keys(rows.front(), row, 0, iteration + 1); });
  return rows.first(static_cast<size_t>(end - rows.begin()));
}

/// True for a number, false for "before", "after" and iterations that cannot be told apart.
bool is_numbered(const CountKey& key) { return key.text == std::to_string(key.order); }

/// True if `next` goes on at iteration `end`, where `group` ends, and says the same.
bool goes_on(RowSpan group, RowSpan next, size_t iteration, int64_t end) {
  const CountRow& first = group.front();
  const CountKey& key = next.front().keys[iteration];
  if (!is_numbered(first.keys[iteration]) || !is_numbered(key) || key.order != end) return false;
  if (!same_keys(first, next.front(), 0, iteration)) return false;
  return std::ranges::equal(group, next, [&](const CountRow& a, const CountRow& b) {
    return same_keys(a, b, iteration + 1, a.keys.size()) && a.process == b.process &&
           a.processes == b.processes && a.sum == b.sum;
  });
}

}  // namespace

uint64_t single_row_count(const std::vector<CountRow>& rows) {
  uint64_t count = 0;
  for (const CountRow& row : rows) count += static_cast<uint64_t>(row.iterations);
  return count;
}

void each_single_row(const std::vector<CountRow>& rows, const std::vector<CountBy>& by,
                     const std::function<bool(const CountRow& row, int64_t iteration)>& visit) {
  const size_t iteration = std::min(iteration_key(by), by.size() - 1);
  for (RowSpan rest = rows; !rest.empty();) {
    const RowSpan group = first_group(rest, iteration);
    rest = rest.subspan(group.size());
    const CountRow& first = group.front();
    for (int64_t i = 0; i < first.iterations; ++i) {
      for (const CountRow& row : group) {
        if (!visit(row, first.keys[iteration].order + i)) return;
      }
    }
  }
}

std::vector<CountRow> folded_rows(const std::vector<CountRow>& rows,
                                  const std::vector<CountBy>& by) {
  const size_t iteration = iteration_key(by);
  if (iteration == by.size()) return rows;
  std::vector<CountRow> folded;
  for (RowSpan rest = rows; !rest.empty();) {
    const RowSpan group = first_group(rest, iteration);
    rest = rest.subspan(group.size());
    const CountKey& key = group.front().keys[iteration];
    int64_t end = key.order + (is_numbered(key) ? group.front().iterations : 0);
    while (!rest.empty()) {
      const RowSpan later = first_group(rest, iteration);
      if (!goes_on(group, later, iteration, end)) break;
      end += later.front().iterations;
      rest = rest.subspan(later.size());
    }
    for (CountRow row : group) {
      if (end - key.order > 1) {
        row.iterations = end - key.order;
        row.keys[iteration].text = fmt::format("{}-{}", key.order, end - 1);
      }
      folded.push_back(std::move(row));
    }
  }
  return folded;
}

// The table.

namespace {

bool contains(const std::vector<CountBy>& by, CountBy dimension) {
  return std::ranges::find(by, dimension) != by.end();
}

std::string_view column_of(CountBy dimension) {
  static constexpr std::string_view kNames[] = {"op",   "size", "comm",      "comm",
                                                "rank", "host", "iteration", "iterations"};
  return kNames[static_cast<size_t>(dimension)];
}

/// A rank stands with its host and pid; its host needs no further column.
std::vector<std::string> columns_of(const std::vector<CountBy>& by) {
  const bool by_rank = contains(by, CountBy::Rank);
  std::vector<std::string> columns;
  for (const CountBy dimension : by) {
    if (dimension == CountBy::Host && by_rank) continue;
    columns.emplace_back(column_of(dimension));
    if (dimension == CountBy::Rank) columns.insert(columns.end(), {"host", "pid"});
  }
  columns.insert(columns.end(), {"calls", "elements", "bytes"});
  if (!by_rank) columns.push_back("processes");
  columns.push_back("bound");
  return columns;
}

Cell sum_cell(std::optional<uint64_t> sum) {
  if (!sum || *sum > static_cast<uint64_t>(INT64_MAX)) return {};
  return static_cast<int64_t>(*sum);
}

std::vector<Cell> row_of(const Job& job, const CountRow& row, const std::vector<CountBy>& by) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < by.size(); ++i) {
    if (by[i] == CountBy::Host && contains(by, CountBy::Rank)) continue;
    const bool is_numeric = by[i] == CountBy::Rank || by[i] == CountBy::Size;
    const auto number = is_numeric ? parse_int(row.keys[i].text) : std::nullopt;
    cells.push_back(number ? Cell(*number) : text_cell(row.keys[i].text));
    if (by[i] != CountBy::Rank) continue;
    cells.push_back(cell_of(process_at(job, row.process).host));
    cells.push_back(cell_of(process_at(job, row.process).pid));
  }
  cells.push_back(sum_cell(row.sum.calls));
  cells.push_back(sum_cell(row.sum.elements));
  cells.push_back(sum_cell(row.sum.bytes));
  if (!contains(by, CountBy::Rank)) cells.emplace_back(static_cast<int64_t>(row.processes));
  cells.push_back(text_cell(row.sum.at_least ? "at least" : ""));
  return cells;
}

std::string source_note(const CallCountTable& counts) {
  std::vector<std::string> parts;
  const auto add = [&](size_t processes, std::string_view source) {
    if (processes > 0) parts.push_back(fmt::format("{} of {}", source, processes));
  };
  add(counts.coll_processes, "COLL lines");
  add(counts.trace_processes, "CALL lines");
  add(counts.dump_processes, "Flight Recorder dumps");
  if (parts.empty()) {
    return "No calls are logged. COLL among NCCL_DEBUG_SUBSYS, or PyTorch's Flight Recorder, shows "
           "them.";
  }
  const size_t processes = counts.coll_processes + counts.trace_processes + counts.dump_processes;
  return fmt::format("Counted from {} {}, each process from one source.", join(parts, ", "),
                     processes == 1 ? "process" : "processes");
}

/// "AllReduce, Broadcast and Reduce": the operations of which `is_such` holds.
template <typename IsSuch>
std::string names_where(IsSuch is_such) {
  std::vector<std::string> names;
  for (const OperationTraits& operation : kOperations) {
    if (is_such(operation)) names.emplace_back(operation.name);
  }
  const std::string last = std::move(names.back());
  names.pop_back();
  return names.empty() ? last : fmt::format("{} and {}", join(names, ", "), last);
}

void add_notes(std::vector<std::string>& notes, const CallCountTable& counts) {
  notes.push_back(source_note(counts));
  if (counts.coll_processes + counts.trace_processes + counts.dump_processes == 0) return;
  notes.push_back("What elements and bytes are of each operation: 'ncclog help counting'.");
  const bool in_bytes = std::ranges::any_of(
      counts.rows, [](const CountRow& row) { return !row.sum.elements && row.sum.bytes; });
  if (in_bytes) {
    notes.push_back(
        fmt::format("NCCL 2.7.3 to 2.21.5 prints {} in bytes, so their elements are not known.",
                    names_where(std::mem_fn(&OperationTraits::may_count_bytes))));
  }
  if (counts.cut_processes > 0) {
    notes.push_back(fmt::format(
        "At least: {} of the processes may have made more calls; their files are cut or torn, or "
        "their recorder kept the last calls only.",
        counts.cut_processes));
  }
}

std::vector<std::string> notes_of(const Job& job, const JobCalls& calls,
                                  const JobIterations* iterations, const std::vector<CountBy>& by,
                                  const CallCountTable& counts) {
  std::vector<std::string> notes;
  if (iterations != nullptr) {
    notes = iteration_text(job, calls, *iterations);
    if (counts.unkept_processes > 0) {
      notes.push_back(
          fmt::format("The calls of {} of the processes are too irregular to be kept in order; the "
                      "last {} of them are in no iteration.",
                      counts.unkept_processes, counts.unkept_calls));
    }
  } else if (contains(by, CountBy::Iteration) || contains(by, CountBy::StepPattern)) {
    notes.push_back(
        "No iterations were found: no line announces steps, and no pattern of calls repeats "
        "itself. --iteration takes an expression that fits the lines that do.");
  }
  add_notes(notes, counts);
  return notes;
}

/// What a row of several iterations means.
std::string folding_note(const std::vector<CountRow>& rows, const std::vector<CountBy>& by,
                         uint64_t single_rows) {
  const bool any_together = std::ranges::any_of(rows, [&](const CountRow& row) {
    return row.keys[iteration_key(by)].text.find('-') != std::string::npos;
  });
  return fmt::format(
      "Neighbouring iterations that call the same share a row, with the calls of one of them{}; "
      "--format csv has a row for each iteration, {} rows.",
      any_together ? ", and those that cannot be told apart with the calls of all" : "",
      single_rows);
}

}  // namespace

std::string count_sentence(const Job& job, const JobCalls& calls) {
  const CallCountTable counts = count_calls(job, calls, nullptr, {CountBy::Op});
  const size_t processes = counts.coll_processes + counts.trace_processes + counts.dump_processes;
  if (processes == 0) return source_note(counts);
  OpCounts by_op;
  uint64_t all = 0;
  for (const CountRow& row : counts.rows) {
    by_op[row.keys.front().text] += row.sum.calls;
    all += row.sum.calls;
  }
  return fmt::format("{} of {}: {}.", plural(static_cast<int64_t>(all), "call"),
                     plural(static_cast<int64_t>(processes), "process"), calls_text(by_op));
}

Table count_table(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                  const std::vector<CountBy>& by, bool may_fold) {
  constexpr uint64_t kMostRows = 400;
  CallCountTable counts = count_calls(job, calls, iterations, by);
  Table table{.name = "count", .columns = columns_of(by)};
  table.notes = notes_of(job, calls, iterations, by, counts);
  const uint64_t single_rows = single_row_count(counts.rows);
  if (may_fold && single_rows > kMostRows) {
    const std::vector<CountRow> folded = folded_rows(counts.rows, by);
    if (folded.size() != single_rows) {
      for (const CountRow& row : folded) table.rows.push_back(row_of(job, row, by));
      table.notes.insert(table.notes.begin(), folding_note(counts.rows, by, single_rows));
      return table;
    }
  }
  table.further = [&job, &by, of_counts = std::move(counts.rows)](const RowTaker& take) {
    // Only the iteration differs in the single rows of one row.
    const std::vector<std::string> columns = columns_of(by);
    const auto iteration =
        static_cast<size_t>(std::ranges::find(columns, "iteration") - columns.begin());
    each_single_row(of_counts, by, [&](const CountRow& row, int64_t number) {
      std::vector<Cell> cells = row_of(job, row, by);
      if (row.iterations > 1) cells[iteration] = std::to_string(number);
      return take(cells);
    });
  };
  return table;
}

}  // namespace ncclog
