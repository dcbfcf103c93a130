// What does a source alone say about who is late, and who called something else?
//
//   recorder: rank 5 never called collective 29 of default_pg, in which all others wait
//                                                                          → Late, rank 5
//   watchdog: ranks 0-2 gave up on an ALLREDUCE of 1048576, rank 3 of 524288
//                                                                          → Mismatch, rank 3
//   recorder: all ranks called the same 29 collectives, and the last one is open   → Entered
//
// Dumps and watchdogs are asked the same questions in the same order; lines of calls, which also
// tell of messages and of all communicators in one order, go through the wait graph
// (diagnose/calls/who_waits.h). That ranks are some calls apart says nothing in a job that runs:
// somebody must have waited in that very call until a limit. Being late is no guilt either: only a
// rank that waits for nobody itself is named. A rank of which a source says nothing is unknown.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {

struct FactValue;

enum class VerdictKind { Nothing, Late, Mismatch, Entered };

/// What an account says; of several that of the group that matters most.
struct CallVerdict {
  VerdictKind kind = VerdictKind::Nothing;
  const CallAccount* account = nullptr;  ///< nullptr: Nothing. Valid as long as the job.
  uint64_t number = 0;                   ///< The call that it is about.
  /// Those that are late, or outvoted; into the account's ranks, ascending. May be empty.
  std::vector<int> named;
  CallFront front;                             ///< Of Late.
  std::optional<LedgerDifference> difference;  ///< Of Mismatch.
};

/// What the source, Recorder, Watchdog or Desync, says of that kind; of Nothing if it does not.
/// Larger groups go before smaller ones. Valid as long as the job.
CallVerdict find_verdict(const Job& job, CallSource source, VerdictKind kind);

/// What the source says first: of a mismatch, of late ranks, or that all have entered.
CallVerdict verdict_of(const Job& job, CallSource source);

inline const LedgerRank& member(const CallAccount& account, int place) {
  return account.ranks[static_cast<size_t>(place)];
}

/// The numbers of members of an account, ascending; those that are not known are left out.
std::vector<int> ranks_of(const CallAccount& account, const std::vector<int>& members);

/// The ranks whom a fact names, as numbers or as processes.
std::set<int> named_ranks(const Job& job, const FactValue& value);

/// "ranks 0-2"; where no number is known how many they are, "2 processes".
std::string members_phrase(const CallAccount& account, const std::vector<int>& members);

/// "ranks 0-2 of process group 3 joined collective 9 and did not finish it", as a desync report
/// tells; its ranks are those inside the group.
std::string joined_words(const CallAccount& account, const std::vector<int>& members,
                         uint64_t number);

/// The accounts of a source, largest group first.
std::vector<const CallAccount*> largest_first(const std::vector<CallAccount>& accounts);

}  // namespace ncclog
