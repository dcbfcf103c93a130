// ncclog export PATH… [--table NAME] [--format FORMAT] [--sql STATEMENT] [-o FILE]
//
// Events and tables for other programs, a database and answers out of it, a trace on a time axis.
// Events are written while the logs are read, in input order, so memory does not depend on how long
// they are. All other tables are those of `show` and of the database.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "app/commands/events.h"
#include "app/output.h"
#include "app/read/read_job.h"
#include "base/built_in.h"
#include "base/error.h"
#include "base/text.h"
#include "log/event.h"
#include "log/line/header.h"
#include "log/messages.h"
#include "model/job.h"
#include "model/timeline.h"
#include "report/report.h"
#include "report/sql/sql_database.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

/// Tables as TableFormat has them, and what holds more than one.
enum class ExportFormat { Text, Json, Csv, Jsonl, Sqlite, Trace, Lnav };

struct ExportOptions {
  std::string table = "events";  ///< Of `show` or of the database (report/tables/tables.h).
  InputOptions input;
  std::optional<ExportFormat> format;  ///< nullopt: JSON Lines; of an answer text.
  std::string sql;                     ///< A statement to be answered; empty: none.
  std::string output;                  ///< A file; empty or "-": standard output.
  bool list_tables = false;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
};

// The database that `ncclog export` makes, and answers out of one.

/// As text, so many rows of an answer are shown: all of them are needed to align columns.
constexpr size_t kMostRowsAsText = 10'000;

using Tables = std::vector<const TableKind*>;

void check_two_readings(const std::vector<std::string>& inputs, std::string_view what) {
  if (std::ranges::find(inputs, "-") == inputs.end()) return;
  throw Error(fmt::format("standard input can be read once, and {} takes two readings", what),
              "export", "save the log to a file first");
}

/// Reads the logs as often as the tables need it.
ExitStatus fill(const ExportOptions& options, const Tables& tables, SqlDatabase& database,
                Console& console) {
  ExitStatus status = ExitStatus::Fine;
  if (tables.empty()) return status;
  const std::vector<std::string> inputs = wanted_inputs(options.input);
  // Events are written while they are read; all else is known once everything is read.
  const bool needs_events = std::ranges::find(tables, &events_table()) != tables.end();
  const bool needs_report = std::ranges::any_of(tables, &TableKind::has_rows);
  if (needs_events && needs_report) check_two_readings(inputs, "this");
  if (needs_report) {
    const Report report =
        run_pipeline({.input = options.input, .rules = options.rules}, console.progress).report;
    for (const TableKind* table : tables) {
      database.insert(*table, [&](const RowTaker& take) { table->each_row(report, take); });
    }
    status = exit_status(report.job);
  }
  if (needs_events) {
    database.insert(events_table(), [&](const RowTaker& take) {
      status = std::max(status, walk_event_rows(inputs, take, console));
    });
  }
  return status;
}

void print_answer(SqlQuestion& question, TableFormat format, Console& console) {
  Table table{.name = "answer", .columns = question.columns()};
  table.further = [&](const RowTaker& take) { question.each_row(take); };
  if (format == TableFormat::Text) {
    const bool is_whole = table.keep_rows(kMostRowsAsText);
    if (table.rows.empty()) table.notes.push_back("No rows.");
    if (!is_whole) {
      table.notes.push_back(fmt::format(
          "These are the first {} rows; --format csv, json or jsonl writes all.", kMostRowsAsText));
    }
  }
  print_table(std::move(table), format, ColorChoice::Auto, console);
}

/// Writes the file `options.output`. Throws Error if there is none or it cannot be written.
ExitStatus export_database(const ExportOptions& options, Console& console) {
  if (options.output.empty() || options.output == "-") {
    throw Error("a database is a file", "export", "name it: -o job.db");
  }
  OutputFile file(options.output);
  ExitStatus status = ExitStatus::Fine;
  {
    SqlDatabase database(file.opened());
    Tables tables;
    for (const TableKind& table : all_tables()) tables.push_back(&table);
    status = fill(options, tables, database, console);
    database.commit();
  }
  file.keep();
  console.err += fmt::format("wrote {}\n", printable(options.output));
  return status;
}

