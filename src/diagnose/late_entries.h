// Who came so late to a collective that the others had given up?
//
//   12:00:01 ranks 0-4,6,7 enter call 29, and time out at 12:10:01
//   12:11:37 rank 5 enters call 29                       → rank 5, 696 s late
//
// Without times such a job looks as if all ranks had entered. Clocks of hosts differ by seconds,
// the limits that people set are minutes: only lateness of that order counts. A rank that was late
// because it waited for another one in another communicator is a victim, and not listed.

#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/call_waits.h"
#include "model/job.h"

namespace ncclog {

struct LateEntry {
  Waiter waiter;
  int communicator = -1;  ///< Into Job::communicators: where most ranks waited for it.
  uint64_t call = 0;      ///< Number of the call there, from 0.
  int64_t seconds = 0;    ///< After the middle one of the ranks; -1: known by the order of lines.
  SourceRef where;        ///< Of its call.
};

/// Those who entered the last call of a communicator at least `limit_ms` > 0 after most others, in
/// order. Where no time tells, those whose line stands behind the watchdogs' lines in one stream.
/// Empty where neither compares, or where ranks are not covered.
std::vector<LateEntry> late_entries(const Job& job, int64_t limit_ms);

}  // namespace ncclog
