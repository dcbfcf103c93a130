#include "report/tables/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "model/job.h"
#include "model/timeline.h"

namespace ncclog {
namespace {

/// "logs/nccl.1608:51"; empty if it is no line of the inputs.
std::string place(const Job& job, SourceRef where) {
  const FileLine at = file_line(job, where);
  return at.path.empty() ? std::string() : fmt::format("{}:{}", at.path, at.line);
}

constexpr TableKind kTables[] = {
    {"ranks", "each rank: where it runs, its state, its calls, the last line it printed",
     ranks_table},
    {"comms", "each communicator: size, ranks seen, their states, calls", communicators_table},
    {"fronts", "each communicator: the last call all ranks entered, who is ahead, who behind",
     fronts_table},
    {"env", "each setting NCCL reports, with the ranks that report it", environment_table},
    {"net", "network, plugin and interfaces, by host", network_table},
    {"channels", "each connection: from rank, to rank, path, channels", channels_table},
    {"topology", "devices of each host, rings and trees of each communicator", topology_table},
    {"timeline", "what happened in each process, in order", timeline_table},
    {"unknown", "NCCL lines that no wording fits, by shape, to report them", unknown_table},
    {"flight-recorder", "each rank's progress by process group, from PyTorch's dumps",
     flight_recorder_table},
    {"ras", "what NCCL's RAS service said about the running job", ras_table},
    {"nccl-tests", "each size that nccl-tests measured: times, bandwidths, wrong values",
     nccl_tests_table},
};

}  // namespace

std::span<const TableKind> table_kinds() { return kTables; }

const TableKind* find_table_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTables), std::end(kTables),
                                   [name](const TableKind& kind) { return kind.name == name; });
  return found == std::end(kTables) ? nullptr : found;
}

// Which rank is the stuck one? A row per rank, the ones that never spoke included.
//
//   rank  host         pid   gpu  state     calls  note                     last_at
//      1  gpu-node-01  1608    1  complete     26  3 fewer collectives than most  logs/nccl.1608:51
//      2                          not_seen         no line of it was found

namespace {

/// What a process says about its rank in the communicator that stands for the job.
struct Membership {
  const Communicator* comm = nullptr;
  const CommRank* rank = nullptr;
};

/// The largest communicator of which the process is a member; communicators come largest first.
Membership membership_of(const Job& job, int process) {
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process == process) return {&comm, &rank};
    }
  }
  return {};
}

/// "8 more collectives than most": what makes a rank worth a look.
std::string calls_note(const Job& job, const Membership& in) {
  if (in.comm == nullptr || !in.comm->calls) return {};
  const auto usual = static_cast<int64_t>(usual_collectives(job, *in.comm));
  const int64_t more = static_cast<int64_t>(collectives_of(job, *in.rank)) - usual;
  if (more == 0) return {};
  return fmt::format("{} {} collective{} than most", std::abs(more), more < 0 ? "fewer" : "more",
                     std::abs(more) == 1 ? "" : "s");
}

std::string note_of(const Job& job, const Process& process, const Membership& in) {
  std::string calls = calls_note(job, in);
  if (!process.cut) return calls;
  return calls.empty() ? "file is cut" : calls + ", file is cut";
}

std::vector<Cell> process_row(const Job& job, const Process& process, const CommRank* rank,
                              const Membership& in) {
  const bool counted = in.comm != nullptr && in.comm->calls.has_value();
  const int gpu = rank == nullptr ? process.cuda_dev : rank->cuda_dev;
  const std::string& bus_id = rank == nullptr ? process.bus_id : rank->bus_id;
  return {number_cell(rank == nullptr ? process.rank : rank->rank),
          text_cell(process.host),
          number_cell(process.pid),
          number_cell(gpu),
          text_cell(bus_id),
          text_cell(to_string(in.rank == nullptr ? RankState::Unknown : in.rank->state)),
          counted ? number_cell(static_cast<int64_t>(in.rank->calls)) : Cell(),
          text_cell(note_of(job, process, in)),
          text_cell(place(job, process.last)),
          text_cell(process.last_text)};
}

