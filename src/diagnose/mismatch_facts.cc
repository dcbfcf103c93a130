// Did the ranks of a communicator call different things at one place of their sequences?
//
//   call 20: ranks 0-2 AllReduce of 1048576 float32, rank 3 AllReduce of 524288 float32
//       → job.collectives_mismatched = yes, rank 3: three of four agree
//   call 20: rank 0 one thing, rank 1 another
//       → yes, and nobody is named, unless one of them departs from what it always did there
//
// A line lost in the middle of a log shifts all that follows, and looks like a skipped call. So a
// difference counts if all sequences are equally long, or if something says that the job stopped.
// Else it is only told (job.collectives_differ).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "diagnose/call_programs.h"
#include "diagnose/call_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/fingerprints.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/within_runs.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

const Communicator& communicator_at(const Job& job, int communicator) {
  return job.communicators[static_cast<size_t>(communicator)];
}

/// True if all ranks that the logs cover made equally many calls: then no line is missing.
bool equally_long(const Job& job, const Communicator& comm) {
  std::optional<uint64_t> length;
  for (const CommRank& rank : comm.ranks) {
    if (call_coverage(job, comm, rank) != CallCoverage::Counted) continue;
    const uint64_t size = calls_of(job, rank)->collectives.size();
    if (length.value_or(size) != size) return false;
    length = size;
  }
  return true;
}

/// More calls than a rank's host can be ahead of a collective that does not end: where ranks made
/// that many more after the difference, the job went on, and lines are missing.
constexpr uint64_t kMostAhead = 4096;

bool went_on(const Job& job, const Communicator& comm) {
  uint64_t shortest = UINT64_MAX;
  for (const CallCamp& camp : comm.difference->camps) {
    for (const int m : camp.members) {
      const CollectiveCalls* calls = calls_of(job, comm.ranks[static_cast<size_t>(m)]);
      shortest = std::min(shortest, calls->collectives.size());
    }
  }
  return shortest - comm.difference->index > kMostAhead;
}

/// The job stopped for a reason that a mismatch can give.
bool stopped(const Job& job) {
  const auto evidence = stop_evidence(job);
  return evidence && (evidence->by == StopBy::Failure || stood_still(job));
}

bool is_certain(const Job& job, const Communicator& comm) {
  if (equally_long(job, comm)) return true;
  return stopped(job) && !went_on(job, comm);
}

std::vector<Waiter> waiters_of(const Communicator& comm, const std::vector<int>& members) {
  std::vector<Waiter> waiters;
  for (const int m : members) waiters.push_back(waiter_of(comm.ranks[static_cast<size_t>(m)]));
  return waiters;
}

/// True if more than half of the communicator's ranks agree, or, where not all have come so far,
/// three of four.
bool is_majority(const Communicator& comm, size_t agreeing) {
  if (2 * agreeing > static_cast<size_t>(std::max(comm.nranks, 0))) return true;
  size_t came = 0;
  for (const CallCamp& camp : comm.difference->camps) came += camp.members.size();
  return agreeing >= 3 && 4 * agreeing >= 3 * came;
}

/// Everybody outside the camp of the majority; nobody if there is none.
std::vector<Waiter> outvoted(const Communicator& comm) {
  const std::vector<CallCamp>& camps = comm.difference->camps;
  if (!is_majority(comm, camps.front().members.size())) return {};
  std::vector<Waiter> odd;
  for (size_t c = 1; c < camps.size(); ++c) {
    const std::vector<Waiter> waiters = waiters_of(comm, camps[c].members);
    odd.insert(odd.end(), waiters.begin(), waiters.end());
  }
  return odd;
}

/// How many ranks of communicators like this one made exactly this call at this place after the
/// same calls. Tensor-parallel groups, say, all do the same.
size_t seconded(const Job& job, const Communicator& comm, const CallCamp& camp) {
  const uint64_t length = comm.difference->index + 1;
  const CommRank& member = comm.ranks[static_cast<size_t>(camp.members.front())];
  const auto hash = calls_of(job, member)->collectives.prefix_hash(length);
  if (!hash) return 0;
  size_t votes = 0;
  for (const Communicator& other : job.communicators) {
    if (&other == &comm || other.nranks != comm.nranks) continue;
    for (const CommRank& rank : other.ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls != nullptr && calls->collectives.prefix_hash(length) == hash) ++votes;
    }
  }
  return votes;
}

/// The members of the only camp that no rank of a communicator alike seconds, while the other's
/// call is common there.
std::vector<Waiter> alone_among_alike(const Job& job, const Communicator& comm) {
  const std::vector<CallCamp>& camps = comm.difference->camps;
  std::vector<Waiter> odd;
  size_t seconds = 0;
  for (const CallCamp& camp : camps) {
    const size_t votes = seconded(job, comm, camp);
    seconds = std::max(seconds, votes);
    if (votes > 0) continue;
    const std::vector<Waiter> waiters = waiters_of(comm, camp.members);
    odd.insert(odd.end(), waiters.begin(), waiters.end());
  }
  const bool is_common = seconds >= 2 && odd.size() < static_cast<size_t>(comm.nranks);
  return is_common ? odd : std::vector<Waiter>{};
}