/// Answers `options.sql`. Only the tables that it reads are filled, so the logs are read no more
/// often than that takes. Throws Error.
ExitStatus answer_sql(const ExportOptions& options, Console& console) {
  const ExportFormat format = options.format.value_or(ExportFormat::Text);
  if (format > ExportFormat::Jsonl) throw Error("an answer is text, json, jsonl or csv", "--sql");
  SqlDatabase database("");
  SqlQuestion question(database, options.sql);
  const ExitStatus status = fill(options, question.tables(), database, console);
  database.commit();
  print_answer(question, static_cast<TableFormat>(format), console);
  return status;
}

// The one clock of a trace.
//
//   [2026-11-20 20:54:52] n1:41:41 [0] NCCL …    local time of the host; nobody says of which zone
//   2026-01-05T12:00:00.5Z n1:41:41 [0] NCCL …   UTC
//   a Flight Recorder dump                       UTC
//
// Times with a zone and without one cannot be put on one axis. A trace shows those that more of the
// job's lines carry, a dump's where NCCL stamps its WARNs only, and says how many it leaves out.

/// Which times count, and where the axis begins.
struct TraceClock {
  bool utc = false;       ///< Else local time without zone.
  int year = 1970;        ///< Of times that print none: the latest that others print.
  int64_t origin_ns = 0;  ///< Midnight before the earliest time, in nanoseconds since 1970.
};

constexpr int64_t kDay = int64_t{24} * 3600 * 1'000'000'000;
constexpr int64_t kMarchFirst = 60;  ///< Days before it in a leap year.

/// Whether its nanoseconds since 1970 can be counted; 0: not printed.
bool is_countable(int year) { return year == 0 || (year >= 1970 && year < 2200); }

/// Nanoseconds since 1970. A LineTime counts 29 days of February in every year.
int64_t since_1970(int number, int64_t nanoseconds) {
  const std::chrono::year year(number);
  const int64_t days = std::chrono::sys_days(year / 1 / 1).time_since_epoch().count();
  const bool is_behind = !year.is_leap() && nanoseconds >= kMarchFirst * kDay;
  return days * kDay + nanoseconds - (is_behind ? kDay : 0);
}

/// NCCL's own lines carry times without zone. Its WARNs do so unless somebody switches that off,
/// and are too few to be a trace.
bool is_stamped(const Timeline& timeline) {
  constexpr std::string_view kNcclsOwn[] = {"version", "network", "init start", "init end",
                                            "first call"};
  return std::ranges::any_of(timeline.milestones, [&](const Milestone& made) {
    return !made.time.empty() && !made.has_zone &&
           std::ranges::find(kNcclsOwn, made.what) != std::end(kNcclsOwn);
  });
}

/// The clock of the job; nullopt if neither lines nor dumps carry a time.
std::optional<TraceClock> choose_clock(const Job& job) {
  const Timeline timeline = build_timeline(job);
  std::vector<const Milestone*> timed;
  for (const Milestone& made : timeline.milestones) {
    if (!made.time.empty() && is_countable(made.year)) timed.push_back(&made);
  }
  int64_t first_recorded = INT64_MAX;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    for (const FlightRecorderEntry& entry : dump.entries) {
      if (entry.time_created_ns > 0)
        first_recorded = std::min(first_recorded, entry.time_created_ns);
    }
  }
  const bool is_recorded = first_recorded != INT64_MAX;
  if (timed.empty() && !is_recorded) return std::nullopt;
  TraceClock clock;
  int latest = 0;  // Year; 0: none is printed.
  for (const Milestone* made : timed) latest = std::max(latest, made->year);
  if (latest > 0) clock.year = latest;
  const size_t utc = static_cast<size_t>(std::ranges::count(timed, true, &Milestone::has_zone));
  clock.utc = utc * 2 > timed.size() || (is_recorded && !is_stamped(timeline));
  int64_t first = clock.utc ? first_recorded : INT64_MAX;
  for (const Milestone* made : timed) {
    if (made->has_zone != clock.utc) continue;
    first =
        std::min(first, since_1970(made->year > 0 ? made->year : clock.year, made->nanoseconds));
  }
  clock.origin_ns = first / kDay * kDay;
  return clock;
}

/// Nanoseconds from the origin; nullopt if the time is unknown, of the other clock, or in a year
/// that no log is from.
std::optional<int64_t> place_on(const TraceClock& clock, const LineTime& time) {
  const bool counts = time.known() && is_countable(time.year);
  if (!counts || time.has_zone != clock.utc) return std::nullopt;
  const int year = time.year > 0 ? time.year : clock.year;
  return since_1970(year, time.nanoseconds) - clock.origin_ns;
}

