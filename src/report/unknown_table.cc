// show unknown: NCCL lines that no wording fits, by shape, most frequent first.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/library_name.h"
#include "report/tables.h"

namespace ncclog {
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

}  // namespace ncclog
