// Which step of its training does a line announce?
//
//    iteration       10/     500 | consumed samples:         1280 | …     Megatron-LM: step 10
//   [2026-01-05 12:00:00,123] [INFO] [logging.py:128:log_dist] [Rank 0] step=10, skipped=0, lr=…
//     1%|1         | 24/1752 [01:08<1:23:01,  2.88s/it]                   a tqdm bar: step 24
//
// Frameworks print every n-th step, and each on a rank of its own choice: Megatron on the last one,
// most on rank 0, OLMo on all. Servers have no step; what they print at intervals is a tick. The
// line shapes are those of the frameworks' sources and stand in log/markers/iteration.markers, each
// with an example.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/built_in.h"

namespace ncclog {

/// What a wording says of when it is printed.
enum class MarkerPlace {
  AfterStep,  ///< Behind the step's calls: that is how the framework logs.
  Unknown,    ///< Before or behind them.
  Tick,       ///< At intervals that are no steps.
};

/// One way in which steps are printed.
struct IterationWording {
  std::string_view preset;  ///< What the user types: "megatron". Several wordings may share one.
  /// Stands in every such line; "#" at its end: a number, behind a colon, blanks, a bracket or
  /// nothing.
  std::string_view needle;
  /// RE2 with the groups step, total and epoch, all optional; without step lines are ticks. Steps
  /// are counted inside an epoch where it has all three.
  std::string_view regex;
  MarkerPlace place = MarkerPlace::AfterStep;
  int first_epoch = 0;        ///< What the framework calls its first one.
  bool by_name_only = false;  ///< Fits too much: looked for only if the user names it.
  std::string_view example;
  int64_t example_step = -1;
};

/// The file that holds the wordings.
std::span<const EmbeddedFile> marker_files();

/// All wordings. A line belongs to the first one that fits.
std::span<const IterationWording> iteration_wordings();

/// A step that a line announces.
struct Marker {
  int64_t step = -1;   ///< -1: a tick.
  int64_t total = -1;  ///< Steps there will be; -1: not printed. In an epoch: of all epochs' like.
  uint16_t wording = 0;  ///< Into iteration_wordings(); kOwnWording: the user's own.

  bool operator==(const Marker&) const = default;
};

inline constexpr uint16_t kOwnWording = 0xFFFF;

/// The numbers of a marker, as they stand in its line.
struct MarkerText {
  std::string_view step;
  std::string_view total;
  std::string_view epoch;
  uint16_t wording = 0;
};

/// What they say.
Marker read_marker(const MarkerText& text);

/// Finds markers. One finder may be used from several threads at once.
class MarkerFinder {
 public:
  /// Looks for all wordings but those by name only.
  MarkerFinder();

  /// Looks for the wordings of a preset, or, if `wanted` is none, for the expression `wanted`:
  /// group 1, or the group named step, is the step. Throws Error if it is no valid RE2.
  explicit MarkerFinder(std::string_view wanted);

  /// The marker that `line`, or the part of a line before an NCCL record, holds. False: none.
  bool find(std::string_view line, Marker& marker) const;

  /// The same, with its numbers unread: views `line`. Digits tell no line from another that is of
  /// the same wording, unless wants_all_lines().
  bool find(std::string_view line, MarkerText& marker) const;

  /// True if lines of NCCL may be markers too: an expression of the user's own fits any line.
  bool wants_all_lines() const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

/// True if it is the name of a preset.
bool is_iteration_preset(std::string_view name);

/// "iteration ", ", skipped=", "%|", … of MarkerFinder(); of MarkerFinder("step") nothing is
/// certain. Texts one of which stands in every line in which `finder` may find a marker, and
/// perhaps others; an empty one says that any line may hold a marker.
std::vector<std::string> marker_needles(const MarkerFinder& finder);

}  // namespace ncclog
