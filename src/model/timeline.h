// What logs say of time: steps and times that are printed into inputs, and what happened in each
// process, in order.
//
//   iteration: 7 | …                                        a step: calls from now on stand behind
//   it 2026-11-22 08:14:56,283 INFO trainer: step 5 loss 8.3   a time: the job shows life
//
// NCCL's lines carry no step and often no time. So calls are placed by the steps before them
// (CallMarks), and silence is told by the times of whole inputs (Pulse). A Timeline is made of a
// whole job.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
#include "log/iteration_marker.h"
#include "model/output_starts.h"

namespace ncclog {

struct Job;

// How many calls had a process made when a step was printed into its file?
//
//   iteration: 7 | …                      the 8th marker of this input
//   node-a:41:41 [0] NCCL INFO AllReduce: …   call 1200 of node-a:41 stands behind 8 markers
//
// A marker is the clock of whoever prints it, so a process notes it with its next call: one number
// pair for each marker between two of its calls, whoever printed it.

/// Of an input, the first so many are kept.
inline constexpr uint64_t kMaxMarkers = 8192;

/// One call, and how many of its input's markers stand before it.
struct CallMark {
  uint64_t input = 0;    ///< Number of the input, as the reader counts them.
  uint64_t markers = 0;  ///< Markers of that input before the call.
  uint64_t call = 0;     ///< Number of the call in its process, from 0.

  bool operator==(const CallMark&) const = default;
};

/// The marks of one process: its first call in each input, and each call before which more markers
/// stand than before the call that it follows. Kept as differences, about three bytes a mark.
class CallMarks {
 public:
  /// Notes that call number `call` stands behind so many markers. Calls come in order.
  void note(const CallMark& mark) {
    if (says_more(mark)) append(mark);
  }

  /// Appends what a later stretch noted; the process made `calls` calls before it.
  void merge(const CallMarks& later, uint64_t calls);

  /// Adds to every mark the markers that its input has before this stretch.
  template <typename MarkersOf>
  void shift(MarkersOf markers_of) {
    CallMarks shifted;
    for (CallMark mark : all()) {
      mark.markers += markers_of(mark.input);
      shifted.note(mark);
    }
    *this = std::move(shifted);
  }

  std::vector<CallMark> all() const;

  bool operator==(const CallMarks&) const = default;

 private:
  // Joined pieces of a torn process come out of order.
  bool is_same_input(const CallMark& mark) const {
    return !bytes_.empty() && mark.input <= last_.input;
  }
  bool says_more(const CallMark& mark) const {
    // Behind the last marker that is kept nothing can be told apart.
    return !is_same_input(mark) || (mark.markers > last_.markers && last_.markers <= kMaxMarkers);
  }
  void append(const CallMark& mark);

  std::string bytes_;  ///< For each mark: inputs, markers and calls more than before.
  CallMark last_;
};

// When did an input show life, when did the job work, and for how long was it silent?
//
//   2026-11-22 08:14:55,714 INFO trainer: step 0 loss 8.3        a beat, and work
//   2026-11-22 08:14:56,283 INFO trainer: step 5 loss 8.3        0.6 s later, five steps
//   W1122 08:15:18.899000 3 torch/…/api.py:739] Received 15 …    a beat after a pause of 22.6 s
//     2%|2      | 24/1752 [01:08<1:23:01,  2.88s/it]             work at a time that nobody printed
//
// A beat is a line with a time in front, whoever printed it; work is a line that comes again and
// again while a job gets on: a step, a loss, a call. Times are compared as they are printed, so
// those with a zone and those without are kept apart. Processes write into one stream a little out
// of order: a line that is older than one before it is no beat.

/// A line with a time.
struct TimedLine {
  SourceRef where;          ///< Line 0: there was none.
  int64_t nanoseconds = 0;  ///< As LineTime counts them; the year is left out, many print none.

  auto operator<=>(const TimedLine&) const = default;
};

/// Two beats with none between them.
struct Pause {
  TimedLine before;
  TimedLine after;

  int64_t length() const { return after.nanoseconds - before.nanoseconds; }
};

/// Beats of one sort.
struct Beats {
  uint64_t count = 0;  ///< Of different times.
  TimedLine first;
  TimedLine last;             ///< The latest one.
  std::vector<Pause> pauses;  ///< The longest kMaxPauses, longest first.

  static constexpr size_t kMaxPauses = 32;

  /// False if it is older than the last one.
  bool add(const TimedLine& beat);
  void merge(const Beats& later);

 private:
  void add_pause(const Pause& pause);
};

/// By how much the numbers of steps grew.
struct StepGrowth {
  int64_t first = -1;  ///< -1: no line names a step.
  int64_t last = -1;
  uint64_t steps = 0;

