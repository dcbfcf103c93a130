// Who diverged: which rank left what it, or what ranks like it, always did?
//
//   TP TP TP TP world | TP TP TP TP world | TP TP TP world       against its own past
//   ranks 0, 1, 3:  TP TP TP TP world     rank 2:  TP TP TP world    against the many
//   rank 2:  Recv Send→3 AllReduce | … | Recv AllReduce              a message that it left out
//
// Where ranks wait for each other in a circle, or two of them contradict each other, neither log
// says who is wrong. What tells them apart is repetition: the ranks of a training job repeat
// themselves, and most of them do the same. All three answers prefer silence: where the past is too
// short, where no majority exists, or where the other end did likewise, nobody is named.
//
// The cost: against the past, each of the last steps is compared with all before it; against the
// many, every kept call is looked at once; of messages, the gaps of a program are found once for
// each place from which they are asked for.

#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/majority.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "model/calls.h"
#include "model/job.h"

namespace ncclog {

/// "ranks 0-2 AllReduce of 8, rank 3 AllReduce of 4 and 2 more (count differs)". `who`
/// tells a camp's members, `what` its call.
template <typename Call, typename Who, typename What>
std::string camps_words(const std::vector<Camp<Call>>& camps, const std::string& fields, Who&& who,
                        What&& what) {
  std::vector<std::string> phrases;
  for (const Camp<Call>& camp : camps) {
    phrases.push_back(fmt::format("{} {}", who(camp), what(camp.call)));
  }
  return fmt::format("{} ({} {})", few_of(phrases, kMostNamed, ", "), fields,
                     fields.find(',') != fields.npos ? "differ" : "differs");
}

/// Says in which communicator it happened.
inline void place_in(const Job& job, int communicator, FactValue& value) {
  const Communicator& comm = nth_communicator(job, communicator);
  value.communicator = comm.id;
  value.inferred |= comm.inferred && comm.ranks.front().rank < 0;
}

// Did a rank do something that it never did before at that place?
//
//   TP TP TP TP world | TP TP TP TP world | TP TP TP world
//       after four TP calls came the world's, now after three: this rank diverged from its program

/// A rank, and the last of its calls that is looked at.
struct CallerUntil {
  Waiter waiter;
  SourceRef last;  ///< Line 0: all calls are.
};

/// Of `callers`, those that diverged from their programs, if they are fewer than the others; none
/// if that cannot be told.
std::vector<Waiter> diverged(const Job& job, const std::vector<CallerUntil>& callers);

/// The same of all that `waiters` called.
std::vector<Waiter> diverged(const Job& job, const std::vector<Waiter>& waiters);

// Which rank left the program that ranks like it kept to?
//
//   ranks 0, 1, 3:  TP TP TP TP world        rank 2:  TP TP TP world
//       → after three TP calls rank 2 called the world's, the others a fourth TP one
//
// In a training job most ranks make the same calls on communicators of the same kind, in the same
// order. Ranks are followed as long as they do; where they part, the few that call something else
// than the many have diverged. A rank whose log ends earlier did not diverge: it waits. Ranks whose
// roles differ (stages of a pipeline, say) part in the first iteration already, so a parting counts
// only near the end of the logs, and only if the many had made that step before.

/// One rank that diverged.
struct Divergence {
  Waiter waiter;
  int communicator = -1;  ///< Into Job::communicators: where it called something else.
  PlacedCall call;        ///< That call.
  int usual_communicator = -1;
  PlacedCall usual;   ///< What the others called there; the call of one of them.
  size_t others = 0;  ///< How many did.
};

struct Divergences {
  std::vector<Divergence> odd;  ///< The few, by rank.
  /// Likewise, where the many had not made that step before: perhaps the first time that ranks with
  /// another role go their own way.
  std::vector<Divergence> unprecedented;
  /// Two ranks made two calls in opposite order, and no majority says which one is odd: each of
  /// them as if it had diverged from the other. Empty if there are none.
  std::vector<Divergence> undecided;
};

/// All ranks that diverged; none of those whose calls are not all known. Pure.
Divergences find_divergences(const Job& job);

/// The few of them that left what the many had made before, by rank. Valid as long as the job.
const std::vector<Waiter>& diverged_from_most(const Job& job);

/// Some rank diverged, and it is none of `blockers`: they may wait behind it, in a call that all
/// have made.
bool others_diverged(const std::vector<Waiter>& diverged, const std::vector<Blocker>& blockers);

/// Where some of `blockers` diverged, only these are left: hosts run ahead, so the others may wait
/// behind them.
void keep_diverged(const std::vector<Waiter>& diverged, std::vector<Blocker>& blockers);

// Where in a rank's program do its messages and collectives stand?

struct ProgramPlaces {
  const RankProgram* program = nullptr;  ///< Valid as long as the job.
  std::map<CallEnd, std::vector<size_t>> messages;
  std::map<MeetingKey, size_t> collectives;

