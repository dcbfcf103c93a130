// Is this call of NCCL the one that the framework speaks of?
//
//   AllGather count 8 datatype 7       WorkNCCL(OpType=_ALLGATHER_BASE, NumelIn=8, NumelOut=64, …)
//                                      entry nccl:_all_gather_base, input [[8]], output [[64]]
//
// NCCL counts what one rank gives to an AllGather or gets from a ReduceScatter. Up to 2.21 it
// prints bytes for AllGather and Broadcast, and a complex number is two of its parts, so a count
// may be a small multiple of the framework's.

#pragma once

#include <cstdint>
#include <string_view>

#include "model/call_signature.h"
#include "model/flight_recorder.h"

namespace ncclog {

/// Elements of all tensors together; -1: the dump does not say.
int64_t element_count(const TensorSizes& sizes);

/// True for works that are one call of NCCL each (ProcessGroupNCCL.cpp, 1.13 to 2.10); ALLTOALL,
/// say, is many.
bool is_one_call(std::string_view op);

/// True if a work of PyTorch's watchdog, "_ALLGATHER_BASE" with its numbers of elements, is `call`.
/// False for works that are not one call, and where the number that decides is negative.
bool is_call_of_work(const CallSignature& call, std::string_view op, int64_t numel_in,
                     int64_t numel_out);

/// True if an entry of the Flight Recorder is `call`; sizes that it does not tell are not compared.
bool is_call_of_entry(const CallSignature& call, const FlightRecorderEntry& entry);

}  // namespace ncclog
