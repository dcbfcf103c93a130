// Which Send without its Recv, or the other way round, made the job stand still?
//
//   rank 2 called AllReduce where it had always sent to rank 3, which waits for its 6th message
//       → a message; rank 2 would have to send before that AllReduce
//   nothing of that sort, but rank 2 owes it and nobody keeps it from sending
//       → likewise; where the message belongs is not known

#pragma once

#include "diagnose/call_waits.h"
#include "replay/defect_search.h"
#include "replay/recorded_defect.h"

namespace ncclog {

/// A message that a rank which holds others up left out where it had always made it; of several one
/// that is blamed.
RecordedDefect from_departed_message(const Search& search, const Waits& waits);

/// Messages owed by ranks that hold the others up, as far as the logs can tell. Named are those
/// whom the suspicion blames, else those who wait for nobody themselves. Where neither tells,
/// either end of each of these messages may have departed, and all of them are named.
RecordedDefect from_messages(const Search& search, const Waits& waits);

}  // namespace ncclog