  /// Messages made before a place; nullopt: the program holds none of that end.
  std::optional<uint64_t> made_before(const CallEnd& end, size_t place) const;
};

/// Of all ranks that have a program.
std::map<Waiter, ProgramPlaces> program_places(const Job& job);

// Did the rank that owes a message leave it out?
//
//   rank 2:  Recv Send→3 AllReduce | Recv Send→3 AllReduce | … | Recv AllReduce
//   rank 3:  Recv←2 AllReduce      | Recv←2 AllReduce      | … | Recv←2
//       → rank 2 called AllReduce where it had always sent to rank 3
//
// That a Send lacks its Recv does not say whether the Recv was left out or the Send is one too
// many. What may tell is that the ranks of a training job repeat themselves: behind the same calls
// always came the message, and behind the message what was called now. The other way round, a
// message where another call always stood proves nothing: pipelines begin and end unlike their
// middle, and whoever waits has come there first. Nor does a loop that ends: both ends made a
// collective before, the rank that owes the message went on to the next one, and the past is what
// stood before the first of them. Where the other end, too, left such a message out, the past does
// not hold: who has nothing to send may leave it out.

/// A rank whose program became another one than it always was, or than that of its twin.
struct ProgramDivergence {
  Waiter waiter;
  RankCall made;   ///< The first call that differs.
  RankCall usual;  ///< What always stood there, a message with the number it would have had; or
                   ///< what the twin called there.
  Waiter twin;     ///< Like it but for that; {}: it differs from its own past.
};

/// Where the rank that owes messages left one out; nullopt: its past does not tell. Pure.
std::optional<ProgramDivergence> message_divergence(const Job& job,
                                                    const UnmatchedMessages& messages);

// Which rank left the order of calls that ranks like it keep?
//
//   rank 5:  Recv←3 Send→7 Recv←3 Recv←7 Send→7 …        of the same stage in the next group
//   rank 4:  Recv←2 Recv←2 Send→6 Recv←2 Recv←6 …        left out its first Send
//       → rank 4
//
// Ranks of one stage run one program over their own communicators. Whoever waits has made a part
// of it, from its beginning; who left a call out, or made one too many, has made something else.
// Where a stage has two ranks, each of them differs from the other: then who did not do as it
// always had, if one of them did.

/// Where the rank made something else than all ranks like it; nullopt: it has none, or it is only
/// behind or ahead of one of them, or of the two that differ the other one left its own past. Pure.
std::optional<ProgramDivergence> divergence_from_twins(const Job& job, const Waiter& waiter);

/// "rank 2 (…) called AllReduce where rank 5 (…), which is at …, called Send"; `place`: of its
/// call.
std::string twin_words(const Job& job, const ProgramDivergence& divergence,
                       std::string_view place = {});

/// What `a` called is a beginning of what `b` called, each on its own communicators, or the same.
/// False where either's calls are not known, and in jobs of very many ranks. Pure.
bool made_no_more(const Job& job, const Waiter& a, const Waiter& b);

/// All ranks that diverged from ranks like them. Empty for jobs of very many ranks, where nobody
/// compares them all. Valid as long as the job.
const std::vector<Waiter>& diverged_from_twins(const Job& job);

}  // namespace ncclog