// Under which process of a trace does a line stand?
//
//   gpu-node-01:14761:14800 [3] NCCL INFO …   → "rank 3 on gpu-node-01 (pid 14761)"
//   [rank3]:[W1120 20:54:52 …                 → the same, where one process has that rank
//   a line that names nobody                  → "lines of stdout.log that name no process"
//
// Two hosts may use the same pid, so processes are numbered anew.

/// Numbers of a trace's processes. `job` must outlive it.
class TraceSpeakers {
 public:
  explicit TraceSpeakers(const Job& job) : job_(job) {
    for (size_t p = 0; p < job.processes.size(); ++p) {
      const Process& process = job.processes[p];
      if (process.pid >= 0) {
        by_pid_.emplace(std::pair(std::string_view(process.host), process.pid),
                        static_cast<int64_t>(p + 1));
      }
    }
  }

  /// Of who printed a line of `file`: Job::processes are 1, 2, …, what names no process is behind.
  int64_t number_of(std::string_view file, const Header& header) {
    const int64_t pid = header.pid >= 0 ? header.pid : header.prefix.pid;
    if (pid < 0) return number_of(file, header.prefix.rank);
    const auto found = by_pid_.find(std::pair(header.host, pid));
    if (found != by_pid_.end()) return found->second;
    const int only = process_of_pid(job_, pid);
    return only < 0 ? number_of_file(file) : only + 1;
  }

  /// Of the process with that global rank, or of `file` if none or several have it.
  int64_t number_of(std::string_view file, int rank) {
    const int process = rank < 0 ? -1 : process_of_rank(job_, rank);
    return process < 0 ? number_of_file(file) : process + 1;
  }

  std::string name_of(int64_t number) const {
    const auto index = static_cast<size_t>(number - 1);
    if (index < job_.processes.size()) {
      const Process& process = job_.processes[index];
      std::string name = process.rank < 0 ? "" : fmt::format("rank {}", process.rank);
      if (!process.host.empty()) name += (name.empty() ? "" : " on ") + process.host;
      if (process.pid < 0) return name;
      return name.empty() ? fmt::format("pid {}", process.pid)
                          : fmt::format("{} (pid {})", name, process.pid);
    }
    const auto file =
        std::ranges::find_if(by_file_, [&](const auto& entry) { return entry.second == number; });
    if (file == by_file_.end()) return {};
    return fmt::format("lines of {} that name no process", file->first);
  }

  /// Where it is listed: by rank, those without one last.
  int64_t order_of(int64_t number) const {
    const auto index = static_cast<size_t>(number - 1);
    const int rank = index < job_.processes.size() ? job_.processes[index].rank : -1;
    return rank < 0 ? INT32_MAX : rank;
  }

 private:
  int64_t number_of_file(std::string_view file) {
    const auto known = by_file_.find(file);
    if (known != by_file_.end()) return known->second;
    const auto number = static_cast<int64_t>(job_.processes.size() + by_file_.size() + 1);
    by_file_.emplace(file, number);
    return number;
  }

  const Job& job_;
  std::map<std::pair<std::string_view, int64_t>, int64_t> by_pid_;  ///< Host and pid.
  std::map<std::string, int64_t, std::less<>> by_file_;
};

// The job on a time axis, for chrome://tracing and ui.perfetto.dev: Trace Event Format, JSON.
//
//   {"ph":"B","ts":75292000000.000,"pid":1,"tid":14800,"name":"init of rank 0 of 4","cat":"init",…}
//   {"ph":"i","ts":75292000000.000,"pid":1,"tid":14800,"name":"network_selected",…}
//
// A process of the trace is a process of the job, a thread one of its threads; a line is an
// instant. What begins and ends with lines of one thread (initialisation, destroy) is a slice. A
// collective's line tells when the host entered the call and nothing more, so it is an instant;
// what a Flight Recorder dump tells is a slice from the call to when PyTorch's watchdog noticed its
// end. Lines without a time, or of another clock than the chosen one, are counted and left out.
// Written while the logs are read.

