// ncclog show TABLE PATH…

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/options.h"
#include "base/error.h"
#include "base/text.h"
#include "report/tables.h"

namespace ncclog {
namespace {

std::string table_list() {
  std::string list = "Tables:\n";
  for (const TableKind& kind : table_kinds()) {
    list += fmt::format("  {:<10}{}\n", kind.name, kind.help);
  }
  return list;
}

const TableKind& wanted_table(const std::string& name) {
  const TableKind* kind = find_table_kind(name);
  if (kind != nullptr) return *kind;
  std::vector<std::string_view> names;
  for (const TableKind& known : table_kinds()) names.push_back(known.name);
  const auto nearest = nearest_name(name, names);
  const std::string what =
      name.empty() ? "no table named" : fmt::format("no table '{}'", printable(name));
  throw Error(what, "show",
              nearest ? fmt::format("did you mean '{}'?", *nearest)
                      : fmt::format("one of: {}", fmt::join(names, ", ")));
}

ExitStatus show(const ShowOptions& options, Console& console) {
  const TableKind& kind = wanted_table(options.what);
  const Job job = load_job(options.input);
  const Table table = kind.build(job);
  switch (options.format) {
    case TableFormat::Text:
      console.out +=
          write_table_text(table, console.style(options.color), /*fit=*/console.is_terminal);
      break;
    case TableFormat::Json:
      console.out += write_table_json(table);
      break;
    case TableFormat::Csv:
      console.out += write_table_csv(table);
      break;
  }
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
