// How many messages did a rank exchange with a peer?
//
//   rank 3 of 600 exchanged messages with all others; counted are those with ranks 0 to 256
//       → with rank 7: as counted; with rank 590: what its tape of calls tells, else not known
//
// A rank's messages are counted for its lowest peers only (CollectiveCalls::kMaxPeers). So nothing
// is known of the others, unless the calls of its process are kept whole.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/call_tape.h"
#include "model/job.h"

namespace ncclog {

/// Messages between a rank and a peer in one direction, as one of both shows them.
struct MessageCount {
  uint64_t count = 0;
  std::optional<uint64_t> sizes;  ///< PeerMessages::hash; nullopt: not known.
};

/// What `rank` sent to `peer`, a rank of its communicator, or received from it; nullopt: not known.
std::optional<MessageCount> message_count(const Job& job, const CommRank& rank, int peer,
                                          bool receives);

/// With whom `rank` exchanged messages, as far as that is known; ascending.
std::vector<int> message_peers(const Job& job, const CommRank& rank);

/// `rank` exchanged messages with peers that are not known.
bool has_unknown_peers(const Job& job, const CommRank& rank);

/// The calls of all segments in their order; nullptr: they are counted by different kinds of lines,
/// or not all are kept. Owned by the log.
const CallTape* whole_tape(const SpeakerLog& log);

}  // namespace ncclog