std::vector<Cell> unseen_row(const CommRank& rank) {
  return {number_cell(rank.rank),
          Cell(),
          Cell(),
          Cell(),
          Cell(),
          text_cell(to_string(rank.state)),
          Cell(),
          text_cell("no line of it was found"),
          Cell(),
          Cell()};
}

/// A process that drives several ranks has a row for each of them.
void add_process_rows(const Job& job, int index, Table& table) {
  const Process& process = job.processes[static_cast<size_t>(index)];
  const Membership in = membership_of(job, index);
  if (in.comm == nullptr || process.rank >= 0) {
    table.rows.push_back(process_row(job, process, nullptr, in));
    return;
  }
  for (const CommRank& rank : in.comm->ranks) {
    if (rank.process == index) {
      table.rows.push_back(process_row(job, process, &rank, {in.comm, &rank}));
    }
  }
}

/// Ranks of the whole job that no line names, unless something else speaks for them.
void add_unseen_rows(const Job& job, Table& table) {
  std::set<int> spoken;
  for (const Process& process : job.processes) spoken.insert(process.rank);
  if (job.communicators.empty()) return;
  for (const CommRank& rank : job.communicators.front().ranks) {
    if (rank.state == RankState::NotSeen && !spoken.contains(rank.rank)) {
      table.rows.push_back(unseen_row(rank));
    }
  }
}

int64_t rank_order(const std::vector<Cell>& row) {
  const auto* rank = std::get_if<int64_t>(&row.front());
  return rank == nullptr ? INT64_MAX : *rank;
}

}  // namespace

Table ranks_table(const Job& job) {
  Table table{.name = "ranks",
              .columns = {"rank", "host", "pid", "gpu", "bus_id", "state", "calls", "note",
                          "last_at", "last_line"}};
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl && process.rank < 0 && process.pid < 0) continue;
    add_process_rows(job, static_cast<int>(p), table);
  }
  add_unseen_rows(job, table);
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return rank_order(a) < rank_order(b); });
  if (table.rows.empty()) table.notes.push_back("No line names a rank or a process.");
  return table;
}

// show fronts: for each communicator the last collective that all its ranks entered, who went on,
// who did not, and of whom the logs do not tell.
//
//   id      nranks  front  next                                ahead    behind  last_of_behind
//   0x7743       8     28  AllReduce of 1048576 float32 (sum)  0-4,6,7  5       ReduceScatter …

namespace {

/// "0-4,6,7": the words of ranks without the word "ranks".
std::string numbers(const Job& job, const CallFront& front, const std::vector<int>& members) {
  std::string words = members_words(job, front.communicator, members);
  for (const std::string_view word : {"ranks ", "rank "}) {
    if (words.starts_with(word)) words.erase(0, word.size());
  }
  return members.empty() ? std::string() : words;
}

std::string unknown_text(const Job& job, const CallFront& front) {
  std::string text = numbers(job, front, front.unknown);
  if (front.unseen == 0) return text;
  return text + (text.empty() ? "" : ", ") + fmt::format("{} not seen", front.unseen);
}

/// What the first of those behind did last, on any communicator.
std::string last_of_behind(const Job& job, const CallFront& front) {
  if (front.behind.empty()) return {};
  const auto& ranks = job.communicators[static_cast<size_t>(front.communicator)].ranks;
  return last_call_words(job, waiter_of(ranks[static_cast<size_t>(front.behind.front())]), nullptr);
}

/// The call at which ranks differ, or that some have entered.
std::string next_text(const Job& job, const CallFront& front) {
  const Communicator& comm = job.communicators[static_cast<size_t>(front.communicator)];
  if (comm.difference)
    return fmt::format("ranks differ from call {} on", comm.difference->index + 1);
  const PlacedCall* call = front.is_open() ? open_call(job, front) : nullptr;
  return call == nullptr ? std::string() : call_words(call->call);
}

std::vector<Cell> front_row(const Job& job, const CallFront& front) {
  const Communicator& comm = job.communicators[static_cast<size_t>(front.communicator)];
  const uint64_t entered = comm.difference ? comm.difference->index : front.front;
  return {text_cell(comm.id),
          number_cell(comm.nranks),
          number_cell(static_cast<int64_t>(entered)),
          text_cell(next_text(job, front)),
          text_cell(numbers(job, front, front.ahead)),
          text_cell(numbers(job, front, front.behind)),
          text_cell(unknown_text(job, front)),
          text_cell(last_of_behind(job, front))};
}

}  // namespace

