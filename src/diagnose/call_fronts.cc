#include "diagnose/call_fronts.h"

#include <algorithm>
#include <set>

#include "diagnose/watchdog_records.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// A communicator of which no line says how many ranks it has may have any number.
int unseen_ranks(const Communicator& comm) {
  const int seen = static_cast<int>(comm.ranks.size());
  return comm.nranks < 0 ? 1 : std::max(0, comm.nranks - seen);
}

/// True if the watchdog of every rank whose calls are not counted fired.
bool unknown_ranks_wait(const Job& job) {
  if (job.communicators.empty()) return false;
  const Communicator& world = job.communicators.front();
  if (world.nranks != job.nranks || static_cast<int>(world.ranks.size()) != world.nranks) {
    return false;
  }
  std::set<int> gave_up;
  for (const TimedOutWork& work : timed_out_work(job)) {
    // Up to PyTorch 2.1 the rank may be that inside some group.
    if (job.processes[static_cast<size_t>(work.process)].rank >= 0) gave_up.insert(work.rank);
  }
  return std::all_of(world.ranks.begin(), world.ranks.end(), [&](const CommRank& rank) {
    return call_coverage(job, world, rank) == CallCoverage::Counted ||
           (rank.rank >= 0 && gave_up.contains(rank.rank));
  });
}

}  // namespace

uint64_t collectives_of(const Job& job, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  return calls == nullptr ? 0 : calls->collectives.size();
}

CallFront call_front(const Job& job, int communicator) {
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  CallFront front;
  front.communicator = communicator;
  front.unseen = unseen_ranks(comm);
  std::vector<int> counted;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const bool is_counted = call_coverage(job, comm, comm.ranks[r]) == CallCoverage::Counted;
    (is_counted ? counted : front.unknown).push_back(static_cast<int>(r));
    front.furthest = std::max(front.furthest, collectives_of(job, comm.ranks[r]));
  }
  front.front = front.furthest;
  const auto length = [&](int r) {
    return collectives_of(job, comm.ranks[static_cast<size_t>(r)]);
  };
  for (const int r : counted) front.front = std::min(front.front, length(r));
  if (comm.difference || front.front == front.furthest) return front;
  for (const int r : counted) (length(r) == front.front ? front.behind : front.ahead).push_back(r);
  return front;
}

std::vector<CallFront> call_fronts(const Job& job) {
  const bool unknown_wait = unknown_ranks_wait(job);
  std::vector<CallFront> fronts;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    CallFront front = call_front(job, static_cast<int>(c));
    front.unknown_wait = unknown_wait;
    if (front.furthest > 0) fronts.push_back(std::move(front));
  }
  return fronts;
}

const PlacedCall* open_call(const Job& job, const CallFront& front) {
  const Communicator& comm = job.communicators[static_cast<size_t>(front.communicator)];
  for (const int r : front.ahead) {
    const CollectiveCalls* calls = calls_of(job, comm.ranks[static_cast<size_t>(r)]);
    if (const PlacedCall* call = calls->collectives.call(front.front)) return call;
  }
  return nullptr;
}

}  // namespace ncclog
