#include "model/ledger/call_ledger.h"

#include <algorithm>

namespace ncclog {
namespace {

CallLedger build_call_ledger(const Job& job) {
  return {{line_accounts(job), recorder_accounts(job), watchdog_accounts(job), desync_accounts(job),
           ras_accounts(job)}};
}

/// The number of calls behind which ranks are looked for: what all counted ranks made, or what
/// stands before the call on which most gave up, since hosts go on to enqueue calls behind that.
uint64_t front_number(const CallAccount& account, uint64_t furthest) {
  if (account.given_up) return *account.given_up - 1;
  uint64_t least = furthest;
  for (const LedgerRank& rank : account.ranks) {
    if (rank.coverage == CallCoverage::Counted) least = std::min(least, rank.entered);
  }
  return least;
}

enum class Standing { Behind, Ahead, Unknown, Elsewhere };

/// Where a rank stands to the call behind `front`; Elsewhere: it waits in another call than that,
/// so that nothing follows from who lacks it.
Standing standing_of(const LedgerRank& rank, uint64_t front, CallSource source) {
  const LedgerCall* call = rank.call(front + 1);
  const bool waits =
      call != nullptr && (call->state == CallState::Open || call->state == CallState::TimedOut);
  const bool follows_calls = source == CallSource::Recorder;
  if (rank.coverage != CallCoverage::Counted) return waits ? Standing::Ahead : Standing::Unknown;
  if (rank.entered <= front) {
    const bool is_stuck_before = follows_calls && rank.completed < rank.entered;
    return is_stuck_before ? Standing::Elsewhere : Standing::Behind;
  }
  if (waits) return Standing::Ahead;
  if (follows_calls) return Standing::Elsewhere;
  // A watchdog that says nothing of the call need not have waited in it.
  return source == CallSource::Watchdog ? Standing::Unknown : Standing::Ahead;
}

}  // namespace

const LedgerCall* LedgerRank::call(uint64_t number) const {
  const auto found = std::ranges::lower_bound(calls, number, {}, &LedgerCall::number);
  return found == calls.end() || found->number != number ? nullptr : &*found;
}

const CallLedger& call_ledger(const Job& job) { return job.answers.of<&build_call_ledger>(job); }

CallFront front_of(const CallAccount& account) {
  CallFront front{.communicator = account.communicator, .unseen = account.unseen};
  for (const LedgerRank& rank : account.ranks) {
    front.furthest = std::max(front.furthest, rank.entered);
  }
  if (account.given_up == 0) return front;  // Nobody can have entered less.
  front.front = front_number(account, front.furthest);
  bool is_elsewhere = false;
  for (size_t r = 0; r < account.ranks.size(); ++r) {
    const Standing standing = standing_of(account.ranks[r], front.front, account.source);
    is_elsewhere |= standing == Standing::Elsewhere;
    if (standing == Standing::Behind) front.behind.push_back(static_cast<int>(r));
    if (standing == Standing::Ahead) front.ahead.push_back(static_cast<int>(r));
    if (standing == Standing::Unknown) front.unknown.push_back(static_cast<int>(r));
  }
  const bool is_told = !is_elsewhere && account.is_numbered_alike && !front.ahead.empty();
  if (!is_told || !is_anchored(account, front.front + 1)) {
    front.behind.clear();
    front.ahead.clear();
  }
  return front;
}

}  // namespace ncclog
