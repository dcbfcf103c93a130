// What was measured, beside what it is meant to be, for people: tests/bench/RESULTS.md.
//
//   | what | limit | measured | by CPU time | |
//   |---|---|---|---|---|
//   | collectives: `ncclog analyze --threads 2` to `rg -c` | at most 1.50 | 1.32 | 2.40 | holds |
//   | collectives.bgz | … | no bgzip here | | not measured |

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/timed_runs.h"

namespace ncclog::testing {

/// One line of what is to hold.
struct Criterion {
  std::string what;
  double limit = 0;
  std::optional<double> measured;  ///< nullopt: see `reason`.
  std::string reason;              ///< Why nothing was measured.
  /// The ratio of CPU times, of all threads: what is left of it where others use the machine.
  std::optional<double> by_cpu = {};
  bool is_minimum = false;  ///< At least `limit`, not at most.
  std::string unit = {};    ///< "MB", "MB/s"; empty for a ratio.

  bool holds() const { return measured && (is_minimum ? *measured >= limit : *measured <= limit); }
};

/// Runs over one input.
struct SpeedTable {
  std::string input;  ///< "1.0 GB of collective lines, plain".
  uint64_t bytes = 0;
  uint64_t lines = 0;
  std::vector<Timed> runs;
};

/// Whether reports of one log agree, however it was read.
struct Sameness {
  std::string what;  ///< "1 to 8 threads".
  bool is_same = false;
};

struct SpeedResults {
  std::string recipe;  ///< The command line that measured.
  std::vector<std::string> machine;
  std::vector<Criterion> criteria;
  std::vector<Sameness> reports;
  std::vector<SpeedTable> tables;
  std::string instructions;  ///< The record of instructions for each line.
};

/// "at most 1.50, measured 1.32: holds".
std::string verdict_text(const Criterion& criterion);

/// Of one table, with a header, in columns for a terminal.
std::string table_text(const SpeedTable& table);

/// The whole file, Markdown.
std::string results_text(const SpeedResults& results);

/// Cores, memory, kernel, load, and the versions of the tools that are compared; no names of hosts.
std::vector<std::string> describe_machine();

}  // namespace ncclog::testing
