// The collectives of a process group side by side, from the Flight Recorder's dumps of its ranks.
//
//   group "0" (default_pg, ranks 0-7)   rank 4: collectives 1 … 29, the last one is open
//                                       rank 5: collectives 1 … 28, all completed
//                                       rank 6: no dump, so nothing is known of it
//
// The recorder numbers each call (collective_seq_id), so nothing is lost in the middle; the ring
// only forgets the oldest. A dump is of the moment in which it was written, and a folder may hold
// dumps of an earlier run: only dumps whose common calls were made at about the same time are put
// side by side.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/flight_recorder.h"

namespace ncclog {

struct Job;

/// A rank's collectives on one group.
struct RecordedRank {
  int rank = -1;  ///< Global rank of PyTorch.
  /// nullptr: no dump, several, or one of another time: nothing is known. Owned by the job.
  const FlightRecorderDump* dump = nullptr;
  int64_t enqueued = 0;   ///< Number of the last collective that it called; 0: none.
  int64_t completed = 0;  ///< Number of the last one that its watchdog saw completed; 0: none.
  bool is_idle = false;   ///< No call of it is open, on any group: it waits for nobody.
  /// By number, each number once; early ones may lack.
  std::vector<const FlightRecorderEntry*> calls;

  /// The call of that number; nullptr if the dump does not hold it.
  const FlightRecorderEntry* call(int64_t number) const;
};

struct RecordedGroup {
  std::string name;         ///< The same on all its ranks: "0", a hash.
  std::string description;  ///< "default_pg"; may be empty.
  /// Point-to-point and coalesced calls move the numbers of single ranks on, so that one number may
  /// mean different calls: then nothing is compared.
  bool is_numbered_alike = true;
  std::vector<RecordedRank> ranks;  ///< All of the group, by rank.
  /// Into Job::communicators: the only one of exactly these ranks, if no other group has them all
  /// too; else -1.
  int communicator = -1;
};

/// Groups that dumps tell the ranks of, by name. Dumps that disagree about a group's ranks are of
/// different jobs: such a group is left out, and where the logs hold several runs, all are. Pure.
std::vector<RecordedGroup> recorded_groups(const Job& job);

/// Seen scheduled or started and not completed.
bool is_open(const FlightRecorderEntry& entry);

}  // namespace ncclog