/// One event of a trace.
struct TraceEvent {
  std::string_view phase;  ///< "B" and "E" of a slice, "i" an instant, "b" and "e" across threads.
  int64_t ns = 0;          ///< From the clock's origin.
  int64_t process = 0;
  int64_t thread = 0;  ///< 0: the line names none.
  std::string name;
  std::string_view category;
  std::string args;  ///< A JSON object; empty: none.
  std::string more;  ///< Further members: `,"s":"t"`.
};

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// Writes a trace's events, and who is who before the first event of each.
class TraceWriter {
 public:
  TraceWriter(const Job& job, const TraceClock& clock, Console& console)
      : clock_(clock), speakers_(job), console_(console) {
    console_.out += "{\"traceEvents\":[";
  }

  /// False once nobody wants more.
  bool add(const WalkedEvent& walked) {
    const LineTime time = time_of(walked);
    const auto ns = place_on(clock_, time);
    if (!ns) {
      ++(time.known() ? of_another_clock_ : without_time_);
      return true;
    }
    const Header& header = walked.event.header;
    TraceEvent event{.phase = "i", .ns = *ns};
    event.process = speakers_.number_of(walked.file, header);
    event.thread = std::max<int64_t>(0, header.tid);
    event.args = args_of(walked);
    set_kind(walked.event, event);
    return write(event);
  }

  bool add(std::string_view file, const FlightRecorderDump& dump, size_t index) {
    const FlightRecorderEntry& entry = dump.entries[index];
    if (!clock_.utc || entry.time_created_ns <= 0) {
      ++(entry.time_created_ns > 0 ? of_another_clock_ : without_time_);
      return true;
    }
    TraceEvent event{.phase = "b", .ns = entry.time_created_ns - clock_.origin_ns};
    event.process = speakers_.number_of(file, dump.rank);
    event.name = entry.profiling_name.empty() ? "call" : entry.profiling_name;
    event.category = "flight_recorder";
    event.args = recorded_fields(dump, index);
    event.more = fmt::format(",\"id\":\"{}\"", ++recorded_);
    if (!write(event)) return false;
    if (entry.time_completed_ns < entry.time_created_ns) return true;
    event.phase = "e";
    event.ns = entry.time_completed_ns - clock_.origin_ns;
    event.args.clear();
    return write(event);
  }

  void finish() {
    console_.out += "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{";
    const std::time_t origin = clock_.origin_ns / 1'000'000'000;
    const std::pair<std::string_view, std::string> kNotes[] = {
        {"tool", fmt::format("ncclog {}", version())},
        {"clock",
         clock_.utc ? "UTC, of each host" : "local time of each host; the zone is unknown"},
        {"ts", fmt::format("microseconds since {:%Y-%m-%d} 00:00", fmt::gmtime(origin))},
        {"order", "within a process as printed; between hosts as far as their clocks agree"},
        {"call_entered", "the host entered the call; no line says when the collective finished"},
        {"flight_recorder", "from the call to when PyTorch's watchdog noticed its end"},
        {"lines_without_time", std::to_string(without_time_)},
        {"lines_of_another_clock", std::to_string(of_another_clock_)}};
    std::string_view before;
    for (const auto& [name, value] : kNotes) {
      console_.out += fmt::format("{}\n{}:{}", before, json_text(name), json_text(value));
      before = ",";
    }
    console_.out += "\n}}\n";
  }

 private:
  static std::string args_of(const WalkedEvent& walked) {
    std::string args =
        fmt::format("{{\"at\":{},\"level\":{},\"fields\":{}",
                    json_text(fmt::format("{}:{}", walked.file, walked.line)),
                    json_text(exported_level(walked.event)), event_fields(walked.event));
    const std::string_view text = unrecognised_text(walked.event);
    if (!text.empty()) args += ",\"text\":" + json_text(text);
    const Warning* warning = warning_of(walked.event);
    if (warning != nullptr) args += ",\"meaning\":" + json_text(warning->meaning);
    return args + "}";
  }

  /// Name, category and phase, as the kind of the line has it.
  void set_kind(const Event& event, TraceEvent& made) {
    const Message& message = event.message;
    made.name = kind_name(event);
    made.category = event.header.level == Level::Warn ? "WARN" : "line";
    if (message.kind != nullptr && message.kind->index == kKindIndex<CollectiveCall>) {
      made.name = message.field("op");
      made.category = "call_entered";
    } else if (message.kind != nullptr && message.kind->index == kKindIndex<CommInit>) {
      made.name =
          fmt::format("init of rank {} of {}", message.field("rank"), message.field("nranks"));
      set_slice(message, "init", made);
    } else if (message.kind != nullptr && message.kind->index == kKindIndex<CommEnd>) {
      made.name = fmt::format("{} of rank {}", message.field("action"), message.field("rank"));
      set_slice(message, "end", made);
    }
    if (made.phase == "i") made.more = ",\"s\":\"t\"";
  }

