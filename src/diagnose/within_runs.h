// Facts that compare processes with each other, when the logs hold several runs.
//
//   run 1: NCCL_ALGO is Ring on all ranks   run 2: NCCL_ALGO is Tree on all ranks   → no difference
//
// Nothing is compared across runs. What cannot be given to one run is compared with nothing.

#pragma once

#include "diagnose/fact.h"

namespace ncclog {

/// The job with everything gone that is not said by the processes of one run. Their indices stay.
Job only_run(const Job& job, int run);

/// Asks `derive` about each run: the first "yes", else the first answer that is known. Where pids
/// may have had several lives nothing is known.
template <FactValue (*derive)(const Job&, const Instance&)>
FactValue within_runs(const Job& job, const Instance& instance) {
  for (const Process& process : job.processes) {
    if (process.restarted) return {};
  }
  if (job.runs.empty()) return derive(job, instance);
  // Nobody keeps that many together; it is time that is saved.
  constexpr size_t kMaxCompared = 16;
  if (job.runs.size() > kMaxCompared) return {};
  FactValue answer;
  for (size_t run = 0; run < job.runs.size(); ++run) {
    FactValue value = derive(only_run(job, static_cast<int>(run)), instance);
    const bool* yes = std::get_if<bool>(&value.value);
    if (yes != nullptr && *yes) return value;
    if (!answer.known()) answer = std::move(value);
  }
  return answer;
}

}  // namespace ncclog
