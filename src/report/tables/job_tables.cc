// Tables of a job as NCCL's lines tell it: ranks, communicators, settings, network, what happened
// when, and lines that nothing fits.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/outcome/outcome.h"
#include "model/job.h"
#include "model/timeline.h"
#include "report/tables/tables.h"

namespace ncclog {

// Which rank is the stuck one? A row per rank, the ones that never spoke included.
//
//   rank  host         pid   gpu  state      end     calls  note                           last_line
//      1  gpu-node-01  1608    1  init_done  failed     26  3 fewer collectives than most  …
//      2                          not_seen                  no line of it was found

namespace {

/// What a process says about its rank in the communicator that stands for the job.
struct Membership {
  const Communicator* comm = nullptr;
  const CommRank* rank = nullptr;
  uint64_t usual = 0;  ///< usual_collectives of `comm`.
};

/// By process: its ranks in the largest communicator of which it is a member; communicators come
/// largest first.
std::vector<std::vector<Membership>> memberships_of(const Job& job) {
  std::vector<std::vector<Membership>> all(job.processes.size());
  for (const Communicator& comm : job.communicators) {
    const uint64_t usual = usual_collectives(job, comm);
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      std::vector<Membership>& own = all[rank.process];
      if (own.empty() || own.front().comm == &comm) own.push_back({&comm, &rank, usual});
    }
  }
  return all;
}

/// "8 more collectives than most": what makes a rank worth a look.
std::string calls_note(const Job& job, const Membership& in) {
  if (in.comm == nullptr || !in.comm->calls) return {};
  const auto more = static_cast<int64_t>(collectives_of(job, *in.rank) - in.usual);
  if (more == 0) return {};
  return fmt::format("{} {} collective{} than most", std::abs(more), more < 0 ? "fewer" : "more",
                     std::abs(more) == 1 ? "" : "s");
}

/// `rank` is the one that the process drives; nullptr: it has a rank of its own, or none.
void add_process(const Job& job, const Process& process, const CommRank* rank, const Membership& in,
                 Table& table) {
  const bool counted = in.comm != nullptr && in.comm->calls.has_value();
  const std::string calls = calls_note(job, in);
  const std::string cut = process.cut ? "file is cut" : "";
  const EndState end =
      outcome_of(job).processes[static_cast<size_t>(&process - job.processes.data())].state;
  const RankState state = in.rank == nullptr ? RankState::Unknown : in.rank->state;
  table.add(rank == nullptr ? process.rank : rank->rank, process.host, process.pid,
            rank == nullptr ? process.cuda_dev : rank->cuda_dev,
            // How far the initialisation came says nothing of how the rank ended: "complete" would.
            state == RankState::Complete ? "init_done" : to_string(state),
            end == EndState::Unknown ? std::string_view() : to_string(end),
            counted ? std::optional(in.rank->calls) : std::nullopt,
            calls.empty() || cut.empty() ? calls + cut : calls + ", " + cut,
            last_text(job, process), place_name(job, process.last),
            rank == nullptr ? process.bus_id : rank->bus_id);
}

/// A process that drives several ranks has a row for each of them.
void add_process_rows(const Job& job, const Process& process,
                      const std::vector<Membership>& members, Table& table) {
  if (members.empty()) return add_process(job, process, nullptr, {}, table);
  if (process.rank >= 0) return add_process(job, process, nullptr, members.front(), table);
  for (const Membership& in : members) add_process(job, process, in.rank, in, table);
}

/// Ranks of the whole job that no line names, unless something else speaks for them.
void add_unseen_rows(const Job& job, Table& table) {
  std::set<int> spoken;
  for (const Process& process : job.processes) spoken.insert(process.rank);
  if (job.communicators.empty()) return;
  for (const CommRank& rank : job.communicators.front().ranks) {
    if (rank.state != RankState::NotSeen || spoken.contains(rank.rank)) continue;
    table.add(rank.rank, "", -1, -1, to_string(rank.state), "", -1, "no line of it was found", "",
              "", "");
  }
}

int64_t rank_order(const std::vector<Cell>& row) {
  const auto* rank = std::get_if<int64_t>(&row.front());
  return rank == nullptr ? INT64_MAX : *rank;
}

// show fronts: for each communicator the last collective that all its ranks entered, who went on,
// who did not, and of whom the logs do not tell.
//
//   id      nranks  front  next                                ahead    behind  last_of_behind
//   0x7743       8     28  AllReduce of 1048576 float32 (sum)  0-4,6,7  5       ReduceScatter …

/// "0-4,6,7": the words of ranks without the word "ranks".
std::string numbers(const Job& job, const CallFront& front, const std::vector<int>& members) {
  std::string words = members_words(job, front.communicator, members);
  for (const std::string_view word : {"ranks ", "rank "}) {
    if (words.starts_with(word)) words.erase(0, word.size());
  }
  return members.empty() ? std::string() : words;
}

/// The call at which ranks differ, or that some have entered.
std::string next_text(const Job& job, const CallFront& front) {
  const Communicator& comm = job.communicators[front.communicator];
  if (comm.difference)
    return fmt::format("ranks differ from call {} on", comm.difference->index + 1);
  const PlacedCall* call = front.is_open() ? open_call(job, front) : nullptr;
  return call == nullptr ? std::string() : call_words(call->call);
}

// Communicators, settings and the network of a job as tables.
//
//   id       nranks  nhosts  calls  states                  not_seen  odd_calls
//   0x9c1b…       8       2     29  7 complete, 1 not_seen  3         5

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
  return ranges_text(ranks);
}

