// How much of what a rank called do the logs show, and from which call on do ranks differ?
//
//   rank 3  its file is whole and holds COLL lines          → Counted: it made exactly these calls
//   rank 4  its file is cut                                 → AtLeast: it made these, perhaps more
//   rank 5  no file, COLL not on, torn lines, a copied log  → Unknown
//
// Only a counted rank can be said not to have made a call. A file that was cut exactly at the end
// of a line looks whole, and only another witness can tell (ShortLog); whoever draws conclusions
// needs a sign that the job stopped, too.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/calls.h"
#include "model/job.h"

namespace ncclog {

enum class CallCoverage { Unknown, AtLeast, Counted };

CallCoverage call_coverage(const Job& job, const Communicator& comm, const CommRank& rank);

/// What that rank called; nullptr if none of its lines were seen. Owned by the job.
const CollectiveCalls* calls_of(const Job& job, const CommRank& rank);

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

// From which call on do the ranks of a communicator differ?
//
//   call 0 … 19  the same on all four ranks
//   call 20      ranks 0-2: AllReduce of 1048576 float32, rank 3: AllReduce of 524288 float32
//
// Hashes of prefixes say where: within the calls that are kept, or at checkpoints. Between two
// checkpoints that stretch of the log is read again; without a reader the answer is a range.

/// Reads the log of a rank again from the line `from` on and returns its next collectives on that
/// communicator, at most `most` of them. Fewer, or none, where the input cannot be read again.
using CallReader =
    std::function<std::vector<PlacedCall>(const CommRank& rank, SourceRef from, uint64_t most)>;

/// Sets Communicator::difference of all communicators whose difference is not known exactly, from
/// the ranks whose calls are covered, as far as each goes: one that only ends earlier does not
/// differ. `reader` may be empty.
void find_differences(Job& job, const CallReader& reader);

}  // namespace ncclog
