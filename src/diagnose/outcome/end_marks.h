// When did the lines go on, which of them say that work or a process ended, and was it silent
// before?
//
//   # Avg bus bandwidth    : 124.196                               the job finished
//   slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT … ***      the job was stopped,
//   step 0 at 08:14:55, step 5 at 08:14:56, SIGTERM at 08:15:18    after 22 s of silence
//
// What follows from all of it for the job is in outcome.h.

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

// From when to when do the lines go?
//
//   {"first": "2026-11-22 08:14:05,592", "last": "2026-11-22 08:14:27.156"}

/// Times as printed.
struct JobSpan {
  std::string first;
  std::string last;

  bool operator==(const JobSpan&) const = default;
};

/// The earliest and the latest by the sort of clock that most of them have: with a zone or without,
/// with a year or without. Others do not compare. nullopt: none is known.
std::optional<std::pair<LineTime, LineTime>> span_of(const std::vector<LineTime>& times);

/// By the clocks of most lines that carry a time; nullopt where none does. Clocks of hosts differ.
std::optional<JobSpan> span_of(const Job& job);

/// "2026-01-05T12:00:00.000000001Z"; empty: no zone or no year is printed.
std::string utc_of(const LineTime& time);

/// True if `line` stands before `other` in the same input.
bool is_before(const Job& job, SourceRef line, SourceRef other);

/// The process printed a line of one of these kinds.
template <typename... T>
bool has_said(const Job& job, const Process& process) {
  return std::ranges::any_of(process.logs, [&](size_t log) {
    return (job.logs[log].records.contains(kKindIndex<T>) || ...);
  });
}

/// Lines of kind T, over all processes: kept or not, repeated or not.
template <typename T>
uint64_t count_lines(const Job& job) {
  uint64_t lines = 0;
  for (const SpeakerLog& log : job.logs) lines += log.records.find(kKindIndex<T>).total;
  return lines;
}

/// The communicators of a process, in all its logs.
std::vector<const CommSegment*> segments_of(const Job& job, const Process& process);

/// The process with that pid, else the one of that rank; -1: none of its lines are there.
int process_of(const Job& job, int64_t pid, int rank);

/// Some input announces steps of a training.
bool prints_steps(const Job& job);

/// Steps of a program, but for a bar that stands at 0, or rows of a test.
bool shows_progress(const Job& job);

// Who reports that a process ended, and how?
//
//   bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=3 python3 train.py
//     rank      : 3 (local_rank: 1)
//     exitcode  : -9 (pid: 1021)
//
// Shells, MPI launchers, srun, torchrun and container runtimes say it in their own ways.

/// A line that says so.
struct ExitReport {
  ProcessEnded ended;           ///< Views the job. With torchrun's codes: pid and rank at most.
  std::optional<int> exitcode;  ///< nullopt: a status or a signal is printed.
  Record record;

  /// By number, whatever names it: -11, 139, "Segmentation fault", "SIGSEGV". Below 1: none that is
  /// known.
  int signal() const;
  /// What the command timeout of coreutils returns where it ended its command.
  static constexpr int kTimeLimit = 124;

  /// By SIGHUP, SIGINT or SIGTERM, or at the limit of timeout: somebody wanted it to end. SIGKILL is
  /// as often the kernel's.
  bool is_requested() const;
  /// "ended with exit code 3", "ended: Killed"; empty: it is MPICH's first line of two, who and not
  /// how.
  std::string words() const;
};

/// The rank whose own file holds that line: no other one speaks there, and others do elsewhere; -1:
/// none or several.
int rank_of_file(const Job& job, SourceRef where);

/// In input order. Who names nobody in a rank's own file speaks of that rank.
std::vector<ExitReport> exit_reports(const Job& job);

// Which lines say that the work, or a process, came to an end?
//
//   # Avg bus bandwidth    : 124.196                               the job finished
//   slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT … ***      the job was stopped
//   [launch.py:347:main] Process 4243 exits successfully.          the process with that pid
//   finished x3000c0s1b0n0: rank 3 died from signal 6 and dumped core       rank 3 failed
//
// Programs, launchers, shells and schedulers each have their own words. What NCCL says of its
// communicators, and what follows from all of it, is in outcome.h.

/// How a job or a process ended, as far as the logs show.
enum class EndState {
  Finished,    ///< It did what it was started for, and left.
  Failed,      ///< It gave up, died, or ended with an error.
  Stopped,     ///< Somebody ended it from outside: a person, a limit, a launcher.
  Unfinished,  ///< It was at work, and no end is in the logs: cut, still running, or standing
               ///< still.
  Unknown,     ///< The logs show neither work nor end.
};
constexpr std::string_view enum_words(EndState) {
  return "finished|failed|stopped|unfinished|unknown";
}

/// How the job or a process ended, and the line that shows it.
struct EndOf {
  EndState state = EndState::Unknown;
  std::string what;                ///< A clause: "nccl-tests printed its summary"; valid UTF-8.
  std::vector<Evidence> evidence;  ///< The line; none where the state is Unknown.
  int process = -1;  ///< Whom the line is about, into Job::processes; -1: the job, or not known.
  /// A rank says it of its own work: what became of ranks without a line, it does not tell.
  bool is_own = false;
  /// Words that are also printed after a failure, or of a part: they count where all else is open.
  bool is_weak = false;

  /// Not of Unknown.
  const Evidence& line() const { return evidence.front(); }
};

/// What lines say so, Finished, Failed or Stopped, in input order; but for the failures that
/// processes report themselves. Owned by the job.
const std::vector<EndOf>& end_marks(const Job& job);

/// torchrun ended with a failure between these lines of an input: what comes after is another run's.
bool launcher_failed_between(const Job& job, SourceRef from, SourceRef to);

/// Three steps of a training, or ticks of a server, are announced after `where` in the same input.
bool steps_follow(const Job& job, SourceRef where);

/// Work stands after `where` in the same input: a communicator begins, a step is printed, or ranks
/// go on calling. What was said there is then about a part of the work.
bool work_follows(const Job& job, SourceRef where);

/// The last test of nccl-tests that begins after `where` in the same input, by the line of its
/// settings; nullopt: none does. Where no summary follows, nothing tells how it ended.
std::optional<Evidence> test_begun_after(const Job& job, SourceRef where);

/// One test of nccl-tests begins before that line, and another one after it.
bool is_between_tests(const Job& job, SourceRef where);

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

/// "22.6 s", "17 minutes".
std::string duration_words(int64_t nanoseconds);

}  // namespace ncclog
