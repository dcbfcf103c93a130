// Where do times of calls stand? In dumps of PyTorch's Flight Recorder, in files of NCCL's
// Inspector, in front of stamped lines.
//
//   dumps of 8 ranks, entries with duration_ms          → group "0": durations alone
//   node01-pid41.log … of the Inspector, verbose        → communicator 0x7f8c…: starts and durations
//   [2026-11-20 20:54:52.123456] node-a:41:41 … AllReduce: opCount 1a …   → entries alone
//
// Only collectives that end on no rank before all have entered them are told: AllReduce, AllGather,
// ReduceScatter, AlltoAll. The root of a Broadcast waits for nobody.

#pragma once

#include <vector>

#include "base/line.h"
#include "diagnose/perf/late/late_ranks.h"
#include "model/job.h"

namespace ncclog {

/// Times of all communicators and groups with two ranks or more that have any, by source, the
/// largest first. Ranks are those of the job where they can be told. Pure.
std::vector<CallTimes> call_times(const Job& job);

/// The lines of calls whose times are worth reading again, sorted: of communicators with stamped
/// lines, the calls that are kept. Empty where stamps are whole seconds, and not more than can be
/// read in a moment.
std::vector<SourceRef> stamped_calls(const Job& job);

}  // namespace ncclog