Table fronts_table(const Job& job) {
  Table table{
      .name = "fronts",
      .columns = {"id", "nranks", "front", "next", "ahead", "behind", "unknown", "last_of_behind"},
      .rows = {},
      .notes = {}};
  for (const CallFront& front : call_fronts(job)) table.rows.push_back(front_row(job, front));
  table.notes.push_back(
      table.rows.empty()
          ? "No collective is logged; NCCL_DEBUG_SUBSYS=INIT,COLL makes NCCL print them."
          : "front: collectives that all ranks made of whom the logs tell; next: the one that "
            "those "
            "ahead entered. Ranks are a few calls apart in any job that runs.");
  return table;
}

// Communicators, settings and the network of a job as tables.
//
//   id       nranks  nhosts  calls  states                  not_seen  odd_calls
//   0x9c1b…       8       2     29  7 complete, 1 not_seen  3         5

namespace {

/// "6 complete, 2 started": how far the ranks came, furthest first.
std::string states_text(const Communicator& comm) {
  std::map<RankState, int> counts;
  for (const CommRank& rank : comm.ranks) ++counts[rank.state];
  constexpr RankState kOrder[] = {RankState::Complete, RankState::Destroyed, RankState::Aborted,
                                  RankState::Started,  RankState::Failed,    RankState::Unknown,
                                  RankState::NotSeen};
  std::vector<std::string> parts;
  for (const RankState state : kOrder) {
    if (counts.contains(state)) {
      parts.push_back(fmt::format("{} {}", counts[state], to_string(state)));
    }
  }
  return join(parts, ", ");
}

/// Ranks in the states that a person looks for.
std::string ranks_in(const Communicator& comm, RankState state) {
  std::vector<int> ranks;
  for (const CommRank& rank : comm.ranks) {
    if (rank.state == state && rank.rank >= 0) ranks.push_back(rank.rank);
  }
  return ranges_text(std::move(ranks));
}

/// Ranks that made more or fewer collectives than most, as far as calls were logged: by their
/// number in the job, where that is known.
std::string ranks_apart(const Job& job, const Communicator& comm) {
  std::vector<int> ranks;
  const uint64_t usual = usual_collectives(job, comm);
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0 || rank.rank < 0 || collectives_of(job, rank) == usual) continue;
    const int in_job = job.processes[static_cast<size_t>(rank.process)].rank;
    ranks.push_back(in_job >= 0 ? in_job : rank.rank);
  }
  return ranges_text(std::move(ranks));
}

std::vector<Cell> communicator_row(const Job& job, const Communicator& comm) {
  const auto* parent =
      comm.parent < 0 ? nullptr : &job.communicators[static_cast<size_t>(comm.parent)];
  return {text_cell(comm.id),
          text_cell(parent == nullptr ? std::string() : parent->id),
          number_cell(comm.nranks),
          number_cell(static_cast<int64_t>(comm.hosts.size())),
          comm.calls ? number_cell(static_cast<int64_t>(*comm.calls)) : Cell(),
          text_cell(states_text(comm)),
          text_cell(ranks_in(comm, RankState::NotSeen)),
          text_cell(ranks_apart(job, comm)),
          text_cell(join(comm.hosts, " "))};
}

std::string ranks_of(const Job& job, const EnvironmentSetting& setting) {
  std::vector<int> ranks;
  for (const int process : setting.processes) {
    const int rank = job.processes[static_cast<size_t>(process)].rank;
    if (rank >= 0) ranks.push_back(rank);
  }
  return ranges_text(std::move(ranks));
}

}  // namespace

