// What does the count of a call mean in elements and bytes?
//
//   AllGather: … count 4194304 datatype 0 …     NCCL 2.18: 4194304 bytes, of an unknown datatype
//   AllGather: … count 1048576 datatype 7 …     NCCL 2.28: 1048576 elements of 4 bytes
//
// Bytes are the count times the element size, in the sense of the count itself: AllReduce,
// Broadcast and Reduce: the buffer; AllGather: what each rank sends; ReduceScatter: what each rank
// receives; AlltoAll, Gather, Scatter: per peer; Send, Recv: the message. Nothing is said of what
// goes over the wires.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/calls.h"

namespace ncclog {

/// True if releases among `versions` print that call's count in bytes with datatype 0 (enqueue.cc
/// from 2.7.3 to 2.21.5 prints AllGather and Broadcast behind its own conversion). With no version
/// known it may be so.
bool may_count_bytes(const VolumeKey& key, const std::vector<std::string>& versions);

/// Bytes of `elements`; nullopt for a datatype of unknown size, or if the sum does not fit.
std::optional<uint64_t> bytes_of(uint64_t elements, int datatype);

/// Bytes of an element as PyTorch names its type: 4 for "Float"; nullopt for an unknown name.
std::optional<int> torch_type_bytes(std::string_view name);

}  // namespace ncclog
