#include "diagnose/idle_holdups.h"

#include <algorithm>
#include <set>

#include "diagnose/message_counts.h"
#include "diagnose/program_twins.h"
#include "diagnose/watchdog_records.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

std::set<int> find_those_that_gave_up(const Job& job) {
  std::set<int> processes;
  for (const TimedOutWork& work : timed_out_work(job)) processes.insert(work.process);
  return processes;
}

const std::set<int>& processes_that_gave_up(const Job& job) {
  return job.answers.of<&find_those_that_gave_up>(job);
}

/// Its watchdog gave up although nothing of its own is open: in a call that all have made.
bool waited_in_a_whole_call(const Job& job, const Waits& waits, const Waiter& waiter) {
  return processes_that_gave_up(job).contains(waiter.process) &&
         !std::binary_search(waits.waiting.begin(), waits.waiting.end(), waiter);
}

/// On communicators with collectives.
bool may_wait_in_front(const Job& job, const Waits& waits, const Waiter& waiter) {
  return std::any_of(waits.fronts.begin(), waits.fronts.end(), [&](const CallFront& front) {
    if (front.knows_all()) return false;
    const auto& ranks = job.communicators[static_cast<size_t>(front.communicator)].ranks;
    return std::any_of(ranks.begin(), ranks.end(), [&](const CommRank& rank) {
      const CollectiveCalls* calls = calls_of(job, rank);
      return waiter_of(rank) == waiter && calls != nullptr && calls->total > 0;
    });
  });
}

const CommRank* find_rank(const Communicator& comm, int number) {
  const auto found = std::find_if(comm.ranks.begin(), comm.ranks.end(),
                                  [&](const CommRank& rank) { return rank.rank == number; });
  return found == comm.ranks.end() ? nullptr : &*found;
}

/// The peer may not have made the other end of each message of `rank` in a direction.
bool may_lack_end(const Job& job, const CommRank& rank, const CommRank& peer, bool receives) {
  const auto own = message_count(job, rank, peer.rank, receives);
  const auto shown = message_count(job, peer, rank.rank, !receives);
  return !own || !shown || own->count > shown->count;
}

/// The peer is not counted, or not with this rank, and its log does not show the other end of all
/// messages.
bool may_owe(const Job& job, const Communicator& comm, const CommRank& rank, int peer) {
  const CommRank* other = find_rank(comm, peer);
  if (other == nullptr) return true;
  const CallCoverage coverage = call_coverage(job, comm, *other);
  if (coverage == CallCoverage::Unknown) return true;
  if (coverage == CallCoverage::Counted) {
    return !message_count(job, *other, rank.rank, false) ||
           !message_count(job, *other, rank.rank, true);
  }
  return may_lack_end(job, rank, *other, false) || may_lack_end(job, rank, *other, true);
}

bool may_lack_message(const Job& job, const Communicator& comm, const CommRank& rank) {
  if (has_unknown_peers(job, rank)) return true;
  const std::vector<int> peers = message_peers(job, rank);
  return std::any_of(peers.begin(), peers.end(),
                     [&](int peer) { return may_owe(job, comm, rank, peer); });
}

bool may_wait_in_message(const Job& job, const Waiter& waiter) {
  return std::any_of(job.communicators.begin(), job.communicators.end(), [&](const auto& comm) {
    return std::any_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
      return waiter_of(rank) == waiter && may_lack_message(job, comm, rank);
    });
  });
}

/// It began to initialise a communicator and waits there for its other ranks.
bool is_initialising(const Job& job, const Waiter& waiter) {
  return std::any_of(job.communicators.begin(), job.communicators.end(), [&](const auto& comm) {
    return std::any_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
      return rank.state == RankState::Started && waiter_of(rank) == waiter;
    });
  });
}

/// Its Send to itself and the Recv of it differ in size: it waits for itself.
bool waits_for_itself(const Job& job, const Waits& waits, const Waiter& waiter) {
  return std::any_of(waits.unmatched.begin(), waits.unmatched.end(), [&](const auto& messages) {
    const auto& ranks = job.communicators[static_cast<size_t>(messages.communicator)].ranks;
    return messages.sizes_differ && messages.sender == messages.receiver &&
           waiter_of(ranks[static_cast<size_t>(messages.sender)]) == waiter;
  });
}

