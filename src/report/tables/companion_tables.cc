// Tables of what stands beside NCCL's lines: Flight Recorder dumps, answers of the RAS service,
// results of nccl-tests.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"

namespace ncclog {

// How far did each rank get in each process group? What the Flight Recorder's dumps say.
//
//   rank  group  group_name  enqueued  started  completed  open_seq  open_op         open_state
//      4  0      default_pg        29       -1         28        29  nccl:all_reduce  scheduled
//      5  0      default_pg        28       -1         28

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

}  // namespace

Table flight_recorder_table(const Job& job) {
  Table table = table_of("flight-recorder");
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    const EntriesByGroup entries(dump);
    for (const FlightRecorderGroup& group : dump.groups) {
      const GroupEntries of_group = entries.of(group);
      std::vector<Cell>& row = table.rows.emplace_back();
      row = {number_cell(dump.rank),           text_cell(group.name),
             text_cell(group.description),     text_cell(ranges_text(group.ranks)),
             number_cell(of_group.count),      counter_cell(group.last_enqueued),
             counter_cell(group.last_started), counter_cell(group.last_completed)};
      std::ranges::move(open_cells(of_group.first_open), std::back_inserter(row));
      row.push_back(text_cell(file_line(job, dump.where).path));
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

// What did NCCL's RAS service find wrong? One row per statement, communicators without one as well.
//
//   communicator      problem   what                        value  count  ranks  members
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6650      26
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6649       6  0-5    10.1.2.3:48307, …

namespace {

constexpr size_t kMembersShown = 4;

std::string ranks_of(const RasStatement& statement) {
  std::vector<int> ranks;
  for (const RasMember& member : statement.members) {
    if (member.rank >= 0) ranks.push_back(member.rank);
  }
  return ranges_text(std::move(ranks));
}

/// "10.1.2.3 pid 48307 GPU 3, …"
std::string members_of(const RasStatement& statement) {
  std::string text;
  for (size_t i = 0; i < std::min(kMembersShown, statement.members.size()); ++i) {
    const RasMember& member = statement.members[i];
    if (member.node.empty() && member.pid < 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} pid {}", member.node, member.pid);
    if (!member.gpu.empty()) text += " GPU " + member.gpu;
  }
  if (statement.members.size() > kMembersShown) {
    text += fmt::format(" and {} more", statement.members.size() - kMembersShown);
  }
  return text;
}

}  // namespace

Table ras_table(const Job& job) {
  Table table = table_of("ras");
  for (const RasReport& report : job.ras_reports) {
    // Of these RAS has nothing to tell but that they are there.
    for (const RasCommunicators& group : report.communicators) {
      const std::string what = fmt::format(
          "{} of {} ranks", group.count == 1 ? "communicator" : "communicators", group.nranks);
      table.rows.push_back({text_cell(group.hash), text_cell(group.errors), text_cell(what),
                            text_cell(group.status), number_cell(group.count), Cell(), Cell(),
                            place_cell(job, report.where)});
    }
    for (const RasStatement& statement : report.statements) {
      table.rows.push_back({text_cell(statement.communicator), text_cell(statement.problem),
                            text_cell(statement.what), text_cell(statement.value),
                            number_cell(statement.count), text_cell(ranks_of(statement)),
                            text_cell(members_of(statement)), place_cell(job, report.where)});
    }
    if (report.timeouts > 0) {
      table.notes.push_back(fmt::format(
          "RAS did not get all answers in time ({} timeouts): what it lacks may be its own fault.",
          report.timeouts));
    }
  }
  table.notes.push_back(
      job.ras_reports.empty()
          ? "No answer of NCCL's RAS service was found. 'ncclras -v' on a host of a running job "
            "(NCCL 2.24 and later) prints one; save it beside the logs."
          : "Counts grow while RAS asks rank after rank, so ranks of a healthy job may differ by a "
            "few: ask twice and compare.");
  return table;
}

// What did nccl-tests measure? A row per size, out of place and in place.
//
//   run  test             size     type   redop  time    algbw  busbw  wrong  …  at
//     1  all_reduce_perf  8388608  float  sum    4915.3  1.71   3.20   0      …  run.log:61

namespace {

std::string checks_phrase(const NcclTestsRun& run) {
  if (run.validation == 0) return "results not checked";
  if (run.out_of_bounds < 0) return "no end in the log";
  return fmt::format("{} values out of bounds", run.out_of_bounds);
}

/// "Run 1: all_reduce_perf on 8 ranks, mean bus bandwidth 103.9 GB/s, 0 values out of bounds."
std::string run_note(size_t number, const NcclTestsRun& run) {
  std::string note = fmt::format("Run {}: {}", number, run.test.empty() ? "nccl-tests" : run.test);
  if (run.nranks > 0) {
    note += fmt::format(" on {}", plural(static_cast<uint64_t>(run.nranks), "rank"));
  }
  if (!run.busbw.empty()) note += fmt::format(", mean bus bandwidth {} GB/s", run.busbw);
  if (run.below_expected) note += " (below what was asked for)";
  return note + ", " + checks_phrase(run) + ".";
}

}  // namespace

Table nccl_tests_table(const Job& job) {
  Table table = table_of("nccl-tests");
  for (size_t i = 0; i < job.nccl_tests.size(); ++i) {
    const NcclTestsRun& run = job.nccl_tests[i];
    for (const NcclTestsRow& result : run.rows) {
      std::vector<Cell>& row = table.rows.emplace_back();
      row = {count_cell(i + 1),         text_cell(run.test),        number_cell(result.size),
             number_cell(result.count), text_cell(result.datatype), text_cell(result.redop),
             number_cell(result.root)};
      for (const NcclTestsValues& values : {result.out_of_place, result.in_place}) {
        row.insert(row.end(), {text_cell(values.time), text_cell(values.algbw),
                               text_cell(values.busbw), text_cell(values.wrong)});
      }
      row.push_back(place_cell(job, result.where));
    }
    table.notes.push_back(run_note(i + 1, run));
  }
  uint64_t dropped = 0;
  for (const SpeakerLog& log : job.logs) {
    dropped += log.nccl_tests.total - log.nccl_tests.kept.size();
  }
  if (dropped > 0) {
    table.notes.push_back(fmt::format("{} more lines of nccl-tests were not kept.", dropped));
  }
  if (table.rows.empty()) table.notes.push_back("No result of nccl-tests is in the log.");
  return table;
}

}  // namespace ncclog
