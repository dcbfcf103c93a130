// How the job ended, in the words that every format shows.
//
//   Ended: finished; nccl-tests printed its summary (bench.out:412).

#pragma once

#include <string>

#include "model/job.h"

namespace ncclog {

/// "Ended: finished; nccl-tests printed its summary (bench.out:412). 4 of 8 processes finished, 4
/// unfinished." The processes only where some of them ended otherwise than the job.
std::string outcome_text(const Job& job);

}  // namespace ncclog
