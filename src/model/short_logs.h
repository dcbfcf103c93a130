// Whose log shows fewer calls than its process certainly made?
//
//   rank 3's file ends after its 17th collective on the world's communicator; its Flight Recorder's
//   dump holds 29 on the group of the same ranks, and where both tell, they are the same calls
//       → the log lacks lines: of rank 3 it must not be said that it made no 18th call
//
// So does the watchdog of any rank: "last completed NCCL work: 28" of the group of all ranks.
//
// A file that was cut exactly at the end of a line looks whole, so only another witness can tell.
// c10d's numbers and NCCL's calls run side by side only while nothing is coalesced and no other
// library uses the communicator: a witness counts where both agree on other ranks.

#pragma once

#include <cstdint>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// Who tells of the calls that the log lacks.
enum class ShortBy {
  Dump,      ///< The Flight Recorder of that rank.
  Watchdog,  ///< A watchdog saw a collective completed that ends only when all have entered it.
};

/// A rank whose log lacks calls of one communicator.
struct ShortLog {
  int process = -1;         ///< Into Job::processes.
  int communicator = -1;    ///< Into Job::communicators.
  uint64_t shown = 0;       ///< Collectives that its log shows.
  uint64_t made = 0;        ///< Collectives that it made at least; more than one more than shown.
  bool ends_early = false;  ///< Those shown are the first ones; else some between them are missing.
  ShortBy by = ShortBy::Dump;
};

/// By communicator, then rank. Pure; the same before and after mark_short_logs.
std::vector<ShortLog> short_logs(const Job& job);

/// Has call_coverage count no such rank: its process becomes cut, or torn where lines are missing
/// in the middle. Needs the communicators and the dumps.
void mark_short_logs(Job& job);

}  // namespace ncclog
