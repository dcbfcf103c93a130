// Do ranks wait in a circle for each other's Recv?
//
//   rank 0: Send to 1, Recv from 1     both gave up on that Send: each Recv stands behind a Send
//   rank 1: Send to 0, Recv from 0     that does not end before the other one's Recv begins
//       → job.messages_in_circle = yes: "rank 0 → rank 1 → rank 0"
//
// The messages of one communicator run on one stream, one after the other. So a rank whose watchdog
// gave up on a message has not begun what stands behind it, and whoever waits for that waits for
// the rank. The lines of a group (batch_isend_irecv) look the same, but PyTorch reports it as
// COALESCED; up to 2.0, where it did not, nothing is said.
//
// Without lines of calls it is enough that every rank of the job gave up on a Send: each waits for
// one of the others, so some wait in a circle. That holds where all messages run on one stream,
// which a communicator of two of the ranks disproves.

#pragma once

#include "diagnose/fact.h"
#include "model/job.h"

namespace ncclog {

/// job.messages_in_circle: names all ranks of the circle.
FactValue messages_in_circle(const Job& job, const Instance&);

}  // namespace ncclog
