// What do checks of PyTorch and of NCCL say about calls that differ, and who is the odd one?
//
//   [rank2]: RuntimeError: Detected mismatch between collectives on ranks. Rank 2 is running
//   collective: CollectiveFingerPrint(SequenceNumber=7, OpType=_ALLGATHER_BASE,
//   TensorShape=[1048576], …), but Rank 1 is running collective: CollectiveFingerPrint(
//   SequenceNumber=7, OpType=_ALLGATHER_BASE, TensorShape=[524288], …)
//       with the same of ranks 0 and 3 → job.mismatch_noticed = yes, rank 1: three of four agree
//
// With TORCH_DISTRIBUTED_DEBUG=DETAIL every rank compares its call with those of all others in the
// order of their ranks, and reports the first that differs. So each report says what two ranks
// called, and that the ranks before the second one called what the first one did. Ranks are those
// inside the group; they are those of the job where every reporter's two numbers are equal.

#pragma once

#include "diagnose/fact.h"
#include "model/job.h"

namespace ncclog {

/// job.mismatch_noticed. NCCL's own check names the rank at which it noticed something, and so
/// nobody as guilty.
FactValue mismatch_noticed(const Job& job, const Instance&);

}  // namespace ncclog
