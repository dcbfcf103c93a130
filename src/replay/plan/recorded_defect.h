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

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/call_waits.h"
#include "diagnose/idle_holdups.h"
#include "model/call_coverage.h"
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

// What is known of a job while its defect is looked for, for replay/plan/recorded_defect.cc and
// message_defect.cc.

/// `job` and `suspicion` must outlive it.
struct Search {
  const Job& job;
  const Suspicion& suspicion;
  std::set<Membership> members;

  const Communicator& comm(int communicator) const {
    return job.communicators[static_cast<size_t>(communicator)];
  }
  const CollectiveCalls* calls(const Membership& member) const {
    return calls_of(job, rank_of(job, member));
  }
  /// Those that a plan may hold.
  std::vector<Membership> known(int communicator, const std::vector<int>& ranks) const {
    std::vector<Membership> result;
    for (const int r : ranks) {
      if (members.contains({communicator, r})) result.push_back({communicator, r});
    }
    return result;
  }
  bool is_blamed(const Membership& member) const {
    const int process = rank_of(job, member).process;
    const int rank = process < 0 ? -1 : job.processes[static_cast<size_t>(process)].rank;
    return rank >= 0 &&
           std::find(suspicion.ranks.begin(), suspicion.ranks.end(), rank) != suspicion.ranks.end();
  }
  /// Of `behind`, those that are among them who hold the job up, as far as the logs can tell.
  std::vector<Membership> holding(const Waits& waits, const std::vector<Membership>& behind) const {
    std::vector<Membership> result;
    std::copy_if(behind.begin(), behind.end(), std::back_inserter(result),
                 [&](const Membership& member) {
                   const Waiter waiter = waiter_of(rank_of(job, member));
                   return holds_up(waits, waiter) && !may_wait_for_unknown(job, waits, waiter);
                 });
    return result;
  }
  bool is_suspected(int communicator) const {
    return comm(communicator).id == suspicion.communicator;
  }
};

// Which Send without its Recv, or the other way round, made the job stand still?
//
//   rank 2 called AllReduce where it had always sent to rank 3, which waits for its 6th message
//       → a message; rank 2 would have to send before that AllReduce
//   nothing of that sort, but rank 2 owes it and nobody keeps it from sending
//       → likewise; where the message belongs is not known

/// A message that a rank which holds others up left out where it had always made it; of several one
/// that is blamed.
RecordedDefect from_departed_message(const Search& search, const Waits& waits);

/// Messages owed by ranks that hold the others up, as far as the logs can tell. Named are those
/// whom the suspicion blames, else those who wait for nobody themselves. Where neither tells,
/// either end of each of these messages may have departed, and all of them are named.
RecordedDefect from_messages(const Search& search, const Waits& waits);

}  // namespace ncclog
