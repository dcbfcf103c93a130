// Which messages were out of step when both their ends had gone on?
//
//   rank 4:  Recv←6 AllReduce (#8) | Recv←6 AllReduce (#9) | Recv←6
//   rank 6:  Send→4 AllReduce (#8) |        AllReduce (#9) | Send→4 AllReduce (#10)
//       → before the 9th AllReduce of both, rank 4 had received twice and rank 6 had sent once
//
// Counts where the logs end tell how far each rank has come: here as many were sent as received. At
// a collective that both made, both were at one place of the program. Where their messages matched
// at all earlier ones, and were as far apart at all later ones, one of both left a message out
// there or made one too many.

#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/rank_programs.h"
#include "model/job.h"

namespace ncclog {

/// Messages from one rank to another that went out of step.
struct OutOfStep {
  CallLine messages;
  Waiter sender;
  Waiter receiver;
  CallLine collective;  ///< The first one before which they were not as many.
  uint64_t index = 0;   ///< Of it.
  uint64_t sent = 0;    ///< Until then.
  uint64_t received = 0;

  const Waiter& owing() const { return sent < received ? sender : receiver; }
};

/// All such messages between ranks whose programs are known, by CallLine. Empty for jobs of very
/// many ranks, where nobody compares them all. Valid as long as the job.
const std::vector<OutOfStep>& messages_out_of_step(const Job& job);

/// One of them left the order of calls that ranks like it keep, and its other end did not.
struct OutOfStepRank {
  OutOfStep messages;
  Waiter waiter;  ///< The end that did.
};

/// Those of whom that is certain, each once; in order of their messages. Pure.
std::vector<OutOfStepRank> ranks_out_of_step(const Job& job);

}  // namespace ncclog
