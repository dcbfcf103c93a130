// How did the job end, and how did each of its processes?
//
//   … comm 0x7f10 rank 0 nranks 8 … - Destroy COMPLETE    on all ranks     → finished
//   :::MLLOG {… "run_stop" … "status": "success"}         and 740 WARNs    → finished, and noise
//   [rank2]: … Watchdog caught collective operation timeout …              → failed
//   slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT … DUE TO TIME LIMIT   → stopped
//   steps and calls, and then nothing                                      → unfinished
//
// A job that finished takes its sockets down, so what NCCL warns of after that is noise of the end.
// Only a finished job can be clean; where no line shows an end, nothing is said about it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/outcome/end_marks.h"
#include "model/job.h"

namespace ncclog {

/// Of what is unfinished for no other reason.
inline constexpr std::string_view kNoEnd = "no end is in the logs";

struct JobOutcome {
  EndOf job;
  std::vector<EndOf> processes;  ///< By index of Job::processes.
};

/// Pure, and worked out once; lives as long as the job.
const JobOutcome& outcome_of(const Job& job);

/// False for what a file says without naming anybody: it is no process of the job's.
bool is_named(const Process& process);

/// `line` stands after the end of the work in its input, or after its process took its
/// communicators down, of a job that finished as far as its logs go: there a WARN is noise. Or after
/// somebody ended the job, in the same input. False where that is not known.
bool is_after_end(const Job& job, const Evidence& line);

/// The job went on after the line at `where`, or finished as far as its logs go: what the line
/// tells of was no end.
bool is_outlived(const Job& job, SourceRef where);

// What part of a job do these lines cover?
//
//   nine lines with the Init START of two ranks      "the start of 2 ranks, no end"
//   a whole log that was copied while the job ran    "8 ranks at work (120 calls each), no end"
//   the same up to the first step                    "init done by 8 ranks, no end"
//   NCCL_DEBUG=WARN and three lines                  "lines of 3 processes, no end"
//
// For the headline of a log in which nothing was found: what was not seen is not judged.

/// A clause that says so. That somebody ended the job is said before it.
std::string extent_words(const Job& job);

/// "1 of 2 ranks seen", where only ranks say of themselves that they are done, and others, of which
/// there is no line, may not be; empty otherwise.
std::string unseen_words(const Job& job);

}  // namespace ncclog
