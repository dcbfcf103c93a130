// What went wrong with the calls of a job, and what the ranks would have to do for it to go well?
//
//   world, call 28: ranks 0-4, 6, 7 AllReduce, rank 5 AllGather, which the others call next
//       → a missing call; rank 5 would have to make the AllReduce before its AllGather
//   4 messages from rank 0 to rank 3, and 3 Recv
//       → a message; rank 3 would have to receive once more
//
// All of it rests on facts of the job that rules rest on, too: differences, fronts, departures,
// unmatched messages. Where nothing shows that the job stopped, ranks that are a few calls apart
// prove nothing, and there is no defect.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "replay/plan/plan.h"
#include "replay/plan/recorded_calls.h"

namespace ncclog {

/// A finding of the analysis, as far as a plan needs it.
struct Suspicion {
  std::string id;
  std::string title;
  std::string communicator;  ///< Communicator::id; empty: it names none.
  std::vector<int> ranks;    ///< Of the job, that it blames.
  bool is_testable = true;   ///< False: advice or a remark, which no call can show.
};

/// A call as a member's lines number it.
struct NumberedCall {
  Membership by;
  uint64_t index = 0;  ///< As PlannedCall::index.
  CallSignature call;

  bool operator==(const NumberedCall&) const = default;
};

/// A call that the clean run makes in addition. The member's own calls from that number on, on the
/// communicator or with that peer, are then made in the defect run only.
struct AddedCall {
  NumberedCall call;
  /// The member's call before which it belongs; nullopt: where it belongs is not known.
  std::optional<NumberedCall> before;
};

/// Where the calls of the job go wrong, and whose they are. None: nothing shows that they do.
struct RecordedDefect {
  DefectKind kind = DefectKind::None;
  int communicator = -1;  ///< Into Job::communicators.
  uint64_t index = 0;     ///< Where it stands still, as PlannedCall::index.
  std::vector<Membership> entered;
  std::vector<Membership> missing;
  std::vector<Membership> departed;
  std::vector<AddedCall> added;
  /// The member's calls from that one on, on that communicator, are made in the defect run only.
  std::vector<NumberedCall> struck;
  /// The member came to that call too late: it and what comes after it are made in the clean run
  /// only.
  std::vector<NumberedCall> late;
};

/// The defect of the job, that of the suspicion's communicator and ranks if there are several.
/// `members` are those that a plan may hold. Pure.
RecordedDefect find_defect(const Job& job, const std::vector<Membership>& members,
                           const Suspicion& suspicion);

}  // namespace ncclog
