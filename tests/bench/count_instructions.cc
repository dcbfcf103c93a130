// Has the cost of a line grown?
//
//   input          recorded   measured    growth
//   collectives        1234       1236     +0.2 %
//   init               2345       2801    +19.4 %  too much
//
// callgrind counts the instructions of whole runs over a shorter and a longer log; the difference
// is what the lines between cost, without the start of the program. Such counts repeat to the last
// few digits on any machine, unlike times. The C library is kept from choosing by processor.
//
// Exits with 1 if a line costs 10 % more than recorded, and with 77, which ctest takes for skipped,
// if valgrind is not there or nothing is recorded for this build.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/generated_files.h"
#include "bench/instruction_record.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

constexpr int kSkipped = 77;

struct Input {
  std::string name;
  LogOptions shorter;
  LogOptions longer;
};

const Input kInputs[] = {
    {"collectives", {.bytes = 2'000'000}, {.bytes = 6'000'000}},
    // One communicator, and three.
    {"init",
     {.bytes = 1, .ranks = 24, .mix = LogMix::Init},
     {.bytes = 3'000'000, .ranks = 24, .mix = LogMix::Init}},
    {"training",
     {.bytes = 8'000'000, .mix = LogMix::Training},
     {.bytes = 16'000'000, .mix = LogMix::Training}},
};

struct Run {
  double instructions = 0;
  double lines = 0;
};

double count_lines(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return static_cast<double>(
      std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n'));
}

Run run_counted(const LogOptions& options) {
  const TempDir folder;
  const std::filesystem::path log = folder.path() / "generated.log";
  write_log_file(log, options);
  const Outcome outcome = run_command(
      {.arguments = {"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                     ncclog_binary().string(), "analyze", "--threads", "1", log.string()},
       .environment = {{"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS"}}});
  const auto instructions = collected_instructions(outcome.standard_error);
  if (!instructions) throw std::runtime_error("valgrind failed:\n" + outcome.standard_error);
  return {*instructions, count_lines(log)};
}

double instructions_per_line(const Input& input) {
  const Run shorter = run_counted(input.shorter);
  const Run longer = run_counted(input.longer);
  return (longer.instructions - shorter.instructions) / (longer.lines - shorter.lines);
}

/// Measures all inputs and prints the table. Returns the exit code.
int compare(InstructionRecord& record) {
  int status = 0;
  fmt::print("{}\n{:12} {:>10} {:>10} {:>10}\n", NCCLOG_BUILD, "input", "recorded", "measured",
             "growth");
  for (const Input& input : kInputs) {
    const double measured = instructions_per_line(input);
    const Growth growth = growth_of(record, NCCLOG_BUILD, input.name, measured);
    double& recorded = record[{NCCLOG_BUILD, input.name}];
    const bool is_new = growth == Growth::Unrecorded;
    fmt::print("{:12} {:>10.0f} {:>10.0f} {:>+8.1f} %{}\n", input.name, recorded, measured,
               is_new ? 0 : (measured / recorded - 1) * 100,
               growth == Growth::TooMuch ? "  too much" : "");
    if (growth == Growth::TooMuch) status = 1;
    recorded = measured;
  }
  return status;
}

int run() {
  const std::filesystem::path file = source_dir() / "tests/bench/instructions_per_line.txt";
  InstructionRecord record = parse_instruction_record(read_file(file));
  const bool is_update = std::getenv("NCCLOG_UPDATE_INSTRUCTIONS") != nullptr;
  if (!has_tool("valgrind")) {
    fmt::print("skipped: no valgrind here; ./dev setup test installs it\n");
    return kSkipped;
  }
  if (!is_update && record.count({NCCLOG_BUILD, kInputs[0].name}) == 0) {
    fmt::print("skipped: nothing is recorded for {}\n", NCCLOG_BUILD);
    return kSkipped;
  }
  const int status = compare(record);
  if (is_update) {
    write_file(file, write_instruction_record(record));
    return 0;
  }
  if (status != 0) {
    fmt::print("If it is worth that, record it: NCCLOG_UPDATE_INSTRUCTIONS=1 and this command.\n");
  }
  return status;
}

}  // namespace
}  // namespace ncclog::testing

int main() {
  try {
    return ncclog::testing::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "count_instructions: {}\n", error.what());
    return 2;
  }
}
