// NCCL's numbers and their names: datatypes, reductions, results.
//
//   datatype 7 op 0     →  float32, sum
//   net.cc:1034 -> 6    →  ncclRemoteError
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

}  // namespace ncclog
