// Whose dump is this? A dump names a rank of PyTorch; the log names processes by NCCL's ranks.
//
// The two are the same number where the job's largest communicator is as large as the dump's
// largest group, the world: both are then made by all ranks in the same order.

#include <algorithm>
#include <tuple>

#include "model/build_steps.h"

namespace ncclog {
namespace {

size_t world_size(const FlightRecorderDump& dump) {
  size_t size = 0;
  for (const FlightRecorderGroup& group : dump.groups) size = std::max(size, group.ranks.size());
  return size;
}

int process_of(const Job& job, const FlightRecorderDump& dump) {
  const size_t size = world_size(dump);
  if (dump.rank < 0 || size == 0 || job.communicators.empty()) return -1;
  const int nranks = job.communicators.front().nranks;
  return nranks >= 0 && static_cast<size_t>(nranks) == size ? process_of_rank(job, dump.rank) : -1;
}

}  // namespace

void build_flight_recorders(Job& job) {
  for (FlightRecorderDump& dump : job.flight_recorders) dump.process = process_of(job, dump);
  std::stable_sort(job.flight_recorders.begin(), job.flight_recorders.end(),
                   [](const FlightRecorderDump& a, const FlightRecorderDump& b) {
                     return std::tuple(a.rank < 0, a.rank) < std::tuple(b.rank < 0, b.rank);
                   });
}

}  // namespace ncclog
