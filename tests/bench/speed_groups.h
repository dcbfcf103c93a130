// The groups of runs that compare_speed makes: an input, the programs that read it, and what is to
// hold of them.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "bench/speed_results.h"

namespace ncclog::testing {

struct SpeedOptions {
  uint64_t bytes = 1'000'000'000;      ///< Of each large log.
  uint64_t grep_bytes = 200'000'000;   ///< Of each log that grep is timed on.
  uint64_t storm_bytes = 200'000'000;  ///< Of the log of warnings.
  uint64_t file_bytes = 100'000;       ///< Of each of many files.
  int ranks = 4096;                    ///< Of the many files.
  int init_ranks = 20000;              ///< Of the log of inits.
  int rounds = 5;
  bool is_full = false;  ///< Also ten times the size, for memory and for cost a byte.
};

/// Where a group works, and where its results go.
struct SpeedRun {
  const SpeedOptions& options;
  const std::filesystem::path& folder;  ///< For its inputs; a group removes what it made.
  SpeedResults& results;
};

struct SpeedGroup {
  std::string_view name;
  void (*measure)(const SpeedRun& run);
};

/// "plain", "packed", "irregular", "training", "init", "files", "storm", "full", "reports".
extern const SpeedGroup kSpeedGroups[9];

}  // namespace ncclog::testing