std::vector<Waiter> odd_ones(const Job& job, const Communicator& comm) {
  std::vector<Waiter> odd = outvoted(comm);
  if (odd.empty()) odd = alone_among_alike(job, comm);
  if (!odd.empty()) return odd;
  // What they called behind the difference says nothing about it.
  std::vector<CallerUntil> all;
  for (const CallCamp& camp : comm.difference->camps) {
    for (const int member : camp.members) {
      const CommRank& rank = comm.ranks[static_cast<size_t>(member)];
      const PlacedCall* call = calls_of(job, rank)->collectives.call(comm.difference->index);
      if (call == nullptr) return {};
      all.push_back({waiter_of(rank), call->where});
    }
  }
  return departed(job, all);
}

std::string camps_words(const Job& job, int communicator) {
  const auto& camps = communicator_at(job, communicator).difference->camps;
  std::vector<std::string> phrases;
  constexpr size_t kMostCamps = 4;
  for (const CallCamp& camp : camps) {
    if (phrases.size() == kMostCamps) break;
    phrases.push_back(fmt::format("{} called {}", members_words(job, communicator, camp.members),
                                  call_words(camp.call.call)));
  }
  std::string words = join(phrases, ", ");
  if (camps.size() > kMostCamps)
    words += fmt::format(" and {} other things", camps.size() - kMostCamps);
  return words;
}

/// "call 20 of communicator 0x9c… (4 ranks): ranks 0-2 called …, rank 3 called … (count differs)".
std::string difference_words(const Job& job, int communicator) {
  const FirstDifference& difference = *communicator_at(job, communicator).difference;
  const std::string where = communicator_words(job, communicator);
  if (difference.camps.empty()) {
    return fmt::format("the ranks of {} differ somewhere in calls {} to {}", where,
                       difference.index + 1, difference.at_most + 1);
  }
  const std::string fields =
      differing_fields(difference.camps.front().call.call, difference.camps.back().call.call);
  return fmt::format("call {} of {}: {} ({} {})", difference.index + 1, where,
                     camps_words(job, communicator), fields,
                     fields.find(',') == std::string::npos ? "differs" : "differ");
}

void add_camps(const FirstDifference& difference, FactValue& value) {
  for (const CallCamp& camp : difference.camps) value.evidence.push_back({camp.call.where, {}});
}

/// Communicators whose ranks differ and of which `wanted(comm)` holds, as one answer.
template <typename Wanted>
FactValue differences(const Job& job, bool names_the_odd, Wanted&& wanted) {
  constexpr size_t kMostTold = 3;
  FactValue value = yes({});
  std::vector<std::string> phrases;
  size_t found = 0;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    if (!comm.difference || !wanted(comm)) continue;
    if (found++ == 0) value.communicator = comm.id;
    value.inferred |= comm.inferred && comm.ranks.front().rank < 0;
    if (names_the_odd) {
      for (const Waiter& waiter : odd_ones(job, comm)) blame(job, waiter, value);
    }
    if (phrases.size() == kMostTold) continue;
    add_camps(*comm.difference, value);
    phrases.push_back(difference_words(job, static_cast<int>(c)));
  }
  if (found == 0) return unknown();
  value.what = join(phrases, "; ");
  if (found > kMostTold)
    value.what += fmt::format("; and {} more communicators", found - kMostTold);
  return value;
}

FactValue collectives_mismatched(const Job& job, const Instance&) {
  return differences(job, true, [&](const Communicator& comm) {
    return !comm.difference->camps.empty() && is_certain(job, comm);
  });
}

FactValue collectives_differ(const Job& job, const Instance&) {
  return differences(job, false, [&](const Communicator& comm) {
    return comm.difference->camps.empty() || !is_certain(job, comm);
  });
}

constexpr std::array kFacts = {
    Fact{"job.collectives_differ", Scope::Job, FactType::Bool,
         "Ranks of a communicator differ in their calls, or lines of their logs are missing.",
         within_runs<collectives_differ>},
    Fact{"job.collectives_mismatched", Scope::Job, FactType::Bool,
         "Ranks of a communicator called different things at one place of their sequences.",
         within_runs<collectives_mismatched>},
    Fact{"job.mismatch_noticed", Scope::Job, FactType::Bool,
         "A check of PyTorch, or of NCCL 2.4 to 2.7, found ranks in different calls.",
         mismatch_noticed},
};

}  // namespace

std::span<const Fact> mismatch_facts() { return kFacts; }

}  // namespace ncclog
