// Which lines of nccl-tests belong to one run?
//
//   version, program, settings, ranks, headings, rows, sums, end: a run's lines come in this order.
//
// A line that belongs before what was read last begins the next run. Lines of other programs may
// stand between; what two processes print into one file without prefixes cannot be told apart.

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "model/build_steps.h"
#include "model/nccl_tests.h"

namespace ncclog {
namespace {

/// The parts of a run in the order in which it prints them.
enum class Part { None, Version, Program, Config, Ranks, Rows, OutOfBounds, Bandwidth, End };

std::optional<Part> part_of(const Message& message) {
  const uint16_t kind = message.kind->index;
  if (kind == kKindIndex<NcclTestsVersion>) return Part::Version;
  if (kind == kKindIndex<NcclTestsProgram>) {
    return read_message<NcclTestsProgram>(message).phase == "starting" ? Part::Program : Part::End;
  }
  if (kind == kKindIndex<NcclTestsConfig>) return Part::Config;
  if (kind == kKindIndex<NcclTestsRank>) return Part::Ranks;
  if (kind == kKindIndex<NcclTestsResult>) return Part::Rows;
  if (kind == kKindIndex<NcclTestsOutOfBounds>) return Part::OutOfBounds;
  if (kind == kKindIndex<NcclTestsBandwidth>) return Part::Bandwidth;
  return std::nullopt;
}

bool repeats(Part part) { return part == Part::Ranks || part == Part::Rows; }

void read_row(const Message& message, const Record& record, NcclTestsRun& run) {
  const auto result = read_message<NcclTestsResult>(message);
  const auto values = [](auto time, auto algbw, auto busbw, auto wrong) {
    return NcclTestsValues{std::string(time), std::string(algbw), std::string(busbw),
                           std::string(wrong)};
  };
  NcclTestsRow row;
  row.where = record.where;
  row.text = record.text;
  row.size = result.size;
  row.count = result.count;
  row.datatype = result.datatype;
  row.redop = result.redop;
  row.root = result.root;
  row.out_of_place = values(result.time, result.algbw, result.busbw, result.wrong);
  row.in_place = values(result.time_in_place, result.algbw_in_place, result.busbw_in_place,
                        result.wrong_in_place);
  run.rows.push_back(std::move(row));
}

void read_config(const Message& message, NcclTestsRun& run) {
  const auto config = read_message<NcclTestsConfig>(message);
  run.min_bytes = config.min_bytes;
  run.max_bytes = config.max_bytes;
  run.iters = config.iters;
  run.validation = config.validation;
}

void read_part(Part part, const Message& message, const Record& record, NcclTestsRun& run) {
  switch (part) {
    case Part::Version:
      run.version = read_message<NcclTestsVersion>(message).version;
      break;
    case Part::Program:
    case Part::End:
      run.test = read_message<NcclTestsProgram>(message).test;
      break;
    case Part::Config:
      read_config(message, run);
      break;
    case Part::Ranks:
      run.nranks = std::max(run.nranks, read_message<NcclTestsRank>(message).rank + 1);
      break;
    case Part::Rows:
      read_row(message, record, run);
      break;
    case Part::OutOfBounds:
      run.out_of_bounds = read_message<NcclTestsOutOfBounds>(message).count;
      run.out_of_bounds_line = record.where;
      break;
    case Part::Bandwidth:
      run.busbw = read_message<NcclTestsBandwidth>(message).busbw;
      run.below_expected = read_message<NcclTestsBandwidth>(message).verdict == "FAILED";
      break;
    case Part::None:
      break;
  }
}

/// The program in a command: "mpirun -np 8 ./build/all_reduce_perf -b 8" → "all_reduce_perf".
std::string_view program_in(std::string_view command) {
  for (std::string_view word : split_blanks(command)) {
    word = word.substr(word.rfind('/') + 1);
    if (word.ends_with("_perf") || word.ends_with("_perf_mpi")) return word;
  }
  return {};
}

/// Runs whose output does not name the test are named by the last command before them.
void name_by_command(const SpeakerLog& log, NcclTestsRun& run) {
  const RecordList* commands = log.records.find(kKindIndex<ShellCommand>);
  if (!run.test.empty() || commands == nullptr) return;
  for (const Record& record : commands->kept) {
    if (record.where.unit != run.first.unit || !(record.where < run.first)) continue;
    const Event event = parse_record(record);
    const std::string_view program = program_in(read_message<ShellCommand>(event.message).command);
    if (!program.empty()) run.test = program;
  }
}

std::vector<NcclTestsRun> runs_of(const SpeakerLog& log) {
  std::vector<NcclTestsRun> runs;
  Part last = Part::End;
  for (const Record& record : log.nccl_tests.kept) {
    const Event event = parse_record(record);
    if (event.message.kind == nullptr) continue;
    const auto part = part_of(event.message);
    if (!part) continue;
    const bool goes_on = *part > last || (*part == last && repeats(*part));
    if (runs.empty() || !goes_on) runs.push_back({.first = record.where});
    last = *part;
    read_part(*part, event.message, record, runs.back());
  }
  for (NcclTestsRun& run : runs) name_by_command(log, run);
  return runs;
}

}  // namespace

int64_t nccl_tests_wrong_values(std::string_view printed) {
  if (const auto count = parse_int(printed)) return *count;
  // "%g" of a large count; the errors of old releases have small exponents.
  const size_t exponent = printed.find("e+");
  if (exponent == printed.npos || !is_digit(printed.front())) return -1;
  const auto digits = parse_int(printed.substr(exponent + 2));
  if (!digits || *digits < 6 || *digits > 17) return -1;
  int64_t value = printed.front() - '0';
  for (int64_t i = 0; i < *digits; ++i) value *= 10;
  return value;
}

void build_nccl_tests(Job& job) {
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      for (NcclTestsRun& run : runs_of(job.logs[log])) {
        run.process = static_cast<int>(p);
        job.nccl_tests.push_back(std::move(run));
      }
    }
  }
  std::stable_sort(job.nccl_tests.begin(), job.nccl_tests.end(),
                   [](const NcclTestsRun& a, const NcclTestsRun& b) { return a.first < b.first; });
}

}  // namespace ncclog
