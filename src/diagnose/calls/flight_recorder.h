// What do the Flight Recorder's dumps say about who is late, and who called something else?
//
//   default_pg: ranks 0-4,6,7 called collective 29, AllReduce of 1048576 Float, and it is open;
//   rank 5 called 28, all of them completed                          → front 29, behind {5}
//   default_pg, collective 20: ranks 0-2 AllReduce of 1048576 Float, rank 3 of 524288
//                                                                    → difference at 20
//
// A rank without a dump is unknown, never late. A rank is behind only if its own dump says that
// everything it called is completed, and if its last call is the same as the others' of that
// number.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/calls.h"
#include "model/flight_recorder.h"

namespace ncclog {

/// Ranks (global ones) that called the same thing at one number.
using RecordedCamp = Camp<const FlightRecorderEntry*>;

/// The first collective of a group that ranks called differently.
struct RecordedDifference {
  int64_t number = 0;
  std::vector<RecordedCamp> camps;  ///< At least two.
  std::string fields;               ///< "size", "function, dtype": in what the first two differ.
};

/// nullopt if the dumps agree as far as they go, or cannot be compared, or if the ranks that differ
/// completed that call all the same.
std::optional<RecordedDifference> recorded_difference(const RecordedGroup& group);

// What follows from the Flight Recorder's dumps alone?
//
//   rank 5 never called collective 29 of default_pg, in which all others wait   → Late, rank 5
//   rank 3 called another size at collective 20                                 → Mismatch, rank 3
//   all ranks called the same 29 collectives, and the last one is open          → Entered
//
// That ranks are some calls apart says nothing in a job that runs: somebody must have waited in
// that very call until a limit. Being late is no guilt either: only a rank that waits for nobody
// itself is named.

enum class RecordedKind { Nothing, Late, Mismatch, Entered };

/// What the dumps say about the group that matters most.
struct RecorderVerdict {
  RecordedKind kind = RecordedKind::Nothing;
  std::vector<int> named;  ///< Global ranks that are late, or outvoted; sorted, may be empty.
  std::string what;        ///< In words, without a full stop.
  std::string place;  ///< "collective 20 of process group default_pg (4 ranks), at train.py:54".
  int communicator = -1;        ///< Into Job::communicators, as RecordedGroup::communicator.
  int64_t number = 0;           ///< The collective that it is about.
  std::string group;            ///< RecordedGroup::name; empty for Nothing.
  std::vector<Evidence> dumps;  ///< Of ranks on either side, with the call in words.
};

/// A mismatch goes before a late rank, and larger groups before smaller ones. Pure.
RecorderVerdict recorder_verdict(const Job& job);

/// Who is behind in the group in which most wait, whether or not the job stopped; empty: nobody.
std::string recorded_behind_words(const Job& job);

}  // namespace ncclog
