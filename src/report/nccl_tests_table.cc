// What did nccl-tests measure? A row per size, out of place and in place.
//
//   run  test             size     type   redop  time    algbw  busbw  wrong  …  at
//     1  all_reduce_perf  8388608  float  sum    4915.3  1.71   3.20   0      …  run.log:61

#include <fmt/format.h>

#include "report/tables.h"

namespace ncclog {
namespace {

std::string place(const Job& job, SourceRef where) {
  const FileLine at = file_line(job, where);
  return at.path.empty() ? std::string() : fmt::format("{}:{}", at.path, at.line);
}

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
