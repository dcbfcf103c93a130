// At which of its calls was each step printed, and which of the lines that announce steps count?
//
//   iteration: 7 | …                         step 7
//   node-a:41:41 [0] NCCL INFO AllReduce …   call 64 of node-a:41: step 7 stands before call 64
//
// A log may hold steps in several wordings (a bar and a log line), evaluation bars, and steps that
// every rank prints. One wording is chosen, the one with the most different steps; of a step that
// is printed again, the first place counts.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

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

}  // namespace ncclog
