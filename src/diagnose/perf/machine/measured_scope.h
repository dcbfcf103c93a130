// Whose lines are about a measurement?
//
//   a/env.txt  a/log.txt  b/env.txt  b/log.txt    a table in a/log.txt: not those of b
//
// A process is asked if its lines stand in the file of the table, or if it is of the same
// communicator or run; where no process of the file speaks for NCCL, all of its run are.

#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "diagnose/perf/measured/measurement.h"
#include "model/job.h"

namespace ncclog {

/// The processes and files whose lines count.
struct MeasuredScope {
  const Job& job;
  std::vector<char> asked;  ///< By process.
  std::string_view folder;  ///< Of the measurement's file, with its slash; owned by the job.
  bool any_file = true;     ///< Nothing was measured: all files are asked.
  const Communicator* comm = nullptr;  ///< That was measured; nullptr: not known.

  bool asks(int process) const { return process >= 0 && asked[static_cast<size_t>(process)] != 0; }

  /// A file that is beside the table's or above it.
  bool asks_file(std::string_view path) const;

  /// The same of the file of a line.
  bool asks_file(SourceRef where) const;
};

/// Those of one measurement.
MeasuredScope scope_of(const Job& job, const Measurement& measurement);

/// All of the job, and its largest communicator.
MeasuredScope scope_of(const Job& job);

/// As for_each_said, of the processes that are asked. Where a folder holds thousands of tests, each
/// asks its own processes alone; where one is asked of thousands of ranks, their lines share texts.
template <typename T, typename Use>
void for_each_asked(const MeasuredScope& scope, Use use) {
  const Job& job = scope.job;
  const auto asked = static_cast<size_t>(std::ranges::count(scope.asked, 1));
  if (2 * asked > scope.asked.size()) {
    for_each_said<T>(job, [&](const Said<T>& said) {
      if (scope.asks(said.process)) use(said);
    });
    return;
  }
  for (size_t p = 0; p < scope.asked.size(); ++p) {
    if (!scope.asked[p]) continue;
    for (const size_t log : job.processes[p].logs) {
      const Records kept = job.logs[log].records.kept(kKindIndex<T>);
      for (size_t place = kept.first_place(); place < kept.end_place(); ++place) {
        const ReadRecord line{kept.all(), static_cast<uint32_t>(place)};
        const T message = read_message<T>(line.message());
        use(Said<T>{static_cast<int>(p), message, line});
      }
    }
  }
}

}  // namespace ncclog