uint64_t usual_collectives(const Job& job, const Communicator& comm) {
  std::map<uint64_t, size_t> ranks_by_calls;
  size_t seen = 0;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) continue;
    ++ranks_by_calls[collectives_of(job, rank)];
    ++seen;
  }
  for (const auto& [calls, ranks] : ranks_by_calls) {
    if (ranks * 2 > seen) return calls;
  }
  return ranks_by_calls.empty() ? 0 : ranks_by_calls.rbegin()->first;
}

Table communicators_table(const Job& job) {
  Table table{.name = "comms",
              .columns = {"id", "parent", "nranks", "nhosts", "calls", "states", "not_seen",
                          "odd_calls", "hosts"}};
  for (const Communicator& comm : job.communicators) {
    table.rows.push_back(communicator_row(job, comm));
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "No line names a communicator. Set NCCL_DEBUG=INFO with INIT among NCCL_DEBUG_SUBSYS.");
  }
  return table;
}

Table environment_table(const Job& job) {
  Table table{.name = "env", .columns = {"name", "value", "ranks", "processes"}};
  for (const EnvironmentSetting& setting : job.environment) {
    table.rows.push_back({text_cell(setting.name), text_cell(setting.value),
                          text_cell(ranks_of(job, setting)),
                          number_cell(static_cast<int64_t>(setting.processes.size()))});
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "NCCL reports no setting. Set NCCL_DEBUG=INFO with ENV among NCCL_DEBUG_SUBSYS.");
  }
  return table;
}

Table network_table(const Job& job) {
  Table table{.name = "net", .columns = {"host", "interface", "address", "port", "link"}};
  for (const Interface& interface : job.network.interfaces) {
    table.rows.push_back({text_cell(interface.host), text_cell(interface.name),
                          text_cell(interface.address), number_cell(interface.port),
                          text_cell(interface.link)});
  }
  const auto named = [](const std::string& name) { return name.empty() ? "unknown" : name; };
  table.notes.push_back(
      fmt::format("Network: {}; plugin: {}.", named(job.network.name), named(job.network.plugin)));
  return table;
}

// What happened when, in each process?
//
//   rank  host         time                 what        detail
//      0  gpu-node-01  2026-11-20 20:54:52  init start  0x5d9c89455f4c4a1, rank 0 of 4

namespace {

std::vector<Cell> milestone_row(const Job& job, const Milestone& milestone) {
  const Process& process = job.processes[static_cast<size_t>(milestone.process)];
  return {number_cell(process.rank),
          text_cell(process.host),
          number_cell(process.pid),
          text_cell(milestone.time),
          text_cell(milestone.what),
          text_cell(milestone.detail),
          text_cell(place(job, milestone.where))};
}

/// How far the order of the rows can be trusted.
std::string order_note(const Timeline& timeline) {
  if (timeline.timed_processes == 0) {
    return "Not every line carries a time, so each process stands for itself: its rows are in "
           "order, those of different processes are not.";
  }
  const auto count = [](size_t n) { return fmt::format("{} process{}", n, n == 1 ? "" : "es"); };
  std::string note =
      fmt::format("{} in one order by the times in their lines; hosts' clocks may differ.",
                  count(timeline.timed_processes));
  if (timeline.untimed_processes > 0) {
    note += fmt::format(" Then {} without times on every line, each for itself.",
                        count(timeline.untimed_processes));
  }
  return note;
}

}  // namespace

Table timeline_table(const Job& job) {
  Table table{.name = "timeline",
              .columns = {"rank", "host", "pid", "time", "what", "detail", "at"}};
  const Timeline timeline = build_timeline(job);
  for (const Milestone& milestone : timeline.milestones) {
    table.rows.push_back(milestone_row(job, milestone));
  }
  if (table.rows.empty()) {
    table.notes.push_back("No line names a rank or a process.");
    return table;
  }
  if (timeline.timed_processes + timeline.untimed_processes > 1) {
    table.notes.push_back(order_note(timeline));
  }
  if (timeline.warnings_omitted > 0) {
    table.notes.push_back(
        fmt::format("{} more WARN lines are not shown.", timeline.warnings_omitted));
  }
  return table;
}

