// A line about a call, as the ledgers take it.
//
//   AllReduce: opCount 1a … count 1048576 datatype 7 op 0 root 0 comm 0x7f10a0 [nranks=16] …
//   ncclAllReduce(7f21e0…,7f21e0…,1048576,7,0,0,0x7f10a0,(nil))

#pragma once

#include <cstdint>
#include <optional>

#include "log/event.h"
#include "model/call_signature.h"

namespace ncclog {

struct ReadCall {
  uint64_t comm = 0;      ///< The pointer.
  int nranks = -1;        ///< -1: not printed.
  bool is_trace = false;  ///< A CALL line; else a COLL line.
  CallSignature call;
};

/// nullopt if the event is about no call of an operation.
std::optional<ReadCall> read_call(const Event& event);

}  // namespace ncclog
