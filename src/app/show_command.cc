// ncclog show TABLE PATH…

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/print_table.h"
#include "app/table_choice.h"

namespace ncclog {
namespace {

ExitStatus show(const ShowOptions& options, Console& console) {
  const TableKind& kind = chosen_table(options.what, "show");
  const Job job = load_job(options.input);
  const Table table = kind.build(job);
  print_table(table, options.format, options.color, console);
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
