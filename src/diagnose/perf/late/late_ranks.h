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
#include <limits>
#include <string>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

/// One call of one rank, as its process saw it. Times in microseconds; NaN: not told.
struct TimedCall {
  int64_t number = -1;  ///< Of the call in its communicator: equal numbers are one call.
  double entered = std::numeric_limits<double>::quiet_NaN();  ///< By the clock of its host.
  /// From start to end on the GPU or in the proxy. Where `entered` is told as well, it is the start.
  double duration = std::numeric_limits<double>::quiet_NaN();
};

/// The calls of one rank in one communicator.
struct RankTimes {
  int rank = -1;     ///< In the communicator, or global where the source names groups by those.
  std::string host;  ///< Empty: unknown; ranks of one host share a clock.
  std::vector<TimedCall> calls;  ///< By number, ascending.
  /// Time inside calls of other communicators for each call of this one; 0: none is known. Who waits
  /// there is late here and not guilty of it.
  double elsewhere_us = 0;
};

/// What times of one communicator came from, and all of its ranks.
struct CallTimes {
  std::string source;            ///< "Flight Recorder", "NCCL Inspector", "stamped lines" …
  std::string communicator;      ///< Its id, or the group's name.
  int nranks = -1;               ///< -1: unknown.
  std::vector<RankTimes> ranks;  ///< By rank; those of which times are known.
  double resolution_us = 0;      ///< Of times of entry: what is printed in seconds says little.
  /// The ranks make calls on other communicators too, and how long those take is unknown.
  bool has_unknown_waits = false;
  std::vector<Evidence> evidence;  ///< Of each of `ranks` one; or empty.
};

/// How often somebody holds a communicator up.
enum class Lateness { Steady, Bursts };

/// Who holds a communicator up.
struct LateParty {
  int rank = -1;         ///< -1: a host as a whole.
  std::string host;      ///< Empty: unknown.
  double share = 0;      ///< Of the calls in which it was late, 0 to 1.
  double median_us = 0;  ///< By how much, over those calls.
  double p99_us = 0;
  Lateness how = Lateness::Steady;
  int64_t period = 0;  ///< Bursts: late in each so-manieth call; 0: at no regular distance.
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
  bool by_durations = false;       ///< Else by times of entry alone, which show less.
  int64_t calls = 0;               ///< That all ranks with times made.
  double median_call_us = 0;       ///< Without durations: from one call to the next. 0: unknown.
  double clock_error_us = 0;       ///< Of the estimate of clocks; 0: none was needed.
  std::vector<LateParty> late;     ///< By how much time they cost, the most first. Empty: nobody.
  std::string why_nobody;          ///< Too few calls, ranks missing, below the threshold …
  std::vector<Evidence> evidence;  ///< Of all ranks.
};

// What it takes to be named. A rank is late in a call if the median of the others came before it by
// at least kLeastLate and kLeastShare of the median call.
inline constexpr int64_t kLeastCalls = 100;
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
