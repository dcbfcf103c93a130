// What a diagnosis of a synthetic job has to say, and what it must not: decided from what was
// planted and from which lines there are, before any analysis.
//
//   rank 5 stopped before an AllReduce, SIGTERM came 240 s later, the call lines carry stamps
//     → must name rank 5, the verdict is a problem
//   the same without any stamp
//     → may name rank 5 and nobody else, the verdict is suspicious or a problem
//   healthy, killed 0.3 s after its last step
//     → names nobody, the verdict is nothing_found
//
// The lines suffice to name the guilty where an engineer who reads all of them can tell: the
// communicators' ranks and the calls are in the log, more ranks did right than wrong, and time
// passed since: a watchdog fired, or dated lines came in a rhythm and long before the stop.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/synthetic/fault.h"
#include "support/synthetic/layout.h"
#include "support/synthetic/program.h"
#include "support/synthetic/setting.h"
#include "support/synthetic/simulate.h"
#include "support/synthetic/spoken_line.h"

namespace ncclog::testing {

/// One time that a job runs, from its start.
struct Attempt {
  Setting setting;
  std::vector<Program> programs;
  JobRun run;
  double begin = 0;  ///< Seconds since the first one began.
};

/// What the dates of a job's lines show about its end.
enum class Stillness {
  Unknown,  ///< Too few dates, or nobody says when it was stopped.
  Worked,   ///< It was stopped within its rhythm.
  Stood,    ///< Nothing happened for many times its rhythm before it was stopped.
};

/// `lines`: all but the words of the stop, which came at `stopped`. `calls_show_work`: whoever
/// works prints calls with a date.
Stillness stillness_of(const Setting& setting, bool calls_show_work, const SpokenLines& lines,
                       double stopped);

struct Truth {
  Planted planted;
  std::vector<std::string> hosts;  ///< Of the guilty, sorted.
  bool is_hung = false;
  bool is_marred = false;     ///< Somebody did something wrong that the job can feel.
  bool must_name = false;     ///< The logs suffice to name the guilty, and nobody else.
  bool finished = false;      ///< The program ended well, the last time that it ran.
  bool shows_finish = false;  ///< And some line says so.
  /// Ranks that may be named together where the logs show two sides and not which one is wrong; the
  /// guilty are among them. Empty: only the guilty may be named.
  std::vector<int> sides;
  /// Lines may look as if the job stood still, though it did not: warnings may say so.
  bool may_look_still = false;
  std::vector<std::string_view> verdicts;      ///< Allowed for the whole.
  std::vector<std::vector<int>> run_pids;      ///< Of each time that the job ran; sorted.
  std::vector<std::string_view> run_verdicts;  ///< Wanted of each; empty: any but clean.
};

Truth make_truth(const Planted& planted, const Layout& layout, const LoopShape& shape,
                 const std::vector<Attempt>& attempts, Stillness stillness);

}  // namespace ncclog::testing
