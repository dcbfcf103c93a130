// What is known of a job while its defect is looked for, for replay/recorded_defect.cc and
// message_defect.cc.

#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "diagnose/call_waits.h"
#include "diagnose/idle_holdups.h"
#include "model/call_coverage.h"
#include "replay/recorded_defect.h"

namespace ncclog {

/// `job` and `suspicion` must outlive it.
struct Search {
  const Job& job;
  const Suspicion& suspicion;
  std::set<Membership> members;

  const Communicator& comm(int communicator) const {
    return job.communicators[static_cast<size_t>(communicator)];
  }
  const CollectiveCalls* calls(const Membership& member) const {
    return calls_of(job, rank_of(job, member));
  }
  /// Those that a plan may hold.
  std::vector<Membership> known(int communicator, const std::vector<int>& ranks) const {
    std::vector<Membership> result;
    for (const int r : ranks) {
      if (members.contains({communicator, r})) result.push_back({communicator, r});
    }
    return result;
  }
  bool is_blamed(const Membership& member) const {
    const int process = rank_of(job, member).process;
    const int rank = process < 0 ? -1 : job.processes[static_cast<size_t>(process)].rank;
    return rank >= 0 &&
           std::find(suspicion.ranks.begin(), suspicion.ranks.end(), rank) != suspicion.ranks.end();
  }
  /// Of `behind`, those that are among them who hold the job up, as far as the logs can tell.
  std::vector<Membership> holding(const Waits& waits, const std::vector<Membership>& behind) const {
    std::vector<Membership> result;
    std::copy_if(behind.begin(), behind.end(), std::back_inserter(result),
                 [&](const Membership& member) {
                   const Waiter waiter = waiter_of(rank_of(job, member));
                   return holds_up(waits, waiter) && !may_wait_for_unknown(job, waits, waiter);
                 });
    return result;
  }
  bool is_suspected(int communicator) const {
    return comm(communicator).id == suspicion.communicator;
  }
};

}  // namespace ncclog