/// Ranks that made more or fewer collectives than most, as far as calls were logged: by their
/// number in the job, where that is known.
std::string ranks_apart(const Job& job, const Communicator& comm) {
  std::vector<int> ranks;
  const uint64_t usual = usual_collectives(job, comm);
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0 || rank.rank < 0 || collectives_of(job, rank) == usual) continue;
    const int in_job = job.processes[rank.process].rank;
    ranks.push_back(in_job >= 0 ? in_job : rank.rank);
  }
  return ranges_text(ranks);
}

// What happened when, in each process?
//
//   rank  host         time                 what        detail
//      0  gpu-node-01  2026-11-20 20:54:52  init start  0x5d9c89455f4c4a1, rank 0 of 4

/// A row that has a place in time: its own, or that of the dated row above it in its file.
struct PlacedRow {
  const Milestone* milestone;
  std::optional<std::pair<int, int64_t>> time;  ///< Year and nanoseconds; nullopt: none is known.
};

/// In time where times are known. Rows without a time stay behind the dated row above them in their
/// file, whoever printed it; those that have none above them come first, process by process.
std::vector<PlacedRow> in_time(const Timeline& timeline) {
  int year = 0;
  int64_t zoned = 0;
  for (const Milestone& milestone : timeline.milestones) {
    year = std::max(year, milestone.year);
    if (!milestone.time.empty()) zoned += milestone.has_zone ? 1 : -1;
  }
  std::map<SourceRef, std::pair<int, int64_t>> dated;
  for (const Milestone& milestone : timeline.milestones) {
    if (milestone.time.empty() || milestone.has_zone != (zoned > 0)) continue;
    dated[milestone.where] = {milestone.year == 0 ? year : milestone.year, milestone.nanoseconds};
  }
  std::vector<PlacedRow> rows;
  for (const Milestone& milestone : timeline.milestones) {
    PlacedRow& row = rows.emplace_back(PlacedRow{&milestone, std::nullopt});
    const auto below = dated.upper_bound(milestone.where);
    if (below == dated.begin()) continue;
    const auto& [where, time] = *std::prev(below);
    if (where.unit == milestone.where.unit) row.time = time;
  }
  std::ranges::stable_sort(rows, {}, &PlacedRow::time);
  return rows;
}

/// How far the order of the rows can be trusted.
std::string order_note(std::span<const PlacedRow> rows) {
  const auto undated = static_cast<size_t>(std::ranges::count_if(
      rows, [](const PlacedRow& row) { return row.milestone->time.empty(); }));
  if (undated == rows.size()) {
    return "No line carries a time, so each process stands for itself: its rows are in order, "
           "those of different processes are not.";
  }
  std::string note = "In one order by the times in the lines; hosts' clocks may differ.";
  if (undated > 0) {
    note += fmt::format(
        " {} without a time: behind the dated row above them in their file, or first, process by "
        "process.",
        undated == 1 ? "1 row is" : fmt::format("{} rows are", undated));
  }
  return note;
}