  /// A slice begins with START and ends with COMPLETE of the same thread.
  void set_slice(const Message& message, std::string_view category, TraceEvent& made) {
    made.category = category;
    const auto slice =
        std::tuple(made.process, made.thread, made.name, std::string(message.field("comm")));
    if (message.field("phase") == "START") {
      if (open_.insert(slice).second) made.phase = "B";
    } else if (open_.erase(slice) > 0) {
      made.phase = "E";
    }
  }

  /// False once nobody wants more.
  bool write(const TraceEvent& event) {
    introduce(event.process, event.thread);
    append(event);
    return console_.pass_on();
  }

  void append(const TraceEvent& event) {
    const char* const sign = event.ns < 0 ? "-" : "";
    const uint64_t ns =
        event.ns < 0 ? 0 - static_cast<uint64_t>(event.ns) : static_cast<uint64_t>(event.ns);
    console_.out += before_;
    before_ = ",\n";
    fmt::format_to(std::back_inserter(console_.out),
                   R"({{"ph":"{}","ts":{}{}.{:03},"pid":{},"tid":{},"name":)", event.phase, sign,
                   ns / 1000, ns % 1000, event.process, event.thread);
    append_json_string(console_.out, event.name);
    if (!event.category.empty()) console_.out += ",\"cat\":" + json_text(event.category);
    if (!event.args.empty()) console_.out += ",\"args\":" + event.args;
    console_.out += event.more + "}";
  }

  void introduce(int64_t process, int64_t thread) {
    if (!threads_.emplace(process, thread).second) return;
    const auto name = [](std::string_view text) {
      return fmt::format("{{\"name\":{}}}", json_text(text));
    };
    TraceEvent event{.phase = "M", .process = process, .thread = thread};
    if (processes_.insert(process).second) {
      event.name = "process_name";
      event.args = name(speakers_.name_of(process));
      append(event);
      event.name = "process_sort_index";
      event.args = fmt::format("{{\"sort_index\":{}}}", speakers_.order_of(process));
      append(event);
    }
    event.name = "thread_name";
    event.args = name(thread == 0 ? "lines that name no thread" : fmt::format("thread {}", thread));
    append(event);
  }

  const TraceClock clock_;
  TraceSpeakers speakers_;
  Console& console_;
  std::string_view before_ = "\n";
  std::set<int64_t> processes_;
  std::set<std::pair<int64_t, int64_t>> threads_;
  /// Slices without end: process, thread, name, communicator.
  std::set<std::tuple<int64_t, int64_t, std::string, std::string>> open_;
  uint64_t recorded_ = 0;
  uint64_t without_time_ = 0;      ///< Lines that are not in the trace.
  uint64_t of_another_clock_ = 0;  ///< The same.
};

/// Reads the logs twice: for who is who, then for the events. Throws Error if nothing carries a
/// time, with what makes the next log do so, and for standard input.
ExitStatus export_trace(const ExportOptions& options, Console& console) {
  const std::vector<std::string> inputs = wanted_inputs(options.input);
  check_two_readings(inputs, "a trace");
  const Job job =
      read_job(inputs, {.threads = options.input.threads, .progress = console.progress});
  const auto clock = choose_clock(job);
  if (!clock) {
    throw Error("no line carries a time, so there is nothing to put on an axis", "export",
                "NCCL 2.26 and later stamps its lines with NCCL_DEBUG_TIMESTAMP_LEVELS=ALL and "
                "NCCL_DEBUG_TIMESTAMP_FORMAT='[%F %T.%6f] '; kubectl logs --timestamps and "
                "PyTorch's Flight Recorder give times, too");
  }
  TraceWriter writer(job, *clock, console);
  const EventTaker taker = {[&](const WalkedEvent& walked) { return writer.add(walked); },
                            [&](std::string_view file, const FlightRecorderDump& dump,
                                size_t index) { return writer.add(file, dump, index); }};
  const ExitStatus status = walk_events(inputs, taker, console);
  writer.finish();
  return status;
}

