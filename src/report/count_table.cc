#include "report/count_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/iteration_rows.h"
#include "report/iteration_text.h"

namespace ncclog {
namespace {

bool contains(const std::vector<CountBy>& by, CountBy dimension) {
  return std::find(by.begin(), by.end(), dimension) != by.end();
}

void add_columns(std::vector<std::string>& columns, CountBy dimension,
                 const std::vector<CountBy>& by) {
  switch (dimension) {
    case CountBy::Op:
      columns.push_back("op");
      break;
    case CountBy::Size:
      columns.push_back("size");
      break;
    case CountBy::Comm:
    case CountBy::CommSize:
      columns.push_back("comm");
      break;
    case CountBy::Rank:
      columns.insert(columns.end(), {"rank", "host", "pid"});
      break;
    case CountBy::Host:
      if (!contains(by, CountBy::Rank)) columns.push_back("host");
      break;
    case CountBy::Iteration:
      columns.push_back("iteration");
      break;
    case CountBy::StepPattern:
      columns.push_back("iterations");
      break;
  }
}

/// A number where the text is one.
Cell key_cell(const std::string& text, bool numeric) {
  const auto number = numeric ? parse_int(text) : std::nullopt;
  if (number) return *number;
  return text_cell(text);
}

Cell sum_cell(std::optional<uint64_t> sum) {
  if (!sum || *sum > static_cast<uint64_t>(INT64_MAX)) return {};
  return static_cast<int64_t>(*sum);
}

std::vector<Cell> row_of(const Job& job, const CountRow& row, const std::vector<CountBy>& by) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < by.size(); ++i) {
    if (by[i] == CountBy::Host && contains(by, CountBy::Rank)) continue;
    cells.push_back(key_cell(row.keys[i].text, by[i] == CountBy::Rank || by[i] == CountBy::Size));
    if (by[i] != CountBy::Rank) continue;
    const Process* process =
        row.process < 0 ? nullptr : &job.processes[static_cast<size_t>(row.process)];
    cells.push_back(process == nullptr ? Cell() : text_cell(process->host));
    cells.push_back(process == nullptr ? Cell() : number_cell(process->pid));
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

void add_notes(std::vector<std::string>& notes, const CallCountTable& counts) {
  notes.push_back(source_note(counts));
  if (counts.coll_processes + counts.trace_processes + counts.dump_processes == 0) return;
  notes.push_back(
      "Bytes are the count times the element size: of AllReduce, Broadcast and Reduce the buffer, "
      "of AllGather what a rank sends, of ReduceScatter what it receives, of AlltoAll, Gather and "
      "Scatter the part of one peer, of Send and Recv the message.");
  const bool in_bytes =
      std::any_of(counts.rows.begin(), counts.rows.end(),
                  [](const CountRow& row) { return !row.sum.elements && row.sum.bytes; });
  if (in_bytes) {
    notes.push_back(
        "NCCL 2.7.3 to 2.21.5 prints AllGather and Broadcast in bytes, so their elements are not "
        "known.");
  }
  if (counts.cut_processes > 0) {
    notes.push_back(fmt::format(
        "At least: {} of the processes may have made more calls; their files are cut or torn, or "
        "their recorder kept the last calls only.",
        counts.cut_processes));
  }
}

void add_iteration_notes(std::vector<std::string>& notes, const CallCountTable& counts) {
  if (counts.unkept_processes == 0) return;
  notes.push_back(
      fmt::format("The calls of {} of the processes are too irregular to be kept in order; the "
                  "last {} of them are in no iteration.",
                  counts.unkept_processes, counts.unkept_calls));
}

std::vector<std::string> columns_of(const std::vector<CountBy>& by) {
  std::vector<std::string> columns;
  for (const CountBy dimension : by) add_columns(columns, dimension, by);
  columns.insert(columns.end(), {"calls", "elements", "bytes"});
  if (!contains(by, CountBy::Rank)) columns.push_back("processes");
  columns.push_back("bound");
  return columns;
}

std::vector<std::string> notes_of(const Job& job, const JobCalls& calls,
                                  const JobIterations* iterations, const std::vector<CountBy>& by,
                                  const CallCountTable& counts) {
  std::vector<std::string> notes;
  if (iterations != nullptr) {
    notes = iteration_text(job, calls, *iterations);
    add_iteration_notes(notes, counts);
  } else if (contains(by, CountBy::Iteration) || contains(by, CountBy::StepPattern)) {
    notes.push_back(
        "No iterations were found: no line announces steps, and no pattern of calls repeats "
        "itself. --iteration takes an expression that fits the lines that do.");
  }
  add_notes(notes, counts);
  return notes;
}

/// What a row of several iterations means.
std::string folding_note(uint64_t single_rows, bool any_together) {
  return fmt::format(
      "Neighbouring iterations that call the same share a row, with the calls of one of them{}; "
      "--format csv has a row for each iteration, {} rows.",
      any_together ? ", and those that cannot be told apart with the calls of all" : "",
      single_rows);
}

/// True if a row stands for iterations that cannot be told apart.
bool has_together(const std::vector<CountRow>& rows, const std::vector<CountBy>& by) {
  const auto key = std::find(by.begin(), by.end(), CountBy::Iteration) - by.begin();
  return std::any_of(rows.begin(), rows.end(), [&](const CountRow& row) {
    return row.keys[static_cast<size_t>(key)].text.find('-') != std::string::npos;
  });
}

/// Hands on the rows with one for each iteration. Only the iteration differs in those of one row.
void take_single_rows(const Job& job, const std::vector<CountRow>& rows,
                      const std::vector<CountBy>& by, const RowTaker& take) {
  const std::vector<std::string> columns = columns_of(by);
  const auto iteration =
      static_cast<size_t>(std::find(columns.begin(), columns.end(), "iteration") - columns.begin());
  std::vector<Cell> cells;
  each_single_row(rows, by, [&](const CountRow& row, int64_t number) {
    cells = row_of(job, row, by);
    if (row.iterations > 1) cells[iteration] = std::to_string(number);
    return take(cells);
  });
}

}  // namespace

Table count_table(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                  const std::vector<CountBy>& by) {
  constexpr uint64_t kMostRows = 400;
  const CallCountTable counts = count_calls(job, calls, iterations, by);
  Table table{.name = "count", .columns = columns_of(by)};
  table.notes = notes_of(job, calls, iterations, by, counts);
  const uint64_t single_rows = single_row_count(counts.rows);
  const std::vector<CountRow> folded =
      single_rows > kMostRows ? folded_rows(counts.rows, by) : std::vector<CountRow>();
  if (folded.empty() || folded.size() == single_rows) {
    take_single_rows(job, counts.rows, by, [&](std::span<const Cell> cells) {
      table.rows.emplace_back(cells.begin(), cells.end());
      return true;
    });
    return table;
  }
  for (const CountRow& row : folded) table.rows.push_back(row_of(job, row, by));
  table.notes.insert(table.notes.begin(), folding_note(single_rows, has_together(counts.rows, by)));
  return table;
}

TableStream count_stream(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                         const std::vector<CountBy>& by) {
  CallCountTable counts = count_calls(job, calls, iterations, by);
  TableStream table{.name = "count", .columns = columns_of(by)};
  table.notes = notes_of(job, calls, iterations, by, counts);
  table.each_row = [&job, &by, rows = std::move(counts.rows)](const RowTaker& take) {
    take_single_rows(job, rows, by, take);
  };
  return table;
}

}  // namespace ncclog
