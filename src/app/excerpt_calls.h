// Which calls of a process may be left out of an excerpt?

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "log/event.h"
#include "model/comm_segment.h"
#include "model/job.h"
#include "model/read_call.h"

namespace ncclog {

/// The calls of one segment that are left out: those before these numbers, counted from 0.
struct LeftOutCalls {
  uint64_t collectives = 0;
  std::map<int, uint64_t> sent;      ///< By peer.
  std::map<int, uint64_t> received;  ///< By peer.
};

/// Follows the calls in the lines of one run, in input order.
class ExcerptCalls {
 public:
  /// Keeps the last `keep` calls of each communicator, more where its ranks differ earlier.
  ExcerptCalls(const Job& job, uint64_t keep);

  /// Takes a record; for one about a call, whether it is kept. True for all others.
  bool keeps(const Event& event);

 private:
  /// A process by host and pid; a segment by its pointer and how many lives that had before.
  using SegmentKey = std::tuple<std::string, int64_t, uint64_t, int>;

  struct Counted {
    uint64_t collectives = 0;
    std::map<int, uint64_t> sent;
    std::map<int, uint64_t> received;
  };

  void limit(const Job& job, const Communicator& comm, uint64_t keep);
  const SegmentKey* key_of(const CommRank& rank) const;
  bool keeps_message(const CallSignature& call, Counted& counted, const LeftOutCalls& limits);

  std::map<std::pair<int, int>, SegmentKey> keys_;  ///< By log and segment.
  std::map<SegmentKey, LeftOutCalls> limits_;
  std::map<std::pair<std::string, int64_t>, CommSegments> lives_;
  std::map<std::tuple<std::string, int64_t, uint64_t, int, bool>, Counted> counted_;
};

}  // namespace ncclog
