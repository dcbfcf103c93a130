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

#include "diagnose/iterations/folded_calls.h"
#include "model/job.h"

namespace ncclog {

// Where in the calls of one process does each iteration begin and end (cut_iterations.cc)?
//
//   iteration: 7 | …                         step 7 is printed before call 64 of the process
//   AllReduce | Broadcast G S G S R | G S G S R | G S G S R | AllReduce
//   before      iteration 0           1           2           after
//
// First the lines that announce steps, and where they stand among a process's calls; then the cuts.

// At which of its calls was each step printed, and which of the lines that announce steps count?
//
//   iteration: 7 | …                         step 7
//   node-a:41:41 [0] NCCL INFO AllReduce …   call 64 of node-a:41: step 7 stands before call 64
//
// A log may hold steps in several wordings (a bar and a log line), evaluation bars, and steps that
// every rank prints. One wording is chosen, the one with the most different steps; of a step that
// is printed again, the first place counts.

/// What the user wants iterations to be.
struct IterationChoice {
  enum class By { Auto, Preset, Expression, Period };
  By by = By::Auto;
  std::string preset;  ///< Of By::Preset.
  bool exact = false;  ///< Cut where the marker stands, for every process.
};

/// The markers that count: those of one wording, with one total.
struct MarkerTrack {
  uint16_t wording = 0;  ///< As Marker::wording.
  int64_t total = -1;
  MarkerPlace place = MarkerPlace::Unknown;
  std::vector<int64_t> steps;  ///< Different ones, increasing, in the input that has most of them.
};

/// nullopt: no line announces steps in the way that is wanted, or only one does.
std::optional<MarkerTrack> choose_track(const Job& job, const IterationChoice& choice);

/// A step's place in the calls of a process.
struct Boundary {
  int64_t step = 0;
  size_t raw = 0;     ///< Where the marker stands: calls that had been made when it was printed.
  size_t call = 0;    ///< The end of a repeat that it belongs to; `raw` if it is inside of none.
  size_t repeat = 0;  ///< Repeats before `call`.
  bool own = true;    ///< The marker stands among this process's lines; else `raw` is `call`.
};

/// The steps that were printed into the file of a process while it made calls, and the nearest ones
/// before and after; increasing. Empty: its file has none. Where they stand is all that is known.
std::vector<Boundary> step_marks(const Job& job, const CallTrack& calls, const MarkerTrack& track);

/// Steps from one printed step to the next, most often; 1 if there is but one.
int64_t usual_distance(const std::vector<int64_t>& steps);

// The cuts. A marker is one process's clock: it may stand a few calls inside the pattern that the
// process repeats, and belongs to the nearer end of it. Calls between two repeats may be those of
// an evaluation or a checkpoint; a marker among them stays where it is.

/// Calls of one iteration, of several in a row, or of several that cannot be told apart.
struct IterationSpan {
  int64_t first = 0;  ///< Number of the iteration.
  int64_t last = 0;   ///< Of the last one; equal to `first` for one iteration.
  size_t begin = 0;   ///< Their calls in the process: [begin, end).
  size_t end = 0;
  bool cut_short = false;  ///< The calls end like the beginning of an iteration.
  bool in_a_row = false;   ///< Each makes its share of the calls, one after the other.
};

/// What a process repeats: `repeats` are the beginnings of `pattern` in its calls, `per_step` how
/// many of them make an iteration.
struct Repeats {
  std::vector<int> pattern;  ///< Empty: nothing is known to repeat itself.
  std::vector<size_t> begins;
  size_t per_step = 1;

