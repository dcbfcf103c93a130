// What do the Flight Recorder's dumps say of sends and receives? And the words for what dumps hold.
//
//   rank 0   nccl:recv 0<-1 started     nccl:send 0->1 scheduled
//   rank 1   nccl:recv 1<-0 started     nccl:send 1->0 scheduled
//       → job.recorder_circle = yes: each Send stands behind a Recv that waits for the other one
//
//   all four ranks wait in collective 6; between 5 and 6 rank 0 receives 6 times from rank 3, which
//   sends 4 times; between 4 and 5 they had been as many
//       → job.recorder_messages_short = yes, rank 3: it left out what the others still wait for

#pragma once

#include <string>

#include "diagnose/facts/fact.h"
#include "model/flight_recorder.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {

/// Messages of a pair run one after the other, unless they are one group (then the dump has a
/// coalesced call), and meet in their order. So this is known where a dump holds all of them.
FactValue recorder_circle(const Job& job, const Instance&);

/// Where all ranks of a group wait in one of its collectives, and somebody sent and received less
/// than its peers with it since the collective before, though not in the stretch before that.
FactValue recorder_messages_short(const Job& job, const Instance&);

/// "train.py:54"; empty: the dump has no stacks.
std::string frame_words(const FlightRecorderEntry& call);

/// "AllReduce of 1048576 Float": valid UTF-8.
std::string recorded_words(const FlightRecorderEntry& call);

/// "AllReduce of 1048576 Float, at train.py:54".
std::string placed_words(const FlightRecorderEntry& call);

/// "process group default_pg (8 ranks)".
std::string group_words(const CallAccount& account);

}  // namespace ncclog
