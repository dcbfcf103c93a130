// How far did each rank get in each process group? What the Flight Recorder's dumps say.
//
//   rank  group  group_name  enqueued  started  completed  open_seq  open_op         open_state
//      4  0      default_pg        29       -1         28        29  nccl:all_reduce  scheduled
//      5  0      default_pg        28       -1         28

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "report/tables.h"

namespace ncclog {
namespace {

constexpr size_t kTensorsShown = 4;

/// Blank where the dump does not say; -1 stands for "none yet", as PyTorch writes it.
Cell counter_cell(std::optional<int64_t> counter) {
  if (!counter) return {};
  return *counter;
}

/// A rank's entries in one of its groups.
struct GroupEntries {
  int64_t count = 0;
  const FlightRecorderEntry* first_open = nullptr;  ///< Oldest that is known not to be completed.

  void add(const FlightRecorderEntry& entry) {
    ++count;
    const bool open =
        entry.state == RecordedState::Scheduled || entry.state == RecordedState::Started;
    if (open && first_open == nullptr) first_open = &entry;
  }
};

/// The entries of a dump by group: by its name, or by its number where an entry gives no name.
struct EntriesByGroup {
  std::map<std::string_view, GroupEntries> by_name;
  std::map<int64_t, GroupEntries> by_number;

  explicit EntriesByGroup(const FlightRecorderDump& dump) {
    for (const FlightRecorderEntry& entry : dump.entries) {
      (entry.group.empty() ? by_number[entry.pg_id] : by_name[entry.group]).add(entry);
    }
  }

  GroupEntries of(const FlightRecorderGroup& group) const {
    if (const auto found = by_name.find(group.name); found != by_name.end()) return found->second;
    const auto found = by_number.find(group.pg_id);
    return found == by_number.end() || group.pg_id < 0 ? GroupEntries() : found->second;
  }
};

std::string dtypes_text(const FlightRecorderEntry& entry) {
  std::vector<std::string> distinct;
  for (const auto* list : {&entry.input_dtypes, &entry.output_dtypes}) {
    for (const std::string& dtype : *list) {
      if (std::find(distinct.begin(), distinct.end(), dtype) == distinct.end()) {
        distinct.push_back(dtype);
      }
    }
  }
  return fmt::format("{}", fmt::join(distinct, " "));
}

std::string frame_text(const CodeFrame& frame) {
  if (frame.file.empty()) return frame.function;
  const std::string at = frame.line < 0 ? frame.file : fmt::format("{}:{}", frame.file, frame.line);
  return frame.function.empty() ? at : fmt::format("{} {}", at, frame.function);
}

int64_t sequence_of(const FlightRecorderEntry& entry) {
  return entry.is_p2p.value_or(false) ? entry.p2p_seq_id : entry.collective_seq_id;
}

/// The cells about the entry that is not completed; all blank if there is none.
std::vector<Cell> open_cells(const FlightRecorderEntry* entry) {
  if (entry == nullptr) return std::vector<Cell>(7);
  return {number_cell(sequence_of(*entry)),
          text_cell(entry->profiling_name),
          text_cell(to_string(entry->state)),
          text_cell(sizes_text(entry->input_sizes, kTensorsShown)),
          text_cell(sizes_text(entry->output_sizes, kTensorsShown)),
          text_cell(dtypes_text(*entry)),
          text_cell(frame_text(entry->frame))};
}

std::string path_of(const Job& job, const FlightRecorderDump& dump) {
  return file_line(job, dump.where).path;
}

std::vector<Cell> group_row(const Job& job, const FlightRecorderDump& dump,
                            const FlightRecorderGroup& group, const GroupEntries& entries) {
  std::vector<Cell> row = {number_cell(dump.rank),           text_cell(group.name),
                           text_cell(group.description),     text_cell(ranges_text(group.ranks)),
                           number_cell(entries.count),       counter_cell(group.last_enqueued),
                           counter_cell(group.last_started), counter_cell(group.last_completed)};
  for (Cell& cell : open_cells(entries.first_open)) row.push_back(std::move(cell));
  row.push_back(text_cell(path_of(job, dump)));
  return row;
}

}  // namespace

Table flight_recorder_table(const Job& job) {
  Table table{.name = "flight-recorder",
              .columns = {"rank", "group", "group_name", "group_ranks", "entries", "enqueued",
                          "started", "completed", "open_seq", "open_op", "open_state", "open_input",
                          "open_output", "open_dtypes", "open_frame", "dump"}};
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    const EntriesByGroup entries(dump);
    for (const FlightRecorderGroup& group : dump.groups) {
      table.rows.push_back(group_row(job, dump, group, entries.of(group)));
    }
  }
  if (job.flight_recorders.empty()) {
    table.notes.push_back(
        "No Flight Recorder dump was found. TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and "
        "TORCH_NCCL_DUMP_ON_TIMEOUT=1 have every rank write one when a collective times out.");
  } else {
    table.notes.push_back(
        "Counters are c10d's own, -1: none yet. Started is known only with "
        "TORCH_NCCL_ENABLE_TIMING=1. open_…: the oldest call not seen completed.");
  }
  return table;
}

}  // namespace ncclog
