// ncclog export PATH… --table NAME --format jsonl|csv
//
// Events are written while the logs are read, in input order, so memory does not depend on how long
// they are. All other tables are those of `show`.

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/read_document.h"
#include "app/table_choice.h"
#include "app/write_event.h"
#include "app/write_recorded.h"
#include "input/input_walk.h"
#include "input/units.h"
#include "log/event_reader.h"

namespace ncclog {
namespace {

constexpr std::string_view kEvents = "events";

using AppendEvent = void (*)(std::string& out, std::string_view file, uint64_t line,
                             const Event& event);

/// How events and the entries of dumps are written.
struct EventFormat {
  AppendEvent append_event;
  void (*append_recorded)(std::string& out, std::string_view file, const FlightRecorderDump& dump,
                          size_t index);
};

/// Writes the entries of a dump; other documents have no events. False once nobody wants more.
bool export_document(UnitReader& input, const WalkedInput& name, const EventFormat& format,
                     Console& console) {
  bool wanted = true;
  Shard shard = read_document(input, name);
  for (const FlightRecorderDump& dump : shard.take_flight_recorders()) {
    for (size_t i = 0; wanted && i < dump.entries.size(); ++i) {
      format.append_recorded(console.out, name.path, dump, i);
      wanted = console.pass_on();
    }
  }
  return wanted;
}

/// Writes the events of one input. False once nobody wants more.
bool export_input(UnitReader& input, const WalkedInput& name, const EventFormat& format,
                  Console& console) {
  if (is_document(input.content())) return export_document(input, name, format, console);
  bool wanted = true;
  EventReader events([&](const Line& record, const Event& event, int) {
    if (!wanted || !is_exported(event)) return;
    format.append_event(console.out, name.path, record.number, event);
    wanted = console.pass_on();
  });
  for (Line line; wanted && input.next(line);) events.add(line);
  events.finish();
  return wanted;
}

/// Says what is odd about what was read.
ExitStatus comment(const std::vector<WalkedInput>& walked, Console& console) {
  ExitStatus status = ExitStatus::Fine;
  for (const WalkedInput& input : walked) {
    if (!input.result.note.empty()) console.err += error_text(input.path, input.result.note, "");
    if (is_partial(input.result.status)) status = ExitStatus::Partial;
  }
  return status;
}

ExitStatus export_events(const ExportOptions& options, Console& console) {
  const bool csv = options.format == ExportFormat::Csv;
  const EventFormat format = csv ? EventFormat{append_event_csv, append_recorded_csv}
                                 : EventFormat{append_event_json, append_recorded_json};
  const std::vector<std::string> inputs = wanted_inputs(options.input);
  // Uncut inputs number their lines as their files do.
  const auto units = cut_units(inputs, {.unit_bytes = std::numeric_limits<uint64_t>::max()});
  ExitStatus status = ExitStatus::Fine;
  if (csv) console.out += event_csv_heading();
  bool wanted = true;
  for (size_t u = 0; wanted && u < units.size(); ++u) {
    InputWalk walk(units[u], inputs[units[u].input]);
    while (UnitReader* input = wanted ? walk.next() : nullptr) {
      wanted = export_input(*input, walk.current(), format, console);
    }
    if (comment(walk.take(), console) == ExitStatus::Partial) status = ExitStatus::Partial;
  }
  return status;
}

ExitStatus export_table(const ExportOptions& options, Console& console) {
  const TableKind& kind = chosen_table(options.table, "export", {&kEvents, 1});
  const Job job = load_job(options.input);
  const Table table = kind.build(job);
  console.out +=
      options.format == ExportFormat::Csv ? write_table_csv(table) : write_table_jsonl(table);
  return exit_status(job);
}

ExitStatus run_export(const ExportOptions& options, Console& console) {
  return options.table == kEvents ? export_events(options, console)
                                  : export_table(options, console);
}

std::string export_list() {
  return table_list() +
         "  events           each line that is understood, and NCCL lines that are not;\n"
         "                   also each entry of a Flight Recorder dump\n";
}

}  // namespace

RunCommand declare_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  add_export_flags(app, *options);
  app.footer(export_list);  // Stands above the examples.
  return [options](Console& console) { return run_export(*options, console); };
}

}  // namespace ncclog
