// What does one iteration of the training call, and which iterations differ?
//
//   iteration 0 …, 1 …, 2 …   → iterations 1-5 are identical: 4 AllGather, 4 ReduceScatter,
//                               1 AllReduce; 0 differs: + 1 Broadcast
//
// Iterations are cut per process, at the steps that are printed into its file, aligned to the calls
// that it repeats; without steps in its file, at the repeats alone. Nothing is compared between
// ranks here. What is said of a process is exact for the calls that its tape keeps.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/iterations/cut_iterations.h"
#include "diagnose/iterations/folded_calls.h"

namespace ncclog {

/// How many of which calls: by entry of the process's tape, sorted.
using CallCounts = std::vector<std::pair<uint16_t, uint64_t>>;

/// Iterations in a row that call the same.
struct IterationRun {
  int64_t first = 0;
  int64_t last = 0;
  int64_t together = 1;    ///< Iterations that one set of calls stands for; 1: for each alone.
  size_t calls = 0;        ///< Into ProcessIterations::counts.
  bool cut_short = false;  ///< The calls end like the beginning of an iteration.
};

/// Where the iterations of a process were cut.
enum class CutBy { Marker, MarkerAligned, Period };

/// The iterations of one process.
struct ProcessIterations {
  size_t calls = 0;  ///< Into JobCalls::processes.
  CutBy by = CutBy::Period;
  std::vector<CallCounts> counts;  ///< The different ones, in the order in which they first came.
  std::vector<IterationRun> runs;  ///< By number.
  CallCounts before;               ///< Calls before the first iteration.
  CallCounts after;                ///< Calls behind the last one.
  size_t period = 0;               ///< Calls of the repeated pattern; 0: none was found.
  size_t repeats = 0;              ///< How often it stands there, in one piece.
};

/// Calls by operation, as reports name them; sorted.
using OpCounts = std::map<std::string, uint64_t>;

/// What most processes call in some iterations.
struct IterationPattern {
  std::vector<std::pair<int64_t, int64_t>> iterations;  ///< Ranges, in order.
  OpCounts calls;
  size_t processes = 0;  ///< That call so in the first of them.
  size_t present = 0;    ///< That have such an iteration at all.
  int64_t together = 1;  ///< As IterationRun::together.
  bool cut_short = false;
};

enum class IterationSource { Marker, Preset, Period };

/// "marker", "preset", "period".
std::string_view to_string(IterationSource source);

/// The iterations of a job.
struct JobIterations {
  IterationSource source = IterationSource::Period;
  std::string preset;                        ///< "megatron"; empty unless a preset's lines count.
  bool exact = false;                        ///< Cut where the markers stand.
  std::vector<ProcessIterations> processes;  ///< In the order of JobCalls::processes.
  std::vector<IterationPattern> patterns;    ///< By first iteration.
  uint64_t count = 0;                        ///< Different iterations, over all processes.
  size_t ahead = 0;    ///< Calls that a process had made too many when a marker came, at most.
  size_t behind = 0;   ///< Calls that it still had to make.
  size_t unsplit = 0;  ///< Processes in which no iteration was found.
};

/// nullopt: nothing that was called can be told apart into iterations.
std::optional<JobIterations> find_iterations(const Job& job, const JobCalls& calls,
                                             const IterationChoice& choice);

/// The calls by operation.
OpCounts by_operation(const ProcessCalls& calls, const CallCounts& counts);

/// Place in `patterns` of the usual one: that of most iterations. Needs at least one.
size_t usual_pattern(const std::vector<IterationPattern>& patterns);

// What does a process call in each of its iterations?
//
//   iterations 1-9998 are calls 2 to 89983, nine each   → 4 AllGather, 4 ReduceScatter, 1 AllReduce
//
// Iterations in a row are counted once where their calls lie in a loop.

/// Counts the calls of a process's iterations, and those before and behind them. Fills `counts`,
/// `runs`, `before` and `after`. `folded` holds the calls of `process`; without spans all calls are
/// before.
ProcessIterations count_iterations(const ProcessCalls& process, const FoldedCalls& folded,
                                   const std::vector<IterationSpan>& spans);

}  // namespace ncclog