// show unknown: NCCL lines that no wording fits, by shape, most frequent first.

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

// What stands beside NCCL's lines: Flight Recorder dumps, answers of the RAS service, results of
// nccl-tests.

// How far did each rank get in each process group? What the Flight Recorder's dumps say.
//
//   rank  group  group_name  enqueued  started  completed  open_seq  open_op         open_state
//      4  0      default_pg        29       -1         28        29  nccl:all_reduce  scheduled
//      5  0      default_pg        28       -1         28

constexpr size_t kTensorsShown = 4;

/// Blank where the dump does not say; -1 stands for "none yet", as PyTorch writes it.
Cell counter_cell(std::optional<int64_t> counter) {
  if (!counter) return {};
  return *counter;
}

/// A rank's entries in one of its groups, oldest first.
using GroupEntries = std::vector<const FlightRecorderEntry*>;

/// The entries of a dump by group: by its name, or by its number where an entry gives no name.
using EntriesByGroup = std::map<std::pair<std::string_view, int64_t>, GroupEntries>;

std::string dtypes_text(const FlightRecorderEntry& entry) {
  std::vector<std::string> distinct;
  for (const auto* list : {&entry.input_dtypes, &entry.output_dtypes}) {
    for (const std::string& dtype : *list) {
      if (std::ranges::find(distinct, dtype) == distinct.end()) distinct.push_back(dtype);
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

/// The cells about the oldest entry that is known not to be completed; all blank if there is none.
std::vector<Cell> open_cells(const GroupEntries& entries) {
  const auto found = std::ranges::find_if(entries, [](const FlightRecorderEntry* entry) {
    return entry->state == RecordedState::Scheduled || entry->state == RecordedState::Started;
  });
  if (found == entries.end()) return std::vector<Cell>(7);
  const FlightRecorderEntry& open = **found;
  return cells(sequence_of(open), open.profiling_name, to_string(open.state),
               sizes_text(open.input_sizes, kTensorsShown),
               sizes_text(open.output_sizes, kTensorsShown), dtypes_text(open),
               frame_text(open.frame));
}

// What did NCCL's RAS service find wrong? One row per statement, communicators without one as well.
//
//   communicator      problem   what                        value  count  ranks  members
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6650      26
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6649       6  0-5    10.1.2.3:48307, …

constexpr size_t kMembersShown = 4;

std::string ranks_of(const RasStatement& statement) {
  std::vector<int> ranks;
  for (const RasMember& member : statement.members) {
    if (member.rank >= 0) ranks.push_back(member.rank);
  }
  return ranges_text(ranks);
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

// What did nccl-tests measure? A row per size, out of place and in place.
//
//   run  test             size     type   redop  time    algbw  busbw  wrong  …  at
//     1  all_reduce_perf  8388608  float  sum    4915.3  1.71   3.20   0      …  run.log:61

/// "Run 1: all_reduce_perf on 8 ranks, mean bus bandwidth 103.9 GB/s, all results right."
std::string run_note(size_t number, const NcclTestsRun& run) {
  std::string note = fmt::format("Run {}: {}", number, run.test.empty() ? "nccl-tests" : run.test);
  if (run.nranks > 0) note += fmt::format(" on {}", plural(run.nranks, "rank"));
  if (!run.busbw.empty()) note += fmt::format(", mean bus bandwidth {} GB/s", run.busbw);
  if (run.below_expected) note += " (below what was asked for)";
  if (run.validation == 0) return note + ", results not checked.";
  if (run.out_of_bounds < 0) return note + ", no end in the log.";
  if (run.out_of_bounds == 0) return note + ", all results right.";
  return note + fmt::format(", wrong values in {}.", plural(run.out_of_bounds, "comparison"));
}

}  // namespace

Table ranks_table(const Job& job) {
  Table table = table_of("ranks");
  const std::vector<std::vector<Membership>> memberships = memberships_of(job);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl && process.rank < 0 && process.pid < 0) continue;
    add_process_rows(job, process, memberships[p], table);
  }
  add_unseen_rows(job, table);
  std::ranges::stable_sort(
      table.rows, [](const auto& a, const auto& b) { return rank_order(a) < rank_order(b); });
  if (table.rows.empty()) table.notes.push_back("No line names a rank or a process.");
  return table;
}

Table fronts_table(const Job& job) {
  Table table = table_of("fronts");
  for (const CallFront& front : call_fronts(job)) {
    const Communicator& comm = job.communicators[front.communicator];
    std::string unknown = numbers(job, front, front.unknown);
    if (front.unseen > 0) {
      unknown += fmt::format("{}{} not seen", unknown.empty() ? "" : ", ", front.unseen);
    }
    // What the first of those behind did last, on any communicator.
    std::string last;
    if (!front.behind.empty()) {
      const CommRank& behind = comm.ranks[front.behind.front()];
      last = last_call_words(job, waiter_of(behind), nullptr);
    }
    table.add(comm.id, comm.nranks, comm.difference ? comm.difference->index : front.front,
              next_text(job, front), numbers(job, front, front.ahead),
              numbers(job, front, front.behind), unknown, last);
  }
  table.notes.push_back(
      table.rows.empty()
          ? "No collective is logged; NCCL_DEBUG_SUBSYS=INIT,COLL makes NCCL print them."
          : "front: collectives that all ranks made of whom the logs tell; next: the one that "
            "those ahead entered. Ranks are a few calls apart in any job that runs.");
  return table;
}

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
  Table table = table_of("comms");
  for (const Communicator& comm : job.communicators) {
    table.add(comm.id, parent_id(job, comm), comm.nranks, comm.hosts.size(), comm.calls,
              states_text(comm), ranks_in(comm, RankState::NotSeen), ranks_apart(job, comm),
              comm.hosts);
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "No line names a communicator. Set NCCL_DEBUG=INFO with INIT among NCCL_DEBUG_SUBSYS.");
  }
  return table;
}