// show unknown: NCCL lines that no wording fits, by shape, most frequent first.

namespace {

using Shape = std::pair<const std::string, UnknownLines>;

std::vector<const Shape*> most_frequent_first(const UnknownShapes& unknown) {
  std::vector<const Shape*> order;
  for (const Shape& shape : unknown.shapes) order.push_back(&shape);
  std::stable_sort(order.begin(), order.end(),
                   [](auto a, auto b) { return a->second.count > b->second.count; });
  return order;
}

std::string level_words(uint32_t levels) {
  constexpr Level kLevels[] = {Level::Version, Level::Warn,  Level::Info, Level::Trace,
                               Level::Call,    Level::Abort, Level::Diag};
  std::string words;
  for (const Level level : kLevels) {
    if ((levels & (1U << static_cast<unsigned>(level))) == 0) continue;
    if (!words.empty()) words += ' ';
    words += to_string(level);
  }
  return words;
}

std::vector<Cell> unknown_row(const Job& job, const Shape& shape) {
  const UnknownLines& lines = shape.second;
  const FileLine place = file_line(job, lines.first);
  return {number_cell(static_cast<int64_t>(lines.count)),
          text_cell(level_words(lines.levels)),
          text_cell(printer_of(lines.example)),
          text_cell(shape.first),
          text_cell(fmt::format("{}:{}", place.path, place.line)),
          text_cell(lines.example)};
}

std::string versions_text(const Job& job) {
  if (job.nccl_versions.empty()) return "the NCCL version, which this log does not name";
  return fmt::format("the {} version ({})", library_name(job), fmt::join(job.nccl_versions, ", "));
}

}  // namespace

Table unknown_table(const Job& job) {
  Table table{.name = "unknown",
              .columns = {"count", "levels", "printer", "shape", "first", "example"},
              .rows = {},
              .notes = {}};
  for (const Shape* shape : most_frequent_first(job.unknown)) {
    table.rows.push_back(unknown_row(job, *shape));
  }
  if (table.rows.empty()) {
    table.notes.push_back("Every NCCL line here fits a known wording.");
    return table;
  }
  table.notes.push_back(fmt::format(
      "Nothing is concluded from these lines. To have them understood, open an issue "
      "with {} and this table as JSON (--format json), or turn them into a message file "
      "(--as messages). A line of your own program or plugin needs no report.",
      versions_text(job)));
  if (job.unknown.other > 0) {
    table.notes.push_back(fmt::format("{} more lines are of other shapes; {} shapes are kept.",
                                      job.unknown.other, UnknownShapes::kMaxShapes));
  }
  return table;
}

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

// What did NCCL's RAS service find wrong? One row per statement, communicators without one as well.
//
//   communicator      problem   what                        value  count  ranks  members
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6650      26
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6649       6  0-5    10.1.2.3:48307, …

namespace {

constexpr size_t kMembersShown = 4;

std::string place_of_statement(const Job& job, SourceRef where) {
  const FileLine at = file_line(job, where);
  if (at.path.empty() || where.line == 0) return at.path;
  return fmt::format("{}:{}", at.path, at.line);
}

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

std::vector<Cell> statement_row(const Job& job, const RasReport& report,
                                const RasStatement& statement) {
  return {text_cell(statement.communicator), text_cell(statement.problem),
          text_cell(statement.what),         text_cell(statement.value),
          number_cell(statement.count),      text_cell(ranks_of(statement)),
          text_cell(members_of(statement)),  text_cell(place_of_statement(job, report.where))};
}

/// Communicators of which RAS has nothing to tell but that they are there.
std::vector<Cell> communicators_row(const Job& job, const RasReport& report,
                                    const RasCommunicators& group) {
  return {text_cell(group.hash),
          text_cell(group.errors),
          text_cell(fmt::format("{} of {} ranks",
                                group.count == 1 ? "communicator" : "communicators", group.nranks)),
          text_cell(group.status),
          number_cell(group.count),
          Cell(),
          Cell(),
          text_cell(place_of_statement(job, report.where))};
}

void add_notes(const RasReport& report, Table& table) {
  if (report.timeouts > 0) {
    table.notes.push_back(fmt::format(
        "RAS did not get all answers in time ({} timeouts): what it lacks may be its own fault.",
        report.timeouts));
  }
}

}  // namespace