  /// Repeats that begin before the call with that number.
  size_t before(size_t call) const {
    return static_cast<size_t>(std::ranges::lower_bound(begins, call) - begins.begin());
  }
  size_t end_of(size_t i) const { return begins[i] + pattern.size(); }
};

/// The marks of a process, each moved to the nearest end of a repeat.
std::vector<Boundary> snap(std::vector<Boundary> marks, const Repeats& repeats, size_t total);

/// How far the boundaries were moved, in calls, all together.
size_t moved_by(const std::vector<Boundary>& boundaries);

/// The calls of a process, and how they repeat themselves.
struct RepeatedCalls {
  const Repeats& repeats;
  const FoldedCalls& folded;
};

/// The boundaries of a process where another one, the model, makes the same calls: as many repeats
/// apart, and between the same calls where they stand between two repeats. A launcher that hands on
/// the output of processes in turns moves markers by whole iterations, so where both make as many
/// repeats from the same step on, the model's places count. Without boundaries of its own a process
/// gets the model's.
std::vector<Boundary> aligned(const std::vector<Boundary>& own, const RepeatedCalls& calls,
                              const std::vector<Boundary>& model, const RepeatedCalls& model_calls);

/// The iterations between boundaries. `after` says that markers stand after the calls of the step
/// that they announce.
std::vector<IterationSpan> spans_between(const std::vector<Boundary>& boundaries,
                                         const Repeats& repeats, const FoldedCalls& calls,
                                         bool after);

/// The same where every marker cuts where it stands.
std::vector<IterationSpan> exact_spans(std::vector<Boundary> boundaries, size_t total, bool after);

/// The iterations of a process without markers, numbered from `first`.
std::vector<IterationSpan> spans_of_repeats(const Repeats& repeats, const FoldedCalls& calls,
                                            int64_t first);

// What the iterations call.

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

/// The iterations of one process.
struct ProcessIterations {
  size_t calls = 0;                ///< Into JobCalls::processes.
  bool by_marker = false;          ///< Cut at markers; else at the repeats alone.
  std::vector<CallCounts> counts;  ///< The different ones, in the order in which they first came.
  std::vector<IterationRun> runs;  ///< By number.
  CallCounts before;               ///< Calls before the first iteration.
  CallCounts after;                ///< Calls after the last one.
  size_t period = 0;               ///< Calls of the repeated pattern; 0: none was found.
  size_t repeats = 0;              ///< How often it stands there, in one piece.
};

/// Calls by operation, as reports name them; sorted.
using OpCounts = std::map<std::string, uint64_t>;

/// What a process calls in an iteration, in words that can be compared between processes.
struct IterationCalls {
  OpCounts calls;
  int64_t together = 1;  ///< As IterationRun::together.
  bool cut_short = false;

  auto operator<=>(const IterationCalls&) const = default;
};

/// What most processes call in some iterations.
struct IterationPattern : IterationCalls {
  size_t processes = 0;                                 ///< That call so in the first of them.
  size_t present = 0;                                   ///< That have such an iteration at all.
  std::vector<std::pair<int64_t, int64_t>> iterations;  ///< Ranges, in order.
};

/// The iterations of a job.
struct JobIterations {
  std::string_view source = "period";        ///< "marker", "preset" or "period".
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

/// False where too few repeats of calls alone, without a line that announces steps, are no loop.
bool is_loop(const JobIterations& found);

/// The calls by operation.
OpCounts by_operation(const ProcessCalls& calls, const CallCounts& counts);

/// Place in `patterns` of the usual one: that of most iterations. Needs at least one.
size_t usual_pattern(const std::vector<IterationPattern>& patterns);

// What does a process call in each of its iterations?
//
//   iterations 1-9998 are calls 2 to 89983, nine each   → 4 AllGather, 4 ReduceScatter, 1 AllReduce
//
// Iterations in a row are counted once where their calls lie in a loop.

/// Counts the calls of a process's iterations, and those before and after them. Fills `counts`,
/// `runs`, `before` and `after`. `folded` holds the calls of `process`; without spans all calls are
/// before.
ProcessIterations count_iterations(const ProcessCalls& process, const FoldedCalls& folded,
                                   const std::vector<IterationSpan>& spans);

}  // namespace ncclog