Table environment_table(const Job& job) {
  Table table = table_of("env");
  for (const EnvironmentSetting& setting : job.environment) {
    std::vector<int> ranks;
    for (const int process : setting.processes) {
      const int rank = job.processes[process].rank;
      if (rank >= 0) ranks.push_back(rank);
    }
    table.add(setting.name, setting.value, ranks, setting.processes.size());
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "NCCL reports no setting. Set NCCL_DEBUG=INFO with ENV among NCCL_DEBUG_SUBSYS.");
  }
  return table;
}

Table network_table(const Job& job) {
  Table table = table_of("net");
  for (const Interface& interface : job.network.interfaces) {
    table.add(interface.host, interface.name, interface.address, interface.port, interface.link);
  }
  const auto named = [](const std::string& name) { return name.empty() ? "unknown" : name; };
  table.notes.push_back(
      fmt::format("Network: {}; plugin: {}.", named(job.network.name), named(job.network.plugin)));
  return table;
}

Table timeline_table(const Job& job) {
  Table table = table_of("timeline");
  const Timeline timeline = build_timeline(job);
  const std::vector<PlacedRow> rows = in_time(timeline);
  for (const auto& [row, time] : rows) {
    const Milestone& milestone = *row;
    const Process& process = process_at(job, milestone.process);
    table.add(process.rank, process.host, process.pid, milestone.time, milestone.what,
              milestone.detail, place_name(job, milestone.where));
  }
  if (table.rows.empty()) {
    table.notes.push_back("No line names a rank or a process.");
    return table;
  }
  if (timeline.timed_processes + timeline.untimed_processes > 1) {
    table.notes.push_back(order_note(rows));
  }
  if (timeline.warnings_omitted > 0) {
    table.notes.push_back(
        fmt::format("{} more WARN lines are not shown.", timeline.warnings_omitted));
  }
  return table;
}