Table ras_table(const Job& job) {
  Table table{
      .name = "ras",
      .columns = {"communicator", "problem", "what", "value", "count", "ranks", "members", "at"}};
  for (const RasReport& report : job.ras_reports) {
    for (const RasCommunicators& group : report.communicators) {
      table.rows.push_back(communicators_row(job, report, group));
    }
    for (const RasStatement& statement : report.statements) {
      table.rows.push_back(statement_row(job, report, statement));
    }
    add_notes(report, table);
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

void add_values(const NcclTestsValues& values, std::vector<Cell>& row) {
  for (const std::string* value : {&values.time, &values.algbw, &values.busbw, &values.wrong}) {
    row.push_back(text_cell(*value));
  }
}

std::vector<Cell> result_row(const Job& job, size_t number, const NcclTestsRun& run,
                             const NcclTestsRow& result) {
  std::vector<Cell> row = {number_cell(static_cast<int64_t>(number)),
                           text_cell(run.test),
                           number_cell(result.size),
                           number_cell(result.count),
                           text_cell(result.datatype),
                           text_cell(result.redop),
                           number_cell(result.root)};
  add_values(result.out_of_place, row);
  add_values(result.in_place, row);
  row.push_back(text_cell(place(job, result.where)));
  return row;
}

std::string checks_phrase(const NcclTestsRun& run) {
  if (run.validation == 0) return "results not checked";
  if (run.out_of_bounds < 0) return "no end in the log";
  return fmt::format("{} values out of bounds", run.out_of_bounds);
}

/// "Run 1: all_reduce_perf on 8 ranks, mean bus bandwidth 103.9 GB/s, 0 values out of bounds."
std::string run_note(size_t number, const NcclTestsRun& run) {
  std::string note = fmt::format("Run {}: {}", number, run.test.empty() ? "nccl-tests" : run.test);
  if (run.nranks > 0) {
    note += fmt::format(" on {} rank{}", run.nranks, run.nranks == 1 ? "" : "s");
  }
  if (!run.busbw.empty()) note += fmt::format(", mean bus bandwidth {} GB/s", run.busbw);
  if (run.below_expected) note += " (below what was asked for)";
  return note + ", " + checks_phrase(run) + ".";
}

void add_gaps(const Job& job, Table& table) {
  uint64_t dropped = 0;
  for (const SpeakerLog& log : job.logs)
    dropped += log.nccl_tests.total - log.nccl_tests.kept.size();
  if (dropped > 0) {
    table.notes.push_back(fmt::format("{} more lines of nccl-tests were not kept.", dropped));
  }
  if (table.rows.empty()) table.notes.push_back("No result of nccl-tests is in the log.");
}

}  // namespace

Table nccl_tests_table(const Job& job) {
  Table table{.name = "nccl-tests",
              .columns = {"run", "test", "size", "count", "type", "redop", "root", "time", "algbw",
                          "busbw", "wrong", "time_in_place", "algbw_in_place", "busbw_in_place",
                          "wrong_in_place", "at"}};
  for (size_t i = 0; i < job.nccl_tests.size(); ++i) {
    const NcclTestsRun& run = job.nccl_tests[i];
    for (const NcclTestsRow& result : run.rows) {
      table.rows.push_back(result_row(job, i + 1, run, result));
    }
    table.notes.push_back(run_note(i + 1, run));
  }
  add_gaps(job, table);
  return table;
}

}  // namespace ncclog
