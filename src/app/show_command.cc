// ncclog show TABLE PATH…

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/print_table.h"
#include "app/table_choice.h"
#include "base/error.h"
#include "base/text.h"
#include "log/header.h"
#include "log/message_text.h"
#include "report/graph/graph.h"
#include "report/html/graph_svg.h"
#include "report/text_layout.h"

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

/// The shapes of unknown lines as kinds of a message file, the most frequent first.
std::string draft_of(const Job& job) {
  using Shape = std::pair<const std::string, UnknownLines>;
  std::vector<const Shape*> shapes;
  for (const Shape& shape : job.unknown.shapes) shapes.push_back(&shape);
  std::ranges::stable_sort(shapes, std::greater(), [](auto shape) { return shape->second.count; });
  std::vector<UnknownMessage> messages;
  for (const Shape* shape : shapes) {
    const UnknownLines& lines = shape->second;
    const Header header = parse_header(lines.example);
    const FileLine place = file_line(job, lines.first);
    const bool is_nccl = header.level != Level::None && header.level != Level::Framework;
    messages.push_back({header.message, is_nccl, header.level == Level::Warn,
                        fmt::format("Seen {}, first at {}:{}.", plural(lines.count, "time"),
                                    place.path, place.line)});
  }
  return proposed_messages(messages);
}

/// Lines that nothing fits, as the user of a new release would begin to explain them.
ExitStatus propose(const ShowOptions& options, Console& console) {
  if (options.as != "messages")
    throw Error("unknown value '" + printable(options.as) + "' of --as", "show", "use 'messages'");
  if (options.what != "unknown")
    throw Error("--as messages is of the table 'unknown'", "show",
                "type 'ncclog show unknown PATH --as messages'");
  const Job job = load_job(options.input);
  console.out += draft_of(job);
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