std::vector<const std::pair<const std::string, UnknownLines>*> most_frequent_first(
    const UnknownShapes& unknown) {
  std::vector<const std::pair<const std::string, UnknownLines>*> order;
  for (const auto& shape : unknown.all) order.push_back(&shape);
  std::ranges::stable_sort(order, std::greater(), [](auto shape) { return shape->second.count; });
  return order;
}

Table unknown_table(const Job& job) {
  Table table = table_of("unknown");
  for (const auto* shape : most_frequent_first(job.unknown)) {
    const auto& [text, lines] = *shape;
    table.add(lines.count, level_words(lines.levels), printer_of(lines.example), text,
              place_name(job, lines.first), lines.example);
  }
  if (table.rows.empty()) {
    table.notes.push_back("Every NCCL line here fits a known wording.");
    return table;
  }
  const std::string version =
      job.nccl_versions.empty()
          ? "the NCCL version, which this log does not name"
          : fmt::format("the {} version ({})", library_name(job), join(job.nccl_versions, ", "));
  table.notes.push_back(fmt::format(
      "Nothing is concluded from these lines. To have them understood, open an issue "
      "with {} and this table as JSON (--format json), or turn them into a message file "
      "(--as messages). A line of your own program or plugin needs no report.",
      version));
  if (job.unknown.other > 0) {
    table.notes.push_back(fmt::format("{} more lines are of other shapes; {} shapes are kept.",
                                      job.unknown.other, UnknownShapes::kLimit));
  }
  return table;
}

Table flight_recorder_table(const Job& job) {
  Table table = table_of("flight-recorder");
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    EntriesByGroup entries;
    for (const FlightRecorderEntry& entry : dump.entries) {
      if (entry.group.empty() && entry.pg_id < 0) continue;
      entries[{entry.group, entry.group.empty() ? entry.pg_id : -1}].push_back(&entry);
    }
    for (const FlightRecorderGroup& group : dump.groups) {
      auto found = entries.find({group.name, -1});
      if (found == entries.end()) found = entries.find({"", group.pg_id});
      const GroupEntries own = found == entries.end() ? GroupEntries() : found->second;
      std::vector<Cell>& row = table.rows.emplace_back(
          cells(dump.rank, group.name, group.description, group.ranks, own.size(),
                counter_cell(group.last_enqueued), counter_cell(group.last_started),
                counter_cell(group.last_completed)));
      std::ranges::move(open_cells(own), std::back_inserter(row));
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

Table ras_table(const Job& job) {
  Table table = table_of("ras");
  for (const RasReport& report : job.ras_reports) {
    // Of these RAS has nothing to tell but that they are there.
    for (const RasCommunicators& group : report.communicators) {
      const std::string what = fmt::format(
          "{} of {} ranks", group.count == 1 ? "communicator" : "communicators", group.nranks);
      table.add(group.hash, group.errors, what, group.status, group.count, Cell(), Cell(),
                place_name(job, report.where));
    }
    for (const RasStatement& statement : report.statements) {
      table.add(statement.communicator, statement.problem, statement.what, statement.value,
                statement.count, ranks_of(statement), members_of(statement),
                place_name(job, report.where));
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

Table nccl_tests_table(const Job& job) {
  Table table = table_of("nccl-tests");
  for (size_t i = 0; i < job.nccl_tests.size(); ++i) {
    const NcclTestsRun& run = job.nccl_tests[i];
    for (const NcclTestsRow& result : run.rows) {
      const NcclTestsValues& out = result.out_of_place;
      const NcclTestsValues& in = result.in_place;
      table.add(i + 1, run.test, result.size, result.count, result.datatype, result.redop,
                result.root, out.time, out.algbw, out.busbw, out.wrong, in.time, in.algbw, in.busbw,
                in.wrong, place_name(job, result.where));
    }
    table.notes.push_back(run_note(i + 1, run));
  }
  uint64_t dropped = 0;
  for (const SpeakerLog& log : job.logs) {
    dropped += log.benchmarks->total - log.benchmarks->kept.size();
  }
  if (dropped > 0) {
    table.notes.push_back(fmt::format("{} more lines of nccl-tests were not kept.", dropped));
  }
  if (table.rows.empty()) table.notes.push_back("No result of nccl-tests is in the log.");
  return table;
}

}  // namespace ncclog
