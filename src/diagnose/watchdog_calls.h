// Which call does a watchdog wait for?
//
//   WorkNCCL(SeqNum=29, OpType=ALLREDUCE, NumelIn=1048576, …) of default_pg, on rank 0
//       → call 29 of the world's communicator, AllReduce of 1048576 float32, that rank 0 entered
//
// c10d counts its own works, and NCCL's lines carry no number, so a work is matched by operation
// and size among the calls that its process made. What no call of its process fits is a
// disagreement.

#pragma once

#include <string>
#include <vector>

#include "diagnose/watchdog_records.h"
#include "model/calls.h"
#include "model/job.h"

namespace ncclog {

/// True if that work is `call`, as is_call_of_work says.
bool fits(const CallSignature& call, const TimedOutWork& work);

/// Members of a communicator (into its ranks) and the call in which they are.
struct CallPlace {
  std::vector<int> members;
  CallSignature call;
};

/// "ranks 0-4,6,7 gave up on it as SeqNum 29 of process group 0": the watchdogs of members whose
/// works fit what they are in, of the one group and SeqNum that most of them have; empty: none.
std::string waiting_words(const Job& job, int communicator, const std::vector<CallPlace>& places);

/// Works that fit no call of their process, although its log shows all of them.
std::vector<TimedOutWork> works_without_call(const Job& job);

}  // namespace ncclog
