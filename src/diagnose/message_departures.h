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

#pragma once

#include <cstdint>
#include <optional>

#include "diagnose/call_waits.h"
#include "diagnose/rank_programs.h"
#include "model/job.h"

namespace ncclog {

/// A message that a rank left out.
struct MessageDeparture {
  Waiter waiter;
  RankCall made;       ///< The call that it made instead.
  uint64_t index = 0;  ///< Of the message, in the line of its end.
};

/// Where the rank that owes messages left one out; nullopt: its past does not tell. Pure.
std::optional<MessageDeparture> message_departure(const Job& job,
                                                  const UnmatchedMessages& messages);

}  // namespace ncclog
