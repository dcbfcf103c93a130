// Where in the calls of one process does each iteration begin and end?
//
//   iteration: 7 | …                         step 7 is printed before call 64 of the process
//   AllReduce | Broadcast G S G S R | G S G S R | G S G S R | AllReduce
//   before      iteration 0           1           2           after
//
// First the lines that announce steps, and where they stand among a process's calls; then the cuts.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/iterations/folded_calls.h"
#include "model/job.h"

namespace ncclog {

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

/// A step, and how many calls a process had made when it was printed.
struct StepMark {
  int64_t step = -1;
  uint64_t call = 0;

  bool operator==(const StepMark&) const = default;
};

/// The steps that were printed into the file of a process while it made calls, and the nearest ones
/// before and behind; increasing. Empty: its file has none.
std::vector<StepMark> step_marks(const Job& job, const CallTrack& calls, const MarkerTrack& track);

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
  bool in_a_row = false;   ///< Each makes its share of the calls, one behind the other, all alike.

  bool operator==(const IterationSpan&) const = default;
};

/// What a process repeats: `repeats` are the beginnings of `pattern` in its calls, `per_step` how
/// many of them make an iteration.
struct Repeats {
  std::vector<int> pattern;  ///< Empty: nothing is known to repeat itself.
  RepeatPlaces begins;
  size_t per_step = 1;

  size_t end_of(size_t i) const { return begins[i] + pattern.size(); }
};

/// A marker's place in the calls.
struct Boundary {
  int64_t step = 0;
  size_t raw = 0;     ///< Where the marker stands.
  size_t call = 0;    ///< The end of a repeat that it belongs to; `raw` if it is inside of none.
  size_t repeat = 0;  ///< Repeats before `call`.
  bool own = true;    ///< The marker stands among this process's lines; else `raw` is `call`.

  bool operator==(const Boundary&) const = default;
};

/// The boundaries of a process, each at the nearest end of a repeat.
std::vector<Boundary> snap(const std::vector<StepMark>& marks, const Repeats& repeats,
                           size_t total);

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

/// The iterations between boundaries. `after` says that markers stand behind the calls of the step
/// that they announce.
std::vector<IterationSpan> spans_between(const std::vector<Boundary>& boundaries,
                                         const Repeats& repeats, const FoldedCalls& calls,
                                         bool after);

/// The same where every marker cuts where it stands.
std::vector<IterationSpan> exact_spans(std::vector<Boundary> boundaries, size_t total, bool after);

/// The iterations of a process without markers, numbered from `first`.
std::vector<IterationSpan> spans_of_repeats(const Repeats& repeats, const FoldedCalls& calls,
                                            int64_t first);

}  // namespace ncclog
