// What lines of calls tell: NCCL_DEBUG_SUBSYS=COLL, and CALL where there is no COLL.

#include <algorithm>

#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

bool prints_calls(const Job& job, const Process& process) {
  return std::ranges::any_of(process.logs, [&](size_t log) {
    return std::ranges::any_of(job.logs[log].comms.all, [](const CommSegment& segment) {
      return segment.calls->total + segment.traces->total > 0;
    });
  });
}

/// A log and its copy, or one that was rotated, hold a call twice or in an unknown order.
bool is_in_one_input(const Job& job, const CollectiveCalls& calls) {
  const JobUnit* first = unit_of(job, calls.first);
  const JobUnit* last = unit_of(job, calls.last);
  return first != nullptr && last != nullptr && first->input == last->input;
}

/// Where the rank is known from the communicator's end only, what came before it is missing.
bool has_its_beginning(const CommSegment& segment) {
  return segment.rank < 0 || segment.started.line != 0 || segment.completed.line != 0 ||
         segment.announced.line != 0;
}

/// Without initialisation lines processes are joined by the communicator's size alone. Several
/// communicators of one size cannot be told apart.
bool is_a_guess(const Job& job, const Communicator& comm, const CommRank& rank) {
  if (rank.rank >= 0 || !comm.inferred) return false;
  return std::ranges::any_of(job.communicators, [&](const Communicator& other) {
    return &other != &comm && other.inferred && other.nranks == comm.nranks;
  });
}

}  // namespace

CallCoverage call_coverage(const Job& job, const Communicator& comm, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || rank.process < 0) return CallCoverage::Unknown;
  const Process& process = nth_process(job, rank.process);
  // Calls may be missing in the middle: then the numbers of later ones mean nothing.
  const bool lines_are_missing =
      process.torn || process.restarted || job.losses.count(Loss::LineLeftOut) > 0;
  if (lines_are_missing || !prints_calls(job, process)) return CallCoverage::Unknown;
  if (calls->total > 0 && !is_in_one_input(job, *calls)) return CallCoverage::Unknown;
  if (!has_its_beginning(segment_of(job, rank)) || is_a_guess(job, comm, rank)) {
    return CallCoverage::Unknown;
  }
  return process.cut ? CallCoverage::AtLeast : CallCoverage::Counted;
}

std::vector<CallAccount> line_accounts(const Job& job) {
  std::vector<CallAccount> accounts;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    CallAccount& account = accounts.emplace_back();
    account.communicator = static_cast<int>(c);
    account.is_numbered_alike = !comm.difference;
    // A communicator of which no line says how many ranks it has may have any number.
    account.unseen =
        comm.nranks < 0 ? 1 : std::max(0, comm.nranks - static_cast<int>(comm.ranks.size()));
    for (const CommRank& rank : comm.ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      account.ranks.push_back({.rank = rank.rank,
                               .process = rank.process,
                               .coverage = call_coverage(job, comm, rank),
                               .entered = calls == nullptr ? 0 : calls->collectives.size(),
                               .completed = {},
                               .lines = calls,
                               .calls = {}});
    }
  }
  return accounts;
}

}  // namespace ncclog