  void add(int64_t step);
  void merge(const StepGrowth& later);
};

/// What is printed by one clock.
struct PulseClock {
  Beats all;
  Beats work;
  StepGrowth steps;
};

/// The beats of one input. Add its lines in order; merging neighbours gives what reading both in
/// one go gives, if none is older than those before.
class Pulse {
 public:
  /// Any line; it may be cut behind its beginning.
  void add(SourceRef where, std::string_view line);
  /// A line without a time, of which names_step() is known.
  void add_undated(SourceRef where, bool has_step) {
    if (undated_++ < kMostUndated && has_step) undated_work_ = where;
  }
  /// True if a line without a time names a step. Its digits make no difference.
  static bool names_step(std::string_view line);
  /// A line that announces a step, after it was added.
  void add_work(SourceRef where);
  void merge(const Pulse& later);

  /// By whether their times carry a zone.
  const PulseClock& clock(bool has_zone) const { return clocks_[has_zone ? 1 : 0]; }
  /// The last line that shows work and no time; line 0: none does.
  SourceRef undated_work() const { return undated_work_; }
  bool empty() const { return clocks_[0].all.count + clocks_[1].all.count == 0; }

 private:
  template <typename Io>
  friend void carry(Io& io, Pulse& pulse);  ///< part/carry_shard.h

  /// Lines without a time that are looked at behind one that has it: what works prints again soon.
  static constexpr int kMostUndated = 16;

  bool is_dated_as_before(std::string_view line) const;
  void note_work(PulseClock& clock, std::string_view line);

  std::array<PulseClock, 2> clocks_;
  SourceRef undated_work_;
  // Most lines carry the time of the line before them, at the same place.
  std::string stamp_;
  size_t stamp_at_ = 0;
  int stamped_ = -1;  ///< Into clocks_; -1: that time was no beat.
  TimedLine now_;     ///< The last line with a time.
  int undated_ = 0;   ///< Lines without one since then.
};

/// The steps and times that were printed into an input, and where its program began.
struct InputClock {
  uint64_t unit = 0;            ///< The first one with any of it.
  uint64_t number = 0;          ///< CallMark::input of the calls in it; set when the job is built.
  uint32_t input = 0;           ///< Into Job::inputs; set when the job is built.
  std::vector<Marker> markers;  ///< In their order, the first kMaxMarkers.
  uint64_t total = 0;           ///< Markers, with those that are not kept.
  /// Where the last of them stand, the latest one at the end; line 0: there are fewer.
  std::array<SourceRef, 3> last;
  Pulse pulse;
  OutputStarts starts;

  void add(const Marker& marker, SourceRef where = {}) {
    if (total++ < kMaxMarkers) markers.push_back(marker);
    note_last(where);
  }
  void merge(const InputClock& later) {
    for (const Marker& marker : later.markers) add(marker);
    total += later.total - later.markers.size();
    for (const SourceRef where : later.last) note_last(where);
    pulse.merge(later.pulse);
    starts.merge(later.starts);
  }

 private:
  void note_last(SourceRef where) {
    if (where.line == 0) return;
    std::move(last.begin() + 1, last.end(), last.begin());
    last.back() = where;
  }
};

// What happened in each process, in order?
//
//   rank  time                 what         detail
//      0  2026-11-20 20:54:52  version      NCCL 2.28.9, CUDA 13.0
//      0  2026-11-20 20:54:52  init start   0x5d9c…, rank 0 of 4
//      0  2026-11-20 20:54:53  init end     0x5d9c…, 1.09 s (kernels 0.27, …)
//
// Lines of one process are in order. Two processes are put in order only where
// every milestone of both carries a time, and even then by their hosts' clocks.

/// Something worth knowing that a process said.
struct Milestone {
  int process = -1;  ///< Into Job::processes.
  SourceRef where;
  std::string time;  ///< As printed; empty: the line carries none, or it was not kept.
  bool has_zone = false;
  int year = 0;             ///< 0: not printed.
  int64_t nanoseconds = 0;  ///< Since the year began.
  std::string what;         ///< "init start", "WARN", …
  std::string detail;       ///< May hold any bytes.
};

struct Timeline {
  /// First those of the timed processes in one order; then process by process.
  std::vector<Milestone> milestones;
  size_t timed_processes = 0;  ///< Whose milestones all carry comparable times.
  size_t untimed_processes = 0;
  uint64_t warnings_omitted = 0;  ///< WARN lines beyond those shown of a process.
};

/// The milestones of the job's processes. Pure: same job, same timeline.
Timeline build_timeline(const Job& job);

}  // namespace ncclog
