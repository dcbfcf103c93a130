// ncclog show TABLE PATH…

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/print_table.h"
#include "app/table_choice.h"
#include "base/error.h"
#include "base/text.h"
#include "report/graph_dot.h"
#include "report/graph_svg.h"
#include "report/tables.h"

namespace ncclog {
namespace {

/// A file that nobody reads from top to bottom may hold more than a page.
constexpr size_t kMaxGraphs = 64;

bool is_drawing(ShowFormat format) {
  return format == ShowFormat::Svg || format == ShowFormat::Dot;
}

TableFormat table_format(ShowFormat format) {
  if (format == ShowFormat::Json) return TableFormat::Json;
  return format == ShowFormat::Csv ? TableFormat::Csv : TableFormat::Text;
}

ExitStatus draw(const ShowOptions& options, Console& console) {
  const DrawingKind& kind = chosen_drawing(options.what, "show");
  const Job job = load_job(options.input);
  const Drawing drawing = kind.build(job, kMaxGraphs);
  console.out += options.format == ShowFormat::Svg ? write_svg(drawing) : write_dot(drawing);
  return exit_status(job);
}

/// Lines that nothing fits, as the user of a new release would begin to explain them.
ExitStatus propose(const ShowOptions& options, Console& console) {
  if (options.as != "messages")
    throw Error("unknown value '" + printable(options.as) + "' of --as", "show", "use 'messages'");
  if (options.what != "unknown")
    throw Error("--as messages is of the table 'unknown'", "show",
                "type 'ncclog show unknown PATH --as messages'");
  const Job job = load_job(options.input);
  console.out += unknown_messages(job);
  return exit_status(job);
}

ExitStatus show(const ShowOptions& options, Console& console) {
  if (!options.as.empty()) return propose(options, console);
  if (is_drawing(options.format)) return draw(options, console);
  const TableKind& kind = chosen_table(options.what, "show");
  const Job job = load_job(options.input);
  const Table table = kind.build(job);
  print_table(table, table_format(options.format), options.color, console);
  return exit_status(job);
}

}  // namespace

RunCommand declare_show(CLI::App& app) {
  const auto options = std::make_shared<ShowOptions>();
  add_show_flags(app, *options);
  app.footer(table_list);  // Stands above the examples.
  return [options](Console& console) { return show(*options, console); };
}

}  // namespace ncclog
