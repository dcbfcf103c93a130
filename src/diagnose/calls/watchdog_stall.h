// Did ranks of one group give up on different collectives, and what follows from that?
//
//   rank 0 gave up on SeqNum 10, ranks 1-3 on SeqNum 14      → rank 0 stopped furthest back
//   rank 0 had enqueued 10 and gave up on none               → rank 0 is behind, no stall
//
// Who gave up by itself had come to its collective, so it is not missing there. A group's calls end
// in order: who gave up on 14 had ended 10 to 13.
//
//   BROADCAST 10: its root sends and goes on, so the others may wait for its data alone
//   ALLREDUCE 10: nobody ends it before all have entered it, and 11 not before all have ended 10;
//                 who ended 11 to 13 did not call what rank 0 calls

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {

struct Stall {
  const CallAccount* account = nullptr;        ///< nullptr: none.
  std::map<uint64_t, std::vector<int>> stops;  ///< As stops_of gives them, two at least.
};

/// That of the largest group, where nobody is known to be late or to have called something else.
/// Valid as long as the job.
const Stall& stall_of(const Job& job);

/// "; rank 0 stopped furthest back, at SeqNum 10 (ALLREDUCE …), ranks 1-3 at …"; empty: none.
std::string stall_words(const Stall& stall);

/// What it says that those further on had ended the call of those furthest back: a sentence, and the
/// end of a headline ("; their calls may have diverged"). Both are empty where it says nothing.
struct StallMeaning {
  std::string sentence;
  std::string headline;
};
StallMeaning meaning_of(const Stall& stall);

/// "ALLREDUCE NumelIn=8, NumelOut=8"; a desync report does not tell sizes.
std::string called_words(const LedgerCall& call);

}  // namespace ncclog
