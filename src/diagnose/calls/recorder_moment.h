// Whom did all others wait for when the Flight Recorder's dumps were written? Dumps alone tell that,
// without a line that says that somebody gave up.
//
//   TP group {0,1}   rank 1 waits in call 213, rank 0 completed 212 and has no call open
//   DP group {0,2}   rank 2 waits in call 23, rank 0 completed 22           → rank 0: NotEntered
//   TP group {2,3}   both wait in call 228, which waits for nobody's call
//
//   EP group {12-15} rank 14 shows call 20530 open, which rank 13 completed long ago: a collective
//                    ends on no rank before all are in it                   → rank 14: BehindOnGpu
//
// A rank of a job that runs is late at any moment, and dumps of one request are milliseconds apart.
// So nobody is named unless every rank that left a dump waits or is named itself, nobody completed
// a call that the dump of the one who is named lacks, and that one did not move on between its last
// two dumps. Only collectives are compared: sends and receives complete alone (a small message is
// buffered), and pg_status counts them with the collectives of their group (ProcessGroupNCCL.cpp,
// PyTorch 2.3 to 2.11).

#pragma once

#include <cstdint>
#include <vector>

#include "model/job.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {

/// How a rank holds the others up.
enum class HeldBy {
  NotEntered,   ///< Others wait in a call that it has not made, and it waits in none.
  BehindOnGpu,  ///< It made the call that others completed, and its own GPU did not complete it.
  NoDump,       ///< The only rank that left no dump; all others wait in one call of a group.
};

/// A rank that the others wait for.
struct HoldUp {
  int rank = -1;  ///< Global.
  HeldBy by = HeldBy::NotEntered;
  const CallAccount* account =
      nullptr;              ///< The largest group that shows it. Valid as long as the job.
  uint64_t number = 0;      ///< The call in that group.
  std::vector<int> others;  ///< Who waits in it or has completed it; places in the account's ranks.
};

/// What the last dump of each rank shows.
struct RecorderMoment {
  std::vector<HoldUp> hold_ups;  ///< By rank; empty: nobody is held up, or nothing tells by whom.
  std::vector<int> absent;       ///< Ranks of the groups that left no dump, ascending.
  /// Ranks that left several dumps and made more calls from one to the next, ascending.
  std::vector<int> moved;
};

/// Of all groups of the dumps; empty where the job is of several runs. Valid as long as the job.
const RecorderMoment& recorder_moment(const Job& job);

}  // namespace ncclog
