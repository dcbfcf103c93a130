// Who is late? Of calls that all ranks of a communicator made, who came last, by how much, and is it
// the network or a rank's own work?
//
//   1,000 calls of 8 ranks, median 4.1 ms: rank 5 came last in 92 %, by 21 ms (median), in each
//   10th call → rank 5 is late, in its own work: the others waited inside the call
//
// A collective that joins what all ranks give ends on no rank before the last one has entered it. So
// whoever spends the least time inside a call came last, and no clock is needed to see it: ranks that
// go from call to call together spend equally long inside and outside of calls, and one that is
// shorter inside was busy outside. A rank that is short in one call and long in the next one only
// ended at another time than the others; that cancels out and accuses nobody.
//
// Where there are times of entry, clocks of hosts are not trusted: the offset of two hosts is
// estimated from calls that both made, and what the estimate leaves open is stated and taken off what
// is said of anybody. By times of entry alone a host that is always late cannot be told from a clock
// that is wrong, and hosts that run ahead of their GPUs wait for nobody.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/facts/fact.h"
#include "diagnose/perf/late/call_times.h"
#include "model/job.h"

namespace ncclog {

/// Who holds a communicator up.
struct LateParty {
  int rank = -1;                ///< -1: a host as a whole.
  std::string host;             ///< Empty: unknown.
  std::vector<int> ranks = {};  ///< All that it is: of a host those with times, ascending.
  double share = 0;             ///< Of the calls in which it was late, 0 to 1.
  double median_us = 0;         ///< By how much, over those calls.
  double p99_us = 0;
  bool in_bursts = false;  ///< Now and then; else in half of the calls or more.
  int64_t period = 0;      ///< In bursts: late in each so-manieth call; 0: at no regular distance.
  bool inside_the_call = false;  ///< It took longer in the call itself: network, or a slow GPU.
  std::vector<Evidence> evidence = {};  ///< Of its ranks.

  bool operator==(const LateParty&) const = default;
};

/// What the times of one communicator show.
struct LateVerdict {
  std::string source;
  std::string communicator;
  int nranks = -1;
  int ranks_with_times = 0;
  bool by_durations = false;    ///< Else by times of entry alone, which show less.
  int64_t calls = 0;            ///< That all ranks with times made.
  double median_call_us = 0;    ///< Without durations: from one call to the next. 0: unknown.
  double clock_error_us = 0;    ///< Of the estimate of clocks; 0: none was needed.
  std::vector<LateParty> late;  ///< By how much time they cost, the most first. Empty: nobody.
  std::string why_nobody;       ///< Too few calls, ranks missing, below the threshold …
  /// Somebody is named, or it is known that nobody is late; false: `why_nobody` says what lacks.
  bool is_judged = false;
  std::vector<Evidence> evidence;  ///< Of all ranks.
};

// What it takes to be named. A rank is late in a call if the median of the others came before it by
// at least kLeastLate and kLeastShare of the median call.
inline constexpr double kLeastLateUs = 5000;
inline constexpr double kLeastShareOfCall = 0.2;
/// Of calls in which somebody who is late in bursts must be late.
inline constexpr double kLeastShareOfCalls = 0.02;
inline constexpr int64_t kLeastLateCalls = 8;

/// Judges one communicator: a pure function, for tests too.
LateVerdict judge_lateness(const CallTimes& times);

/// "rank 5 (node-b) enters 92 % of 1000 calls of the 8 ranks of communicator 0x7f8c late, by 21 ms
/// (median; 43 ms in the worst 1 %)".
std::string late_words(const LateVerdict& verdict, const LateParty& party);

/// "21 ms", "0.8 ms", "3.2 s": a time in microseconds.
std::string late_time_text(double us);

/// Of all communicators whose calls have times. Owned by the job.
const std::vector<LateVerdict>& late_verdicts(const Job& job);

}  // namespace ncclog