bool is_one_of(const std::vector<Holdup>& idle, const Waiter& waiter) {
  return std::any_of(idle.begin(), idle.end(),
                     [&](const Holdup& one) { return one.waiters.front() == waiter; });
}

/// Another rank of the communicator waits itself, or is one of those that seem to wait for nobody,
/// and has come less far.
bool is_kept_in(const Job& job, const Waits& waits, const std::vector<Holdup>& idle,
                const Communicator& comm, const Waiter& waiter) {
  return std::any_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
    const Waiter mate = waiter_of(rank);
    if (mate == waiter || !made_no_more(job, mate, waiter)) return false;
    if (is_one_of(idle, mate)) return !made_no_more(job, waiter, mate);
    return std::binary_search(waits.waiting.begin(), waits.waiting.end(), mate);
  });
}

/// It may wait for a rank of one of its groups in a call that no line shows, as the calls of a CUDA
/// graph are: that rank is at no later place of the same program, and waits for somebody else.
bool may_wait_unseen(const Job& job, const Waits& waits, const std::vector<Holdup>& idle,
                     const Waiter& waiter) {
  int largest = 0;
  for (const Communicator& comm : job.communicators) largest = std::max(largest, comm.nranks);
  return std::any_of(job.communicators.begin(), job.communicators.end(), [&](const auto& comm) {
    const bool is_member =
        std::any_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
          const CollectiveCalls* calls = calls_of(job, rank);
          return waiter_of(rank) == waiter && calls != nullptr && calls->collectives.size() > 0;
        });
    return is_member && comm.nranks < largest && is_kept_in(job, waits, idle, comm, waiter);
  });
}

}  // namespace

bool ranks_contradict_each_other(const Job& job) {
  return std::any_of(job.communicators.begin(), job.communicators.end(),
                     [](const Communicator& comm) { return comm.difference.has_value(); });
}

bool timeouts_name_no_process(const Job& job) {
  const bool ranks_are_known =
      std::none_of(job.processes.begin(), job.processes.end(),
                   [](const Process& process) { return process.has_nccl && process.rank < 0; });
  const std::vector<TimedOutWork> works = timed_out_work(job);
  return std::any_of(works.begin(), works.end(), [&](const TimedOutWork& work) {
    const Process& process = job.processes[static_cast<size_t>(work.process)];
    if (process.rank < 0 && process.pid < 0) return true;
    return !process.has_nccl && !ranks_are_known;
  });
}

bool may_wait_for_unknown(const Job& job, const Waits& waits, const Waiter& waiter) {
  return waited_in_a_whole_call(job, waits, waiter) || may_wait_in_front(job, waits, waiter) ||
         may_wait_in_message(job, waiter);
}

std::vector<Holdup> idle_holdups(const Job& job, const Waits& waits) {
  const std::set<int>& gave_up = processes_that_gave_up(job);
  std::vector<Holdup> result;
  for (const Holdup& holdup : waits.holdups) {
    if (holdup.waiters.size() != 1) continue;
    const Waiter& waiter = holdup.waiters.front();
    if (gave_up.contains(waiter.process) || is_initialising(job, waiter)) continue;
    if (may_wait_for_unknown(job, waits, waiter)) continue;
    if (waits_for_itself(job, waits, waiter)) continue;
    result.push_back(holdup);
  }
  // Without a watchdog nobody says of several that they do not wait.
  if (result.size() > 1 && gave_up.empty()) {
    const std::vector<Holdup> idle = result;
    std::erase_if(result, [&](const Holdup& holdup) {
      return may_wait_unseen(job, waits, idle, holdup.waiters.front());
    });
  }
  // Some of several may be among those that gave up.
  const bool is_uncertain = result.size() > 1 && timeouts_name_no_process(job);
  return is_uncertain ? std::vector<Holdup>{} : result;
}

}  // namespace ncclog
