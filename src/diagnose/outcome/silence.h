// Had the job stood still when somebody ended it?
//
//   2026-11-22 08:14:55,714 INFO trainer: step 0 loss 8.3
//   2026-11-22 08:14:56,283 INFO trainer: step 5 loss 8.3
//   W1122 08:15:18.899000 … Received 15 death signal, shutting down workers
//       → 22.6 s of silence, where work had shown every 0.6 s
//
// Who ends a hung job does it minutes after it fell silent; who ends a healthy one meets it at
// work. So the time from the last sign of life of any process to the end is held against the
// rhythm in which steps, losses or calls were printed. Nothing is said where work may have gone on
// without a time on its lines, or where the clocks may differ. Steps without a time do not matter
// where each of them calls NCCL, and the lines of these calls have times.

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

/// How long nothing was printed before somebody ended the job.
struct Silence {
  Evidence last;            ///< The last sign of life; known by its place.
  Evidence end;             ///< The line that says that somebody ended it.
  std::string ended;        ///< The same as a clause: "the scheduler cancelled the job".
  int64_t nanoseconds = 0;  ///< Between the two.
  int64_t usual = 0;        ///< Between two signs of work before; 0: too few of them.
  /// Far longer than usual: nobody who worked was silent for so long.
  bool is_standstill = false;
  /// No longer than work was silent before, or than anybody waits: it was ended at work.
  bool is_usual = false;
};

/// nullopt: nobody ended the job from outside, or the lines do not tell how long it was silent.
/// Pure; asked by several, so worked out once.
const std::optional<Silence>& silence_before_end(const Job& job);

}  // namespace ncclog