ExitStatus export_events(const ExportOptions& options, TableFormat format, Console& console) {
  const bool csv = format == TableFormat::Csv;
  if (csv) console.out += written(write_table_csv, table_of(options.table));
  const auto take = [&](std::span<const Cell> cells) {
    console.out += csv ? csv_row(cells) : event_json(cells);
    return console.pass_on();
  };
  return walk_event_rows(wanted_inputs(options.input), take, console);
}

ExitStatus export_table(const ExportOptions& options, TableFormat format, Console& console) {
  if (options.table == events_table().name) return export_events(options, format, console);
  // Under a name of the database, its columns have theirs there, too.
  const TableKind* in_sql = find_sql_table(options.table);
  if (find_table_kind(options.table) == nullptr && in_sql != nullptr && in_sql->has_rows()) {
    const Report report =
        run_pipeline({.input = options.input, .rules = options.rules}, console.progress).report;
    Table table;
    for (const Column& column : in_sql->columns) table.columns.emplace_back(column.sql_name());
    table.further = [&](const RowTaker& take) { in_sql->each_row(report, take); };
    print_table(std::move(table), format, ColorChoice::Never, console);
    return exit_status(report.job);
  }
  std::vector<std::string_view> names;
  for (const TableKind& table : all_tables()) {
    const bool offered = table.has_rows() || &table == &events_table();
    if (offered && table.build == nullptr) names.push_back(table.name);
  }
  const TableKind& kind = chosen_table(options.table, "export", names);
  const Job job = load_job(options.input, console.progress);
  print_table(kind.build(job), format, ColorChoice::Never, console);
  return exit_status(job);
}

ExitStatus write_export(const ExportOptions& options, Console& console) {
  const ExportFormat format = options.format.value_or(ExportFormat::Jsonl);
  if (format == ExportFormat::Jsonl || format == ExportFormat::Csv) {
    return export_table(options, static_cast<TableFormat>(format), console);
  }
  if (format == ExportFormat::Trace) return export_trace(options, console);
  if (format == ExportFormat::Lnav) {
    console.out += lnav_format();
    return ExitStatus::Fine;
  }
  throw Error("text and json are formats of answers to --sql", "--format",
              "'ncclog show TABLE' prints tables; a table is exported as jsonl or csv");
}

ExitStatus run_export(const ExportOptions& options, Console& console) {
  if (options.list_tables) {
    console.out += tables_text(console.columns);
    return ExitStatus::Fine;
  }
  // Before long work: whether the file can be written, and is none of the logs.
  if (!options.output.empty() && options.output != kStandardOutput) {
    const bool has_inputs = !options.input.paths.empty();
    check_output_file(options.output,
                      has_inputs ? wanted_inputs(options.input) : std::vector<std::string>());
  }
  const bool asks = !options.sql.empty();
  if (!asks && options.format == ExportFormat::Sqlite) return export_database(options, console);
  return run_into(options.output, console, [&](Console& to) {
    return asks ? answer_sql(options, to) : write_export(options, to);
  });
}

}  // namespace

void declare_export(CommandRow& command) {
  ExportOptions& options = options_of(command, run_export);
  add_flag(command, kOutputFlags, "--table TABLE", options.table,
           "events (default): one row a line that is understood; or another of the tables");
  add_input_flags(command, options.input);
  add_choice(
      command, kOutputFlags, "--format", options.format,
      in_order<ExportFormat>({"text", "json", "csv", "jsonl", "sqlite", "trace", "lnav"}),
      "of a table jsonl (default: one JSON object a line) or csv; of an answer text "
      "(default), json, jsonl or csv; sqlite: all tables in one file; trace: a time line for "
      "Perfetto and chrome://tracing; lnav: lnav's own format file");
  add_flag(command, kOutputFlags, "--sql STATEMENT", options.sql,
           "a statement about the tables that is answered");
  add_flag(command, kOutputFlags, "-o,--output FILE", options.output,
           "write this file instead of standard output");
  add_flag(command, kOutputFlags, "--tables", options.list_tables,
           "say what the tables and their columns hold");
  add_rules_flag(command, options.rules);
  command.notes =
      list_of(all_tables(), "Tables (--tables tells their columns):", &TableKind::sql_name,
              &TableKind::sql_help);  // Stands above the examples.
}

}  // namespace ncclog
