// What one process called on one communicator, in memory independent of the number of calls.
//
//   AllReduce: opCount 1a sendbuff 0x… recvbuff 0x… count 1048576 datatype 7 op 0 root 0 comm
//   0x7f10a0 [nranks=16] stream 0x…
//
// A line means that the host entered the call, not that it finished; opCount is no sequence number.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/source_ref.h"
#include "model/bounded_counts.h"
#include "model/call_sequence.h"
#include "model/call_signature.h"
#include "model/call_volumes.h"

namespace ncclog {

/// Messages to one peer, or from it. Those that meet have equal counts and equal hashes.
struct PeerMessages {
  uint64_t count = 0;
  uint64_t hash = 0;  ///< Of their sizes in bytes, in order.

  void add(int64_t elements, int datatype);
  void merge(const PeerMessages& later);
  bool operator==(const PeerMessages&) const = default;
};

/// Send and Recv by peer.
struct PeerTotals {
  PeerMessages sent;
  PeerMessages received;

  bool operator==(const PeerTotals&) const = default;
};

/// Calls of one process on one communicator.
struct CollectiveCalls {
  uint64_t total = 0;
  SourceRef first;  ///< line 0: no call.
  SourceRef last;
  std::string first_stamp;  ///< What stands before the host in the first call's line, cut short:
                            ///< times and launchers' prefixes. Empty: nothing.
  std::string last_stamp;   ///< The same of the last call.
  CallSignature last_call;
  BoundedCounts<CallSignature, 192> by_signature;
  CallVolumes volumes;
  CallSequence collectives;  ///< Without point-to-point operations.
  /// By rank of the peer in the communicator: the lowest kMaxPeers of them.
  std::map<int, PeerTotals> peers;
  uint64_t other_peers = 0;  ///< Messages with peers that are not kept.

  static constexpr size_t kMaxStampBytes = 96;
  static constexpr size_t kMaxPeers = 256;

  void add(SourceRef where, std::string_view stamp, const CallSignature& call);
  /// Adds a message to what its peer must have sent or received.
  void add_message(const CallSignature& call);
  /// Adds `count` > 0 calls, the last of them at `where`, to all but `collectives` and `peers`,
  /// which know them already. One with that signature was added before.
  void add_uncounted(uint64_t count, SourceRef where, std::string_view stamp,
                     const CallSignature& call);
  void merge(const CollectiveCalls& later);
  bool operator==(const CollectiveCalls&) const = default;

 private:
  void limit_peers();
};

}  // namespace ncclog
