// What does PyTorch's own analysis of Flight Recorder dumps say, where people have kept that alone?
//
//   Not all ranks joining collective, sequence number: 41
//   group info: 0:default_pg
//   collective: nccl:all_reduce
//   missing ranks: {3}
//   expected ranks: {0, 1, 2, 3}
//   collective state: scheduled
//   collective stack trace:
//    evaluate at /srv/sft/sft.py:30
//       → lacking: "rank 3 has no record of collective 41 of default_pg, all_reduce, in which ranks
//         0-2 waited (evaluate, sft.py:30)", names rank 3
//   Collective sequence number: 41 has errors
//   error msg: Culprit rank 1; Error type: COLLECTIVE_TYPE_MISMATCH, Expected collective type: …
//       → mismatch
//
// From torch/distributed/flight_recorder. It takes the first rank's call for the right one, so of two
// ranks either may be odd, and a missing record may be a dump that was written early or lost its
// oldest calls. So few are named where many differ from them, and nobody who waits in another group.

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

/// Ranks lack a record of a collective in which others are; unknown: nothing says so.
FactValue analysis_lacking(const Job& job, const Instance& the_job);

/// Ranks called different things by one number; unknown: nothing says so. States that differ, as
/// between dumps of different moments, are none.
FactValue analysis_mismatch(const Job& job, const Instance& the_job);

}  // namespace ncclog
