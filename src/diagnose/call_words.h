// Calls and the ranks that made them, in words.
//
//   "AllReduce of 1048576 float32 (sum)"
//   "rank 5 (gpu-node-02, pid 14224, GPU 1)"
//   "its last call was ReduceScatter of 1048576 bfloat16 (sum) on communicator 0x9c1b…, 12:04:11"

#pragma once

#include <string>
#include <vector>

#include "diagnose/fact.h"
#include "diagnose/waiter.h"
#include "model/job.h"

namespace ncclog {

/// "Broadcast of 64 float32 from root 3", "Send of 4096 bfloat16 to rank 5".
std::string call_words(const CallSignature& call);

/// "function, count" of AllReduce of 8 and AllGather of 4: what differs, in NCCL's words.
std::string differing_fields(const CallSignature& a, const CallSignature& b);

/// "communicator 0x9c1b… (8 ranks)".
std::string communicator_words(const Job& job, int communicator);

/// "ranks 0-4,6,7", members of a communicator by the numbers of the job where these are known.
std::string members_words(const Job& job, int communicator, const std::vector<int>& members);

/// One process with all that names it.
std::string waiter_words(const Job& job, const Waiter& waiter);

/// What it called last, on whatever communicator, and when if the line says so; empty if it made no
/// call. `line`, if not nullptr, becomes that call's.
std::string last_call_words(const Job& job, const Waiter& waiter, Evidence* line);

/// Adds a process to those that an answer names.
void blame(const Job& job, const Waiter& waiter, FactValue& value);

}  // namespace ncclog
