// What happened when, in each process?
//
//   rank  host         time                 what        detail
//      0  gpu-node-01  2026-11-20 20:54:52  init start  0x5d9c89455f4c4a1, rank 0 of 4

#include <fmt/format.h>

#include "model/timeline.h"
#include "report/tables.h"

namespace ncclog {
namespace {

std::vector<Cell> milestone_row(const Job& job, const Milestone& milestone) {
  const Process& process = job.processes[static_cast<size_t>(milestone.process)];
  const FileLine at = file_line(job, milestone.where);
  return {number_cell(process.rank),
          text_cell(process.host),
          number_cell(process.pid),
          text_cell(milestone.time),
          text_cell(milestone.what),
          text_cell(milestone.detail),
          text_cell(at.path.empty() ? std::string() : fmt::format("{}:{}", at.path, at.line))};
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

}  // namespace ncclog
