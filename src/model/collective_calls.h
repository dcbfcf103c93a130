// What one process called on one communicator, in memory independent of the number of calls.
//
//   AllReduce: opCount 1a sendbuff 0x… recvbuff 0x… count 1048576 datatype 7 op 0 root 0 comm
//   0x7f10a0 [nranks=16] stream 0x…
//
// A line means that the host entered the call, not that it finished; opCount is no sequence number.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/source_ref.h"
#include "model/bounded_counts.h"

namespace ncclog {

/// What must agree between the ranks of one collective.
struct CallSignature {
  std::string function;  ///< As NCCL names it: "AllReduce".
  int64_t count = 0;     ///< Elements as printed; bytes for AllGather and Broadcast in 2.7 to 2.21.
  int datatype = -1;
  int redop = -1;
  int root = -1;  ///< The peer for Send and Recv.

  auto operator<=>(const CallSignature&) const = default;
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
  BoundedCounts<CallSignature, 1024> by_signature;

  static constexpr size_t kMaxStampBytes = 96;

  void add(SourceRef where, std::string_view stamp, const CallSignature& call);
  void merge(const CollectiveCalls& later);
  bool operator==(const CollectiveCalls&) const = default;
};

}  // namespace ncclog
