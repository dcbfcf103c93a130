// NCCL's numbers and their names: datatypes, reductions, results; what its operations move.
//
//   datatype 7 op 0     →  float32, sum
//   net.cc:1034 -> 6    →  ncclRemoteError
//   AllReduce, 8 ranks  →  busbw = algbw * 1.75
//
// Numbers as in nccl.h; they never changed their meaning, later releases only added some.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ncclog {

/// "float32" for 7 (ncclDataType_t); empty for a number that no release up to 2.30 knows.
std::string_view datatype_name(int64_t datatype);

/// Bytes of one element; nullopt for an unknown datatype.
std::optional<int> datatype_bytes(int64_t datatype);

/// "sum" for 0 (ncclRedOp_t); "user" for 5 and above, which the application made; empty below 0.
std::string_view reduction_name(int64_t reduction);

/// "ncclRemoteError" for 6 (ncclResult_t); empty for an unknown number.
std::string_view result_name(int64_t result);

/// By what algorithm bandwidth is multiplied for bus bandwidth (nccl-tests, doc/PERFORMANCE.md), so
/// that it can be held against the rate of a link whatever the number of ranks: AllReduce 2(n-1)/n;
/// AllGather, ReduceScatter, AlltoAll, Gather, Scatter (n-1)/n; others, as messages, 1. 0 where n
/// is below 1.
double bus_factor(std::string_view op, int nranks);

}  // namespace ncclog
