// Who is late? Of calls that all ranks of a communicator made, who came last, by how much, and is it
// the network or a rank's own work?
//
//   1,000 calls of 8 ranks, median 4.1 ms: rank 5 came last in 92 %, by 21 ms (median), in each
//   10th call → rank 5 is late, in its own work: the others waited inside the call
//
// Clocks of hosts are not trusted: the offset of two hosts is estimated from calls that both made,
// and what the estimate leaves open is stated and taken off what is said of anybody.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

/// One call of one rank, as its process saw it. Times in microseconds; NaN: not told.
struct TimedCall {
  int64_t number = -1;    ///< Of the call in its communicator: equal numbers are one call.
  double entered = 0;     ///< By the clock of its host.
  double duration = 0;    ///< From start to end on the GPU or in the proxy.
};

/// The calls of one rank in one communicator.
struct RankTimes {
  int rank = -1;
  std::string host;  ///< Empty: unknown; ranks of one host share a clock.
  std::vector<TimedCall> calls;  ///< By number, ascending.
};

/// What times of one communicator came from, and all of its ranks.
struct CallTimes {
  std::string source;        ///< "Flight Recorder", "NCCL Inspector", "stamped lines" …
  std::string communicator;  ///< Its id, or the group's name.
  int nranks = -1;
  std::vector<RankTimes> ranks;
  std::vector<Evidence> evidence;
};

/// Who holds a communicator up.
enum class Lateness { Steady, Bursts };

struct LateParty {
  int rank = -1;          ///< -1: a host as a whole.
  std::string host;
  double share = 0;       ///< Of the calls in which it came last, 0 to 1.
  double median_us = 0;   ///< By how much, over those calls.
  double p99_us = 0;
  Lateness how = Lateness::Steady;
  bool inside_the_call = false;  ///< It took longer in the call itself: network, or a slow GPU.
};

/// What the times of one communicator show.
struct LateVerdict {
  std::string source;
  std::string communicator;
  int nranks = -1;
  int64_t calls = 0;            ///< That all ranks with times made.
  double median_call_us = 0;
  double clock_error_us = 0;    ///< Of the estimate of clocks; 0: one host.
  std::vector<LateParty> late;  ///< Empty: nobody is named.
  std::string why_nobody;       ///< Too few calls, ranks missing, below the threshold …
  std::vector<Evidence> evidence;
};

/// Judges one communicator: a pure function, for tests too.
LateVerdict judge_lateness(const CallTimes& times);

/// Of all communicators whose calls have times. Owned by the job.
const std::vector<LateVerdict>& late_verdicts(const Job& job);

}  // namespace ncclog
